//! A kernel waits for a flag in device memory that nobody sets.
//!
//! On a GPU: it runs for ever, and so does the first call that waits for it.
//!
//! Near miss: work before the launch sets the flag.

use crate::programs::{Answer, NearMiss, Program};

/// ```cuda
/// 1  __global__ void wait(volatile unsigned *flag) {
/// 2      while (*flag == 0) {}
/// 3      *flag = 2;
/// 4  }
/// ```
const WAIT: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "wait.cu"
.visible .entry wait(.param .u64 flag)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [flag];
    .loc 1 2 12
AGAIN:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra AGAIN;
    .loc 1 3 11
    mov.u32 %r2, 2;
    st.volatile.global.u32 [%rd1], %r2;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, flag) = (p.stream()?, p.buffer("flag", &[0])?);
    let wait = p.kernel(WAIT, "wait")?;
    if p.way == NearMiss {
        p.set(stream, &flag, 1)?;
    }
    p.launch(stream, wait, [1, 1], &[flag.address()])?;
    p.synchronize(stream)?;
    p.expect(&flag, &[2])
}
