//! Each thread takes its right neighbour's number and writes its own in place; a barrier of the block stands in
//! between, and the last thread's neighbour is another block's.
//!
//! On a GPU: whether the neighbouring block has written already depends on luck. Nothing is said.
//!
//! Near miss: the result goes to other memory.

use crate::programs::{Answer, Program};

const SHIFT: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "shift.cu"
.visible .entry shift(.param .u64 x, .param .u64 y)
{
    .reg .pred %p<4>;
    .reg .b16 %h<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [x]; //~
    //+ ld.param.u64 %rd2, [y];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r3, %r2, 32, %r1;
    mul.wide.u32 %rd3, %r3, 4;
    add.s64 %rd4, %rd1, %rd3;
    .loc 1 3 12
    ld.global.u32 %r4, [%rd4+4];
    add.u32 %r4, %r4, 1;
    bar.sync 0;
    add.s64 %rd5, %rd2, %rd3;
    .loc 1 5 10
    st.global.u32 [%rd5], %r4;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x, y) = (p.stream()?, p.buffer("x", &[7; 65])?, p.empty("y", 64)?);
    let shift = p.kernel(SHIFT, "shift")?;
    p.launch(stream, shift, [2, 32], &[x.address(), y.address()])?;
    p.synchronize(stream)?;
    p.expect(&y, &[8; 64])
}
