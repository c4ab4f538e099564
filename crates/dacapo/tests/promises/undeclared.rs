//! Kernels that touch more than their ops were given: the software device says so, although the memory is a legal one.
//!
//! Each test has its near miss beside it: the same without the mistake leaves no finding.

use std::sync::Arc;

use dacapo::capture::{self, CaptureStream, Mode};
use dacapo::raw::{RawArg, RawKernel, foreign};
use dacapo::{Op, Recorder, Slot, Software, baked, fill, grid};
use dacapo_driver::{Count, Driver, Hooked};
use dacapo_sim::Detectors;

use crate::kit::{Bench, benches};

dacapo::kernels! {
    /// Declarations that promise too much.
    unsafe struct Careless(include_str!("kernels.ptx")) {
        /// y ← value in `n` elements, however many there are
        fn put_many(value: u32, n: u32, y: &mut [u32]) {
            entry: "put";
            grid: linear(n as usize, 32);
        }
        /// Declared as read, and written: loading it would refuse that, were it not told to look away.
        fn put_read(value: u32, n: u32 = y.len(), unchecked y: &[u32]) {
            entry: "put";
            grid: linear(y.len(), 32);
        }
        /// y ← x[offset ..] without a condition
        fn window_any(offset: u32, n: u32 = y.len(), x: &[f32], y: &out [f32]) {
            entry: "window";
            grid: linear(y.len(), 64);
        }
        /// Counts in a global, and says so.
        fn count_said(out: &mut u32) {
            entry: "count";
            state: counter;
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
    }
}

/// The findings since the last question; each must be of this word and hold these.
#[track_caller]
fn expect(bench: &Bench, word: &str, parts: &[&str]) {
    bench.device.synchronize().unwrap();
    let mut found: Vec<String> = bench.machine().take_findings().iter().map(|finding| finding.to_string()).collect();
    // What is not declared is not ordered either: where it meets another op's memory, that is found as well.
    found.retain(|finding| !finding.starts_with("error[unordered]"));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with(&format!("error[{word}]: ")), "{}", found[0]);
    for part in parts {
        assert!(found[0].contains(part), "{part} is not in\n{}", found[0]);
    }
}

#[track_caller]
fn expect_none(bench: &Bench) {
    bench.device.synchronize().unwrap();
    bench.expect_no_findings();
}

#[test]
fn a_kernel_that_runs_past_its_slice_is_found_inside_one_allocation() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let k = Careless::load(device).unwrap();
        let mut all = device.zeros::<u32>(64).unwrap();
        stream.run(k.put_many(baked(7), baked(16), &mut all[8..24])).unwrap();
        expect_none(&bench);
        let line = line!() + 1;
        stream.run(k.put_many(baked(7), baked(20), &mut all[8..24])).unwrap();
        let at = format!("undeclared.rs:{line}:");
        let parts = [
            "`put` writes 4 bytes",
            "which its op was not given: right past the end of `y` (64 bytes at 0x",
            "block (0,0,0), thread (16,0,0)",
            "`st.global.u32`",
            &at,
            "op `put_many`",
            "byte 96 of an allocation of 256 bytes",
            "4 of the 20 threads",
        ];
        expect(&bench, "undeclared-access", &parts);
        // It is a report and nothing else: the memory is what a GPU would leave there.
        let mut expected = [0; 64];
        expected[8..28].fill(7);
        assert_eq!(stream.read(&all).unwrap(), expected);
    }
}

#[test]
fn reads_are_held_against_what_was_given_too() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let k = Careless::load(device).unwrap();
        let (x, mut y) = (device.buffer(&[1f32; 64]).unwrap(), device.zeros::<f32>(32).unwrap());
        stream.run(k.window_any(baked(8), &x[..40], &mut y)).unwrap();
        expect_none(&bench);
        stream.run(k.window_any(baked(10), &x[..40], &mut y)).unwrap();
        expect(&bench, "undeclared-access", &["reads 4 bytes", "right past the end of `x`", "2 of the 32 threads"]);
        stream.run(k.window_any(baked(30), &x[..20], &mut y)).unwrap();
        expect(&bench, "undeclared-access", &["40 bytes past the end of `x`", "thread (0,0,0)"]);
    }
}

