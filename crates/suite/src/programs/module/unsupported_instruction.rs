//! Launches a kernel with an instruction that the software driver does not interpret: the barrier of a cluster. No
//! mistake of the program, and the report must not read like one. The module loads, and its other kernels run.
//!
//! On a GPU: the kernel runs; without a cluster dimension each block is a cluster of its own.
//!
//! Near miss: the barrier of a block.

use crate::programs::{Answer, Program};

const MEET: &str = r#"
.version 8.4
.target sm_90
.address_size 64
.file 1 "meet.cu"
.visible .entry meet(.param .u64 x)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [x];
    .loc 1 4 12
    barrier.cluster.arrive.aligned; //~
    barrier.cluster.wait.aligned; //~
    //+ bar.sync 0;
    mov.u32 %r1, 1;
    st.global.u32 [%rd1], %r1;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 1)?);
    let meet = p.kernel(MEET, "meet")?;
    p.launch(stream, meet, [1, 32], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &[1])
}
