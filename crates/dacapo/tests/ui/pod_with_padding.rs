// error: E0080
// says: `Pair` has padding between or behind its fields
// where: anywhere
// why: bytes that nobody wrote must not reach a kernel
use kit::*;

#[derive(Clone, Copy, Debug, Pod)]
#[dacapo(crate = kit::dacapo)]
#[repr(C)]
struct Pair {
    a: u32,
    b: f64, //~
    //+ b: f32,
}

pub fn demo(device: &Device) -> Result<()> {
    let pairs = device.zeros::<Pair>(1)?;
    Ok(())
}
