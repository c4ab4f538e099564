//! Takes the address of a shared variable for a generic one: `cvta.shared` is missing.
//!
//! On a GPU: an address in shared memory is an offset from its start, so in global memory it points near null:
//! ILLEGAL_ADDRESS.
//!
//! Near miss: the address is converted with `cvta.shared`.

use crate::programs::{Answer, Program};

const PASS: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "pass.cu"
.visible .entry pass(.param .u64 x)
{
    .shared .align 4 .b8 tile[128];
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, 7;
    st.shared.u32 [tile], %r1;
    mov.u64 %rd2, tile;
    //+ cvta.shared.u64 %rd2, %rd2;
    .loc 1 5 14
    ld.u32 %r2, [%rd2];
    st.global.u32 [%rd1], %r2;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 1)?);
    let pass = p.kernel(PASS, "pass")?;
    p.launch(stream, pass, [1, 1], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &[7])
}
