//! Host memory that graphs copy from: it is there as long as work in flight uses it. (That nobody sees half of a copy
//! is tested beside `HostBuffer`, whose copies can be stopped there.)

use std::sync::atomic::{AtomicU32, Ordering};

use dacapo::{baked, upload};
use dacapo_driver::{Argument, CUresult, Call, Hook};

use crate::kit::{Bench, hooked};

/// Counts how often page-locked memory is given back.
#[derive(Default)]
struct Frees(AtomicU32);

impl Hook for Frees {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        if call == Call::cuMemFreeHost {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
        run()
    }
}

/// Giving page-locked memory back waits for the whole device: a drop must not.
#[test]
fn page_locked_memory_is_given_back_when_its_last_work_is_over_and_not_before() {
    let (bench, frees) = hooked(Frees::default());
    let Bench { device, stream, k } = &bench;
    let (host, mut x) = (device.host(&[7u32; 64]).unwrap(), device.zeros::<u32>(64).unwrap());
    // A long line, so that the last of it is far away.
    let mut graph = device
        .record(|r: &mut dacapo::Recorder<'_>| {
            for _ in 0..200 {
                r.run(k.put(baked(1), &mut x))?;
            }
            r.run(upload(&host, &mut x))
        })
        .unwrap();
    graph.launch(stream).unwrap();
    drop((graph, host));
    // Each looks through what was dropped.
    for _ in 0..3 {
        drop(device.zeros::<u32>(1).unwrap());
    }
    let given_back = frees.0.load(Ordering::SeqCst);
    assert!(!stream.is_done().unwrap(), "the launch is meant to be in flight");
    assert_eq!(given_back, 0);
    assert_eq!(stream.read(&x).unwrap(), [7; 64]);
    device.synchronize().unwrap();
    drop(device.zeros::<u32>(1).unwrap());
    assert_eq!(frees.0.load(Ordering::SeqCst), 1);
    bench.expect_no_findings();
}
