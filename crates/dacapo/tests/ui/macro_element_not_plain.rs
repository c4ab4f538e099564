// error: E0277
// says: `String` is not plain data that a GPU can hold
// why: elements are plain data
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { fn f(x: &mut [String]) { grid: linear(x.len(), 256); } } //~
    //+ pub unsafe struct K { fn f(x: &mut [u8]) { grid: linear(x.len(), 256); } }
}
