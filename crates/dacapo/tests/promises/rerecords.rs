//! Another recording in place of a graph's, beside other threads and after captures.

use dacapo::capture::{self, CaptureStream, Mode};
use dacapo::{Buffer, Graph, Op, Recorder, Result, baked, copy, download, fill, grid, upload};
use dacapo_driver::{CUresult, Call, Count, Driver};

use crate::kit::{Bench, Kernels, benches, hooked};

/// `out` ← `value`, through two temps of so many elements.
fn through(r: &mut Recorder<'_>, len: usize, value: u32, out: &mut Buffer<u32>) -> Result<()> {
    let (mut a, mut b) = (r.alloc::<u32>(len)?, r.alloc::<u32>(len)?);
    let at = len - out.len();
    r.run(fill(&mut a[at..], baked(value)))?;
    r.run(copy(&a[at..], &mut b[at..]))?;
    r.run(copy(&b[at..], out))
}

#[test]
fn a_capture_of_raw_calls_alone_is_not_taken_for_a_recording_of_nothing() {
    for bench in benches() {
        let Bench { device, stream, .. } = &bench;
        let (line, mut y) = (CaptureStream::new(device).unwrap(), device.zeros::<u32>(8).unwrap());
        let address = {
            // SAFETY: nothing is captured by it.
            let mut asked = unsafe { capture::begin(&line, Mode::Relaxed) }.unwrap();
            asked.writes(&mut y).unwrap().ptr
        };
        // SAFETY: `y` lives as long as the graph, and nobody touches it while the graph is launched.
        let mut guard = unsafe { capture::begin(&line, Mode::Relaxed) }.unwrap();
        let machine = bench.machine();
        // SAFETY: `y` is this long.
        let set = guard.step("set", |raw| match unsafe { machine.cuMemsetD32Async(address, 9, 8, raw.0) } {
            CUresult::CUDA_SUCCESS => Ok(()),
            code => Err(dacapo::Error::msg(format!("{code:?}"))),
        });
        set.unwrap();
        let mut graph = guard.finish().unwrap();
        let done = graph.rerecord(|_: &mut Recorder<'_>| Ok(())).unwrap();
        assert!(!done.is_updated() && done.to_string().contains("capture"), "{done}");
        graph.launch_sync(stream).unwrap();
        assert_eq!(stream.read(&y).unwrap(), [0; 8], "the captured work is still replayed");
        bench.expect_no_findings();
    }
}

#[test]
fn a_graph_of_a_pool_may_become_larger_while_threads_replay_the_others() {
    for bench in benches() {
        let (device, pool) = (&bench.device, bench.device.pool());
        std::thread::scope(|scope| {
            for thread in 0..3u32 {
                let pool = &pool;
                scope.spawn(move || {
                    let (one, two) = (device.stream().unwrap(), device.stream().unwrap());
                    let mut out = device.zeros::<u32>(200).unwrap();
                    let len = |round: u32| 300 + 400_000 * ((thread + round) % 3) as usize;
                    let first = |r: &mut Recorder<'_>| through(r, len(0), thread, &mut out);
                    let mut graph: Graph<()> = device.graph().pool(pool).record(first).unwrap();
                    for round in 1..5u32 {
                        let value = 10 * thread + round;
                        graph.launch(&two).unwrap();
                        let next = |r: &mut Recorder<'_>| through(r, len(round), value, &mut out);
                        let done = graph.rerecord(next).unwrap();
                        assert!(done.is_updated(), "{done}");
                        graph.launch(&one).unwrap();
                        graph.launch(&two).unwrap();
                        assert_eq!(one.read(&out).unwrap(), [value; 200]);
                    }
                });
            }
        });
        assert_eq!(pool.graphs(), 0);
        bench.expect_no_findings();
    }
}

/// What a rerecording answers, without the lines: what was done, and each op with what became of it.
fn answers(bench: &Bench, first: impl Op<Out = ()>, second: impl Op<Out = ()>) -> Vec<String> {
    let mut graph: Graph<()> = bench.device.record(first).unwrap();
    graph.launch(&bench.stream).unwrap();
    let done = graph.rerecord(second).unwrap();
    graph.launch_sync(&bench.stream).unwrap();
    let how = done.to_string().lines().next().unwrap_or_default().to_string();
    let nodes = done.nodes.iter().map(|node| format!("{}: {}", node.op, node.change));
    std::iter::once(how).chain(nodes).collect()
}

/// The answer is what a program looks at when its graph is built anew in each round, and should not be.
#[test]
fn the_answer_says_op_by_op_what_was_set() {
    let bench = Bench::seeded(0);
    let Bench { device, k, .. } = &bench;
    let x = device.buffer(&[1u32, 2, 3, 4]).unwrap();
    let new = || device.zeros::<u32>(4).unwrap();
    let (mut y, mut z, mut y2, mut z2) = (new(), new(), new(), new());
    let all = |r: &mut Recorder<'_>, n: usize, value: u32, y: &mut Buffer<u32>, z: &mut Buffer<u32>| {
        r.run(fill(&mut y[..n], baked(value)))?;
        r.run(k.put_any(baked(value), &mut y[..n]).with_grid(grid::linear(n, value).shared(value)))?;
        r.run(copy(&x[..n], &mut z[..n]))?;
        // Of no elements: no node at all, before and after.
        r.run(copy(&x[..0], &mut z[..0]))
    };
    let first = |r: &mut Recorder<'_>| all(r, 4, 2, &mut y, &mut z);
    let second = |r: &mut Recorder<'_>| all(r, 3, 4, &mut y2, &mut z2);
    assert_eq!(
        answers(&bench, first, second),
        [
            "updated: 3 nodes set, 1 kept",
            "fill: set: the target is elsewhere, the value, 4 elements became 3",
            "put_any: set: 2x1x1 blocks became 1x1x1, 2x1x1 threads became 4x1x1, 2 bytes of shared memory became 4, \
             argument 0, argument 1, the address in argument 2",
            "copy: set: the target is elsewhere, 16 bytes became 12",
            "copy: kept",
        ]
    );
    let (mut small, mut large) = (device.zeros::<u8>(4).unwrap(), device.zeros::<u16>(4).unwrap());
    assert_eq!(
        answers(&bench, fill(&mut small, baked(1)), fill(&mut large, baked(1))),
        ["updated: 1 nodes set, 0 kept", "fill: set: the target is elsewhere, 1 bytes an element became 2"]
    );
    bench.expect_no_findings();
}

