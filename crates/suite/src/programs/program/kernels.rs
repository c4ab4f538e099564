//! Kernels that more than one program launches. A kernel that makes a mistake stands in the program it belongs to.

/// `add_one(x, n)`: adds 1 to each of the `n` numbers at `x`; threads beyond `n` do nothing.
pub(crate) const ADD_ONE: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "add_one.cu"
.visible .entry add_one(.param .u64 x, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .loc 1 2 17
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    .loc 1 3 9
    mul.wide.u32 %rd2, %r5, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r6, [%rd3];
    add.u32 %r7, %r6, 1;
    st.global.u32 [%rd3], %r7;
DONE:
    ret;
}
"#;

/// `sum_of_4(x, sum)`: the sum of the four numbers at `x`, loaded at once.
pub(crate) const SUM_OF_4: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "sum_of_4.cu"
.visible .entry sum_of_4(.param .u64 x, .param .u64 sum)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [sum];
    .loc 1 2 15
    ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
    add.u32 %r5, %r1, %r2;
    add.u32 %r6, %r3, %r4;
    add.u32 %r7, %r5, %r6;
    .loc 1 3 10
    st.global.u32 [%rd2], %r7;
    ret;
}
"#;

/// `neighbour(x)`: each thread of one block writes its number to shared memory and puts its right neighbour's into `x`.
/// The first thread also writes 99 behind the last number, if the launch gave it room there.
pub(crate) const NEIGHBOUR: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "neighbour.cu"
.extern .shared .align 4 .b8 tile[];
.visible .entry neighbour(.param .u64 x)
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .loc 1 3 5
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    mad.lo.s32 %r3, %r1, 4, %r2;
    st.shared.u32 [%r3], %r1;
    mov.u32 %r4, %dynamic_smem_size;
    setp.le.u32 %p1, %r4, 128;
    setp.ne.or.u32 %p2, %r1, 0, %p1;
    @%p2 bra WRITTEN;
    mov.u32 %r5, 99;
    st.shared.u32 [%r2+128], %r5;
WRITTEN:
    bar.sync 0;
    .loc 1 6 12
    ld.shared.u32 %r6, [%r3+4];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r6;
    ret;
}
"#;

/// `wait_for_host(flag, x)`: waits until the host has written to `flag`, and puts what it wrote into `x`.
pub(crate) const WAIT_FOR_HOST: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "wait_for_host.cu"
.visible .entry wait_for_host(.param .u64 flag, .param .u64 x)
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [flag];
    ld.param.u64 %rd2, [x];
    .loc 1 2 12
AGAIN:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra AGAIN;
    .loc 1 3 8
    st.global.u32 [%rd2], %r1;
    ret;
}
"#;

/// `divide(x, by)`: divides the number at `x`.
pub(crate) const DIVIDE: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "divide.cu"
.visible .entry divide(.param .u64 x, .param .u32 by)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [by];
    .loc 1 2 8
    ld.global.u32 %r2, [%rd1];
    div.u32 %r3, %r2, %r1;
    st.global.u32 [%rd1], %r3;
    ret;
}
"#;

/// `checked(x, i)`: sets the number `i` of four to 1, and traps if there is none.
pub(crate) const CHECKED: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "checked.cu"
.visible .entry checked(.param .u64 x, .param .u32 i)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [i];
    setp.lt.u32 %p1, %r1, 4;
    @%p1 bra GOOD;
    .loc 1 2 21
    trap;
GOOD:
    .loc 1 3 10
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r2, 1;
    st.global.u32 [%rd3], %r2;
    ret;
}
"#;

/// `copy_out(x, y)`: puts the number at `x` of each thread into `y`.
pub(crate) const COPY_OUT: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "copy_out.cu"
.visible .entry copy_out(.param .u64 x, .param .u64 y)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    .loc 1 2 27
    ld.global.u32 %r2, [%rd4];
    .loc 1 2 25
    st.global.u32 [%rd5], %r2;
    ret;
}
"#;

/// `fetch(t, i, out)`: `out` becomes texel `i` of linear memory.
pub(crate) const FETCH: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "fetch.cu"
.visible .entry fetch(.param .u64 t, .param .u32 i, .param .u64 out)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [t];
    ld.param.u32 %r1, [i];
    ld.param.u64 %rd2, [out];
    .loc 1 2 12
    tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd1, {%r1}];
    st.global.u32 [%rd2], %r2;
    ret;
}
"#;

/// `sample(t, x, y, out)`: `out` becomes the texel of a plane at integers `x`, `y`.
pub(crate) const SAMPLE: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "sample.cu"
.visible .entry sample(.param .u64 t, .param .u32 x, .param .u32 y, .param .u64 out)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [t];
    ld.param.u32 %r1, [x];
    ld.param.u32 %r2, [y];
    ld.param.u64 %rd2, [out];
    .loc 1 2 12
    tex.2d.v4.u32.s32 {%r3, %r4, %r5, %r6}, [%rd1, {%r1, %r2}];
    st.global.u32 [%rd2], %r3;
    ret;
}
"#;

/// `pick(s, x, y, out)`: `out` becomes the number of a surface at byte `x` of row `y`.
pub(crate) const PICK: &str = r#"
.version 8.4
.target sm_75
.address_size 64
.file 1 "pick.cu"
.visible .entry pick(.param .u64 s, .param .u32 x, .param .u32 y, .param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [s];
    ld.param.u32 %r1, [x];
    ld.param.u32 %r2, [y];
    ld.param.u64 %rd2, [out];
    .loc 1 2 12
    suld.b.2d.b32.trap %r3, [%rd1, {%r1, %r2}];
    st.global.u32 [%rd2], %r3;
    ret;
}
"#;
