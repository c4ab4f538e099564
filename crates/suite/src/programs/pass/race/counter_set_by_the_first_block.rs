//! The counter is zero before the kernel begins.

use crate::programs::{Answer, Program};

const COUNT: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "count_blocks.cu"
.visible .entry count_blocks(.param .u64 count)
{
    .reg .pred %p<4>;
    .reg .b16 %h<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [count];
    mov.u32 %r1, %ctaid.x;
    .loc 1 4 5
    red.global.add.u32 [%rd1], 1;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, count) = (p.stream()?, p.buffer("count", &[0])?);
    let run = p.kernel(COUNT, "count_blocks")?;
    p.launch(stream, run, [4, 1], &[count.address()])?;
    p.synchronize(stream)?;
    p.expect(&count, &[4])
}
