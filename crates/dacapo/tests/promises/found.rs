//! What the software device finds is found at an op: `Device::found` names it, and `is_at` finds its node in a report.

use dacapo::capture::{self, CaptureStream, Mode};
use dacapo::flow::{below, nonzero, unbounded};
use dacapo::inspect::{Finding, Report};
use dacapo::op::BoxOp;
use dacapo::raw::{RawSlice, foreign};
use dacapo::{Buffer, Device, ErrorKind, Op, Recorder, Slice, Slot, Software, baked, copy, fill};
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::{Detectors, Machine};

use crate::kit::{Bench, benches, panics};

dacapo::kernels! {
    /// Declarations that promise too much.
    unsafe struct Careless(include_str!("kernels.ptx")) {
        /// y[index] ← 1, by two blocks that nothing orders
        fn store_twice(index: u32, y: &mut [u32]) {
            entry: "store_at";
            grid: exact([2, 1, 1], [1, 1, 1]);
        }
        /// y ← value in its first `len` elements, and said to be all of it
        fn put_some(value: u32, len: u32, y: &out [u32]) {
            entry: "put";
            grid: linear(len as usize, 32);
        }
        /// y ← x[offset ..]
        fn window_of(offset: u32, n: u32 = y.len(), x: &[u32], y: &out [u32]) {
            entry: "window";
            grid: linear(y.len(), 64);
        }
    }
}

/// The one finding, which must be of this word.
#[track_caller]
fn only(device: &Device, word: &str) -> Finding {
    let found = device.found();
    let reports: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(reports, device.findings());
    let [one] = &found[..] else { panic!("{reports:#?}") };
    assert_eq!(one.code, word, "{one}");
    assert!(one.report.starts_with(&format!("error[{word}]: {}\n", one.what)), "{one}");
    one.clone()
}

/// The finding is at one op of this name and label on this line of the file, and says so once.
#[track_caller]
fn expect_op(finding: &Finding, name: &str, label: &str, line: u32) {
    let [op] = &finding.ops[..] else { panic!("{:?} in\n{finding}", finding.ops) };
    let place = op.location.as_ref().expect("it was made somewhere");
    assert_eq!((op.name.as_str(), op.label.as_str(), place.line), (name, label, line), "{finding}");
    assert!(place.file.ends_with("found.rs"), "{place}");
    let labelled = if label.is_empty() { String::new() } else { format!(", labelled `{label}`") };
    let line = format!("\n  --> {place}      op `{name}`{labelled}\n");
    assert_eq!(finding.report.matches(&line).count(), 1, "{line} in\n{finding}");
}

/// The nodes of a report that the finding is at.
fn nodes(report: &Report, finding: &Finding) -> Vec<usize> {
    report.nodes.iter().filter(|node| finding.is_at(node)).map(|node| node.index).collect()
}

/// Where a buffer is.
fn address(device: &Device, buffer: &mut Buffer<u32>) -> u64 {
    let line = CaptureStream::new(device).unwrap();
    // SAFETY: nothing is captured; only the address is asked for.
    unsafe { capture::begin(&line, Mode::Relaxed) }.unwrap().writes(buffer).unwrap().ptr
}

/// Frees memory behind the library's back, as a library with a mistake would.
fn free_behind(bench: &Bench, buffer: &mut Buffer<u32>) {
    let address = address(&bench.device, buffer);
    // SAFETY: no pointers; that the memory is still in use is what is to be found.
    assert_eq!(unsafe { bench.machine().cuMemFree_v2(address) }, CUresult::CUDA_SUCCESS);
}

#[test]
fn a_kernel_that_leaves_its_memory_is_found_at_its_op_and_at_no_other() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let (mut x, mut y) = (device.zeros::<u32>(8).unwrap(), device.zeros::<u32>(8).unwrap());
        let line = line!() + 4;
        let step = |r: &mut Recorder<'_>| {
            r.run(fill(&mut x, baked(1)).label("fill"))?;
            r.run(k.store_at(baked(3), &mut x).label("inside"))?;
            r.run(k.store_at(baked(1 << 20), &mut y).label("outside"))?;
            r.run(copy(&x, &mut y).label("copy"))
        };
        let mut graph = device.record(step.label("step")).unwrap();
        let report = graph.inspect();
        graph.launch(stream).unwrap();
        assert!(matches!(device.synchronize().unwrap_err().kind(), ErrorKind::Lost { .. }));
        let finding = only(device, "out-of-bounds");
        expect_op(&finding, "store_at", "step/outside", line);
        assert_eq!(nodes(&report, &finding), [2]);
    }
}

