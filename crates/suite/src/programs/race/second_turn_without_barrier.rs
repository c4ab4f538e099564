//! A tile is written, read behind a barrier, and written again in the next turn of the loop: the reads of the turn
//! before are not waited for.
//!
//! On a GPU: a fast warp overwrites what a slow one has yet to read. Nothing is said; the numbers depend on luck.
//!
//! Near miss: a second barrier stands behind the reads.

use crate::programs::{Answer, Program};

const TURNS: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "turns.cu"
.visible .entry turns(.param .u64 x)
{
    .shared .align 4 .b8 tile[512];
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    mad.lo.s32 %r3, %r1, 4, %r2;
    mov.u32 %r7, 0;
TURN:
    .loc 1 4 9
    add.u32 %r8, %r1, %r7;
    st.shared.u32 [%r3], %r8;
    bar.sync 0;
    sub.u32 %r4, 63, %r1;
    mad.lo.s32 %r5, %r4, 4, %r2;
    .loc 1 6 13
    ld.shared.u32 %r6, [%r5];
    //+ bar.sync 0;
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p1, %r7, 3;
    @%p1 bra TURN;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    .loc 1 9 10
    st.global.u32 [%rd3], %r6;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 64)?);
    let turns = p.kernel(TURNS, "turns")?;
    p.launch(stream, turns, [1, 64], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &(2..66).rev().collect::<Vec<u32>>())
}
