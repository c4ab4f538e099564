// error: none
// says: kernel `f` has no geometry: expected as its last clause `grid: ..;` or `default_grid: ..;`
// why: a kernel without a geometry cannot be launched
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { fn f(x: &mut [f32]) { requires: x.len() > 0; } } //~
    //+ pub unsafe struct K { fn f(x: &mut [f32]) { requires: x.len() > 0; grid: linear(x.len(), 256); } }
}
