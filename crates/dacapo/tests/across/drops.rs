//! What is dropped while a copy between devices is in flight: nothing goes too early, nobody hangs, nothing stays.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use dacapo::raw::foreign;
use dacapo::{Device, Recorder, Result, Software, baked, copy, fill};
use dacapo_driver::types::CUcontext;
use dacapo_driver::{Call, Check, Count, Driver, Hooked};

use crate::kit::{SEEDS, group, in_time, pair, settled};

#[test]
fn memory_graph_and_stream_go_with_a_copy_in_flight() {
    for seed in SEEDS {
        let p = pair(seed);
        let mut last = p.d[1].zeros::<u32>(1 << 10).unwrap();
        for round in 0..4u32 {
            let mut near = p.d[0].zeros::<u32>(1 << 10).unwrap();
            let mut far = p.d[1].zeros::<u32>(1 << 10).unwrap();
            let stream = p.d[0].stream().unwrap();
            let mut graph = p.d[0]
                .record(|r: &mut Recorder<'_>| {
                    r.run(fill(&mut near, baked(round)))?;
                    r.run(copy(&near, &mut far))
                })
                .unwrap();
            graph.launch(&stream).unwrap();
            p.s[1].run(copy(&far, &mut last)).unwrap();
            match round {
                0 => drop((graph, near, far, stream)),
                1 => drop((far, near, stream, graph)),
                2 => drop((stream, graph, far, near)),
                _ => drop((near, stream, far, graph)),
            }
            // What comes now may lie where they were.
            let again = [0, 1].map(|n| p.d[n].buffer(&vec![77u32; 1 << 10]).unwrap());
            assert_eq!(p.s[1].read(&last).unwrap(), vec![round; 1 << 10], "seed {seed}");
            drop(again);
        }
        drop(last);
        p.settle();
    }
}

#[test]
fn the_handles_of_a_device_go_with_its_copies_in_flight() {
    for seed in SEEDS {
        for first in [0, 1] {
            let mut d = group(seed, 2);
            let machine = d[0].machine().unwrap().clone();
            let kept = d.remove(1 - first);
            let gone = d.pop().unwrap();
            let mut seen = kept.zeros::<u32>(256).unwrap();
            {
                let stream = gone.stream().unwrap();
                let mut x = gone.zeros::<u32>(256).unwrap();
                let mut graph = gone
                    .record(|r: &mut Recorder<'_>| {
                        r.run(fill(&mut x, baked(9)))?;
                        r.run(copy(&x, &mut seen))
                    })
                    .unwrap();
                (0..5).for_each(|_| drop(graph.launch(&stream).unwrap()));
            }
            drop(gone);
            let stream = kept.stream().unwrap();
            assert_eq!(stream.read(&seen).unwrap(), [9; 256], "seed {seed}");
            drop((seen, stream));
            settled(std::slice::from_ref(&kept), 0);
            drop(kept);
            let left = machine.census();
            assert_eq!((left.retains, left.allocations, left.streams), (0, 0, 0), "seed {seed}: {left:?}");
            assert!(machine.check().is_empty(), "{:?}", machine.check());
        }
    }
}

