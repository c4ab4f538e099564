// error: E0133
// says: call to unsafe function
// why: the word `unsafe` in a declaration is a promise about kernels, not a block around the conditions
use kit::*;

pub unsafe fn odd(a: f32) -> bool {
    a != 0.0
}

dacapo::kernels! {
    pub unsafe struct Own {
        fn scale(n: i32 = y.len(), a: f32, y: &mut [f32]) {
            requires: odd(a); //~
            //+ requires: unsafe { odd(a) };
            grid: linear(y.len(), 256);
        }
    }
}
