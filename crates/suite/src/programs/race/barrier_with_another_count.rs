//! Two warps meet at a named barrier, and give it different numbers of threads.
//!
//! On a GPU: undefined. This very program ends in `ILLEGAL_INSTRUCTION` on an H200.
//!
//! Near miss: both give the number of threads that come.

use crate::programs::{Answer, Program};

const MEET: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "meet.cu"
.visible .entry meet(.param .u64 x)
{
    .shared .align 4 .b8 tile[512];
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    mad.lo.s32 %r3, %r1, 4, %r2;
    .loc 1 3 5
    st.shared.u32 [%r3], %r1;
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra SECOND;
    .loc 1 5 9
    bar.sync 1, 64;
    bra.uni MET;
SECOND:
    .loc 1 7 9
    bar.sync 1, 32; //~
    //+ bar.sync 1, 64;
MET:
    sub.u32 %r4, 63, %r1;
    mad.lo.s32 %r5, %r4, 4, %r2;
    .loc 1 8 12
    ld.shared.u32 %r6, [%r5];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    .loc 1 9 10
    st.global.u32 [%rd3], %r6;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 64)?);
    let meet = p.kernel(MEET, "meet")?;
    p.launch(stream, meet, [1, 64], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &(0..64).rev().collect::<Vec<u32>>())
}