#[test]
fn a_context_that_another_library_holds_keeps_nothing_of_ours() {
    for seed in SEEDS {
        for first in [0, 1] {
            let mut d = group(seed, 2);
            let machine = d[0].machine().unwrap().clone();
            let mut theirs = CUcontext::NULL;
            for device in [0, 1] {
                // SAFETY: `theirs` is valid for the write; each is given back below.
                unsafe { machine.cuDevicePrimaryCtxRetain(&mut theirs, device) }
                    .check(Call::cuDevicePrimaryCtxRetain)
                    .unwrap();
            }
            let kept = d.remove(1 - first);
            let gone = d.pop().unwrap();
            let mut seen = kept.zeros::<u32>(256).unwrap();
            let (stream, behind) = (gone.stream().unwrap(), kept.stream().unwrap());
            let mut x = gone.zeros::<u32>(256).unwrap();
            stream.run(fill(&mut x, baked(9))).unwrap();
            stream.run(copy(&x, &mut seen)).unwrap();
            behind.run(fill(&mut seen, baked(3))).unwrap();
            drop((x, stream, gone));
            assert_eq!(behind.read(&seen).unwrap(), [3; 256], "seed {seed}");
            drop((seen, behind));
            settled(std::slice::from_ref(&kept), 0);
            drop(kept);
            let left = machine.census();
            assert_eq!(
                (left.retains, left.allocations, left.streams, left.events),
                (2, 0, 0, 0),
                "seed {seed}: {left:?}"
            );
            for device in [0, 1] {
                // SAFETY: retained above.
                unsafe { machine.cuDevicePrimaryCtxRelease_v2(device) }
                    .check(Call::cuDevicePrimaryCtxRelease_v2)
                    .unwrap();
            }
            assert!(machine.check().is_empty(), "{:?}", machine.check());
        }
    }
}

#[test]
fn a_device_whose_memory_is_being_read_goes() {
    for seed in SEEDS {
        let mut d = group(seed, 2);
        let gone = d.pop().unwrap();
        let stream = d[0].stream().unwrap();
        let (mut near, mut y) = (d[0].zeros::<u32>(1 << 12).unwrap(), d[0].zeros::<u32>(1 << 12).unwrap());
        let x = gone.buffer(&vec![6u32; 1 << 12]).unwrap();
        // The work that uses its memory is all of the other one.
        (0..20).for_each(|_| stream.run(fill(&mut near, baked(1))).unwrap());
        stream.run(copy(&x, &mut y)).unwrap();
        drop((x, gone));
        // Its context goes with those that may still be in it.
        assert_eq!(d[0].machine().unwrap().census().retains, 2);
        assert_eq!(stream.read(&y).unwrap(), vec![6; 1 << 12], "seed {seed}");
        drop((near, y, stream));
        settled(&d, 0);
    }
}

#[test]
fn the_last_handle_waits_for_work_that_may_be_in_the_memory_of_others() {
    let count = Arc::new(Count::new());
    let waits = |count: &Count| -> u64 {
        count.snapshot().iter().filter(|made| made.call == Call::cuEventSynchronize).map(|made| made.calls).sum()
    };
    for copies in [false, true] {
        let held = count.clone();
        // SAFETY: the hook passes everything on.
        let opened = unsafe { Software::new().open_group_hooked(2, |machine| Arc::new(Hooked::new(machine, held))) };
        let mut d = opened.unwrap();
        let gone = d.pop().unwrap();
        let (mut y, x) = (d[0].zeros::<u32>(4).unwrap(), gone.buffer(&[6u32; 4]).unwrap());
        let (mut z, stream) = (gone.zeros::<u32>(4).unwrap(), gone.stream().unwrap());
        let target = if copies { &mut y } else { &mut z };
        stream.run(copy(&x, target)).unwrap();
        drop((x, z, stream));
        let before = waits(&count);
        drop(gone);
        assert_eq!(waits(&count) > before, copies);
    }
}

#[test]
fn all_handles_go_at_once_on_several_threads() {
    for seed in SEEDS {
        in_time(move || {
            let d = group(seed, 3);
            let machine = d[0].machine().unwrap().clone();
            let mut x: Vec<_> = d.iter().map(|device| device.zeros::<u32>(64).unwrap()).collect();
            let s: Vec<_> = d.iter().map(|device| device.stream().unwrap()).collect();
            for round in 0..6 {
                let (from, to) = (round % 3, (round + 1) % 3);
                let [source, target] = x.get_disjoint_mut([from, to]).unwrap();
                s[round % 2 * to + (1 - round % 2) * from].run(copy(source, target)).unwrap();
            }
            let all: Vec<_> = d.into_iter().zip(x).zip(s).collect();
            std::thread::scope(|scope| all.into_iter().for_each(|one| drop(scope.spawn(move || drop(one)))));
            let left = machine.census();
            assert_eq!((left.retains, left.allocations, left.streams), (0, 0, 0), "seed {seed}: {left:?}");
            assert!(machine.findings().is_empty(), "{:?}", machine.findings());
        });
    }
}

