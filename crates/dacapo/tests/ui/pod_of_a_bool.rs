// error: E0277
// says: `bool` is not plain data that a GPU can hold
// why: most bit patterns are no bool
use kit::*;

#[derive(Clone, Copy, Debug, Pod)]
#[dacapo(crate = kit::dacapo)]
#[repr(C)]
struct Flag {
    set: bool, //~
    //+ set: u8,
}

pub fn demo(device: &Device) -> Result<()> {
    let flags = device.zeros::<Flag>(1)?;
    Ok(())
}