#[test]
fn the_answer_says_why_a_graph_was_built_anew() {
    let bench = Bench::seeded(0);
    let Bench { device, k, .. } = &bench;
    let x = device.buffer(&[1u32, 2, 3, 4]).unwrap();
    let (mut y, mut y2) = (device.zeros::<u32>(4).unwrap(), device.zeros::<u32>(4).unwrap());
    let (from, mut to) = (device.host(&[9u32; 4]).unwrap(), device.host(&[0u32; 4]).unwrap());
    let apart = |r: &mut Recorder<'_>, n: usize, y: &mut Buffer<u32>| {
        r.run(fill(&mut y[..2], baked(1)))?;
        r.run(fill(&mut y[n..], baked(2)))?;
        r.run(fill(&mut y[1..3], baked(3)))
    };
    let first = |r: &mut Recorder<'_>| apart(r, 2, &mut y);
    let second = |r: &mut Recorder<'_>| apart(r, 3, &mut y2);
    assert_eq!(
        answers(&bench, first, second),
        [
            "rebuilt: op 2, `fill`: it waits for op 0, and waited for ops 0, 1",
            "fill: set: the target is elsewhere",
            "fill: set: the target is elsewhere, 2 elements became 1",
            "fill: other: it waits for op 0, and waited for ops 0, 1"
        ]
    );
    let first = |r: &mut Recorder<'_>| r.run(fill(&mut y, baked(1)));
    let second = |r: &mut Recorder<'_>| {
        r.run(fill(&mut y2, baked(1)))?;
        r.run(k.put(baked(1), &mut y2))
    };
    assert_eq!(
        answers(&bench, first, second),
        [
            "rebuilt: op 1, `put`: there was no such op",
            "fill: set: the target is elsewhere",
            "put: other: there was no such op"
        ]
    );
    let built = |answers: Vec<String>, why: &str| assert_eq!(answers[0], format!("rebuilt: op 0, {why}"));
    built(answers(&bench, fill(&mut y, baked(1)), copy(&x, &mut y2)), "`copy`: a fill became a copy");
    let second = upload(&from, &mut y2);
    built(answers(&bench, copy(&x, &mut y), second), "`upload`: a copy became an upload");
    let first = upload(&from, &mut y);
    built(answers(&bench, first, download(&x, &mut to)), "`download`: an upload became a download");
    let second = k.bump(y2.at_mut(0));
    built(answers(&bench, k.put(baked(1), &mut y), second), "`bump`: another function: `put` became `bump`");
    let other = Kernels::load(device).unwrap();
    let second = other.put(baked(1), &mut y2);
    built(answers(&bench, k.put(baked(1), &mut y), second), "`put`: another function: `put` of another module");
    let (none, some) = (copy(&x[..0], &mut y2[..0]), copy(&x, &mut y));
    built(answers(&bench, some, none), "`copy`: it has nothing to do any more");
    let (none, some) = (copy(&x[..0], &mut y2[..0]), copy(&x, &mut y));
    built(answers(&bench, none, some), "`copy`: it had nothing to do, and has something now");
    let fewer = answers(&bench, fill(&mut y, baked(1)), |_: &mut Recorder<'_>| Ok(()));
    built(fewer, "`fill`: there is no such op any more");
    bench.expect_no_findings();
}

