//! One warp waits at a barrier, the other one at another barrier: two branches of an `if`, each with a barrier of its
//! own.
//!
//! On a GPU: the block waits for ever.
//!
//! Near miss: both branches come to the same barrier.

use crate::programs::{Answer, Program};

const MEET: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "meet.cu"
.visible .entry meet(.param .u64 x)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra SECOND;
    .loc 1 4 9
    barrier.sync 1;
    bra MET;
SECOND:
    .loc 1 6 9
    barrier.sync 2; //~
    //+ barrier.sync 1;
MET:
    mov.u32 %r2, 1;
    st.global.u32 [%rd1], %r2;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 1)?);
    let meet = p.kernel(MEET, "meet")?;
    p.launch(stream, meet, [1, 64], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &[1])
}
