// error: none
// says: `Pod` needs `#[repr(C)]`
// why: the fields may lie in any order, and a kernel must know theirs
use kit::*;

#[derive(Clone, Copy, Debug, Pod)]
#[dacapo(crate = kit::dacapo)]
struct Pair { a: u32, b: f32 } //~
//+ #[repr(C)] struct Pair { a: u32, b: f32 }

pub fn demo(device: &Device) -> Result<()> {
    let pairs = device.zeros::<Pair>(1)?;
    Ok(())
}
