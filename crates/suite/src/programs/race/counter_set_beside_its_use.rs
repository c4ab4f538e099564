//! One thread sets a counter to 0 and a warp counts in it by atomics, without a barrier in between.
//!
//! On a GPU: counts that come before the 0 are lost. Nothing is said; the number depends on luck.
//!
//! Near miss: a barrier stands between the 0 and the first count.

use crate::programs::{Answer, Program};

const COUNT: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "count.cu"
.visible .entry count(.param .u64 x)
{
    .shared .align 4 .b8 tile[512];
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    mad.lo.s32 %r3, %r1, 4, %r2;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra COUNT;
    .loc 1 3 21
    st.shared.u32 [%r2], 0;
COUNT:
    //+ bar.sync 0;
    setp.lt.u32 %p2, %r1, 32;
    @%p2 bra COUNTED;
    .loc 1 5 22
    atom.shared.add.u32 %r4, [%r2], 1;
COUNTED:
    bar.sync 0;
    .loc 1 7 12
    ld.shared.u32 %r6, [%r2];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    .loc 1 9 10
    st.global.u32 [%rd3], %r6;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 64)?);
    let count = p.kernel(COUNT, "count")?;
    p.launch(stream, count, [1, 64], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &[32; 64])
}
