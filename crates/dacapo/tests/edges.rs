//! Programmatic edges, as a user meets them: nothing to do for them, nothing seen of them, and `tune`.

use dacapo::graph::{Edge, Tuning};
use dacapo::{Device, Graph, Recorder, Slot, Software, Stream, baked, copy, fill};

const PTX: &str = ".version 7.0
.target sm_75
.address_size 64
// y[i] = y[i] * a + b, slowly
.visible .entry mad(.param .u32 a, .param .u32 b, .param .u64 y, .param .u32 n)
{
    .reg .pred %p<3>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<4>;
    ld.param.u32 %r1, [a];
    ld.param.u32 %r2, [b];
    ld.param.u64 %rd1, [y];
    ld.param.u32 %r3, [n];
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %ntid.x;
    mov.u32 %r6, %tid.x;
    mad.lo.u32 %r6, %r4, %r5, %r6;
    setp.ge.u32 %p1, %r6, %r3;
    @%p1 ret;
    mov.u32 %r8, 0;
AGAIN:
    add.u32 %r8, %r8, 1;
    setp.lt.u32 %p2, %r8, 20;
    @%p2 bra AGAIN;
    mul.wide.u32 %rd2, %r6, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r7, [%rd3];
    mad.lo.u32 %r7, %r7, %r1, %r2;
    st.global.u32 [%rd3], %r7;
    ret;
}
";

dacapo::kernels! {
    /// Safe by: threads from `n` on return.
    unsafe struct Kernels(PTX) {
        fn mad(a: u32, b: u32, y: &mut [u32], n: u32 = y.len()) {
            grid: linear(y.len(), 32);
        }
        /// On the first `some` elements only.
        fn mad_some(a: u32, b: u32, y: &mut [u32], some: u32) {
            entry: "mad";
            requires: some as usize <= y.len();
            grid: linear(some as usize, 32);
        }
    }
}

/// y[i] = w[i] + x[i]. The first looks at `w` before its wait and at `x` behind it; the second at both before it.
const OWN: &str = ".version 8.0
.target sm_90
.address_size 64
.visible .entry add_own(.param .u64 w, .param .u64 x, .param .u64 y)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<6>;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd1, %r1, 4;
    ld.param.u64 %rd2, [w];
    add.u64 %rd2, %rd2, %rd1;
    ld.global.u32 %r2, [%rd2];
    ld.param.u64 %rd3, [x];
    add.u64 %rd3, %rd3, %rd1;
    griddepcontrol.wait;
    ld.global.u32 %r3, [%rd3];
    add.u32 %r3, %r3, %r2;
    ld.param.u64 %rd4, [y];
    add.u64 %rd4, %rd4, %rd1;
    st.global.u32 [%rd4], %r3;
    ret;
}
.visible .entry add_too_early(.param .u64 w, .param .u64 x, .param .u64 y)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<6>;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd1, %r1, 4;
    ld.param.u64 %rd2, [w];
    add.u64 %rd2, %rd2, %rd1;
    ld.global.u32 %r2, [%rd2];
    ld.param.u64 %rd3, [x];
    add.u64 %rd3, %rd3, %rd1;
    ld.global.u32 %r3, [%rd3];
    griddepcontrol.wait;
    add.u32 %r3, %r3, %r2;
    ld.param.u64 %rd4, [y];
    add.u64 %rd4, %rd4, %rd1;
    st.global.u32 [%rd4], %r3;
    ret;
}
";

/// x[i] = x[i] + 1, long after those behind it may begin.
const LATE: &str = ".version 8.0
.target sm_90
.address_size 64
.visible .entry late(.param .u64 x)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    griddepcontrol.wait;
    griddepcontrol.launch_dependents;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd1, %r1, 4;
    ld.param.u64 %rd2, [x];
    add.u64 %rd2, %rd2, %rd1;
    mov.u32 %r2, 0;
AGAIN:
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, 400;
    @%p bra AGAIN;
    ld.global.u32 %r3, [%rd2];
    add.u32 %r3, %r3, 1;
    st.global.u32 [%rd2], %r3;
    ret;
}
";

dacapo::kernels! {
    /// Safe by: one block of as many threads as the slice has elements.
    unsafe struct Late(LATE) {
        fn late(x: &mut [u32]) {
            requires: x.len() <= 64;
            grid: exact([1, 1, 1], [x.len() as u32, 1, 1]);
        }
    }
}

/// y[0] = x[0]
const PLAIN: &str = ".version 7.0
.target sm_75
.address_size 64
.visible .entry first(.param .u64 x, .param .u64 y)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.global.u32 %r1, [%rd1];
    st.global.u32 [%rd2], %r1;
    ret;
}
";

dacapo::kernels! {
    /// Safe by: one block of as many threads as each slice has elements. The last claim of `too_early` is false.
    unsafe struct Own(OWN) {
        fn add_own(w: &[u32], x: &[u32], y: &out [u32]) {
            early: w;
            requires: w.len() == y.len(), x.len() == y.len(), y.len() <= 64;
            grid: exact([1, 1, 1], [y.len() as u32, 1, 1]);
        }
        fn add_too_early(w: &[u32], x: &[u32], y: &out [u32]) {
            early: w;
            requires: w.len() == y.len(), x.len() == y.len(), y.len() <= 64;
            grid: exact([1, 1, 1], [y.len() as u32, 1, 1]);
        }
        /// Nothing is said of what it does before its wait.
        fn add_silent(w: &[u32], x: &[u32], y: &out [u32]) {
            entry: "add_own";
            requires: w.len() == y.len(), x.len() == y.len(), y.len() <= 64;
            grid: exact([1, 1, 1], [y.len() as u32, 1, 1]);
        }
    }
}