#[test]
fn the_same_is_found_at_the_op_of_an_eager_run() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let mut y = device.zeros::<u32>(8).unwrap();
        stream.run(k.store_at(baked(7), &mut y).label("inside")).unwrap();
        let line = line!() + 1;
        stream.run(k.store_at(baked(1 << 20), &mut y).label("outside")).unwrap();
        assert!(device.synchronize().is_err());
        expect_op(&only(device, "out-of-bounds"), "store_at", "outside", line);
    }
}

#[test]
fn it_is_known_whichever_detectors_are_on() {
    let blind = Software::new().options(|options| options.detectors = Detectors::none());
    let bench = Bench::new(blind.open().unwrap());
    let mut y = bench.device.zeros::<u32>(8).unwrap();
    let line = line!() + 1;
    bench.stream.run(bench.k.store_at(baked(1 << 20), &mut y)).unwrap();
    assert!(bench.device.synchronize().is_err());
    expect_op(&only(&bench.device, "out-of-bounds"), "store_at", "", line);
}

#[test]
fn unwritten_memory_is_found_where_it_is_read() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let k = Careless::load(device).unwrap();
        let mut y = device.zeros::<u32>(4).unwrap();
        let line = line!() + 5;
        let step = |r: &mut Recorder<'_>| {
            let (mut t, mut u) = (r.alloc::<u32>(8)?, r.alloc::<u32>(4)?);
            r.run(k.put_some(baked(1), baked(6), &mut t).label("fills"))?;
            r.run(k.window_of(baked(2), &t, &mut u).label("within"))?;
            r.run(k.window_of(baked(4), &t, &mut u).label("beyond"))?;
            r.run(copy(&u, &mut y))
        };
        let mut graph = device.record(step).unwrap();
        graph.launch(stream).unwrap();
        device.synchronize().unwrap();
        let finding = only(device, "uninitialised-read");
        expect_op(&finding, "window_of", "beyond", line);
        assert_eq!(nodes(&graph.inspect(), &finding), [2]);
    }
}

#[test]
fn a_race_is_found_at_its_op() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let k = Careless::load(device).unwrap();
        let mut y = device.zeros::<u32>(8).unwrap();
        let line = line!() + 2;
        let once = |r: &mut Recorder<'_>| {
            r.run(k.store_twice(baked(3), &mut y).label("race"))?;
            r.run(fill(&mut y, baked(0)))
        };
        let mut graph = device.record(once).unwrap();
        graph.launch(stream).unwrap();
        device.synchronize().unwrap();
        let finding = only(device, "global-race");
        expect_op(&finding, "store_twice", "race", line);
        assert_eq!(nodes(&graph.inspect(), &finding), [0]);
    }
}

/// Foreign work that says it writes `said`, and sets the memory at `address`.
fn set_elsewhere(machine: Machine, said: &mut Buffer<u32>, address: u64) -> impl Op<Out = ()> {
    // SAFETY: not kept, and that is what is to be found; the memory is there.
    unsafe {
        foreign((), &mut said[..], move |stream, (), _: RawSlice<u32>| {
            assert_eq!(machine.cuMemsetD32Async(address, 7, 8, stream.0), CUresult::CUDA_SUCCESS);
            Ok(())
        })
    }
}

