// error: E0599
// says: named `load` found for struct `K`
// why: a declaration without a text is for one that is made at run time, and promised then
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { fn f(x: &mut [f32]) { grid: linear(x.len(), 256); } }
}

pub fn demo(device: &Device, text: &str) -> Result<K> {
    K::load(device) //~
    //+ unsafe { K::load_ptx(device, text) }
}
