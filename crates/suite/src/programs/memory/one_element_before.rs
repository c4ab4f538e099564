//! Each thread subtracts its left neighbour's number; the first one has none and takes what lies before the array.
//!
//! On a GPU: memory is mapped in large pieces. Nothing is said; the first number is wrong.
//!
//! Near miss: the first thread subtracts nothing.

use crate::programs::{Answer, Program};

const DIFFERENCES: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "differences.cu"
.visible .entry differences(.param .u64 x, .param .u64 y)
{
    //+ .reg .pred %p<2>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    .loc 1 3 12
    ld.global.u32 %r2, [%rd4];
    //+ mov.u32 %r3, 0;
    //+ setp.eq.u32 %p1, %r1, 0;
    //+ @%p1 bra FIRST;
    .loc 1 3 19
    ld.global.u32 %r3, [%rd4+-4];
    //+ FIRST:
    sub.u32 %r4, %r2, %r3;
    .loc 1 3 10
    st.global.u32 [%rd5], %r4;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, _before) = (p.stream()?, p.buffer("before", &[9; 4])?);
    let (x, y) = (p.buffer("x", &[1, 3, 6, 10])?, p.empty("y", 4)?);
    let differences = p.kernel(DIFFERENCES, "differences")?;
    p.launch(stream, differences, [1, 4], &[x.address(), y.address()])?;
    p.synchronize(stream)?;
    p.expect(&y, &[1, 2, 3, 4])
}