#[test]
fn a_kernel_that_writes_what_it_was_given_to_read_is_found() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let k = Careless::load(device).unwrap();
        let y = device.zeros::<u32>(8).unwrap();
        let mut graph = device.graph().record(k.put_read(baked(3), &y).label("fills y")).unwrap();
        graph.launch(stream).unwrap();
        let parts = [
            "byte 0 of `y` (32 bytes at 0x",
            "which its op was given to read",
            "op `put_read`, labelled `fills y`",
            "declare `y` as `&mut`",
        ];
        expect(&bench, "undeclared-write", &parts);
    }
}

#[test]
fn a_patch_is_followed() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let k = Careless::load(device).unwrap();
        let (n, mut all) = (Slot::new(4u32), device.zeros::<u32>(64).unwrap());
        let mut graph = device.record(k.put_many(baked(1), &n, &mut all[..8])).unwrap();
        for (now, is_wrong) in [(8, false), (9, true), (5, false), (12, true)] {
            n.set(now);
            graph.launch(stream).unwrap();
            match is_wrong {
                true => expect(&bench, "undeclared-access", &["right past the end of `y` (32 bytes", "op `put_many`"]),
                false => expect_none(&bench),
            }
        }
    }
}

#[test]
fn rebound_memory_is_followed() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let k = Careless::load(device).unwrap();
        let (n, x) = (Slot::new(8u32), device.zeros::<u32>(8).unwrap());
        let (mut shape, mut one, mut two) =
            (device.zeros::<u32>(8).unwrap(), device.zeros::<u32>(32).unwrap(), device.zeros::<u32>(32).unwrap());
        let mut graph =
            device.graph().record_into(&x[..], &mut shape[..], |r, _, y| r.run(k.put_many(baked(1), &n, y))).unwrap();
        graph.launch(stream, &x, &mut one[..8]).unwrap();
        graph.launch(stream, &x, &mut two[4..12]).unwrap();
        graph.launch(stream, &x, &mut one[16..24]).unwrap();
        expect_none(&bench);
        n.set(10);
        graph.launch(stream, &x, &mut one[2..10]).unwrap();
        expect(
            &bench,
            "undeclared-access",
            &["right past the end of `y` (32 bytes", "byte 40 of an allocation of 128"],
        );
        // The memory of the launch before is not this launch's.
        n.set(8);
        graph.launch(stream, &x, &mut two[..8]).unwrap();
        expect_none(&bench);
    }
}

#[test]
fn another_recording_is_followed_also_where_no_node_is_set() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let k = Careless::load(device).unwrap();
        let mut all = device.zeros::<u32>(64).unwrap();
        let mut graph = device.record(k.put_many(baked(1), baked(16), &mut all[..16])).unwrap();
        graph.launch(stream).unwrap();
        expect_none(&bench);
        // The same numbers and addresses, so that no node is set; but fewer elements are given.
        let line = line!() + 1;
        let done = graph.rerecord(k.put_many(baked(1), baked(16), &mut all[..12])).unwrap();
        assert!(done.to_string().starts_with("updated: 0 nodes set, 1 kept"), "{done}");
        graph.launch(stream).unwrap();
        let at = format!("undeclared.rs:{line}:");
        expect(&bench, "undeclared-access", &["right past the end of `y` (48 bytes", &at]);
        let done = graph.rerecord(k.put_many(baked(1), baked(16), &mut all[20..40])).unwrap();
        assert!(done.is_updated(), "{done}");
        graph.launch(stream).unwrap();
        expect_none(&bench);
    }
}

#[test]
fn a_graph_inside_a_graph_is_looked_at_as_a_graph() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let k = Careless::load(device).unwrap();
        let (n, mut all) = (Slot::new(8u32), device.zeros::<u32>(64).unwrap());
        let inner = device.record(k.put_many(baked(1), &n, &mut all[..8])).unwrap();
        let mut outer = device.record(inner.as_op()).unwrap();
        outer.launch(stream).unwrap();
        expect_none(&bench);
        n.set(9);
        outer.launch(stream).unwrap();
        expect(&bench, "undeclared-access", &["right past the end of `y` (32 bytes", "op `put_many`"]);
    }
}

