//! Loads a module that calls a function which another module was to define.
//!
//! On a GPU: INVALID_PTX: a module is linked by itself when it is loaded, and nothing defines the function.
//!
//! Near miss: the module defines the function that it calls.

use crate::programs::{Answer, Program};

const CALLER: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.extern .func (.param .b32 result) next(.param .b32 number); //~
//+ .func (.param .b32 result) next(.param .b32 number)
//+ {
//+     .reg .b32 %r<3>;
//+     ld.param.b32 %r1, [number];
//+     add.u32 %r2, %r1, 1;
//+     st.param.b32 [result], %r2;
//+     ret;
//+ }
.visible .entry caller(.param .u64 x)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    .param .b32 a;
    .param .b32 b;
    ld.param.u64 %rd1, [x];
    ld.global.u32 %r1, [%rd1];
    st.param.b32 [a], %r1;
    call.uni (b), next, (a);
    ld.param.b32 %r2, [b];
    st.global.u32 [%rd1], %r2;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[41])?);
    let caller = p.kernel(CALLER, "caller")?;
    p.launch(stream, caller, [1, 1], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &[42])
}
