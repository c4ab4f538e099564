// error: E0415
// says: identifier `y` is bound more than once in this parameter list
// why: inside the recipe the second would stand for both, and a number would be launched as an address
use kit::*;

dacapo::kernels! {
    pub unsafe struct Own {
        fn clear(y: u64 = y.len(), y: &mut [f32]) { grid: exact([1, 1, 1], [1, 1, 1]); } //~
        //+ fn clear(n: u64 = y.len(), y: &mut [f32]) { grid: exact([1, 1, 1], [1, 1, 1]); }
    }
}