/// Interleaves kernels every few instructions.
fn device(seed: u64) -> (Device, Stream, Kernels) {
    let device = Software::new().seed(seed).options(|options| options.quantum = 5).open().unwrap();
    (device.clone(), device.stream().unwrap(), Kernels::load(&device).unwrap())
}

/// The kinds of the edges of a graph, from the driver's side: how many are programmatic.
fn programmatic<T>(graph: &Graph<T>) -> usize {
    graph.edges().iter().filter(|(_, _, kind)| *kind != Edge::Full).count()
}

#[test]
fn a_line_of_kernels_is_set_up_ahead_by_itself_and_gives_what_a_line_gives() {
    for seed in 0..20 {
        let (device, stream, kernels) = device(seed);
        let mut y = device.buffer(&[1u32; 70]).unwrap();
        let record = |r: &mut Recorder<'_>, y: &mut dacapo::Buffer<u32>| {
            (0..6).try_for_each(|b| r.run(kernels.mad(baked(3), baked(b), y)))
        };
        let mut graph = device.record(|r| record(r, &mut y)).unwrap();
        assert_eq!(programmatic(&graph), 5);
        graph.launch(&stream).unwrap();
        let got = stream.read(&y).unwrap();
        let plain = device.graph().plain_edges().record(|r| record(r, &mut y)).unwrap();
        assert_eq!(programmatic(&plain), 0);
        assert_eq!(got, [(0..6).fold(1u32, |x, b| x * 3 + b); 70]);
        assert_eq!(device.findings(), [""; 0]);
    }
}

#[test]
fn a_graph_that_begins_twice_has_programmatic_edges_only_if_many_come_one_after_the_other() {
    let (device, _, k) = device(0);
    // Kernels that nothing is before, a fill that nothing is before, kernels behind the one that joins them.
    let edges = |begins: usize, filled: bool, behind: usize| {
        let mut all = device.zeros::<u32>(16 * (begins + 1)).unwrap();
        let graph = device.record(|r: &mut Recorder<'_>| {
            if filled {
                r.run(fill(&mut all[..16], baked(1)))?;
            }
            for at in 1..=begins {
                r.run(k.mad(baked(1), baked(1), &mut all[16 * at..16 * (at + 1)]))?;
            }
            (0..=behind).try_for_each(|_| r.run(k.mad(baked(1), baked(1), &mut all)))
        });
        programmatic(&graph.unwrap())
    };
    assert_eq!(edges(2, false, 0), 0);
    assert_eq!(edges(2, false, 8), 0);
    assert_eq!(edges(2, false, 9), 11);
    assert_eq!(edges(3, false, 1), 4);
    assert_eq!(edges(1, true, 2), 3, "a fill is no kernel");
    assert_eq!(edges(1, false, 2), 3);
}

#[test]
fn a_kernel_whose_grid_becomes_empty_between_two_that_overlap_changes_nothing() {
    for seed in 0..20 {
        let (device, stream, kernels) = device(seed);
        let (mut y, some) = (device.buffer(&[1u32; 40]).unwrap(), Slot::new(40u32));
        let mut graph = device
            .graph()
            .edges_by(|_, _| Edge::Signals)
            .record(|r| {
                r.run(kernels.mad(baked(3), baked(1), &mut y))?;
                r.run(kernels.mad_some(baked(5), baked(2), &mut y, &some))?;
                r.run(kernels.mad(baked(7), baked(3), &mut y))
            })
            .unwrap();
        let mut want = 1u32;
        for count in [40, 0, 40, 0, 0] {
            some.set(count);
            graph.launch(&stream).unwrap();
            want = want * 3 + 1;
            want = if count > 0 { want * 5 + 2 } else { want };
            want = want * 7 + 3;
            assert_eq!(stream.read(&y).unwrap(), [want; 40], "seed {seed}");
        }
        assert_eq!(device.findings(), [""; 0]);
    }
}

