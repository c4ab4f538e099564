// error: none
// says: kernel `f`: found the unknown clause `needs`; expected `entry`, `state`, `early`, `requires`, `grid` or `default_grid`
// why: a misspelled condition must not be a missing one
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { fn f(x: &mut [f32]) { needs: x.len() > 0; grid: linear(x.len(), 256); } } //~
    //+ pub unsafe struct K { fn f(x: &mut [f32]) { requires: x.len() > 0; grid: linear(x.len(), 256); } }
}