#[test]
fn a_device_that_comes_and_goes_leaves_nothing_with_the_one_that_stays() {
    let d = group(2, 2);
    let machine = d[0].machine().unwrap().clone();
    let mut d = d.into_iter();
    let (stays, other) = (d.next().unwrap(), d.next().unwrap());
    let driver = machine.clone();
    let open: Arc<dyn dacapo_driver::Driver> = Arc::new(driver);
    drop(other);
    // SAFETY: the machine, which answers as it does.
    let [first, second] = [0, 1].map(|ordinal| unsafe { Device::from_driver(open.clone(), ordinal) }.unwrap());
    drop(stays);
    let (stream, mut counts) = (first.stream().unwrap(), Vec::new());
    drop(second);
    for _ in 0..24 {
        // SAFETY: as above.
        let comes = unsafe { Device::from_driver(open.clone(), 1) }.unwrap();
        let (x, mut y) = (comes.buffer(&[3u32; 8]).unwrap(), first.zeros::<u32>(8).unwrap());
        stream.run(copy(&x, &mut y)).unwrap();
        assert_eq!(stream.read(&y).unwrap(), [3; 8]);
        drop((x, y, comes));
        first.synchronize().unwrap();
        let census = machine.census();
        counts.push((census.retains, census.streams, census.events));
    }
    // A stream keeps some events, so the first ones add to them.
    assert!(counts[16..].windows(2).all(|two| two[0] == two[1]), "{counts:?}");
    drop((stream, first));
    assert_eq!(machine.census().retains, 0);
}

#[test]
fn the_last_handle_of_a_device_may_go_inside_foreign_work() {
    for seed in SEEDS {
        in_time(move || {
            let mut d = group(seed, 2);
            let gone = d.pop().unwrap();
            let stream = d[0].stream().unwrap();
            let mut y = d[0].zeros::<u32>(64).unwrap();
            {
                let (far, x) = (gone.stream().unwrap(), gone.buffer(&[4u32; 64]).unwrap());
                far.run(copy(&x, &mut y)).unwrap();
            }
            let held = Mutex::new(Some(gone));
            // SAFETY: it enqueues nothing.
            let op = unsafe {
                foreign((), &mut y[..], move |_, (), _| -> Result<()> {
                    drop(held.lock().unwrap().take());
                    Ok(())
                })
            };
            stream.run(op).unwrap();
            assert_eq!(stream.read(&y).unwrap(), [4; 64], "seed {seed}");
        });
    }
}

#[test]
fn forgotten_guards_and_panics_leave_the_other_device_working() {
    for seed in SEEDS {
        let p = pair(seed);
        let x = p.d[0].buffer(&[1u32; 8]).unwrap();
        let mut y = p.d[1].zeros::<u32>(8).unwrap();
        let began = AtomicBool::new(false);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            p.d[0].record(|r: &mut Recorder<'_>| {
                r.run(copy(&x, &mut y))?;
                began.store(true, Ordering::Relaxed);
                if began.load(Ordering::Relaxed) {
                    panic!("in the recording");
                }
                Ok(())
            })
        }));
        assert!(panicked.is_err());
        let mut graph = p.d[0].record(copy(&x, &mut y)).unwrap();
        std::mem::forget(graph.submit(&p.s[0]).unwrap());
        std::mem::forget(p.s[0].submit(copy(&x, &mut y)).unwrap());
        std::mem::forget(graph);
        assert_eq!(p.s[1].read(&y).unwrap(), [1; 8], "seed {seed}");
        assert!(p.d[0].findings().is_empty(), "{:?}", p.d[0].findings());
    }
}
