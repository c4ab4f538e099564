// error: E0277
// says: Pod` is not satisfied
// why: a struct is an element only if bytemuck knows that it has no padding
use kit::*;

#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Pair(u8, u32);
impl dacapo::Pod for Pair {} //~
//+
