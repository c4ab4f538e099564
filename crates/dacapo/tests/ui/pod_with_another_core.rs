// error: E0080
// says: index out of bounds
// where: anywhere
// why: a program may call another crate `core`: no check of the layout depends on that name
use kit::*;

extern crate self as core;

pub mod mem {
    pub const fn size_of<T>() -> usize {
        0
    }
}

#[macro_export]
macro_rules! assert {
    ($($all:tt)*) => {};
}

#[derive(Clone, Copy, Debug, Pod)]
#[dacapo(crate = kit::dacapo)]
#[repr(C)]
struct Padded {
    flag: u8, //~
    //+ flag: u32,
    number: u32,
}

pub fn demo(device: &Device) -> Result<()> {
    device.zeros::<Padded>(1)?;
    Ok(())
}
