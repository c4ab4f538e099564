// error: E0277
// says: the trait bound `f32: TryFrom<usize>` is not satisfied
// why: a derived parameter is converted with a check, or not at all
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { fn f(x: &mut [f32], n: f32 = x.len()) { grid: linear(x.len(), 256); } } //~
    //+ pub unsafe struct K { fn f(x: &mut [f32], n: u32 = x.len()) { grid: linear(x.len(), 256); } }
}
