// error: E0425
// says: cannot find value `z` in this scope
// why: derived parameters know the declared ones
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { fn f(x: &mut [f32], n: u32 = z.len()) { grid: linear(x.len(), 256); } } //~
    //+ pub unsafe struct K { fn f(x: &mut [f32], n: u32 = x.len()) { grid: linear(x.len(), 256); } }
}
