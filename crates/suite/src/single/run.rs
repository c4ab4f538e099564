//! Runs one instruction on all its inputs.

use dacapo_driver::types::CUstream;

use super::{Out, Single};
use crate::session::{Geometry, Refused, Session};

/// Threads of a block.
const BLOCK: u32 = 128;

/// The PTX of a kernel that applies the instruction to each element.
pub fn ptx(single: &Single) -> String {
    let take = match single.out {
        Out::W32 => "cvt.u64.u32 %D, %d;",
        Out::W64 => "",
        Out::H16 => "cvt.u64.u16 %D, %hd;",
        Out::F32 => "mov.b32 %d, %fd; cvt.u64.u32 %D, %d;",
        Out::F64 => "mov.b64 %D, %gd;",
        Out::P => "selp.u64 %D, 1, 0, %p;",
    };
    let body = &single.body;
    format!(
        "//{name}
.version 8.4
.target sm_90
.address_size 64
.visible .entry single(.param .u64 input, .param .u64 output, .param .u32 count) {{
    .reg .pred %p, %q, %out; .reg .b32 %a, %b, %c, %d, %e, %f, %i, %n; .reg .b64 %A, %B, %C, %D, %E, %in, %o;
    .reg .b16 %ha, %hb, %hc, %hd, %he; .reg .f32 %fa, %fb, %fc, %fd, %fe; .reg .f64 %ga, %gb, %gc, %gd;
    mov.u32 %a, %ctaid.x; mov.u32 %b, %ntid.x; mov.u32 %c, %tid.x; mad.lo.u32 %i, %a, %b, %c;
    ld.param.u32 %n, [count]; setp.ge.u32 %out, %i, %n; @%out bra END;
    ld.param.u64 %in, [input]; ld.param.u64 %o, [output];
    mad.wide.u32 %in, %i, 24, %in; mad.wide.u32 %o, %i, 8, %o;
    ld.global.u64 %A, [%in]; ld.global.u64 %B, [%in+8]; ld.global.u64 %C, [%in+16];
    cvt.u32.u64 %a, %A; cvt.u32.u64 %b, %B; cvt.u32.u64 %c, %C;
    cvt.u16.u64 %ha, %A; cvt.u16.u64 %hb, %B; cvt.u16.u64 %hc, %C;
    mov.b32 %fa, %a; mov.b32 %fb, %b; mov.b32 %fc, %c;
    mov.b64 %ga, %A; mov.b64 %gb, %B; mov.b64 %gc, %C;
    {body}
    {take}
    st.global.u64 [%o], %D;
END:
    ret;
}}
",
        name = single.name
    )
}

/// The results, one for each input, extended to 64 bits.
///
/// # Errors
///
/// - The driver refused the text or the launch.
pub fn run(session: &mut Session<'_>, single: &Single) -> Result<Vec<u64>, Refused> {
    let function = session.kernel(&format!("single/{}", single.name), &ptx(single), "single")?;
    let bytes: Vec<u8> = single.inputs.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    let count = single.inputs.len();
    let (input, output) = (session.buffer(&bytes)?, session.buffer(&vec![0xc5; 8 * count])?);
    let geometry = Geometry { grid: [(count as u32).div_ceil(BLOCK), 1, 1], block: [BLOCK, 1, 1], shared_bytes: 0 };
    let arguments = [
        input.address().to_le_bytes().to_vec(),
        output.address().to_le_bytes().to_vec(),
        (count as u32).to_le_bytes().to_vec(),
    ];
    session.launch(function, geometry, CUstream::NULL, &arguments, &single.name)?;
    session.synchronize(CUstream::NULL, &single.name)?;
    let read = output.read()?;
    Ok(read.chunks_exact(8).map(|word| u64::from_le_bytes(std::array::from_fn(|at| word[at]))).collect())
}