#[test]
fn temps_of_a_pools_graph_are_told_apart_although_they_share_an_allocation() {
    for bench in benches() {
        let Bench { device, stream, k } = &bench;
        let pool = device.pool();
        let mut out = device.zeros::<u32>(64).unwrap();
        let mut record = |index: u32| {
            let out = &mut out;
            device.graph().pool(&pool).record(move |r: &mut Recorder<'_>| {
                let (mut a, mut b) = (r.alloc::<u32>(64)?, r.alloc::<u32>(64)?);
                r.run(fill(&mut a, baked(1)))?;
                r.run(fill(&mut b, baked(2)))?;
                r.run(k.store_at(baked(index), &mut a))?;
                r.run(dacapo::copy(&b, out))?;
                r.run(dacapo::copy(&a, out))
            })
        };
        record(63).unwrap().launch(stream).unwrap();
        expect_none(&bench);
        record(64).unwrap().launch(stream).unwrap();
        expect(&bench, "undeclared-access", &["right past the end of `y` (256 bytes", "op `store_at`"]);
    }
}

#[test]
fn a_raw_kernel_is_held_to_its_arguments() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let put = RawKernel::load(device, include_str!("kernels.ptx"), "put").unwrap();
        let mut all = device.zeros::<u32>(64).unwrap();
        for (n, is_wrong) in [(16, false), (17, true)] {
            let arguments =
                vec![RawArg::value(baked(1u32)), RawArg::value(baked(n as u32)), RawArg::write(&mut all[..16])];
            // SAFETY: the arguments are those of `put`, and what it writes too much is inside the same buffer.
            stream.run(unsafe { put.launch(grid::linear(n, 32), arguments) }).unwrap();
            match is_wrong {
                true => {
                    expect(&bench, "undeclared-access", &["right past the end of `argument` (64 bytes", "op `put`"])
                }
                false => expect_none(&bench),
            }
        }
        let arguments = vec![RawArg::value(baked(1u32)), RawArg::value(baked(16u32)), RawArg::read(&all[..16])];
        // SAFETY: nobody else uses the buffer.
        stream.run(unsafe { put.launch(grid::linear(16, 32), arguments) }).unwrap();
        expect(&bench, "undeclared-write", &["which its op was given to read", "`RawArg::write`"]);
    }
}

#[test]
fn an_op_of_a_capture_on_the_users_terms_is_told_and_raw_calls_are_not() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let (k, line) = (Careless::load(device).unwrap(), CaptureStream::new(device).unwrap());
        let mut all = device.zeros::<u32>(64).unwrap();
        // SAFETY: only ops of the library are captured.
        let mut guard = unsafe { capture::begin(&line, Mode::Relaxed) }.unwrap();
        guard.run(k.put_many(baked(1), baked(9), &mut all[..8])).unwrap();
        guard.finish().unwrap().launch(stream).unwrap();
        expect(&bench, "undeclared-access", &["op `put_many`"]);
    }
}

#[test]
fn foreign_work_tells_nothing_and_is_not_looked_at() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let k = Careless::load(device).unwrap();
        let mut all = device.zeros::<u32>(64).unwrap();
        let (machine, module) = (bench.machine().clone(), include_str!("kernels.ptx"));
        let text = std::ffi::CString::new(module).unwrap();
        let mut raw = dacapo_driver::types::CUmodule::NULL;
        let mut function = dacapo_driver::types::CUfunction::NULL;
        // SAFETY: the pointers are valid for what the calls do with them.
        unsafe {
            machine.cuModuleLoadData(&mut raw, text.as_ptr().cast());
            machine.cuModuleGetFunction(&mut function, raw, c"put".as_ptr());
        }
        let (first, rest) = all.split_at_mut(8);
        stream.run(k.put_many(baked(1), baked(8), first)).unwrap();
        // SAFETY: it writes 16 elements of a buffer that nobody else uses, twice as many as it says.
        let work = unsafe {
            foreign((), &mut rest[..8], move |stream, (), y: dacapo::raw::RawSlice<u32>| {
                let (mut value, mut n, mut y) = (5u32, 16u32, y.ptr);
                let mut arguments = [(&raw mut value).cast(), (&raw mut n).cast(), (&raw mut y).cast()];
                let (p, none) = (arguments.as_mut_ptr(), std::ptr::null_mut());
                let code = machine.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream.0, p, none);
                assert_eq!(code, dacapo_driver::CUresult::CUDA_SUCCESS);
                Ok(())
            })
        };
        stream.run(work).unwrap();
        assert_eq!(stream.read(&all[8..24]).unwrap(), [5; 16]);
        expect_none(&bench);
    }
}

