// error: none
// says: only a struct is plain data
// why: most bit patterns are none of the variants
use kit::*;

#[derive(Clone, Copy, Debug, Pod)]
#[dacapo(crate = kit::dacapo)]
#[repr(C)]
enum Color { Red, Green } //~
//+ struct Color(u32);

pub fn demo(device: &Device) -> Result<()> {
    let colors = device.zeros::<Color>(1)?;
    Ok(())
}
