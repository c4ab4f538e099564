//! The kernel that decides on a further round of a WHILE computes what is left and does not write it back.
//!
//! On a GPU: the loop runs for ever, and so does the first call that waits for it.
//!
//! Near miss: what is left is written back.

use crate::programs::{Answer, Program};

/// ```cuda
/// 1  __global__ void again(cudaGraphConditionalHandle more, unsigned *left) {
/// 2      unsigned n = *left - 1;
/// 3      *left = n;
/// 4      cudaGraphSetConditional(more, n != 0);
/// 5  }
/// ```
const AGAIN: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "again.cu"
.extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);
.visible .entry again(.param .u64 more, .param .u64 left)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [more];
    ld.param.u64 %rd2, [left];
    .loc 1 2 18
    ld.global.u32 %r1, [%rd2];
    sub.u32 %r2, %r1, 1;
    //+ .loc 1 3 5
    //+ st.global.u32 [%rd2], %r2;
    .loc 1 4 5
    setp.ne.u32 %p1, %r2, 0;
    selp.u32 %r3, 1, 0, %p1;
    {
    .param .b64 a0;
    .param .b32 a1;
    st.param.b64 [a0], %rd1;
    st.param.b32 [a1], %r3;
    call.uni cudaGraphSetConditional, (a0, a1);
    }
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, left) = (p.stream()?, p.buffer("left", &[3])?);
    let again = p.kernel(AGAIN, "again")?;
    let graph = p.graph()?;
    let more = p.condition(graph, Some(1))?;
    let body = p.add_while(graph, &[], more)?;
    p.add_kernel(body, &[], again, &[more, left.address()])?;
    let exec = p.instantiate(graph)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&left, &[0])
}
