// error: E0614
// says: cannot be dereferenced
// why: the host does not know what is in device memory
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { fn f(s: &f32, x: &mut [f32]) { requires: *s > 0.0; grid: linear(x.len(), 256); } } //~
    //+ pub unsafe struct K { fn f(s: f32, x: &mut [f32]) { requires: s > 0.0; grid: linear(x.len(), 256); } }
}