#[test]
fn a_recording_in_place_of_another_keeps_kernels_that_wait_behind_those_that_signal() {
    for seed in 0..10 {
        let (device, stream, kernels) = device(seed);
        let mut y = device.buffer(&[1u32; 40]).unwrap();
        let mut graph = device
            .graph()
            .edges_by(|_, _| Edge::Signals)
            .record(|r| (0..3).try_for_each(|b| r.run(kernels.mad(baked(3), baked(b), &mut y))))
            .unwrap();
        let done = graph
            .rerecord(|r: &mut Recorder<'_>| (0..3).try_for_each(|b| r.run(kernels.mad(baked(5), baked(b), &mut y))))
            .unwrap();
        assert!(done.is_updated(), "{done}");
        graph.launch(&stream).unwrap();
        assert_eq!(stream.read(&y).unwrap(), [(0..3).fold(1u32, |x, b| x * 5 + b); 40]);
        assert_eq!(device.findings(), [""; 0]);
    }
}

#[test]
fn a_report_tells_the_kinds_of_edges_of_a_graph_and_of_a_recording() {
    let (device, stream, kernels) = device(0);
    let mut y = device.buffer(&[1u32; 40]).unwrap();
    let record = |r: &mut Recorder<'_>, y: &mut dacapo::Buffer<u32>| {
        r.run(fill(y, baked(1)))?;
        (0..3).try_for_each(|b| r.run(kernels.mad(baked(3), baked(b), y)))?;
        // One body, with edges of its own.
        r.repeat_times(baked(2), |r| (0..3).try_for_each(|b| r.run(kernels.mad(baked(5), baked(b), y)))).map(drop)
    };
    let kinds = |edges: &[(usize, usize, Edge)]| edges.iter().map(|(_, _, kind)| *kind).collect::<Vec<_>>();
    let mut graph = device.record(|r| record(r, &mut y)).unwrap();
    let usual = graph.inspect();
    let mut seen = kinds(&graph.edges());
    assert!(seen.contains(&Edge::Waits) && seen.contains(&Edge::Full), "{seen:?}");
    let mut told = kinds(&usual.edges);
    seen.sort();
    told.sort();
    assert_eq!(told, seen, "without joins, a report has the graph's edges");
    assert_eq!(device.graph().inspect(|r: &mut Recorder<'_>| record(r, &mut y)).unwrap().edges, usual.edges);
    let plain = device.graph().plain_edges().inspect(|r: &mut Recorder<'_>| record(r, &mut y)).unwrap();
    assert!(kinds(&plain.edges).iter().all(|kind| *kind == Edge::Full));
    // A tuning's kinds are told before and after it is recorded, and what it changed.
    let text = graph.tune(&stream).unwrap().tuning.to_string().replace("\nfull ", "\nsignals ");
    let tuning: Tuning = text.replace("\nwaits ", "\nsignals ").parse().unwrap();
    let tuned = device.graph().tuned(&tuning).inspect(|r: &mut Recorder<'_>| record(r, &mut y)).unwrap();
    let recorded = device.graph().tuned(&tuning).record(|r| record(r, &mut y)).unwrap().inspect();
    assert!(tuned.totals.edges_signalling > 0 && recorded.edges == tuned.edges);
    let difference = dacapo::inspect::diff(&usual, &tuned);
    assert!(difference.is_empty() && difference.edges_changed.len() == tuned.totals.edges_signalling, "{difference}");
    let summary = |report: &dacapo::inspect::Report| report.to_string().lines().nth(1).unwrap().to_string();
    assert!(summary(&tuned).contains(" signalling)") && !summary(&plain).contains("full"), "{}", summary(&tuned));
}

#[test]
fn copies_fills_and_other_devices_have_full_edges() {
    let (device, _, kernels) = device(0);
    let (mut x, mut y) = (device.zeros::<u32>(4).unwrap(), device.zeros::<u32>(4).unwrap());
    let graph = device
        .record(|r| {
            r.run(fill(&mut x, baked(3)))?;
            r.run(copy(&x, &mut y))?;
            r.run(kernels.mad(baked(2), baked(1), &mut y))
        })
        .unwrap();
    assert_eq!((graph.edges().len(), programmatic(&graph)), (2, 0));
}

#[test]
fn tuning_leaves_memory_as_it_was_and_the_graph_does_the_same() {
    let (device, stream, kernels) = device(3);
    let (mut y, a) = (device.buffer(&(0..50u32).collect::<Vec<_>>()).unwrap(), Slot::new(3u32));
    let mut graph = device
        .graph()
        .label("step")
        .record(|r| {
            let mut scratch = r.alloc::<u32>(50)?;
            r.run(copy(&y, &mut scratch))?;
            (0..4).try_for_each(|b| r.run(kernels.mad(&a, baked(b), &mut scratch)))?;
            r.run(kernels.mad(baked(1), baked(9), &mut y))?;
            r.run(copy(&scratch, &mut y))
        })
        .unwrap();
    graph.launch(&stream).unwrap();
    let before = stream.read(&y).unwrap();
    let tuned = graph.tune(&stream).unwrap();
    assert_eq!(stream.read(&y).unwrap(), before, "nothing that a try wrote is left");
    assert!(tuned.complete && !tuned.pairs.is_empty(), "{tuned}");
    assert_eq!(tuned.pairs.iter().map(|pair| pair.edges).sum::<usize>(), 3);
    a.set(5);
    graph.launch(&stream).unwrap();
    let want: Vec<u32> = before.iter().map(|x| (0..4).fold(*x, |x, b| x.wrapping_mul(5).wrapping_add(b))).collect();
    assert_eq!(stream.read(&y).unwrap(), want);
    assert_eq!(device.findings(), [""; 0]);
}

#[test]
fn a_tuning_from_a_file_gives_the_same_graph_and_another_gpu_s_is_not_used() {
    let (device, stream, kernels) = device(4);
    let mut y = device.buffer(&[1u32; 40]).unwrap();
    let record = |r: &mut Recorder<'_>, y: &mut dacapo::Buffer<u32>| {
        (0..3).try_for_each(|b| r.run(kernels.mad(baked(3), baked(b), y)))
    };
    let mut graph = device.record(|r| record(r, &mut y)).unwrap();
    let tuning = graph.tune(&stream).unwrap().tuning;
    for edge in [Edge::Full, Edge::Waits, Edge::Signals] {
        let text: String = tuning
            .to_string()
            .lines()
            .map(|line| match line.split_once(' ') {
                Some((_, rest)) if !line.starts_with("dacapo") => format!("{edge} {rest}\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        let read: Tuning = text.parse().unwrap();
        assert_eq!(read.to_string(), text);
        let of = |tuning: &Tuning, y: &mut dacapo::Buffer<u32>| {
            let graph = device.graph().tuned(tuning).record(|r| record(r, y)).unwrap();
            graph.edges().iter().map(|(_, _, kind)| *kind).collect::<Vec<_>>()
        };
        assert_eq!(of(&read, &mut y), [edge; 2]);
        let foreign: Tuning = text.replacen(tuning.gpu(), "another GPU", 1).parse().unwrap();
        assert!(!foreign.is_for(&device));
        assert_eq!(of(&foreign, &mut y), [Edge::Waits; 2]);
    }
}

#[test]
fn a_text_that_is_no_tuning_is_refused_by_its_line() {
    let head = "dacapo tuning 1 for some GPU\n";
    let good = "waits a 1x1x1 32x1x1 0 ff > b 2x1x1 32x1x1 0 ff\n";
    assert_eq!(format!("{head}{good}").parse::<Tuning>().unwrap().len(), 1);
    for (text, line, why) in [
        ("", 1, "begin"),
        ("tuning", 1, "begin"),
        (&format!("{head}maybe a"), 2, "none of"),
        (&format!("{head}{good}waits a 1x1x1 32x1x1 0 ff b 2x1x1 32x1x1 0 ff"), 3, ">"),
        (&format!("{head}waits a 1x1 32x1x1 0 ff > b 2x1x1 32x1x1 0 ff"), 2, "blocks"),
        (&format!("{head}waits a 1x1x1 32x1xx 0 ff > b 2x1x1 32x1x1 0 ff"), 2, "threads"),
        (&format!("{head}waits a 1x1x1 32x1x1 -1 ff > b 2x1x1 32x1x1 0 ff"), 2, "shared"),
        (&format!("{head}waits a 1x1x1 32x1x1 0 xy > b 2x1x1 32x1x1 0 ff"), 2, "hexadecimal"),
        (&format!("{head}{}more\n", good.trim_end().to_string() + " "), 2, "behind"),
        (&format!("{head}{good}{good}"), 3, "before"),
    ] {
        let error = text.parse::<Tuning>().unwrap_err().to_string();
        assert!(error.contains(&format!("line {line} ")) && error.contains(why), "{text:?}: {error}");
    }
}

#[test]
fn a_profile_or_a_tuning_that_is_refused_lets_no_launch_go_with_old_numbers() {
    let (device, stream, kernels) = device(5);
    let (mut y, some) = (device.buffer(&[1u32; 40]).unwrap(), Slot::new(40u32));
    // Two ops with one slot: both are dirty before either is told.
    let twice =
        |r: &mut Recorder<'_>| (0..2).try_for_each(|_| r.run(kernels.mad_some(baked(3), baked(1), &mut y, &some)));
    let mut graph = device.record(twice).unwrap();
    graph.launch(&stream).unwrap();
    for refuse in [
        |graph: &mut Graph<()>, stream: &Stream| graph.profile(stream).map(drop),
        |graph: &mut Graph<()>, stream: &Stream| graph.tune(stream).map(drop),
    ] {
        some.set(41);
        assert!(refuse(&mut graph, &stream).is_err());
        // What the attempt made is gone: nothing but the slot stands in the way of a launch.
        device.synchronize().unwrap();
        assert!(graph.launch(&stream).is_err(), "the slot still says 41");
        some.set(2);
        graph.launch(&stream).unwrap();
    }
    let first = stream.read(&y).unwrap()[..3].to_vec();
    assert_eq!(first, [1093, 1093, 13], "twice all of them, then two of them twice, and once more");
}

#[test]
fn a_kernel_with_a_wait_of_its_own_begins_early_if_it_says_what_it_touches_and_nobody_before_it_writes_that() {
    for seed in 0..20 {
        let (device, stream, kernels) = device(seed);
        let own = Own::load(&device).unwrap();
        let (mut w, mut x) = (device.buffer(&[5u32; 32]).unwrap(), device.buffer(&[1u32; 32]).unwrap());
        let mut y = device.zeros::<u32>(32).unwrap();
        let signals = || device.graph().edges_by(|_, _| Edge::Signals);
        let mut graph = signals()
            .record(|r| {
                r.run(kernels.mad(baked(3), baked(1), &mut x))?;
                r.run(own.add_own(&w, &x, &mut y))
            })
            .unwrap();
        assert_eq!(graph.edges(), [(0, 1, Edge::Signals)]);
        graph.launch(&stream).unwrap();
        assert_eq!(stream.read(&y).unwrap(), [9; 32]);
        let silent = signals().record(|r| {
            r.run(kernels.mad(baked(3), baked(1), &mut x))?;
            r.run(own.add_silent(&w, &x, &mut y))
        });
        assert_eq!(silent.unwrap().edges(), [(0, 1, Edge::Full)]);
        let written = signals().record(|r| {
            r.run(kernels.mad(baked(3), baked(1), &mut w))?;
            r.run(kernels.mad(baked(3), baked(1), &mut x))?;
            r.run(own.add_own(&w, &x, &mut y))
        });
        assert_eq!(written.unwrap().edges(), [(0, 2, Edge::Full), (1, 2, Edge::Full)]);
        assert_eq!(device.findings(), [""; 0]);
    }
}

#[test]
fn a_false_claim_of_what_is_touched_early_is_found_while_the_kernel_before_runs() {
    let found = (0..40).any(|seed| {
        let detectors = |options: &mut dacapo_sim::Options| {
            options.quantum = 5;
            options.detectors.undeclared = true;
        };
        let device = Software::new().seed(seed).options(detectors).open().unwrap();
        let (stream, kernels, own) =
            (device.stream().unwrap(), Kernels::load(&device).unwrap(), Own::load(&device).unwrap());
        let (w, mut x) = (device.buffer(&[5u32; 32]).unwrap(), device.buffer(&[1u32; 32]).unwrap());
        let mut y = device.zeros::<u32>(32).unwrap();
        let mut graph = device
            .graph()
            .edges_by(|_, _| Edge::Signals)
            .record(|r| {
                r.run(kernels.mad(baked(3), baked(1), &mut x))?;
                r.run(own.add_too_early(&w, &x, &mut y))
            })
            .unwrap();
        graph.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        let findings = device.findings().join("\n");
        findings.contains("byte 0 of `x`, before its `griddepcontrol.wait`") && findings.contains("add it to `early`")
    });
    assert!(found);
}

#[test]
fn early_names_what_is_read_and_a_kernel_that_waits() {
    dacapo::kernels! {
        /// Safe by: it does not load.
        unsafe struct Written(OWN) {
            #[allow(dead_code, reason = "it does not load")]
            fn add_own(w: &[u32], x: &[u32], y: &out [u32]) {
                early: y;
                grid: exact([1, 1, 1], [1, 1, 1]);
            }
        }
    }
    dacapo::kernels! {
        /// Safe by: it does not load.
        unsafe struct Waitless(PLAIN) {
            #[allow(dead_code, reason = "it does not load")]
            fn first(x: &[u32], y: &mut [u32]) {
                early: x;
                requires: x.len() == 1, y.len() == 1;
                grid: exact([1, 1, 1], [1, 1, 1]);
            }
        }
    }
    let (device, _, _) = device(0);
    let error = Written::load(&device).map(drop).unwrap_err().to_string();
    assert!(error.contains("`early` names `y`, which is no `&` parameter"), "{error}");
    let error = Waitless::load(&device).map(drop).unwrap_err().to_string();
    assert!(error.contains("its text has no `griddepcontrol.wait`"), "{error}");
}

/// Two kernels in a line over `y`, whose first value is 1.
fn line(device: &Device, kernels: &Kernels) -> (dacapo::Buffer<u32>, Graph<()>) {
    let mut y = device.buffer(&[1u32; 40]).unwrap();
    let graph = device.record(|r| (0..2).try_for_each(|b| r.run(kernels.mad(baked(3), baked(b), &mut y)))).unwrap();
    (y, graph)
}

#[test]
fn whatever_call_a_tuning_is_refused_by_the_graph_and_its_memory_are_as_they_were() {
    use dacapo_driver::{CUresult, Call};
    use dacapo_driver::{Fault, Hooked};
    let mut refused = 0;
    for call in [
        Call::cuGraphInstantiateWithFlags,
        Call::cuGraphLaunch,
        Call::cuEventCreate,
        Call::cuEventRecord,
        Call::cuEventElapsedTime,
        Call::cuMemcpyAsync,
        Call::cuModuleLoadDataEx,
        Call::cuGraphAddNode_v2,
    ] {
        for nth in [1, 2, 3, 5] {
            let fault = Fault::new().fail(call, nth, CUresult::CUDA_ERROR_NOT_PERMITTED);
            // SAFETY: the hook passes calls on, or refuses them without having made them.
            let opened =
                unsafe { Software::new().open_hooked(move |machine| std::sync::Arc::new(Hooked::new(machine, fault))) };
            let device = opened.unwrap();
            let stream = device.stream().unwrap();
            // Refused before there is anything to tune.
            let Ok(kernels) = Kernels::load(&device) else { continue };
            let Ok(y) = device.buffer(&[1u32; 40]) else { continue };
            drop(y);
            let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| line(&device, &kernels)));
            let Ok((y, mut graph)) = made else { continue };
            let graphs = device.counters().graphs;
            let outcome = graph.tune(&stream);
            refused += usize::from(outcome.is_err());
            assert_eq!(stream.read(&y).unwrap(), [1; 40], "{call:?} {nth}: {outcome:?}");
            graph.launch(&stream).unwrap();
            assert_eq!(stream.read(&y).unwrap(), [10; 40], "{call:?} {nth}");
            device.synchronize().unwrap();
            assert_eq!(device.counters().graphs, graphs, "{call:?} {nth}: an executable graph is left");
            assert_eq!(device.findings(), [""; 0]);
        }
    }
    assert!(refused >= 8, "only {refused} tunings were refused");
}

#[test]
fn a_tuning_that_panics_in_another_library_s_work_leaves_nothing_behind() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let (device, stream, kernels) = device(6);
    let (mut y, calls) = (device.buffer(&[1u32; 8]).unwrap(), Arc::new(AtomicUsize::new(0)));
    let counted = calls.clone();
    let mut graph = device
        .record(|r| {
            (0..2).try_for_each(|b| r.run(kernels.mad(baked(3), baked(b), &mut y)))?;
            // SAFETY: it enqueues nothing.
            let nothing = unsafe {
                dacapo::raw::foreign((), &mut y[..], move |_, _, _| match counted.fetch_add(1, Ordering::Relaxed) {
                    2 => panic!("on purpose"),
                    _ => Ok(()),
                })
            };
            r.run(nothing)
        })
        .unwrap();
    let graphs = device.counters().graphs;
    let tuned = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| graph.tune(&stream).map(drop)));
    assert!(tuned.is_err() && calls.load(Ordering::Relaxed) == 3);
    assert_eq!(stream.read(&y).unwrap(), [1; 8]);
    graph.launch(&stream).unwrap();
    assert_eq!(stream.read(&y).unwrap(), [10; 8]);
    device.synchronize().unwrap();
    assert_eq!(device.counters().graphs, graphs);
}

#[test]
fn a_tuning_inside_a_recording_is_refused_with_the_call_s_name() {
    let (device, stream, kernels) = device(7);
    let (_y, mut graph) = line(&device, &kernels);
    let mut refused = None;
    device
        .record(|_| {
            refused = graph.tune(&stream).err();
            Ok(())
        })
        .unwrap();
    assert!(refused.unwrap().to_string().contains("Graph::tune"));
}

/// The kinds of the edges between the kernels of a graph.
fn kinds<T>(graph: &Graph<T>) -> Vec<Edge> {
    graph.edges().iter().map(|(_, _, kind)| *kind).collect()
}

/// A tuning in which every pair has this kind.
fn all(tuning: &Tuning, kind: Edge) -> Tuning {
    let lines = tuning.to_string();
    let mut lines = lines.lines();
    let head = lines.next().unwrap();
    let pairs = lines.map(|line| format!("{kind} {}\n", line.split_once(' ').unwrap().1));
    format!("{head}\n{}", pairs.collect::<String>()).parse().unwrap()
}

#[test]
fn buckets_are_tuned_all_at_once_and_take_a_tuning_or_plain_edges() {
    use dacapo::shapes::{Bucketed, Buckets, Pad, rows};
    let (device, stream, kernels) = device(8);
    let make = || {
        let buckets = Buckets::new([2, 4, 8]).unwrap();
        let made = Bucketed::new(&device, buckets, rows(1, Pad::Value(9u32)), |r, n, x: &dacapo::Slice<u32>| {
            let mut y = r.output(n)?;
            r.run(copy(x, &mut y))?;
            (0..3).try_for_each(|b| r.run(kernels.mad(baked(3), baked(b), &mut y)))?;
            Ok(y)
        });
        made.unwrap()
    };
    let want = |x: u32| (0..3).fold(x, |x, b| x * 3 + b);
    let x = device.buffer(&[1u32, 2, 3]).unwrap();
    let mut bucketed = make();
    assert_eq!(stream.read(bucketed.call(&stream, 3, &x).unwrap()).unwrap(), [1, 2, 3].map(want));
    assert_eq!(stream.read(bucketed.call(&stream, 1, &x[..1]).unwrap()).unwrap(), [want(1)]);
    let tuning = bucketed.tune(&stream).unwrap();
    assert_eq!(tuning.len(), 1, "both graphs have the same pair of kernels: one block suffices for either");
    assert_eq!((bucketed.counters().requests(), bucketed.cache().len()), (2, 2), "no request, and no graph more");
    assert_eq!(stream.read(bucketed.call(&stream, 3, &x).unwrap()).unwrap(), [1, 2, 3].map(want));
    // The third bucket is recorded with what was found, as far as it has the same pairs.
    let found = tuning.iter().next().unwrap().2;
    assert_eq!(bucketed.prepare().unwrap(), 1);
    assert_eq!(kinds(bucketed.cache().peek(&8).unwrap())[1..], [found; 2]);
    for kind in [Edge::Full, Edge::Waits, Edge::Signals] {
        let mut given = make().tuned(&all(&tuning, kind));
        assert_eq!(given.prepare().unwrap(), 3);
        for bucket in [2, 4, 8] {
            assert_eq!(kinds(given.cache().peek(&bucket).unwrap())[1..], [kind; 2], "{bucket}");
        }
        assert_eq!(stream.read(given.call(&stream, 3, &x).unwrap()).unwrap(), [1, 2, 3].map(want));
    }
    let mut plain = make().plain_edges();
    assert_eq!(plain.prepare().unwrap(), 3);
    assert_eq!(kinds(plain.cache().peek(&8).unwrap()), [Edge::Full; 3]);
    assert_eq!(device.findings(), [""; 0]);
}

#[test]
fn a_cache_adds_what_it_finds_to_its_tuning_and_drops_one_of_another_gpu() {
    use dacapo::shapes::GraphCache;
    let (device, stream, kernels) = device(9);
    let body = |r: &mut Recorder<'_>, len: usize| {
        let mut y = r.output::<u32>(len)?;
        r.run(fill(&mut y, baked(1)))?;
        (0..2).try_for_each(|b| r.run(kernels.mad(baked(3), baked(b), &mut y)))?;
        Ok(y)
    };
    let mut cache: GraphCache<usize, dacapo::Buffer<u32>> = GraphCache::new(&device);
    // Grids of one, two and three blocks: three pairs.
    cache.prepare([30, 60], |r, &len| body(r, len)).unwrap();
    let two = cache.tune(&stream).unwrap();
    assert_eq!(two.len(), 2);
    let foreign: Tuning = two.to_string().replacen(two.gpu(), "another GPU", 1).parse().unwrap();
    for (given, known) in [(all(&two, Edge::Signals), 3), (foreign, 1)] {
        let mut cache = GraphCache::new(&device).tuned(&given);
        cache.prepare([90], |r, &len| body(r, len)).unwrap();
        assert_eq!(cache.tune(&stream).unwrap().len(), known);
        let y = cache.run(&stream, &30, |r| body(r, 30)).unwrap();
        assert_eq!(stream.read(y).unwrap(), [10; 30]);
        let usual = if known == 3 { Edge::Signals } else { Edge::Waits };
        assert_eq!(kinds(cache.peek(&30).unwrap()), [Edge::Full, usual]);
    }
    // The last word counts.
    let of = |mut cache: GraphCache<usize, dacapo::Buffer<u32>>| {
        cache.prepare([30], |r, &len| body(r, len)).unwrap();
        kinds(cache.peek(&30).unwrap())[1]
    };
    let signals = all(&two, Edge::Signals);
    assert_eq!(of(GraphCache::new(&device).tuned(&signals).plain_edges()), Edge::Full);
    assert_eq!(of(GraphCache::new(&device).plain_edges().tuned(&signals)), Edge::Signals);
}

