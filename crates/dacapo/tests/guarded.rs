//! Small branches as kernels that look at the flag themselves: what the driver is asked for, and that no detector
//! objects.
//!
//! What they compute is asked by the forms of the suite (`crates/suite/src/forms/flow`), on both drivers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dacapo::flow::{below, nonzero};
use dacapo::graph::Edge;
use dacapo::inspect::Kind;
use dacapo::{Buffer, Device, Graph, Recorder, Result, Scalar, Slot, Software, Stream, baked};
use dacapo_driver::{Argument, CUresult, Call, Hook, Hooked};
use dacapo_sim::Detectors;

/// `mad` is y[i] = y[i] * a + b.
const PTX: &str = ".version 7.0
.target sm_75
.address_size 64
.visible .entry mad(.param .u32 a, .param .u32 b, .param .u64 y, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
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
    mul.wide.u32 %rd2, %r6, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r7, [%rd3];
    mad.lo.u32 %r7, %r7, %r1, %r2;
    st.global.u32 [%rd3], %r7;
    ret;
}
// y = 1, by a kernel that stores first and asks nothing.
.visible .entry one(.param .u64 y)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [y];
    mov.u32 %r1, 1;
    st.global.u32 [%rd1], %r1;
    ret;
}
// y = a + b + c + d + e + f + g
.visible .entry wide(.param .u32 a, .param .u32 b, .param .u32 c, .param .u32 d, .param .u32 e, .param .u32 f, .param .u32 g,
    .param .u64 y)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u32 %r1, [a];
    ld.param.u32 %r2, [b];
    add.u32 %r1, %r1, %r2;
    ld.param.u32 %r2, [c];
    add.u32 %r1, %r1, %r2;
    ld.param.u32 %r2, [d];
    add.u32 %r1, %r1, %r2;
    ld.param.u32 %r2, [e];
    add.u32 %r1, %r1, %r2;
    ld.param.u32 %r2, [f];
    add.u32 %r1, %r1, %r2;
    ld.param.u32 %r2, [g];
    add.u32 %r1, %r1, %r2;
    ld.param.u64 %rd1, [y];
    st.global.u32 [%rd1], %r1;
    ret;
}
// Does nothing, and takes nothing.
.visible .entry idle
{
    ret;
}
";

