//! Whole kernels, as a compiler makes them.

use crate::harness::{Arg, Bench, Random};

#[test]
fn saxpy() {
    let mut b = Bench::kernel(
        ".param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y",
        "
        .reg .pred %p<2>; .reg .f32 %f<5>; .reg .b32 %r<6>; .reg .b64 %rd<8>;
        ld.param.u32 %r2, [n]; ld.param.f32 %f1, [a]; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
        mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
        mad.lo.s32 %r1, %r3, %r4, %r5;
        setp.ge.s32 %p1, %r1, %r2;
        @%p1 bra DONE;
        cvta.to.global.u64 %rd3, %rd1; cvta.to.global.u64 %rd4, %rd2;
        mul.wide.s32 %rd5, %r1, 4;
        add.s64 %rd6, %rd3, %rd5; add.s64 %rd7, %rd4, %rd5;
        ld.global.f32 %f2, [%rd6]; ld.global.f32 %f3, [%rd7];
        fma.rn.f32 %f4, %f1, %f2, %f3;
        st.global.f32 [%rd7], %f4;
        DONE: ret;",
    );
    let mut random = Random(1);
    let n = 1000;
    let x: Vec<f32> = (0..n).map(|_| random.f32()).collect();
    let y: Vec<f32> = (0..n).map(|_| random.f32()).collect();
    let (dx, dy) = (b.upload(&x, "x"), b.upload(&y, "y"));
    b.go("k", [4, 1, 1], [256, 1, 1], 0, &[Arg::U32(n), Arg::F32(2.5), Arg::U64(dx), Arg::U64(dy)]);
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 2.5f32.mul_add(*x, *y)).collect();
    assert_eq!(b.download::<f32>(dy, n as usize), expected);
}
