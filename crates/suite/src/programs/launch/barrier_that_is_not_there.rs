//! A kernel takes the number of its barrier from an argument, and is given 17: there are 16.
//!
//! On a GPU: nothing is said; which barrier it is, if it is one, is not defined.
//!
//! Near miss: it is given a number below 16.

use crate::programs::{Answer, Mistake, NearMiss, Program};

const MEET: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "meet.cu"
.visible .entry meet(.param .u64 x, .param .u32 barrier)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [barrier];
    mov.u32 %r2, %tid.x;
    .loc 1 2 5
    bar.sync %r1;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 64)?);
    let meet = p.kernel(MEET, "meet")?;
    let barrier = match p.way {
        Mistake => 17,
        NearMiss => 1,
    };
    p.launch(stream, meet, [1, 64], &[x.address(), barrier])?;
    p.synchronize(stream)?;
    p.expect(&x, &(0..64).collect::<Vec<u32>>())
}
