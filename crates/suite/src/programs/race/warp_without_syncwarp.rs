//! The threads of one warp exchange numbers through shared memory and rely on running together.
//!
//! On a GPU: usually right, and promised by nobody since each thread has a place of its own in the program (Volta).
//! Nothing is said.
//!
//! Near miss: `__syncwarp()` stands between the write and the read.

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
    .loc 1 3 5
    st.shared.u32 [%r3], %r1;
    //+ bar.warp.sync -1;
    sub.u32 %r4, 31, %r1;
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
    let (stream, x) = (p.stream()?, p.empty("x", 32)?);
    let mirror = p.kernel(MIRROR, "mirror")?;
    p.launch(stream, mirror, [1, 32], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &(0..32).rev().collect::<Vec<u32>>())
}
