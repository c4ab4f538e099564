//! The blocks of a cooperative launch write a part each and read another block's, without a barrier of the grid in
//! between.
//!
//! On a GPU: that all blocks run at the same time says nothing about who comes first; the numbers depend on luck.
//!
//! Near miss: a barrier of the grid, as cooperative groups make it of atomics and fences, stands in between.

use crate::programs::{Answer, Program};

const MIRROR: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "mirror.cu"
.visible .entry mirror(.param .u64 x, .param .u64 count, .param .u64 y)
{
    .reg .pred %p<4>;
    .reg .b16 %h<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [count];
    ld.param.u64 %rd3, [y];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %nctaid.x;
    mad.lo.u32 %r4, %r2, 32, %r1;
    mul.wide.u32 %rd4, %r4, 4;
    add.s64 %rd5, %rd1, %rd4;
    .loc 1 4 15
    st.global.u32 [%rd5], %r4;
    //+ .loc 1 5 9
    //+ bar.sync 0;
    //+ setp.ne.u32 %p1, %r1, 0;
    //+ @%p1 bra MEET;
    //+ membar.gl;
    //+ atom.global.add.u32 %r5, [%rd2], 1;
//+ WAIT:
    //+ ld.volatile.global.u32 %r5, [%rd2];
    //+ setp.lt.u32 %p2, %r5, %r3;
    //+ @%p2 bra WAIT;
    //+ membar.gl;
//+ MEET:
    //+ bar.sync 0;
    shl.b32 %r6, %r3, 5;
    sub.u32 %r6, %r6, %r4;
    sub.u32 %r6, %r6, 1;
    mul.wide.u32 %rd6, %r6, 4;
    add.s64 %rd6, %rd1, %rd6;
    .loc 1 7 14
    ld.global.u32 %r7, [%rd6];
    add.s64 %rd7, %rd3, %rd4;
    .loc 1 7 12
    st.global.u32 [%rd7], %r7;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[0; 64])?);
    let (count, y) = (p.buffer("count", &[0])?, p.buffer("y", &[0; 64])?);
    let mirror = p.kernel(MIRROR, "mirror")?;
    p.launch_cooperative(stream, mirror, [2, 32], &[x.address(), count.address(), y.address()])?;
    p.synchronize(stream)?;
    p.expect(&y, &(0..64).rev().collect::<Vec<u32>>())
}