/// As it is printed: a column for labels where there are some.
#[test]
fn the_answer_is_a_table_and_the_graph_keeps_its_label() {
    let Bench { device, stream, k } = Bench::seeded(0);
    let mut y = device.zeros::<u32>(4).unwrap();
    let mut graph = device.graph().label("step").record(fill(&mut y, baked(1))).unwrap();
    let line = line!() + 2;
    let op = |r: &mut Recorder<'_>| {
        r.run(fill(&mut y, baked(2)).label("clear"))?;
        r.run(k.bump(y.at_mut(0)))
    };
    let place = |after: u32| format!("{}:{}", file!(), line + after);
    assert_eq!(
        graph.rerecord(op).unwrap().to_string(),
        format!(
            "rebuilt: op 1, `bump`: there was no such op\n   0  fill  step/clear  {}  set: the value\n   1  bump  step        \
             {}  other: there was no such op",
            place(0),
            place(1)
        )
    );
    assert_eq!(graph.label(), "step");
    let mut plain = device.record(k.put(baked(1), &mut y)).unwrap();
    let line = line!() + 1;
    let done = plain.rerecord(k.put(baked(1), &mut y)).unwrap();
    assert_eq!(done.to_string(), format!("updated: 0 nodes set, 1 kept\n   0  put  {}:{line}  kept", file!()));
    // A label of none is no label: the answer has no column for it, nor have errors.
    assert_eq!((plain.label(), done.nodes[0].label.as_str()), ("", ""));
    plain.launch_sync(&stream).unwrap();
}

#[test]
fn a_graph_that_is_rerecorded_for_another_device_is_built_there() {
    let (one, two) = (Bench::seeded(0), Bench::seeded(1));
    let (mut here, mut there) = (one.device.zeros::<u32>(4).unwrap(), two.device.zeros::<u32>(4).unwrap());
    let mut graph = one.device.record(fill(&mut here, baked(1))).unwrap();
    graph.launch(&one.stream).unwrap();
    let done = graph.rerecord_with(two.device.graph(), fill(&mut there, baked(2))).unwrap();
    assert_eq!(done.to_string(), "rebuilt: it is for another device");
    graph.launch(&two.stream).unwrap();
    assert_eq!((one.stream.read(&here).unwrap(), two.stream.read(&there).unwrap()), (vec![1; 4], vec![2; 4]));
    assert_eq!(graph.device(), &two.device);
}

#[test]
fn a_graph_is_brought_onto_the_device_by_the_rerecording_that_asks_for_it_and_once() {
    let (bench, count) = hooked(Count::new());
    let mut y = bench.device.zeros::<u32>(4).unwrap();
    let mut graph = bench.device.record(fill(&mut y, baked(1))).unwrap();
    for (uploaded, uploads) in [(false, 0), (true, 1), (true, 1), (false, 1)] {
        let recording = bench.device.graph();
        let recording = if uploaded { recording.preloaded() } else { recording };
        let done = graph.rerecord_with(recording, fill(&mut y, baked(2))).unwrap();
        assert!(done.is_updated(), "{done}");
        assert_eq!((count.of(Call::cuGraphUpload).calls, graph.is_preloaded()), (uploads, uploads > 0));
    }
}
