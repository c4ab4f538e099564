//! Programs that end oddly. Each is run as a process of its own by [`kept`](crate::kept), with pages and without.
//!
//! What a program prints is what it can see: `said!` is compared.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Barrier, OnceLock};

use dacapo::capture::{self, CaptureStream, Mode};
use dacapo::raw::foreign;
use dacapo::{Buffer, Device, Graph, Op, Recorder, Result, Slot, baked, copy, fill};

macro_rules! said {
    ($($what:tt)*) => { println!("said: {}", format!($($what)*)) };
}

dacapo::kernels! {
    /// Declarations that promise too much.
    unsafe struct Careless(include_str!("../promises/kernels.ptx")) {
        /// y ← x[offset ..]
        fn window_of(offset: u32, n: u32 = y.len(), x: &[u32], y: &out [u32]) {
            entry: "window";
            grid: linear(y.len(), 64);
        }
    }
}

fn device() -> Device {
    Device::software().unwrap()
}

fn steps(device: &Device, label: &str) -> Graph<()> {
    let (mut x, mut y) = (device.zeros::<u32>(4).unwrap(), device.zeros::<u32>(4).unwrap());
    let record = |r: &mut Recorder<'_>| r.run(fill(&mut x, baked(1))).and_then(|()| r.run(copy(&x, &mut y)));
    device.graph().label(label).record(record).unwrap()
}

/// Reads far beyond `x`: the context is lost when it has run.
fn beyond(r: &mut Recorder<'_>) -> Result<()> {
    let k = Careless::load(r.device())?;
    let mut t = r.alloc::<u32>(64)?;
    let (mut x, mut y) = (r.output::<u32>(64)?, r.output::<u32>(64)?);
    r.run(fill(&mut x, baked(1)))?;
    r.run(k.window_of(baked(1 << 20), &x, &mut t).label("reads"))?;
    r.run(copy(&t, &mut y))
}

struct PanicsInDrop(Option<Graph<()>>);

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        drop(self.0.take());
        if !std::thread::panicking() {
            panic!("in a drop");
        }
    }
}

#[test]
#[ignore = "run by others"]
fn panics_in_a_drop() {
    let device = device();
    let _held = PanicsInDrop(Some(steps(&device, "held")));
    let _other = steps(&device, "other");
}

#[test]
#[ignore = "run by others"]
fn panics_in_a_drop_while_it_panics() {
    let device = device();
    let _held = PanicsInDrop(Some(steps(&device, "held")));
    assert_eq!(1, 2);
}

#[test]
#[ignore = "run by others"]
fn panics_in_a_thread_and_goes_on() {
    let device = device();
    let on_thread = device.clone();
    let ended = std::thread::spawn(move || {
        let _graph = steps(&on_thread, "of a thread");
        panic!("in a thread")
    })
    .join();
    said!("{}", ended.is_err());
    device.synchronize().unwrap();
    said!("{:?}", device.counters());
}

#[test]
#[ignore = "run by others"]
fn panics_in_a_closure_while_recording() {
    let device = device();
    let outer = steps(&device, "before");
    let recorded = catch_unwind(AssertUnwindSafe(|| {
        device.record(|r: &mut Recorder<'_>| {
            let mut t = r.alloc::<u32>(4)?;
            r.run(fill(&mut t, baked(1)))?;
            let _inner = steps(r.device(), "inside");
            panic!("while recording");
            #[allow(unreachable_code, reason = "it has a type")]
            Ok(())
        })
    }));
    said!("{}", recorded.is_err());
    drop(outer);
    device.synchronize().unwrap();
    said!("{:?}", device.counters());
}

#[test]
#[ignore = "run by others"]
fn drops_a_graph_in_a_recording_in_foreign_work_and_in_a_capture() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut y = device.zeros::<u32>(4).unwrap();
    let (first, second, third) = (steps(&device, "first"), steps(&device, "second"), steps(&device, "third"));
    let held = std::sync::Mutex::new(Some(second));
    let record = |r: &mut Recorder<'_>| {
        drop(first);
        let drop_it = move |_, (), ()| {
            drop(held.lock().unwrap().take());
            Ok(())
        };
        // SAFETY: nothing is enqueued.
        r.run(unsafe { foreign((), (), drop_it) })?;
        r.run(fill(&mut y, baked(7)))
    };
    let mut graph = device.graph().label("around").record(record).unwrap();
    graph.launch_sync(&stream).unwrap();
    drop(graph);
    said!("{:?}", stream.read(&y).unwrap());
    for (mode, graph) in [(Mode::Global, third), (Mode::ThreadLocal, steps(&device, "fourth"))] {
        let line = CaptureStream::new(&device).unwrap();
        // SAFETY: only ops of the library are captured.
        let mut guard = unsafe { capture::begin(&line, mode) }.unwrap();
        guard.run(fill(&mut y, baked(8))).unwrap();
        drop(graph);
        said!("{:?}", guard.status().unwrap());
        let mut captured = guard.finish().unwrap();
        captured.launch_sync(&stream).unwrap();
        said!("{:?}", stream.read(&y).unwrap());
    }
    device.synchronize().unwrap();
    said!("{:?} {:?}", device.counters(), device.findings());
}

#[test]
#[ignore = "run by others"]
fn keeps_graphs_in_graphs() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut y = device.zeros::<u32>(4).unwrap();
    let mut kept = steps(&device, "0");
    for depth in 1..5 {
        let inner = kept;
        kept = device
            .graph()
            .label(format!("{depth}"))
            .record(|r: &mut Recorder<'_>| {
                r.keep(inner);
                r.run(fill(&mut y, baked(depth)))
            })
            .unwrap();
        kept.launch(&stream).unwrap();
    }
    drop(kept);
    device.synchronize().unwrap();
    said!("{:?} {:?}", stream.read(&y).unwrap(), device.counters());
}

