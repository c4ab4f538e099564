// error: E0425
// says: cannot find value
// why: a condition sees the arguments and nothing of the program that changes
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { fn f(x: &mut [f32]) { requires: x.len() < limit; grid: linear(x.len(), 256); } } //~
    //+ pub unsafe struct K { fn f(limit: u32, x: &mut [f32]) { requires: x.len() < limit as usize; grid: linear(x.len(), 256); } }
}
