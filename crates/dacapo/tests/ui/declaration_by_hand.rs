// error: E0200
// says: requires an `unsafe impl` declaration
// why: a declaration is a promise, which only `unsafe struct` in `kernels!` gives
use kit::*;

pub struct Own;

impl dacapo::__private::Declared for Own { //~
//+ unsafe impl dacapo::__private::Declared for Own {
    const KERNELS: &'static [dacapo::__private::KernelDecl] =
        &[dacapo::__private::KernelDecl::new("any", &[])];
}
