// error: none
// says: kernel `f`: expected `requires: condition, condition;`, with the `;` at its end, found `requires: x.len() > 0 grid
// why: where a clause ends is written
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { fn f(x: &mut [f32]) { requires: x.len() > 0 grid: linear(x.len(), 256); } } //~
    //+ pub unsafe struct K { fn f(x: &mut [f32]) { requires: x.len() > 0; grid: linear(x.len(), 256); } }
}
