//! Loads PTX in which an instruction uses a register that is not declared.
//!
//! On a GPU: INVALID_PTX; the compiler's words are in the error log, if the program asked for one.
//!
//! Near miss: the register is declared.

use crate::programs::{Answer, Program};

const STORE: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.visible .entry store(.param .u64 x)
{
    .reg .b32 %r<2>; //~
    //+ .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, 7; //~
    //+ mov.u32 %r2, 7;
    st.global.u32 [%rd1], %r2;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 1)?);
    let store = p.kernel(STORE, "store")?;
    p.launch(stream, store, [1, 1], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &[7])
}
