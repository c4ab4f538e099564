//! The barrier of a block.

use crate::programs::{Answer, Program};

const MEET: &str = r#"
.version 8.4
.target sm_90
.address_size 64
.file 1 "meet.cu"
.visible .entry meet(.param .u64 x)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [x];
    .loc 1 4 12
    bar.sync 0;
    mov.u32 %r1, 1;
    st.global.u32 [%rd1], %r1;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 1)?);
    let meet = p.kernel(MEET, "meet")?;
    p.launch(stream, meet, [1, 32], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &[1])
}
