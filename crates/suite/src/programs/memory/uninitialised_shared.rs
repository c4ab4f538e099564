//! A kernel counts in shared memory that it has not cleared.
//!
//! On a GPU: shared memory holds what the last block left there. Nothing is said.
//!
//! Near miss: each thread clears its number first.

use crate::programs::{Answer, Program};

const COUNTS: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "counts.cu"
.visible .entry counts(.param .u64 x)
{
    .shared .align 4 .b8 tile[128];
    .reg .b32 %r<7>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    mad.lo.s32 %r3, %r1, 4, %r2;
    //+ mov.u32 %r4, 0;
    //+ .loc 1 3 10
    //+ st.shared.u32 [%r3], %r4;
    .loc 1 4 5
    ld.shared.u32 %r5, [%r3];
    add.u32 %r6, %r5, %r1;
    st.shared.u32 [%r3], %r6;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    .loc 1 5 10
    st.global.u32 [%rd3], %r6;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 32)?);
    let counts = p.kernel(COUNTS, "counts")?;
    p.launch(stream, counts, [1, 32], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &(0..32).collect::<Vec<u32>>())
}
