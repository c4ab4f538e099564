// error: none
// says: kernel `f` has both `grid` and `default_grid`: expected one of them
// why: a geometry is fixed, or it is a default
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe struct K { fn f(x: &mut [f32]) { grid: linear(x.len(), 256); default_grid: linear(x.len(), 256); } } //~
    //+ pub unsafe struct K { fn f(x: &mut [f32]) { default_grid: linear(x.len(), 256); } }
}
