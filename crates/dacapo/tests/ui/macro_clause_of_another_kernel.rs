// error: none
// says: kernel `g`: found the unknown clause `needs`
// why: the error names the kernel that it is about
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { fn f(x: &mut [f32]) { grid: linear(x.len(), 256); } fn g(x: &mut [f32]) { needs: x.len() > 0; grid: linear(x.len(), 256); } } //~
    //+ pub unsafe struct K { fn f(x: &mut [f32]) { grid: linear(x.len(), 256); } fn g(x: &mut [f32]) { requires: x.len() > 0; grid: linear(x.len(), 256); } }
}
