//! Fills of elements of every size: by a memset where there is one, by kernels of the library's own where not.

use dacapo::{Device, Pod, Slot, baked, fill};

use super::check::{Outcome, same, shape};
use super::forms;

forms!("fills": by_memset, by_kernel, long_elements, by_slot, parts, by_slot_long);

/// Fills a buffer with a baked value, recorded and eagerly; `ops` is how many nodes that takes.
#[track_caller]
fn filled<T: Pod + PartialEq>(device: &Device, value: T, ops: usize) -> Outcome {
    let stream = device.stream()?;
    for len in [1, 5, 70] {
        let (mut x, mut y) = (device.zeros::<T>(len)?, device.zeros::<T>(len)?);
        let mut graph = device.record(fill(&mut x, baked(value)))?;
        let line: Vec<(usize, usize)> = (1..ops).map(|op| (op - 1, op)).collect();
        shape(&graph, ops, &line)?;
        graph.launch(&stream)?;
        stream.run(fill(&mut y, baked(value)))?;
        same("recorded", stream.read(&x)?, vec![value; len])?;
        same("eagerly", stream.read(&y)?, vec![value; len])?;
    }
    Ok(())
}

/// 1, 2 and 4 bytes.
fn by_memset(device: &Device) -> Outcome {
    filled(device, 0xabu8, 1)?;
    filled(device, -12_345i16, 1)?;
    filled(device, 1.5e-3f32, 1)?;
    filled(device, [1u8, 2], 1)?;
    filled(device, [1u8, 2, 3, 4], 1)
}

/// 3, 8, 12 and 16 bytes.
fn by_kernel(device: &Device) -> Outcome {
    filled(device, [1u8, 2, 3], 1)?;
    filled(device, std::f64::consts::PI, 1)?;
    filled(device, 0x0123_4567_89ab_cdefu64, 1)?;
    filled(device, [1.0f32, 2.0, 3.0], 1)?;
    filled(device, [7u64, 9], 1)
}

/// 64 bytes in one launch, more in several.
fn long_elements(device: &Device) -> Outcome {
    filled(device, std::array::from_fn::<u32, 16, _>(|i| i as u32 + 1), 1)?;
    filled(device, std::array::from_fn::<u32, 17, _>(|i| i as u32 + 1), 2)?;
    filled(device, std::array::from_fn::<u8, 100, _>(|i| i as u8 + 1), 2)?;
    filled(device, std::array::from_fn::<u64, 32, _>(|i| i as u64 * 3 + 1), 4)
}

/// Values that change between replays, by memset and by kernel.
fn by_slot(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let (mut x, mut y, mut z) = (device.zeros::<u16>(9)?, device.zeros::<f64>(9)?, device.zeros::<[u8; 3]>(9)?);
    let (a, b, c) = (Slot::new(1u16), Slot::new(0.5f64), Slot::new([1u8, 2, 3]));
    let mut graph = device.record(|r| {
        r.run(fill(&mut x, &a))?;
        r.run(fill(&mut y, &b))?;
        r.run(fill(&mut z, &c))
    })?;
    shape(&graph, 3, &[])?;
    graph.launch(&stream)?;
    same("x", stream.read(&x)?, [1; 9])?;
    a.set(60_000);
    b.set(-0.25);
    c.set([9, 8, 7]);
    graph.launch(&stream)?;
    same("x", stream.read(&x)?, [60_000; 9])?;
    same("y", stream.read(&y)?, [-0.25; 9])?;
    same("z", stream.read(&z)?, [[9, 8, 7]; 9])
}

/// A part of a buffer, at an address that is not a multiple of much; the rest stays.
fn parts(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let (mut x, mut y) = (device.zeros::<u8>(10)?, device.zeros::<[u8; 3]>(10)?);
    let mut graph = device.record(|r| {
        r.run(fill(&mut x[3..8], baked(1)))?;
        r.run(fill(&mut x[5..6], baked(2)))?;
        r.run(fill(&mut y[1..3], baked([4, 5, 6])))
    })?;
    shape(&graph, 3, &[(0, 1)])?;
    graph.launch(&stream)?;
    same("x", stream.read(&x)?, [0, 0, 0, 1, 1, 2, 1, 1, 0, 0])?;
    let mut want = [[0; 3]; 10];
    want[1..3].fill([4, 5, 6]);
    same("y", stream.read(&y)?, want)
}

/// A slot of more than 64 bytes: every part is told.
fn by_slot_long(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let mut x = device.zeros::<[u32; 40]>(3)?;
    let value = Slot::new([1u32; 40]);
    let mut graph = device.record(fill(&mut x, &value))?;
    shape(&graph, 3, &[(0, 1), (1, 2)])?;
    graph.launch(&stream)?;
    same("first", stream.read(&x)?, [[1; 40]; 3])?;
    let next = std::array::from_fn(|i| i as u32);
    value.set(next);
    graph.launch(&stream)?;
    same("then", stream.read(&x)?, [next; 3])
}
