//! Takes the address of a `__grid_constant__` parameter and writes through it.
//!
//! On a GPU: not defined: all threads of the launch share the parameters, and no thread may change them. An H200 says
//! nothing.
//!
//! Near miss: reads the parameter through the same address, and writes to memory of its own.

use crate::programs::{Answer, Program};

const COUNT: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "count.cu"
.visible .entry count(.param .u64 x, .param .u32 limit)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    mov.b64 %rd2, limit;
    cvta.param.u64 %rd3, %rd2;
    mov.u32 %r1, 6; //~
    .loc 1 4 9
    st.u32 [%rd3], %r1; //~
    //+ ld.u32 %r1, [%rd3];
    //+ add.u32 %r1, %r1, 1;
    //+ st.global.u32 [%rd1], %r1;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 1)?);
    let count = p.kernel(COUNT, "count")?;
    p.launch(stream, count, [1, 1], &[x.address(), 5])?;
    p.synchronize(stream)?;
    p.expect(&x, &[6])
}
