//! Control flow on the device: each construct gives what the same Rust gives, eagerly and replayed.

use dacapo::flow::{Condition, above, below, equal, nonzero, unbounded, up_to};
use dacapo::{Device, Op, Recorder, Result, Scalar, Slot, Stream, baked, copy, fill};

dacapo::kernels! {
    unsafe struct Kernels(include_str!("../kernels/saxpy.ptx")) {
        /// sum += a * x, for one value.
        fn add(a: f32, x: &f32, sum: &mut f32, n: u32 = 1) { entry: "saxpy"; grid: linear(1, 1); }
    }
}

struct Bench {
    device: Device,
    stream: Stream,
    k: Kernels,
    one: Scalar<f32>,
}

fn bench() -> Bench {
    let device = Device::software().unwrap();
    let (stream, k, one) = (device.stream().unwrap(), Kernels::load(&device).unwrap(), device.scalar(1.0).unwrap());
    Bench { device, stream, k, one }
}

/// Runs the op eagerly, then records it and launches it, each time from the same beginning: both give the same.
fn both<T: PartialEq + std::fmt::Debug>(
    bench: &Bench,
    mut begin: impl FnMut(),
    mut op: impl for<'a, 'r> FnMut(&'a mut Recorder<'r>) -> Result<()>,
    mut end: impl FnMut() -> T,
) -> T {
    begin();
    bench.stream.run(|r: &mut Recorder<'_>| op(r)).unwrap();
    let eager = end();
    let mut graph = bench.device.record(|r: &mut Recorder<'_>| op(r)).unwrap();
    for _ in 0..2 {
        begin();
        graph.launch(&bench.stream).unwrap();
        assert_eq!(end(), eager);
    }
    eager
}

#[test]
fn a_loop_runs_until_its_condition_fails() {
    let b = bench();
    let cell = std::cell::RefCell::new((b.device.scalar(0.0).unwrap(), b.device.scalar(0u32).unwrap()));
    let result = both(
        &b,
        || cell.borrow_mut().0.set(&b.stream, 10.0).unwrap(),
        |r| {
            let (left, used) = &mut *cell.borrow_mut();
            let rounds = r.repeat(up_to(baked(100)), |r| {
                r.run(b.k.add(baked(-1.0), &b.one, left))?;
                Ok(above(&*left, baked(4.0)))
            })?;
            r.run(copy(rounds.count().as_slice(), used.as_mut_slice()))
        },
        || {
            let cell = cell.borrow();
            (cell.0.get(&b.stream).unwrap(), cell.1.get(&b.stream).unwrap())
        },
    );
    assert_eq!(result, (4.0, 6));
}
