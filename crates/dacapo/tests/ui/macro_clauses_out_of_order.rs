// error: none
// says: kernel `f`: found `requires` out of order or twice; expected, each once: `entry`, `state`, `early`, `requires`
// why: clauses have one order
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { fn f(x: &mut [f32]) { grid: linear(x.len(), 256); requires: x.len() > 0; } } //~
    //+ pub unsafe struct K { fn f(x: &mut [f32]) { requires: x.len() > 0; grid: linear(x.len(), 256); } }
}
