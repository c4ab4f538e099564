// error: none
// says: kernel `f`: found `requires` out of order or twice
// why: conditions stand in one list
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { fn f(x: &mut [f32]) { requires: x.len() > 0; requires: x.len() < 9; grid: linear(x.len(), 256); } } //~
    //+ pub unsafe struct K { fn f(x: &mut [f32]) { requires: x.len() > 0, x.len() < 9; grid: linear(x.len(), 256); } }
}