#[test]
fn a_tuning_of_many_graphs_that_is_refused_says_by_which_call_and_keeps_plain_edges_plain() {
    use dacapo::port::graphed;
    use dacapo::shapes::{Bucketed, Buckets, GraphCache, Pad, rows};
    let ((device, stream, kernels), other) = (device(10), Device::software().unwrap());
    let (theirs, x) = (other.stream().unwrap(), device.buffer(&[1u32; 4]).unwrap());
    let body = |r: &mut Recorder<'_>, len: usize| {
        let mut y = r.output::<u32>(len)?;
        r.run(fill(&mut y, baked(1)))?;
        (0..2).try_for_each(|b| r.run(kernels.mad(baked(3), baked(b), &mut y)))?;
        Ok(y)
    };
    let mut cache: GraphCache<usize, dacapo::Buffer<u32>> = GraphCache::new(&device).plain_edges();
    let buckets = Buckets::new([4]).unwrap();
    let bucketed = Bucketed::new(&device, buckets, rows(1, Pad::Zero), |r, n, _: &dacapo::Slice<u32>| body(r, n));
    let mut bucketed = bucketed.unwrap().plain_edges();
    let mut function = graphed(&device, |r, x: &dacapo::Buffer<u32>| body(r, x.len())).plain_edges();
    let mut refused = Vec::new();
    device
        .record(|_| {
            refused.extend([cache.tune(&stream).err(), bucketed.tune(&stream).err(), function.tune(&stream).err()]);
            Ok(())
        })
        .unwrap();
    for (error, call) in refused.into_iter().zip(["GraphCache::tune", "Bucketed::tune", "Graphed::tune"]) {
        let error = error.unwrap().to_string();
        assert!(error.contains(call), "{error}");
    }
    for error in [cache.tune(&theirs).err(), bucketed.tune(&theirs).err(), function.tune(&theirs).err()] {
        assert!(matches!(error.unwrap().kind(), dacapo::ErrorKind::WrongDevice { .. }));
    }
    cache.run(&stream, &4, |r| body(r, 4)).unwrap();
    bucketed.call(&stream, 4, &x).unwrap();
    assert_eq!(kinds(cache.peek(&4).unwrap()), [Edge::Full; 2]);
    assert_eq!(kinds(bucketed.cache().peek(&4).unwrap()), [Edge::Full; 2]);
    // A function is tuned too, and gives the same.
    let before = stream.read(function.call(&stream, &x).unwrap()).unwrap();
    assert_eq!(function.tune(&stream).unwrap().len(), 1);
    assert_eq!(stream.read(function.call(&stream, &x).unwrap()).unwrap(), before);
}

