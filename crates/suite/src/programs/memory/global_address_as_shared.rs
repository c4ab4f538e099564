//! A pointer to global memory reaches code that loads from shared memory.
//!
//! On a GPU: the address lies far beyond what a block has; an H200 answers ILLEGAL_INSTRUCTION, which points nowhere.
//!
//! Near miss: a generic load finds out where the address belongs.

use crate::programs::{Answer, Program};

const FIRST: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "first.cu"
.visible .entry first(.param .u64 from, .param .u64 to)
{
    .shared .align 4 .b8 tile[128];
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    .loc 1 3 11
    ld.shared.u32 %r1, [%rd1]; //~
    //+ ld.u32 %r1, [%rd1];
    st.global.u32 [%rd2], %r1;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x, y) = (p.stream()?, p.buffer("x", &[7])?, p.empty("y", 1)?);
    let first = p.kernel(FIRST, "first")?;
    p.launch(stream, first, [1, 1], &[x.address(), y.address()])?;
    p.synchronize(stream)?;
    p.expect(&y, &[7])
}
