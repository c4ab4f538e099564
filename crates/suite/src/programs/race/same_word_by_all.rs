//! All threads of a warp write their own number to one word, by one instruction.
//!
//! On a GPU: one of the numbers is kept, and the manual does not say which. Nothing is said.
//!
//! Near miss: all threads write the same number: whichever is kept is right.

use crate::programs::{Answer, Program};

const ALL: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "all_to_one.cu"
.visible .entry all_to_one(.param .u64 x)
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
    st.shared.u32 [%r2], %r1; //~
    //+ st.shared.u32 [%r2], 7;
    bar.sync 0;
    .loc 1 5 12
    ld.shared.u32 %r6, [%r2];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    .loc 1 9 10
    st.global.u32 [%rd3], %r6;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 32)?);
    let all_to_one = p.kernel(ALL, "all_to_one")?;
    p.launch(stream, all_to_one, [1, 32], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &[7; 32])
}
