// error: E0133
// says: call to unsafe function
// why: a declaration is a promise, which only `unsafe struct` in `kernels!` gives
use kit::*;

static DECL: dacapo::__private::KernelDecl =
    dacapo::__private::KernelDecl { name: "any", entry: "any", tunable: false, params: &[], state: &[] };

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    dacapo::__private::LoadedModule::load(device, "", &[&DECL])?; //~
    //+ unsafe { dacapo::__private::LoadedModule::load(device, "", &[&DECL])? };
    Ok(())
}