#[test]
fn a_global_that_is_written_must_be_named() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let k = Careless::load(device).unwrap();
        let mut out = device.zeros::<u32>(1).unwrap();
        stream.run(k.count_said(out.at_mut(0))).unwrap();
        expect_none(&bench);
        // A declaration that does not name it is refused when it is loaded; a raw kernel has none.
        let count = RawKernel::load(device, include_str!("kernels.ptx"), "count").unwrap();
        // SAFETY: the argument is that of `count`; its module's global is touched by nobody else.
        stream.run(unsafe { count.launch(grid::linear(1, 1), vec![RawArg::write(&mut out)]) }).unwrap();
        device.synchronize().unwrap();
        let found: Vec<String> = bench.machine().take_findings().iter().map(|finding| finding.to_string()).collect();
        let [write] = &found[..] else { panic!("{found:#?}") };
        assert!(write.starts_with("error[undeclared-write]") && write.contains("`state: counter;`"), "{write}");
        assert_eq!(stream.read(&out).unwrap(), [1], "it has counted all the same, in its own module");
    }
}

#[test]
fn a_driver_behind_a_hook_is_told_and_one_that_does_not_look_finds_nothing() {
    // SAFETY: the hook passes calls on.
    let opened = unsafe { Software::new().open_hooked(|machine| Arc::new(Hooked::new(machine, Count::new()))) };
    let bench = Bench::new(opened.unwrap());
    let k = Careless::load(&bench.device).unwrap();
    let mut all = bench.device.zeros::<u32>(64).unwrap();
    bench.stream.run(k.put_many(baked(1), baked(9), &mut all[..8])).unwrap();
    expect(&bench, "undeclared-access", &["op `put_many`"]);

    let blind =
        Software::new().options(|options| options.detectors = Detectors { undeclared: false, ..options.detectors });
    let bench = Bench::new(blind.open().unwrap());
    let k = Careless::load(&bench.device).unwrap();
    let mut all = bench.device.zeros::<u32>(64).unwrap();
    bench.stream.run(k.put_many(baked(1), baked(9), &mut all[..8])).unwrap();
    expect_none(&bench);
    assert_eq!(bench.stream.read(&all[..10]).unwrap(), [1, 1, 1, 1, 1, 1, 1, 1, 1, 0]);
}

#[test]
fn what_was_told_of_a_refused_launch_is_taken_back() {
    use dacapo_driver::{CUresult, Call, Fault};
    let fault = Fault::new().fail(Call::cuLaunchKernelEx, 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    let (bench, _) = crate::kit::hooked(fault);
    let Bench { device, stream, .. } = &bench;
    let k = Careless::load(device).unwrap();
    let mut all = device.zeros::<u32>(64).unwrap();
    let address = {
        let line = CaptureStream::new(device).unwrap();
        // SAFETY: nothing is captured by it.
        let mut guard = unsafe { capture::begin(&line, Mode::Relaxed) }.unwrap();
        guard.writes(&mut all).unwrap().ptr
    };
    assert!(stream.run(k.put_many(baked(1), baked(8), &mut all[..8])).is_err());
    let text = std::ffi::CString::new(include_str!("kernels.ptx")).unwrap();
    let (mut module, mut function) = (dacapo_driver::types::CUmodule::NULL, dacapo_driver::types::CUfunction::NULL);
    let (mut value, mut n, mut y) = (5u32, 16u32, address);
    let mut arguments = [(&raw mut value).cast(), (&raw mut n).cast(), (&raw mut y).cast()];
    let (p, none) = (arguments.as_mut_ptr(), std::ptr::null_mut());
    let machine = bench.machine();
    // SAFETY: the pointers are valid for what the calls do with them, and `put` writes 16 elements of the buffer.
    let code = unsafe {
        machine.cuModuleLoadData(&mut module, text.as_ptr().cast());
        machine.cuModuleGetFunction(&mut function, module, c"put".as_ptr());
        machine.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream.raw().0, p, none)
    };
    assert_eq!(code, CUresult::CUDA_SUCCESS);
    expect_none(&bench);
}
