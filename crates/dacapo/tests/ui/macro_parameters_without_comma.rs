// error: none
// says: kernel `f`: expected a parameter, `name: type` or `name: type = expression`, and a comma before the next, found `n: u32 x
// why: parameters are a list
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { fn f(n: u32 x: &mut [f32]) { grid: linear(x.len(), 256); } } //~
    //+ pub unsafe struct K { fn f(n: u32, x: &mut [f32]) { grid: linear(x.len(), 256); } }
}