#[test]
fn a_second_module_that_is_refused_or_lacks_a_function_is_asked_for_again() {
    use dacapo_driver::{CUresult, Call};
    use dacapo_driver::{Fault, Hooked};
    for (call, nth, code, is_fatal) in [
        // Of the first module there are one load, and two functions found.
        (Call::cuModuleLoadDataEx, 2, CUresult::CUDA_ERROR_NOT_PERMITTED, true),
        (Call::cuModuleLoadDataEx, 2, CUresult::CUDA_ERROR_INVALID_PTX, false),
        (Call::cuModuleGetFunction, 3, CUresult::CUDA_ERROR_NOT_FOUND, true),
        (Call::cuFuncLoad, 3, CUresult::CUDA_ERROR_OUT_OF_MEMORY, true),
    ] {
        let fault = Fault::new().fail(call, nth, code);
        // SAFETY: the hook passes calls on, or refuses them without having made them.
        let opened =
            unsafe { Software::new().open_hooked(move |machine| std::sync::Arc::new(Hooked::new(machine, fault))) };
        let device = opened.unwrap();
        let (stream, kernels) = (device.stream().unwrap(), Kernels::load(&device).unwrap());
        let mut y = device.buffer(&[1u32; 40]).unwrap();
        let mut record = || {
            let signals = device.graph().edges_by(|_, _| Edge::Signals);
            signals.record(|r| (0..2).try_for_each(|b| r.run(kernels.mad(baked(3), baked(b), &mut y))))
        };
        let first = record();
        assert_eq!(first.is_err(), is_fatal, "{call:?} {code}: {:?}", first.as_ref().err());
        if let Ok(first) = &first {
            assert_eq!(first.edges(), [(0, 1, Edge::Waits)], "its kernels only wait, and it says so");
        }
        drop(first);
        let mut graph = record().unwrap();
        graph.launch(&stream).unwrap();
        drop(graph);
        assert_eq!(stream.read(&y).unwrap(), [10; 40], "{call:?} {code}");
        device.synchronize().unwrap();
        assert_eq!((device.counters().graphs, device.findings()), (0, vec![]), "{call:?} {code}");
    }
}

