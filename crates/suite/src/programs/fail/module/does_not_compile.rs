//! Loads PTX in which an instruction uses a register that is not declared.
//!
//! On a GPU: INVALID_PTX; the compiler's words are in the error log, if the program asked for one.

use crate::programs::{Answer, Program};

const STORE: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.visible .entry store(.param .u64 x)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, 7;
    st.global.u32 [%rd1], %r2;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    p.load(STORE)?;
    Ok(())
}
