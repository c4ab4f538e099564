// error: none
// says: no rules expected
// why: an arm of the macro that makes a launch is as `unsafe` as the declaration
use kit::*;

dacapo::kernels! {
    pub unsafe struct Own {
        #[cfg(any())]
        fn clear(y: &mut [f32]) { grid: linear(y.len(), 256); }
    }
}

macro_rules! arm {
    ($($word:tt)?) => {
        dacapo::__kernels! {
            @parameters [y: &mut [f32]] [] [method $($word)? [] [pub] clear [] [grid::linear(y.len(), 256)]] []
        }
    };
}

impl Own {
    arm! {} //~
    //+ arm! { unsafe }
}
