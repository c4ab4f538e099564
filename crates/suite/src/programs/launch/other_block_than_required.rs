//! Launches blocks of 32 threads of a kernel that was compiled for blocks of 64 (`__block_size__`, `.reqntid`).
//!
//! On a GPU: INVALID_VALUE.
//!
//! Near miss: launches blocks of 64 threads.

use crate::programs::{Answer, Mistake, NearMiss, Program};

const FIXED: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.visible .entry fixed(.param .u64 x)
.reqntid 64
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 64)?);
    let fixed = p.kernel(FIXED, "fixed")?;
    let shape = match p.way {
        Mistake => [2, 32],
        NearMiss => [1, 64],
    };
    p.launch(stream, fixed, shape, &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &(0..64).collect::<Vec<u32>>())
}
