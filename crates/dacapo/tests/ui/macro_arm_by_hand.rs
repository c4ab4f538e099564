// error: none
// says: no rules expected
// why: an arm of the macro that makes a launch is as `unsafe` as the declaration
use kit::*;

dacapo::kernels! {
    pub unsafe struct Own("") {
        #[cfg(any())]
        fn clear(y: &mut [f32]) { grid: linear(y.len(), 256); }
    }
}

impl Own {
    dacapo::kernels! {@params [] [pub] clear [grid: linear(y.len(), 256);] [y: &mut [f32]] args[] wrap[] vals[] seen[] derived[] access[] all[]; y: &mut [f32],} //~
    //+ dacapo::kernels! {@params unsafe [] [pub] clear [grid: linear(y.len(), 256);] [y: &mut [f32]] args[] wrap[] vals[] seen[] derived[] access[] all[]; y: &mut [f32],}
}
