//! Each thread writes its number to shared memory and reads that of its mirror image, without a barrier in between.
//!
//! On a GPU: some threads read before the others have written. Nothing is said; the numbers depend on luck.
//!
//! Near miss: `__syncthreads()` stands between the write and the read.

use crate::programs::{Answer, Program};

const MIRROR: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "mirror.cu"
.visible .entry mirror(.param .u64 x)
{
    .shared .align 4 .b8 tile[512];
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    mad.lo.s32 %r3, %r1, 4, %r2;
    st.shared.u32 [%r3], 0;
    bar.sync 0;
    .loc 1 3 5
    st.shared.u32 [%r3], %r1;
    //+ bar.sync 0;
    sub.u32 %r4, 63, %r1;
    mad.lo.s32 %r5, %r4, 4, %r2;
    .loc 1 5 12
    ld.shared.u32 %r6, [%r5];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    .loc 1 9 10
    st.global.u32 [%rd3], %r6;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 64)?);
    let mirror = p.kernel(MIRROR, "mirror")?;
    p.launch(stream, mirror, [1, 64], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &(0..64).rev().collect::<Vec<u32>>())
}
