//! Two blocks put a half each into one word: each reads the word, puts its half in and writes the word back.
//!
//! On a GPU: one half is lost where both blocks have read before either has written. Nothing is said.
//!
//! Near miss: each block stores its half alone: bytes that no other block touches.

use crate::programs::{Answer, Program};

const PUT: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "put_halves.cu"
.visible .entry put_halves(.param .u64 x)
{
    .reg .pred %p<4>;
    .reg .b16 %h<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %ctaid.x;
    add.u32 %r2, %r1, 5;
    shl.b32 %r3, %r1, 4; //~
    shl.b32 %r4, %r2, %r3; //~
    .loc 1 4 13 //~
    ld.global.u32 %r5, [%rd1]; //~
    or.b32 %r5, %r5, %r4; //~
    .loc 1 4 10 //~
    st.global.u32 [%rd1], %r5; //~
    //+ mul.wide.u32 %rd2, %r1, 2;
    //+ add.s64 %rd3, %rd1, %rd2;
    //+ cvt.u16.u32 %h1, %r2;
    //+ .loc 1 4 10
    //+ st.global.u16 [%rd3], %h1;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[0])?);
    let put = p.kernel(PUT, "put_halves")?;
    p.launch(stream, put, [2, 1], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &[5 | 6 << 16])
}
