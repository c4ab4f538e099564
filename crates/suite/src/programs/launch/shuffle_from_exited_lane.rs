//! The upper half of a warp returns early; the lower half then sums over the whole warp with shuffles.
//!
//! On a GPU: what a shuffle gives from a lane that has exited is not defined; often it is the reader's own number, and
//! the sum is wrong without a word.
//!
//! Near miss: all lanes take part in the shuffle; only then half of them leave.

use crate::programs::{Answer, Program};

const SUM: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "sum.cu"
.visible .entry sum(.param .u64 x)
{
    .reg .pred %p<3>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 16;
    .loc 1 3 20 //~
    @%p1 exit; //~
    .loc 1 5 14
    shfl.sync.down.b32 %r2, %r1, 16, 31, 0xffffffff;
    //+ .loc 1 6 20
    //+ @%p1 exit;
    add.u32 %r3, %r1, %r2;
    setp.ne.u32 %p2, %r1, 0;
    @%p2 bra DONE;
    st.global.u32 [%rd1], %r3;
DONE:
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 1)?);
    let sum = p.kernel(SUM, "sum")?;
    p.launch(stream, sum, [1, 32], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &[16])
}
