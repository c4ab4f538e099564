// error: none
// says: kernel `f`: expected `grid: linear(n, threads);`, with the `;` at its end, found `grid: linear(x.len(), 256)`
// why: the last clause ends like the others
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { fn f(x: &mut [f32]) { grid: linear(x.len(), 256) } } //~
    //+ pub unsafe struct K { fn f(x: &mut [f32]) { grid: linear(x.len(), 256); } }
}