#[test]
fn every_way_to_record_takes_a_tuning_and_plain_edges() {
    let (device, stream, kernels) = device(11);
    let mut y = device.buffer(&[1u32; 40]).unwrap();
    let record = |r: &mut Recorder<'_>, y: &mut dacapo::Slice<u32>| {
        (0..3).try_for_each(|b| r.run(kernels.mad(baked(3), baked(b), y)))
    };
    let tuning = device.record(|r| record(r, &mut y)).unwrap().tune(&stream).unwrap().tuning;
    let (tuning, pool) = (all(&tuning, Edge::Signals), device.pool());
    let inner = device.record(|r| record(r, &mut y)).unwrap();
    for (options, kind) in [(device.graph().tuned(&tuning), Edge::Signals), (device.graph().plain_edges(), Edge::Full)]
    {
        let warm = options.clone().warmup(1).record(|r| record(r, &mut y)).unwrap();
        let pooled = options.clone().pool(&pool).preloaded().record(|r| record(r, &mut y)).unwrap();
        let outer = options.clone().record(inner.as_op()).unwrap();
        for graph in [&warm, &pooled, &outer] {
            assert_eq!(kinds(graph), [kind; 2]);
        }
        let mut again = device.record(|r| record(r, &mut y)).unwrap();
        again.rerecord_with(options.clone(), |r: &mut Recorder<'_>| record(r, &mut y)).unwrap();
        assert_eq!(kinds(&again), [kind; 2]);
        again.rerecord(|r: &mut Recorder<'_>| record(r, &mut y)).unwrap();
        assert_eq!(kinds(&again), [kind; 2], "as it was recorded");
        let mut into = options.record_into((), &mut y[..], |r, (), y| record(r, y)).unwrap();
        let told = into.inspect().edges.iter().map(|(_, _, kind)| *kind).collect::<Vec<_>>();
        assert_eq!(told, [kind; 2]);
        into.launch(&stream, (), &mut y[..]).unwrap();
    }
    assert_eq!(stream.read(&y).unwrap(), [(0..6).fold(1u32, |x, b| x.wrapping_mul(3).wrapping_add(b % 3)); 40]);
}

/// Kernels that are run one by one are set up while the one before ends; what they see is the same.
#[test]
fn kernels_that_are_run_one_by_one_see_what_came_before() {
    for seed in 0..12 {
        let (device, early, kernels) = device(seed);
        let plain = device.plain_stream().unwrap();
        let mut results = Vec::new();
        for stream in [&early, &plain] {
            let (mut y, mut z) = (device.buffer(&[1u32; 70]).unwrap(), device.zeros::<u32>(70).unwrap());
            for b in 0..3 {
                // Behind another launch, behind kernels of the same run, behind and before what is no kernel.
                stream.run(kernels.mad(baked(3), baked(b), &mut y)).unwrap();
                let several = |r: &mut Recorder<'_>| {
                    r.run(kernels.mad(baked(5), baked(1), &mut y))?;
                    r.run(kernels.mad(baked(2), baked(b), &mut y))?;
                    r.run(copy(&y, &mut z))?;
                    r.run(kernels.mad(baked(7), baked(4), &mut z))?;
                    r.run(kernels.mad_some(baked(2), baked(9), &mut z, baked(33)))
                };
                stream.run(several).unwrap();
            }
            results.push((stream.read(&y).unwrap(), stream.read(&z).unwrap()));
        }
        assert_eq!(results[0], results[1], "seed {seed}");
        assert_eq!(device.findings(), [""; 0]);
    }
}

