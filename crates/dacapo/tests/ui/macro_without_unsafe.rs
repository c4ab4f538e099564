// error: none
// says: write `unsafe struct`: a declaration promises what nobody checks in full
// why: the declaration is a promise, and the word says so
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub struct K { fn f(x: &mut [f32]) { grid: linear(x.len(), 256); } } //~
    //+ pub unsafe struct K { fn f(x: &mut [f32]) { grid: linear(x.len(), 256); } }
}
