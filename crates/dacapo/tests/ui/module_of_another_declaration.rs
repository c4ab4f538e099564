// error: E0308
// says: mismatched types
// why: in another declaration's hands an entry point would be launched with arguments that it does not have
use kit::*;

dacapo::kernels! {
    pub unsafe struct Reads("") {
        fn touch(y: &[f32]) { grid: linear(y.len(), 256); }
    }
}

dacapo::kernels! {
    pub unsafe struct Writes("") {
        fn touch(y: &mut [f32]) { grid: linear(y.len(), 256); }
    }
}

pub fn demo(device: &Device) -> Result<Reads> {
    Ok(Reads { module: Writes::load(device)?.module }) //~
    //+ Ok(Reads { module: Reads::load(device)?.module })
}
