//! Reads the parameter through the same address, and writes to memory of its own.

use crate::programs::{Answer, Program};

const COUNT: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "count.cu"
.visible .entry count(.param .u64 x, .param .u32 limit)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    mov.b64 %rd2, limit;
    cvta.param.u64 %rd3, %rd2;
    .loc 1 4 9
    ld.u32 %r1, [%rd3];
    add.u32 %r2, %r1, 1;
    st.global.u32 [%rd1], %r2;
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
