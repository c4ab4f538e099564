// error: none
// says: kernel `f`: the parameter `n` has no type: write `n: f32` for a value
// why: the type decides what the method takes
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { fn f(n, x: &mut [f32]) { grid: linear(x.len(), 256); } } //~
    //+ pub unsafe struct K { fn f(n: u32, x: &mut [f32]) { grid: linear(x.len(), 256); } }
}