dacapo::kernels! {
    /// Safe by: threads from `n` on return; the next two have one thread, the last touches nothing.
    unsafe struct Kernels(PTX) {
        fn mad(a: u32, b: u32, y: &mut [u32], n: u32 = y.len()) {
            grid: linear(y.len(), 32);
        }
        fn one(y: &out u32) {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
        fn wide(a: u32, b: u32, c: u32, d: u32, e: u32, f: u32, g: u32, y: &out u32) {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
        fn idle() {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
    }
}

/// Interleaves kernels every few instructions, with every detector.
fn software(seed: u64) -> Software {
    Software::new().seed(seed).options(|options| (options.quantum, options.detectors) = (5, Detectors::all()))
}

/// A driver that has no ELSE.
fn old(seed: u64) -> Software {
    software(seed).options(|options| options.driver_version = 12_040)
}

struct Bench {
    device: Device,
    stream: Stream,
    k: Kernels,
    flag: Scalar<u32>,
    y: Buffer<u32>,
    z: Buffer<u32>,
}

impl Bench {
    fn new(device: Device) -> Bench {
        let (stream, k) = (device.stream().unwrap(), Kernels::load(&device).unwrap());
        let (flag, y, z) = (device.scalar(0).unwrap(), device.zeros(40).unwrap(), device.zeros(40).unwrap());
        Bench { device, stream, k, flag, y, z }
    }

    /// Both sides write the same, in several kernels; the one behind reads what they wrote.
    fn both(&mut self, r: &mut Recorder<'_>) -> Result<()> {
        let Bench { k, flag, y, z, .. } = self;
        r.run(k.mad(baked(1), baked(1), y))?;
        r.when(nonzero(&*flag), |r: &mut Recorder<'_>| {
            r.run(k.mad(baked(3), baked(1), y))?;
            r.run(k.mad(baked(2), baked(5), z))
        })?
        .otherwise(k.mad(baked(7), baked(2), y))?;
        r.run(k.mad(baked(2), baked(0), y))
    }

    fn guarded(&mut self) -> Graph<()> {
        let device = self.device.clone();
        let graph = device.graph().guarded(true).record(|r: &mut Recorder<'_>| self.both(r)).unwrap();
        let kinds: Vec<Kind> = graph.inspect().nodes.iter().map(|node| node.kind).collect();
        assert!(kinds.contains(&Kind::Guarded) && !kinds.contains(&Kind::Branch), "{kinds:?}");
        graph
    }
}

#[test]
fn no_detector_objects_to_two_sides_of_which_one_does_nothing() {
    for seed in 0..12 {
        for software in [software(seed), old(seed)] {
            let mut b = Bench::new(software.open().unwrap());
            let mut graph = b.guarded();
            let (mut y, mut z) = (0u32, 0u32);
            for flag in [0, 1, 1, 0, 9] {
                b.flag.set(&b.stream, flag).unwrap();
                graph.launch(&b.stream).unwrap();
                (y, z) = match flag {
                    0 => (((y + 1) * 7 + 2) * 2, z),
                    _ => (((y + 1) * 3 + 1) * 2, z * 2 + 5),
                };
                assert_eq!(b.stream.read(&b.y).unwrap(), [y; 40], "seed {seed}");
                assert_eq!(b.stream.read(&b.z).unwrap(), [z; 40], "seed {seed}");
            }
            assert_eq!(b.device.findings(), [""; 0], "seed {seed}");
        }
    }
}

#[test]
fn a_kernel_that_stores_first_stores_nothing_on_the_other_side() {
    let mut b = Bench::new(software(0).open().unwrap());
    let device = b.device.clone();
    let mut graph = device
        .graph()
        .guarded(true)
        .record(|r: &mut Recorder<'_>| {
            let Bench { k, flag, y, .. } = &mut b;
            r.when(nonzero(&*flag), |r: &mut Recorder<'_>| {
                r.run(k.one(y.at_mut(3)))?;
                r.run(k.idle())
            })
            .map(drop)
        })
        .unwrap();
    graph.launch(&b.stream).unwrap();
    assert_eq!(b.stream.read(&b.y).unwrap(), [0; 40]);
    b.flag.set(&b.stream, 1).unwrap();
    graph.launch(&b.stream).unwrap();
    assert_eq!(b.stream.read(&b.y[2..5]).unwrap(), [0, 1, 0]);
}

#[test]
fn slots_change_arguments_in_front_of_the_guard_however_many_there_are() {
    let mut b = Bench::new(software(0).open().unwrap());
    let (device, first, last) = (b.device.clone(), Slot::new(1u32), Slot::new(7u32));
    let mut graph = device
        .graph()
        .guarded(true)
        .record(|r: &mut Recorder<'_>| {
            let Bench { k, flag, y, .. } = &mut b;
            r.when(nonzero(&*flag), |r: &mut Recorder<'_>| {
                let (one, two) = (baked(1), baked(2));
                r.run(k.wide(&first, one, two, one, two, one, &last, y.at_mut(0)))
            })
            .map(drop)
        })
        .unwrap();
    let mut want = 0;
    for (flag, one, other) in [(0, 1, 7), (1, 1, 7), (1, 5, 6), (0, 9, 9), (1, 9, 9), (1, 0, 2)] {
        b.flag.set(&b.stream, flag).unwrap();
        first.set(one);
        last.set(other);
        graph.launch(&b.stream).unwrap();
        want = if flag == 1 { one + other + 7 } else { want };
        assert_eq!(b.stream.read(&b.y[..1]).unwrap(), [want]);
    }
    assert_eq!(device.findings(), [""; 0]);
}