#[test]
fn two_ops_without_an_order_are_both_named_also_copies_and_fills() {
    for bench in benches() {
        let Bench { device, k, .. } = &bench;
        for what in ["put", "copy", "fill"] {
            let bench = Bench::new(device.clone());
            bench.machine().take_findings();
            let (mut x, mut y) = (device.zeros::<u32>(8).unwrap(), device.zeros::<u32>(8).unwrap());
            let mut z = device.zeros::<u32>(8).unwrap();
            let (work, at) = (bench.machine().clone(), address(device, &mut y));
            let step = |r: &mut Recorder<'_>| {
                let op: BoxOp = match what {
                    "put" => Box::new(k.put(baked(1), &mut y)),
                    "copy" => Box::new(copy(&x, &mut y)),
                    _ => Box::new(fill(&mut y, baked(1))),
                };
                r.run(op.label("mine"))?;
                r.run(set_elsewhere(work, &mut z, at).label("theirs"))
            };
            let mut graph = device.record(step).unwrap();
            graph.launch(&bench.stream).unwrap();
            device.synchronize().unwrap();
            let finding = only(device, "unordered");
            let named: Vec<_> = finding.ops.iter().map(|op| (op.name.as_str(), op.label.as_str())).collect();
            assert_eq!(named, [(what, "mine"), ("foreign", "theirs")], "{finding}");
            assert_eq!(nodes(&graph.inspect(), &finding), [0, 1]);
            let mut other = device.record(fill(&mut x, baked(2))).unwrap();
            other.launch(&bench.stream).unwrap();
            assert_eq!(nodes(&other.inspect(), &finding), [] as [usize; 0]);
        }
    }
}

#[test]
fn a_copy_or_a_fill_of_memory_that_is_gone_is_found_at_its_op() {
    for (number, bench) in benches().enumerate() {
        let Bench { device, stream, .. } = &bench;
        let (mut x, mut y) = (device.zeros::<u32>(8).unwrap(), device.zeros::<u32>(8).unwrap());
        let (value, is_fill) = (Slot::new(1), number % 2 == 0);
        let line = line!() + 2;
        let mut graph = match is_fill {
            false => device.record(copy(&y, &mut x).label("to x")),
            true => device.record(fill(&mut y, &value).label("y")),
        }
        .unwrap();
        // Its node is told another value: it is the same op's all the same.
        value.set(2);
        graph.launch(stream).unwrap();
        device.synchronize().unwrap();
        free_behind(&bench, &mut y);
        graph.launch(stream).unwrap();
        assert!(device.synchronize().is_err());
        let finding = only(device, "use-after-free");
        let (name, label) = if is_fill { ("fill", "y") } else { ("copy", "to x") };
        expect_op(&finding, name, label, line + u32::from(is_fill));
        assert_eq!(nodes(&graph.inspect(), &finding), [0]);
    }
}

#[test]
fn an_eager_copy_that_is_refused_is_found_at_its_op() {
    let bench = Bench::seeded(3);
    let Bench { device, stream, .. } = &bench;
    let (mut x, mut y) = (device.zeros::<u32>(8).unwrap(), device.zeros::<u32>(8).unwrap());
    free_behind(&bench, &mut y);
    let line = line!() + 1;
    assert!(stream.run(copy(&y, &mut x).label("to x")).is_err());
    expect_op(&only(device, "out-of-bounds"), "copy", "to x", line);
}

#[test]
fn a_node_that_is_kept_by_another_recording_is_the_new_ops() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let (mut x, mut y) = (device.zeros::<u32>(8).unwrap(), device.zeros::<u32>(8).unwrap());
        let mut graph = device.record(copy(&y, &mut x).label("before")).unwrap();
        let line = line!() + 1;
        let done = graph.rerecord(copy(&y, &mut x).label("after")).unwrap();
        assert!(done.to_string().starts_with("updated: 0 nodes set, 1 kept"), "{done}");
        free_behind(&bench, &mut y);
        graph.launch(stream).unwrap();
        assert!(device.synchronize().is_err());
        let finding = only(device, "use-after-free");
        expect_op(&finding, "copy", "after", line);
        assert_eq!(nodes(&graph.inspect(), &finding), [0]);
    }
}

#[test]
fn what_goes_wrong_inside_a_branch_is_found_at_the_op_inside() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let (flag, mut y) = (device.buffer(&[1u32]).unwrap(), device.zeros::<u32>(8).unwrap());
        let line = line!() + 3;
        let step = |r: &mut Recorder<'_>| {
            r.when(nonzero(flag.at(0)), |r: &mut Recorder<'_>| {
                r.run(k.store_at(baked(1 << 20), &mut y).label("inside"))
            })
            .map(drop)
        };
        let mut graph = device.record(step.label("step")).unwrap();
        let report = graph.inspect();
        graph.launch(stream).unwrap();
        assert!(device.synchronize().is_err());
        let finding = only(device, "out-of-bounds");
        expect_op(&finding, "store_at", "step/inside", line);
        assert_eq!(nodes(&report, &finding), [2]);
    }
}

