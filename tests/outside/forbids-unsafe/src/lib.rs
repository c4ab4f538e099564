//! A crate that forbids unsafe code and uses another's kernels.
#![forbid(unsafe_code)]

use dacapo::{Device, Result, Slot};
use kernels_of_another::Kernels;

/// a·x, by a graph.
pub fn scaled(device: &Device, a: f32, x: &[f32]) -> Result<Vec<f32>> {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y) = (device.buffer(x)?, device.zeros::<f32>(x.len())?);
    let a = Slot::new(a);
    let mut graph = device.record(k.saxpy(&a, &x, &mut y))?;
    graph.launch(&stream)?;
    stream.read(&y)
}

#[test]
fn it_runs() {
    assert_eq!(scaled(&Device::software().unwrap(), 3.0, &[1.0, 2.0]).unwrap(), [3.0, 6.0]);
}
