//! Blocks count in one number by `atomicAdd_block`, which is atomic for the threads of one block.
//!
//! On a GPU: an update may be lost or not: between blocks nobody promises that it is whole. Nothing is said.
//!
//! Near miss: they count by `atomicAdd`, which is atomic for the whole device.

use crate::programs::{Answer, Program};

const COUNT: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "count_up.cu"
.visible .entry count_up(.param .u64 total)
{
    .reg .pred %p<4>;
    .reg .b16 %h<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [total];
    .loc 1 3 5
    red.relaxed.cta.global.add.u32 [%rd1], 1; //~
    //+ red.relaxed.gpu.global.add.u32 [%rd1], 1;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, total) = (p.stream()?, p.buffer("total", &[0])?);
    let add = p.kernel(COUNT, "count_up")?;
    p.launch(stream, add, [4, 32], &[total.address()])?;
    p.synchronize(stream)?;
    p.expect(&total, &[128])
}
