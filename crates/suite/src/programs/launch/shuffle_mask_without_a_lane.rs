//! All lanes of a warp shuffle, and the mask names only the lower half.
//!
//! On a GPU: not defined for the lanes that are left out (PTX ISA, `shfl.sync`). Nothing is said.
//!
//! Near miss: the mask names all lanes.

use crate::programs::{Answer, Program};

const FIRST: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "first.cu"
.visible .entry first(.param .u64 x)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    add.u32 %r2, %r1, 40;
    .loc 1 3 14
    shfl.sync.idx.b32 %r3, %r2, 0, 31, 0x0000ffff; //~
    //+ shfl.sync.idx.b32 %r3, %r2, 0, 31, 0xffffffff;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r3;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 32)?);
    let first = p.kernel(FIRST, "first")?;
    p.launch(stream, first, [1, 32], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &[40; 32])
}
