//! Each block adds its number to one total in global memory: it reads, adds and writes, by plain accesses.
//!
//! On a GPU: two blocks read the same total, and the sum of one of them is lost. Nothing is said.
//!
//! Near miss: the blocks add by an atomic.

use crate::programs::{Answer, Program};

const ADD: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "add_up.cu"
.visible .entry add_up(.param .u64 total)
{
    .reg .pred %p<4>;
    .reg .b16 %h<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [total];
    mov.u32 %r1, %ctaid.x;
    add.u32 %r1, %r1, 1;
    .loc 1 3 18 //~
    ld.global.u32 %r2, [%rd1]; //~
    add.u32 %r2, %r2, %r1; //~
    .loc 1 3 12 //~
    st.global.u32 [%rd1], %r2; //~
    //+ .loc 1 3 5
    //+ red.global.add.u32 [%rd1], %r1;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, total) = (p.stream()?, p.buffer("total", &[0])?);
    let add = p.kernel(ADD, "add_up")?;
    p.launch(stream, add, [4, 1], &[total.address()])?;
    p.synchronize(stream)?;
    p.expect(&total, &[10])
}
