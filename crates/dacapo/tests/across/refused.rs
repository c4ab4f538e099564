//! What is refused: everything but a copy, and copies that run on neither of the two devices.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dacapo::{Device, ErrorKind, Recorder, Result, Slice, Software, baked, copy, download, fill, upload};
use dacapo_driver::{Argument, CUresult, Call, Hook, Hooked};

use crate::kit::{Kernels, group, pair};

#[track_caller]
fn wrong<T>(outcome: Result<T>, word: &str) {
    let error = outcome.err().expect("refused");
    assert!(matches!(error.kind(), ErrorKind::WrongDevice { .. }), "{error:?}");
    assert!(error.to_string().contains(word), "{error}");
}

#[test]
fn all_but_a_copy_stays_on_its_device() {
    let p = pair(0);
    let k = Kernels::load(&p.d[0]).unwrap();
    let (mut far, mut host) = (p.d[1].zeros::<u32>(4).unwrap(), p.d[0].host(&[0u32; 4]).unwrap());
    wrong(p.d[0].record(k.put(baked(1), &mut far)), "`y` is on device 1");
    wrong(p.s[0].run(fill(&mut far, baked(1))), "`target` is on device 1");
    wrong(p.s[0].run(upload(&host, &mut far)), "`target` is on device 1");
    wrong(p.s[0].run(download(&far, &mut host)), "`source` is on device 1");
    wrong(p.s[0].read(&far), "memory that `Stream::read` was given is on device 1");
    wrong(p.s[0].write(&mut far, &[0; 4]), "memory that `Stream::write` was given is on device 1");
    let (x, mut y) = (p.d[0].zeros::<u32>(4).unwrap(), p.d[0].zeros::<u32>(4).unwrap());
    let mut into = p.d[0].graph().record_into(&x[..], &mut y[..], |r, i, o| r.run(copy(i, o))).unwrap();
    wrong(into.launch(&p.s[0], &far, &mut y).map(drop), "device 1");
    let mut graph = p.d[0].record(copy(&x, &mut far)).unwrap();
    wrong(graph.launch(&p.s[1]).map(drop), "the stream is on device 1");
}

#[test]
fn a_copy_runs_on_one_of_its_two_devices() {
    let d = group(0, 3);
    let (x, mut y) = (d[1].buffer(&[1u32]).unwrap(), d[2].zeros::<u32>(1).unwrap());
    wrong(d[0].stream().unwrap().run(copy(&x, &mut y)), "`source` is on device 1");
    let mut z = d[1].zeros::<u32>(1).unwrap();
    wrong(d[0].record(copy(&x, &mut z)), "`source` is on device 1");
    d[2].stream().unwrap().run(copy(&x, &mut y)).unwrap();
}

#[test]
fn temps_of_another_devices_recording_do_not_come_in() {
    // Both recordings are the first of their device, and so have the same number.
    let d = group(0, 2);
    let mut x = d[0].zeros::<u32>(4).unwrap();
    let inner = |far: &Slice<u32>, x: &mut Slice<u32>| d[0].record(copy(far, x)).map(drop);
    let outer = d[1].record(|r: &mut Recorder<'_>| {
        let mut temp = r.alloc::<u32>(4)?;
        r.run(fill(&mut temp, baked(1)))?;
        inner(&temp, &mut x)
    });
    wrong(outer.map(drop), "device 1");
}

#[test]
fn two_machines_are_two_worlds() {
    let (a, b) = (Device::software().unwrap(), Device::software().unwrap());
    let (x, mut y) = (a.buffer(&[1u32]).unwrap(), b.zeros::<u32>(1).unwrap());
    wrong(a.stream().unwrap().run(copy(&x, &mut y)), "opened as number");
}

/// Refuses one call, as often as it is made, while it is told to.
struct Refuses(Call, AtomicBool);

impl Hook for Refuses {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        let refuses = call == self.0 && self.1.load(Ordering::Relaxed);
        if refuses { CUresult::CUDA_ERROR_NOT_PERMITTED } else { run() }
    }
}

#[test]
fn a_way_that_cannot_be_opened_is_tried_again_by_the_next() {
    for call in [
        Call::cuDeviceCanAccessPeer,
        Call::cuCtxEnablePeerAccess,
        Call::cuDeviceGetMemPool,
        Call::cuMemPoolSetAccess,
        Call::cuMemcpyPeerAsync,
    ] {
        let hook = Arc::new(Refuses(call, AtomicBool::new(true)));
        let held = hook.clone();
        // SAFETY: the hook refuses, and passes everything else on.
        let d =
            unsafe { Software::new().open_group_hooked(2, |machine| Arc::new(Hooked::new(machine, held))) }.unwrap();
        let (x, mut y) = (d[0].buffer(&[1u32]).unwrap(), d[1].zeros::<u32>(1).unwrap());
        let stream = d[0].stream().unwrap();
        let error = stream.run(copy(&x, &mut y)).unwrap_err();
        assert!(error.to_string().contains(call.symbol()) && error.to_string().contains("refused.rs"), "{error}");
        hook.1.store(false, Ordering::Relaxed);
        stream.run(copy(&x, &mut y)).unwrap();
        assert_eq!(d[1].stream().unwrap().read(&y).unwrap(), [1]);
        assert!(d[0].findings().is_empty(), "{:?}", d[0].findings());
    }
}
