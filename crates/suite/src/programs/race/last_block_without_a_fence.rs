//! Each block writes its part of a sum and counts itself; the last one adds the parts up. `__threadfence()` is missing
//! between part and count.
//!
//! On a GPU: the last block may add parts that are not there yet. It seldom does, and nothing is said.
//!
//! Near miss: `__threadfence()` stands between part and count, and behind the count.

use crate::programs::{Answer, Program};

const REDUCE: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "reduce.cu"
.visible .entry reduce(.param .u64 partial, .param .u64 count, .param .u64 sum)
{
    .reg .pred %p<4>;
    .reg .b16 %h<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    .shared .align 4 .u32 is_last;
    ld.param.u64 %rd1, [partial];
    ld.param.u64 %rd2, [count];
    ld.param.u64 %rd3, [sum];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %nctaid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra MEET;
    mul.wide.u32 %rd4, %r2, 4;
    add.s64 %rd5, %rd1, %rd4;
    add.u32 %r4, %r2, 1;
    .loc 1 5 24
    st.global.u32 [%rd5], %r4;
    //+ .loc 1 6 9
    //+ membar.gl;
    .loc 1 7 17
    atom.global.add.u32 %r5, [%rd2], 1;
    .loc 1 8 9
    membar.gl;
    add.u32 %r5, %r5, 1;
    setp.eq.u32 %p2, %r5, %r3;
    selp.u32 %r6, 1, 0, %p2;
    st.shared.u32 [is_last], %r6;
MEET:
    bar.sync 0;
    ld.shared.u32 %r6, [is_last];
    setp.eq.u32 %p3, %r6, 0;
    @%p3 bra DONE;
    setp.ge.u32 %p3, %r1, %r3;
    @%p3 bra DONE;
    mul.wide.u32 %rd6, %r1, 4;
    add.s64 %rd7, %rd1, %rd6;
    .loc 1 13 29
    ld.global.u32 %r7, [%rd7];
    red.global.add.u32 [%rd3], %r7;
DONE:
    ret;
}
"#;

pub fn program(p: &Program) -> Answer {
    let (stream, partial) = (p.stream()?, p.buffer("partial", &[0; 4])?);
    let (count, sum) = (p.buffer("count", &[0])?, p.buffer("sum", &[0])?);
    let reduce = p.kernel(REDUCE, "reduce")?;
    p.launch(stream, reduce, [4, 32], &[partial.address(), count.address(), sum.address()])?;
    p.synchronize(stream)?;
    p.expect(&sum, &[10])
}
