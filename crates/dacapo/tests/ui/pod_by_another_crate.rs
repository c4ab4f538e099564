// error: E0277
// says: the trait bound `bool: kit::bytemuck::Pod` is not satisfied
// why: a path that leads to a lenient `Pod` and to the real promises must not make a bool of any byte
use kit::*;

mod lenient {
    pub use kit::bytemuck;
    pub trait Pod {}
    impl Pod for bool {}
    impl Pod for u8 {}
}

#[derive(Clone, Copy, Debug, Pod)]
#[dacapo(crate = lenient)]
#[repr(C)]
struct Flag {
    set: bool, //~
    //+ set: u8,
}
impl dacapo::Pod for Flag {}

pub fn demo(device: &Device) -> Result<()> {
    let flags = device.zeros::<Flag>(1)?;
    Ok(())
}
