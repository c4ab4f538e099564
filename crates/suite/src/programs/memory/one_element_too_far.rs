//! A kernel compares with `<=` where `<` was meant, and so doubles one element beyond its array.
//!
//! On a GPU: memory is mapped in large pieces, so this very program ends without an error on an H200; somebody else's
//! number may have changed. No tool but a memory checker names the line.
//!
//! Near miss: the kernel compares with `<`.

use crate::programs::{Answer, Program};

/// ```cuda
/// 1  __global__ void twice(unsigned *x, unsigned n) {
/// 2      unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
/// 3      if (i <= n) x[i] *= 2;
/// 4  }
/// ```
const TWICE: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "twice.cu"
.visible .entry twice(.param .u64 x, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .loc 1 2 22
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    .loc 1 3 5
    setp.gt.u32 %p1, %r5, %r1; //~
    //+ setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    .loc 1 3 22
    mul.wide.u32 %rd2, %r5, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r6, [%rd3];
    shl.b32 %r7, %r6, 1;
    st.global.u32 [%rd3], %r7;
DONE:
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, x) = (p.stream()?, p.buffer("x", &[1; 100])?);
    let twice = p.kernel(TWICE, "twice")?;
    p.launch(stream, twice, [4, 32], &[x.address(), 100])?;
    p.synchronize(stream)?;
    p.expect(&x, &[2; 100])
}