#[test]
fn a_loop_that_does_not_end_is_found_at_the_loop() {
    let device = Software::new().options(|options| options.rounds_max = 20).open().unwrap();
    let stream = device.stream().unwrap();
    let (cell, mut y) = (device.zeros::<f32>(1).unwrap(), device.zeros::<u32>(8).unwrap());
    let line = line!() + 2;
    let spin = |r: &mut Recorder<'_>| {
        r.repeat(unbounded(), |r: &mut Recorder<'_>| {
            r.run(fill(&mut y, baked(1)))?;
            Ok(below(cell.at(0), baked(4.0f32)))
        })
        .map(drop)
    };
    let mut graph = device.record(spin.label("spin")).unwrap();
    let report = graph.inspect();
    graph.launch(&stream).unwrap();
    assert!(device.synchronize().is_err());
    let finding = only(&device, "endless-while");
    let [op] = &finding.ops[..] else { panic!("{:?}", finding.ops) };
    assert_eq!((op.name.as_str(), op.label.as_str()), ("repeat", "spin"));
    assert_eq!(op.location.as_ref().map(|place| place.line), Some(line));
    let is_at: Vec<&str> = nodes(&report, &finding).into_iter().map(|node| report.nodes[node].name.as_str()).collect();
    // The loop, and what decides about its rounds.
    assert!(!is_at.is_empty() && is_at.iter().all(|name| *name == "repeat"), "{is_at:?}");
}

/// Foreign work that panics, or goes too far and is refused.
fn too_far(machine: Machine, panics: bool, y: &mut Slice<u32>) -> impl Op<Out = ()> {
    // SAFETY: nothing of it runs; an address in an allocation, and that it has fewer bytes is what is to be found.
    unsafe {
        foreign((), y, move |stream, (), y: RawSlice<u32>| {
            assert!(!panics, "on purpose");
            let code = machine.cuMemsetD32Async(y.ptr, 1, 1 << 20, stream.0);
            Err(dacapo::Error::msg(code.to_string()))
        })
        .label("lib")
    }
}

const TOO_FAR: u32 = line!() - 9;

#[test]
fn foreign_work_is_its_op_and_what_a_panic_leaves_is_nobodys() {
    for is_eager in [true, false] {
        let bench = Bench::seeded(5);
        let Bench { device, stream, .. } = &bench;
        let (machine, mut y) = (bench.machine(), device.zeros::<u32>(8).unwrap());
        let mut run = |panics| {
            let work = too_far(machine.clone(), panics, &mut y);
            if is_eager { stream.run(work) } else { device.record(work).map(drop) }
        };
        assert!(run(false).is_err());
        expect_op(&only(device, "out-of-bounds"), "foreign", "lib", TOO_FAR);
        machine.take_findings();
        assert_eq!(panics(|| drop(run(true))), "on purpose");
        // SAFETY: no pointers; the address is nobody's.
        assert!(unsafe { !machine.cuMemsetD32Async(64, 1, 1, stream.raw().0).is_success() });
        assert_eq!(only(device, "out-of-bounds").ops, []);
    }
}

#[test]
fn raw_calls_of_a_captures_step_are_the_captures() {
    let bench = Bench::seeded(5);
    let Bench { device, .. } = &bench;
    let (side, mut y) = (CaptureStream::new(device).unwrap(), device.zeros::<u32>(8).unwrap());
    let line = line!() + 2;
    // SAFETY: the one raw call is refused.
    let mut capture = unsafe { capture::begin(&side, Mode::Relaxed) }.unwrap();
    let at = capture.writes(&mut y).unwrap().ptr;
    let step = capture.step("too far", |raw| {
        // SAFETY: as above.
        let code = unsafe { bench.machine().cuMemsetD32Async(at, 1, 1 << 20, raw.0) };
        Err::<(), _>(dacapo::Error::msg(code.to_string()))
    });
    assert!(step.is_err());
    expect_op(&only(device, "out-of-bounds"), "captured", "", line);
}
