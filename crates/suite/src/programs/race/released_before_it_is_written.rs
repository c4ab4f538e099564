//! A block sets a flag with release order and writes the data behind it.
//!
//! On a GPU: whoever sees the flag may read the data before it is there. Nothing is said.
//!
//! Near miss: the data is written before the flag is released.

use crate::programs::{Answer, Program};

const HAND_OVER: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "hand_over.cu"
.visible .entry hand_over(.param .u64 data, .param .u64 flag, .param .u64 out)
{
    .reg .pred %p<4>;
    .reg .b16 %h<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [data];
    ld.param.u64 %rd2, [flag];
    ld.param.u64 %rd3, [out];
    mov.u32 %r1, %ctaid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READER;
    //+ .loc 1 4 15
    //+ st.global.u32 [%rd1], 42;
    .loc 1 5 9
    st.release.gpu.global.u32 [%rd2], 1;
    .loc 1 4 15 //~
    st.global.u32 [%rd1], 42; //~
    ret;
READER:
    ld.acquire.gpu.global.u32 %r2, [%rd2];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra READER;
    .loc 1 11 16
    ld.global.u32 %r3, [%rd1];
    st.global.u32 [%rd3], %r3;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, data) = (p.stream()?, p.buffer("data", &[0])?);
    let (flag, out) = (p.buffer("flag", &[0])?, p.buffer("out", &[0])?);
    let hand_over = p.kernel(HAND_OVER, "hand_over")?;
    p.launch(stream, hand_over, [2, 1], &[data.address(), flag.address(), out.address()])?;
    p.synchronize(stream)?;
    p.expect(&out, &[42])
}
