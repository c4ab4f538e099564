// error: none
// says: kernel `f`: found `early` out of order or twice; expected, each once: `entry`, `state`, `early`, `requires`, then
// why: a clause in another place must not be taken for something else
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { fn f(x: &[f32]) { requires: x.len() > 0; early: x; grid: linear(x.len(), 256); } } //~
    //+ pub unsafe struct K { fn f(x: &[f32]) { early: x; requires: x.len() > 0; grid: linear(x.len(), 256); } }
}
