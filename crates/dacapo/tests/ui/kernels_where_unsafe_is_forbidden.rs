// error: E0453
// says: allow(unsafe_code) incompatible with previous forbid
// why: a declaration is a promise about code that nobody checks: a crate that forbids unsafe code cannot give it
#![forbid(unsafe_code)]
use kit::*;

dacapo::kernels! { pub unsafe struct Own("") { fn relu(x: &mut [f32]) { default_grid: linear(x.len(), 256); } } } //~
//+ pub use kit::Nn as Own;

pub fn demo(device: &Device, stream: &Stream, mut x: Buffer<f32>) -> Result<()> {
    stream.run(Own::load(device)?.relu(&mut x))
}
