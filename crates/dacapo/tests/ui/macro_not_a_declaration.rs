// error: none
// says: expected `unsafe struct Name("PTX") { fn kernel(parameters) { clauses } .. }`
// says: found `pub unsafe enum K
// why: the macro says what it takes
use kit::*;

dacapo::kernels! {
    /// One kernel.
    pub unsafe enum K { fn f(x: &mut [f32]) { grid: linear(x.len(), 256); } } //~
    //+ pub unsafe struct K { fn f(x: &mut [f32]) { grid: linear(x.len(), 256); } }
}
