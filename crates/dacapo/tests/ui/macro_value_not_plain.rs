// error: E0277
// says: `bool` is not plain data that a GPU can hold
// why: by-value parameters are plain data
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { fn f(on: bool, x: &mut [f32]) { grid: linear(x.len(), 256); } } //~
    //+ pub unsafe struct K { fn f(on: u8, x: &mut [f32]) { grid: linear(x.len(), 256); } }
}
