//! The first block sets a counter to zero, and all blocks count in it by atomics.
//!
//! On a GPU: what other blocks counted before the first one came is lost. Nothing is said.
//!
//! Near miss: the counter is zero before the kernel begins.

use crate::programs::{Answer, Mistake, NearMiss, Program};

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
    setp.ne.u32 %p1, %r1, 0; //~
    @%p1 bra COUNT; //~
    .loc 1 3 27 //~
    st.global.u32 [%rd1], 0; //~
COUNT: //~
    .loc 1 4 5
    red.global.add.u32 [%rd1], 1;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let before = match p.way {
        Mistake => 9,
        NearMiss => 0,
    };
    let (stream, count) = (p.stream()?, p.buffer("count", &[before])?);
    let run = p.kernel(COUNT, "count_blocks")?;
    p.launch(stream, run, [4, 1], &[count.address()])?;
    p.synchronize(stream)?;
    p.expect(&count, &[4])
}
