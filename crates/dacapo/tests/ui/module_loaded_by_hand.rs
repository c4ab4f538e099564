// error: E0133
// says: call to unsafe function
// why: a declaration is a promise, which only `unsafe struct` in `kernels!` gives
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    dacapo::__private::LoadedModule::<Nn>::load(device, "")?; //~
    //+ unsafe { dacapo::__private::LoadedModule::<Nn>::load(device, "")? };
    Ok(())
}