/// Counts handles of conditions, and modules; the first so many modules are refused.
#[derive(Default)]
struct Counting {
    refused: usize,
    handles: AtomicUsize,
    modules: AtomicUsize,
}

impl Hook for Counting {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        match call {
            Call::cuGraphConditionalHandleCreate => drop(self.handles.fetch_add(1, Ordering::Relaxed)),
            Call::cuModuleLoadDataEx if self.modules.fetch_add(1, Ordering::Relaxed) < self.refused => {
                return CUresult::CUDA_ERROR_INVALID_PTX;
            }
            _ => {}
        }
        run()
    }
}

fn hooked(refused: usize) -> (Bench, Arc<Counting>) {
    let hook = Arc::new(Counting { refused, ..Counting::default() });
    let kept = hook.clone();
    // SAFETY: the hook passes calls on, or refuses them without having made them.
    let opened = unsafe { software(0).open_hooked(move |machine| Arc::new(Hooked::new(machine, kept))) };
    (Bench::new(opened.unwrap()), hook)
}

#[test]
fn a_module_that_does_not_load_with_waits_is_guarded_without_them() {
    let (mut b, _) = hooked(1);
    let mut graph = b.guarded();
    assert!(graph.edges().iter().all(|(.., kind)| *kind == Edge::Full), "{:?}", graph.edges());
    b.flag.set(&b.stream, 1).unwrap();
    graph.launch(&b.stream).unwrap();
    assert_eq!(b.stream.read(&b.y).unwrap(), [8; 40]);
    assert_eq!(b.device.findings(), [""; 0]);
}

#[test]
fn the_driver_is_asked_for_no_condition_and_for_one_module_more_once() {
    let (mut b, hook) = hooked(0);
    let counts = || (hook.handles.load(Ordering::Relaxed), hook.modules.load(Ordering::Relaxed));
    let device = b.device.clone();
    let plain = device.graph().guarded(false).record(|r: &mut Recorder<'_>| b.both(r)).unwrap();
    let (handles, modules) = counts();
    assert_eq!(handles, 1);
    let (first, second) = (b.guarded(), b.guarded());
    assert_eq!(counts(), (1, modules + 1));
    drop((plain, first, second));
    // What is inside a loop is guarded there; the loop has a condition.
    let graph = device
        .graph()
        .guarded(true)
        .record(|r: &mut Recorder<'_>| r.repeat_times(baked(3), |r: &mut Recorder<'_>| b.both(r)).map(drop))
        .unwrap();
    assert_eq!(counts(), (2, modules + 1));
    drop(graph);
}

#[test]
fn guarded_kernels_wait_for_each_other_and_do_not_signal() {
    for seed in 0..8 {
        let mut b = Bench::new(software(seed).open().unwrap());
        let device = b.device.clone();
        let mut graph = device
            .graph()
            .guarded(true)
            .edges_by(|_, _| Edge::Signals)
            .record(|r: &mut Recorder<'_>| {
                let Bench { k, y, .. } = &mut b;
                r.run(k.mad(baked(1), baked(1), y))?;
                r.run(k.mad(baked(1), baked(1), y))?;
                r.when(below(y.at(0), baked(9)), |r: &mut Recorder<'_>| {
                    (0..3).try_for_each(|by| r.run(k.mad(baked(3), baked(by), y)))
                })?;
                r.run(k.mad(baked(1), baked(1), y))
            })
            .unwrap();
        // Two kernels, the one that decides, the branch, and inside it three in a line.
        let kinds = graph.edges();
        let inside: Vec<Edge> = kinds.iter().filter(|(one, ..)| *one >= 4).map(|(.., kind)| *kind).collect();
        assert_eq!(inside, [Edge::Waits; 2], "{kinds:?}");
        assert!(kinds.contains(&(0, 1, Edge::Signals)), "{kinds:?}");
        let mut want = 0u32;
        for _ in 0..3 {
            graph.launch(&b.stream).unwrap();
            want += 2;
            want = if want < 9 { ((want * 3) * 3 + 1) * 3 + 2 } else { want } + 1;
            assert_eq!(b.stream.read(&b.y).unwrap(), [want; 40], "seed {seed}");
        }
        assert_eq!(device.findings(), [""; 0]);
    }
}

