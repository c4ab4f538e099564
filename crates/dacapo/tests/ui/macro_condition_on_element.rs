// error: E0608
// says: cannot index into a value of type
// why: the host does not know what is in device memory
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { fn f(x: &mut [f32]) { requires: x[0] > 0.0; grid: linear(x.len(), 256); } } //~
    //+ pub unsafe struct K { fn f(x: &mut [f32]) { requires: !x.is_empty(); grid: linear(x.len(), 256); } }
}