#[test]
#[ignore = "run by others"]
fn has_its_device_in_a_static() {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    let device = DEVICE.get_or_init(device);
    let _graph = steps(device, "of a static");
    panic!("with a static");
}

#[test]
#[ignore = "run by others"]
fn has_a_graph_in_a_thread_local() {
    thread_local! { static GRAPH: RefCell<Option<Graph<()>>> = const { RefCell::new(None) }; }
    let device = device();
    let on_thread = device.clone();
    let ended = std::thread::Builder::new().name("local".into()).spawn(move || {
        GRAPH.with(|graph| *graph.borrow_mut() = Some(steps(&on_thread, "local")));
        drop(on_thread);
        panic!("with a thread local")
    });
    said!("{}", ended.unwrap().join().is_err());
    device.synchronize().unwrap();
    said!("{:?}", device.counters());
}

#[test]
#[ignore = "run by others"]
fn forgets_its_graphs() {
    let device = device();
    (0..40).for_each(|at| std::mem::forget(steps(&device, &format!("{at}"))));
    said!("{:?}", device.counters());
    panic!("forgotten");
}

#[test]
#[ignore = "run by others"]
fn fails_on_two_threads_at_once() {
    let device = device();
    let barrier = Barrier::new(2);
    std::thread::scope(|scope| {
        let ends = [1, 2].map(|_| {
            let one = || {
                let _graphs: Vec<_> = (0..20).map(|_| steps(&device, "same")).collect();
                barrier.wait();
                panic!("at once")
            };
            std::thread::Builder::new().name("twin".into()).spawn_scoped(scope, one).unwrap()
        });
        for end in ends {
            let ended: std::thread::Result<()> = end.join();
            said!("{}", ended.is_err());
        }
    });
    device.synchronize().unwrap();
    said!("{:?}", device.counters());
}

#[test]
#[ignore = "run by others"]
fn fails_with_40_graphs() {
    let device = device();
    let _graphs: Vec<_> = (0..40).map(|at| steps(&device, &format!("graph {at}"))).collect();
    assert_eq!(1, 2);
}

#[test]
#[ignore = "run by others"]
fn loses_its_device() {
    let device = device();
    let stream = device.stream().unwrap();
    let _other = steps(&device, "other");
    let mut graph = device.graph().label("bad one").record(beyond).unwrap();
    said!("{}", graph.launch(&stream).and_then(|launched| launched.wait().map(drop)).is_err());
    said!("{}", stream.run(beyond).is_err());
    drop(graph);
    said!("{}", device.synchronize().is_err());
    panic!("lost");
}

#[test]
#[ignore = "run by others"]
fn changes_its_folder() {
    let device = device();
    let graph = steps(&device, "moved");
    let elsewhere = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("attack-elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    std::env::set_current_dir(&elsewhere).unwrap();
    let _graph = graph;
    panic!("moved");
}

#[test]
#[ignore = "run by others"]
fn has_labels_of_many_lines() {
    let device = device();
    let _lines = steps(&device, "one\ntwo\r\nthree\u{1b}[31m\u{7}\0");
    let _long = steps(&device, &"long ".repeat(20_000));
    let _path = steps(&device, "../../../etc/passwd");
    let _none = steps(&device, "");
    panic!("lines");
}

/// Says in whose context the thread is, before and after a graph goes.
#[test]
#[ignore = "run by others"]
fn has_another_context_current() {
    use dacapo_driver::Driver;
    use dacapo_driver::types::CUcontext;
    let software = dacapo::Software::new();
    let device = software.open().unwrap();
    let machine = device.machine().unwrap().clone();
    let current = || {
        let mut context = CUcontext::NULL;
        // SAFETY: it is valid for the write.
        assert!(unsafe { machine.cuCtxGetCurrent(&mut context) }.is_success());
        context == CUcontext::NULL
    };
    let graph = steps(&device, "away");
    // SAFETY: no context is what a thread has at first.
    assert!(unsafe { machine.cuCtxSetCurrent(CUcontext::NULL) }.is_success());
    said!("{}", current());
    drop(graph);
    said!("{}", current());
}

#[derive(Clone, Copy, PartialEq, dacapo::Pod)]
#[repr(C)]
struct Busy(u32);

thread_local! { static BUSY: RefCell<Option<Device>> = const { RefCell::new(None) }; }

/// Showing it is work on the device.
impl std::fmt::Debug for Busy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let device = BUSY.with(|busy| busy.borrow().clone());
        if let Some(device) = device {
            let graph = steps(&device, "busy");
            let buffer: Buffer<u32> = device.zeros(4).unwrap();
            drop((graph, buffer));
        }
        write!(f, "{}", self.0)
    }
}

#[test]
#[ignore = "run by others"]
fn works_while_it_is_shown() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut x = device.buffer(&[Busy(1); 2]).unwrap();
    let slot = Slot::new(Busy(2));
    let graph = device.graph().label("shown").record(fill(&mut x, &slot)).unwrap();
    BUSY.with(|busy| *busy.borrow_mut() = Some(device.clone()));
    drop(graph);
    BUSY.with(|busy| *busy.borrow_mut() = None);
    said!("{}", stream.read(&x).unwrap().len());
    device.synchronize().unwrap();
    said!("{:?}", device.counters());
}

#[test]
#[ignore = "run by others"]
fn succeeds() {
    let device = device();
    let stream = device.stream().unwrap();
    for at in 0..40 {
        let mut graph = steps(&device, &format!("graph {at}"));
        graph.launch_sync(&stream).unwrap();
    }
    said!("{:?}", device.counters());
}
