// error: E0308
// says: mismatched types
// why: a condition that could end the recipe early would leave the kernel's arguments out
use kit::*;

dacapo::kernels! {
    pub unsafe struct Own {
        fn clear(y: &mut [f32]) {
            requires: { return Ok(grid::linear(y.len(), 256)) }; //~
            //+ requires: { return y.len() > 1 };
            grid: linear(y.len(), 256);
        }
    }
}
