// error: none
// says: expected a kernel, `fn name(parameters) { clauses }`, found `pub fn f
// why: the methods have the visibility of their struct
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { pub fn f(x: &mut [f32]) { grid: linear(x.len(), 256); } } //~
    //+ pub unsafe struct K { fn f(x: &mut [f32]) { grid: linear(x.len(), 256); } }
}