/// Also behind a kernel that lets others begin long before it is over: those that wait for it wait, and those that do not, or too
/// late, do not begin.
#[test]
fn kernels_that_are_run_behind_one_that_signals_see_what_it_did() {
    for seed in 0..12 {
        let (device, stream, kernels) = device(seed);
        let (late, own) = (Late::load(&device).unwrap(), Own::load(&device).unwrap());
        let (w, mut x, mut y) =
            (device.buffer(&[100u32; 40]).unwrap(), device.zeros::<u32>(40).unwrap(), device.zeros::<u32>(40).unwrap());
        for round in 0..3 {
            stream.run(late.late(&mut x)).unwrap();
            stream.run(own.add_too_early(&w, &x, &mut y)).unwrap();
            stream.run(late.late(&mut x)).unwrap();
            stream.run(kernels.mad(baked(1), baked(10), &mut x)).unwrap();
            assert_eq!(stream.read(&y).unwrap(), [101 + 12 * round; 40], "seed {seed}");
            assert_eq!(stream.read(&x).unwrap(), [12 + 12 * round; 40], "seed {seed}");
        }
        assert_eq!(device.findings(), [""; 0]);
    }
}

#[test]
fn a_plain_stream_launches_kernels_as_ever() {
    use dacapo_driver::{CUresult, Call, Fault, Hooked};
    let fault = Fault::new().fail(Call::cuLaunchKernelEx, 1, CUresult::CUDA_ERROR_NOT_PERMITTED);
    // SAFETY: the hook passes calls on, or refuses them without having made them.
    let opened =
        unsafe { Software::new().open_hooked(move |machine| std::sync::Arc::new(Hooked::new(machine, fault))) };
    let device = opened.unwrap();
    let (early, plain) = (device.stream().unwrap(), device.plain_stream().unwrap());
    let kernels = Kernels::load(&device).unwrap();
    let mut y = device.buffer(&[1u32; 40]).unwrap();
    plain.run(kernels.mad(baked(3), baked(0), &mut y)).unwrap();
    let refused = early.run(kernels.mad(baked(3), baked(0), &mut y)).unwrap_err();
    assert!(refused.to_string().contains("cuLaunchKernelEx"), "{refused}");
    early.run(kernels.mad(baked(3), baked(0), &mut y)).unwrap();
    assert_eq!(plain.read(&y).unwrap(), [9; 40]);
}
