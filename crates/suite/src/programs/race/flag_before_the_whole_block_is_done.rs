//! All threads of a block write, and the first one sets the flag for another block, with a fence but without a barrier
//! before it.
//!
//! On a GPU: the flag is for the first thread's own data; that of other warps may come later. Nothing is said.
//!
//! Near miss: `__syncthreads()` stands before the fence and the flag.

use crate::programs::{Answer, Program};

const HAND_OVER: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "hand_over.cu"
.visible .entry hand_over(.param .u64 x, .param .u64 flag, .param .u64 out)
{
    .reg .pred %p<4>;
    .reg .b16 %h<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [flag];
    ld.param.u64 %rd3, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mul.wide.u32 %rd4, %r1, 4;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra READER;
    add.s64 %rd5, %rd1, %rd4;
    .loc 1 4 17
    st.global.u32 [%rd5], %r1;
    //+ .loc 1 5 9
    //+ bar.sync 0;
    setp.ne.u32 %p2, %r1, 0;
    @%p2 bra DONE;
    .loc 1 6 30
    membar.gl;
    .loc 1 6 47
    atom.global.exch.b32 %r3, [%rd2], 1;
    bra DONE;
READER:
    setp.ne.u32 %p3, %r1, 0;
    @%p3 bra MEET;
WAIT:
    atom.global.or.b32 %r3, [%rd2], 0;
    setp.eq.u32 %p3, %r3, 0;
    @%p3 bra WAIT;
    membar.gl;
MEET:
    bar.sync 0;
    sub.u32 %r4, 63, %r1;
    mul.wide.u32 %rd6, %r4, 4;
    add.s64 %rd6, %rd1, %rd6;
    .loc 1 14 20
    ld.global.u32 %r5, [%rd6];
    add.s64 %rd7, %rd3, %rd4;
    st.global.u32 [%rd7], %r5;
DONE:
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[0; 64])?);
    let (flag, out) = (p.buffer("flag", &[0])?, p.buffer("out", &[0; 64])?);
    let hand_over = p.kernel(HAND_OVER, "hand_over")?;
    p.launch(stream, hand_over, [2, 64], &[x.address(), flag.address(), out.address()])?;
    p.synchronize(stream)?;
    p.expect(&out, &(0..64).rev().collect::<Vec<u32>>())
}
