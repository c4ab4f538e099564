//! CUDA C compiled by NVRTC at run time. Where there is no NVRTC the forms do nothing, and `Form::lacks` says so.

use std::sync::OnceLock;

use dacapo::interop::nvrtc::{self, Options, Ptx};
use dacapo::raw::{RawArg, RawKernel};
use dacapo::{Device, ErrorKind, baked, grid};

use super::check::{Outcome, holds, refused, same};
use super::forms;

forms!("nvrtc": declared_and_raw, mistake);

const SOURCE: &str = r#"extern "C" __global__ void scale(float* y, unsigned n, float a) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * y[i];
}"#;

dacapo::kernels! {
    unsafe struct Compiled {
        fn scale(y: &mut [f32], n: u32 = y.len(), a: f32) {
            grid: linear(y.len(), 64);
        }
    }
}

/// Compiled once for all devices of the process, or none if this machine has no compiler.
fn compiled() -> dacapo::Result<Option<&'static Ptx>> {
    static PTX: OnceLock<Option<Ptx>> = OnceLock::new();
    if let Some(ptx) = PTX.get() {
        return Ok(ptx.as_ref());
    }
    let ptx = match nvrtc::compile(SOURCE, &Options::new().name("scale.cu")) {
        Ok(ptx) => Some(ptx),
        // `cargo xtask nvrtc` brings one, and says that it must be there.
        Err(error)
            if matches!(error.kind(), ErrorKind::NoLibrary { .. })
                && std::env::var_os("DACAPO_NEED_NVRTC").is_none() =>
        {
            None
        }
        Err(error) => return Err(error),
    };
    Ok(PTX.get_or_init(|| ptx).as_ref())
}

/// Whether this machine has no compiler.
pub(super) fn is_missing() -> bool {
    matches!(compiled(), Ok(None))
}

/// The same text behind a declaration and as a raw kernel.
fn declared_and_raw(device: &Device) -> Outcome {
    let Some(ptx) = compiled()? else { return Ok(()) };
    let (stream, mut y) = (device.stream()?, device.buffer(&[1.0f32, 2.0, 3.0])?);
    // SAFETY: the declaration is true of the source above.
    let declared = unsafe { Compiled::load_ptx(device, ptx) }?;
    let mut graph = device.record(declared.scale(&mut y, baked(2.0)))?;
    graph.launch(&stream)?;
    let raw = RawKernel::load(device, ptx, "scale")?;
    let arguments = vec![RawArg::write(&mut y), RawArg::value(baked(3u32)), RawArg::value(baked(0.25f32))];
    // SAFETY: it stays below n, which is the length.
    let mut other = device.record(unsafe { raw.launch(grid::linear(3, 64), arguments) })?;
    other.launch(&stream)?;
    same("y", stream.read(&y)?, [0.5, 1.0, 1.5])
}

/// A mistake is told with the line of the program; a declaration that is not true of a text is refused.
fn mistake(device: &Device) -> Outcome {
    let Some(ptx) = compiled()? else { return Ok(()) };
    let wrong = nvrtc::compile("__device__ int f() {\n    return x;\n}", &Options::new().name("mine.cu"));
    let error = refused("a mistake", wrong, |kind| matches!(kind, ErrorKind::Compile { .. }))?;
    holds("its line is told", error.to_string().contains("mine.cu(2)"))?;
    let missing = RawKernel::load(device, ptx, "skale");
    refused("no such kernel", missing, |kind| matches!(kind, ErrorKind::NoSuchKernel { .. })).map(drop)
}
