// error: E0308
// says: mismatched types
// why: a condition is true or false
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { fn f(x: &mut [f32]) { requires: x.len(); grid: linear(x.len(), 256); } } //~
    //+ pub unsafe struct K { fn f(x: &mut [f32]) { requires: x.len() > 0; grid: linear(x.len(), 256); } }
}
