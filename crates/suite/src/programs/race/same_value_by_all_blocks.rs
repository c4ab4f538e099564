//! Every block stores the same value to one word by a plain store.
//!
//! On a GPU: the word is right in the end. C++ and PTX call it a race all the same: a compiler may make other code of
//! it.
//!
//! Near miss: they store it by an atomic.

use crate::programs::{Answer, Program};

const FINISH: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "finish.cu"
.visible .entry finish(.param .u64 done)
{
    .reg .pred %p<4>;
    .reg .b16 %h<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [done];
    .loc 1 3 11
    st.global.u32 [%rd1], 1; //~
    //+ atom.global.exch.b32 %r1, [%rd1], 1;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, done) = (p.stream()?, p.buffer("done", &[0])?);
    let finish = p.kernel(FINISH, "finish")?;
    p.launch(stream, finish, [4, 1], &[done.address()])?;
    p.synchronize(stream)?;
    p.expect(&done, &[1])
}
