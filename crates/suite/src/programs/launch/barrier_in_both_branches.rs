//! Both halves of a warp write, and each has a `__syncthreads()` of its own in its branch.
//!
//! On a GPU: not defined (PTX ISA, `bar`: all threads of a warp must execute the same one). An H200 lets it pass.
//!
//! Near miss: one `__syncthreads()` stands behind the branches.

use crate::programs::{Answer, Program};

const EXCHANGE: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "exchange.cu"
.visible .entry exchange(.param .u64 x)
{
    .shared .align 4 .b8 tile[128];
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    mad.lo.s32 %r3, %r1, 4, %r2;
    setp.ge.u32 %p1, %r1, 16;
    @%p1 bra UPPER;
    .loc 1 4 9
    mov.u32 %r6, 1;
    st.shared.u32 [%r3], %r6;
    .loc 1 5 9 //~
    bar.sync 0; //~
    bra.uni WRITTEN;
UPPER:
    .loc 1 7 9
    mov.u32 %r7, 2;
    st.shared.u32 [%r3], %r7;
    .loc 1 8 9 //~
    bar.sync 0; //~
WRITTEN:
    //+ .loc 1 10 5
    //+ bar.sync 0;
    sub.u32 %r4, 31, %r1;
    mad.lo.s32 %r5, %r4, 4, %r2;
    .loc 1 11 12
    ld.shared.u32 %r6, [%r5];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r6;
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.empty("x", 32)?);
    let exchange = p.kernel(EXCHANGE, "exchange")?;
    p.launch(stream, exchange, [1, 32], &[x.address()])?;
    p.synchronize(stream)?;
    p.expect(&x, &[[2; 16], [1; 16]].concat())
}