#[test]
fn a_report_says_what_is_guarded_and_what_it_looks_at() {
    let mut b = Bench::new(software(0).open().unwrap());
    let report = b.guarded().inspect();
    let text = report.to_string();
    assert!(text.contains("guarded  when") && text.contains("    flag = reads"), "{text}");
    assert!(!text.contains("warning"), "{text}");
    assert!(report.to_dot().contains("shape=diamond"), "{}", report.to_dot());
    assert_eq!(Kind::Guarded.to_string(), "guarded");
}

/// What a launch leaves in `y` and `z`, from zeros.
fn left(bench: &mut Bench, graph: &mut Graph<()>, flag: u32) -> (u32, u32) {
    let Bench { stream, y, z, .. } = bench;
    stream.write(y, &[0; 40]).unwrap();
    stream.write(z, &[0; 40]).unwrap();
    bench.flag.set(stream, flag).unwrap();
    graph.launch(stream).unwrap();
    (stream.read(&bench.y).unwrap()[39], stream.read(&bench.z).unwrap()[39])
}

#[test]
fn a_guarded_graph_is_tuned_profiled_and_recorded_again_and_does_the_same() {
    for seed in 0..6 {
        let mut bench = Bench::new(software(seed).open().unwrap());
        let mut graph = bench.guarded();
        let both = |bench: &mut Bench, graph: &mut Graph<()>, when: &str| {
            assert_eq!(left(bench, graph, 1), (8, 5), "{when}, seed {seed}");
            assert_eq!(left(bench, graph, 0), (18, 0), "{when}, seed {seed}");
        };
        both(&mut bench, &mut graph, "recorded");
        let tuning = graph.tune(&bench.stream).unwrap().tuning;
        both(&mut bench, &mut graph, "tuned");
        let text = tuning.to_string().replace("\nfull ", "\nsignals ").replace("\nwaits ", "\nsignals ");
        let device = bench.device.clone();
        let signalling = device.graph().guarded(true).tuned(&text.parse().unwrap());
        let mut all = signalling.record(|r: &mut Recorder<'_>| bench.both(r)).unwrap();
        both(&mut bench, &mut all, "with signals");
        all.profile(&bench.stream).unwrap();
        both(&mut bench, &mut all, "profiled");
        let again = all.rerecord(|r: &mut Recorder<'_>| bench.both(r)).unwrap();
        assert!(again.is_updated(), "{again}");
        both(&mut bench, &mut all, "recorded again");
        assert_eq!(device.findings(), [""; 0]);
    }
}

#[test]
fn a_chooser_of_edges_that_panics_leaves_nothing_behind() {
    let mut bench = Bench::new(software(0).open().unwrap());
    let device = bench.device.clone();
    let before = device.counters();
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let builder = device.graph().guarded(true).edges_by(|_, _| panic!("on purpose"));
        builder.record(|r: &mut Recorder<'_>| {
            bench.both(r)?;
            (0..3).try_for_each(|_| r.run(bench.k.mad(baked(1), baked(1), &mut bench.z)))
        })
    }));
    assert!(outcome.is_err());
    device.synchronize().unwrap();
    assert_eq!((device.counters().allocations, device.counters().graphs), (before.allocations, before.graphs));
    let mut graph = bench.guarded();
    assert_eq!(left(&mut bench, &mut graph, 1), (8, 5));
    assert_eq!(device.findings(), [""; 0]);
}
