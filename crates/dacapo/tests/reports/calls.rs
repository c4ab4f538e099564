//! Which driver calls add a node, and which change it.

use std::collections::BTreeMap;

use dacapo::capture::{self, CaptureStream, Mode};
use dacapo::flow::nonzero;
use dacapo::graph::GraphBuilder;
use dacapo::inspect::{Kind, Report};
use dacapo::{
    Buffer, Device, HostBuffer, Recorder, Result, Scalar, Slot, Software, baked, copy, download, fill, upload,
};
use dacapo_driver::Call;

use crate::kit::{Kernels, Seen, seen, set_all};

/// One of every kind of op.
struct Work {
    device: Device,
    k: Kernels,
    flag: Scalar<u32>,
    host: HostBuffer<f32>,
    x: Buffer<f32>,
    y: Buffer<f32>,
    wide: Buffer<u64>,
}

impl Work {
    fn new(device: &Device) -> Work {
        Work {
            device: device.clone(),
            k: Kernels::load(device).unwrap(),
            flag: device.scalar(1).unwrap(),
            host: device.host(&[1.0f32; 32]).unwrap(),
            x: device.zeros(32).unwrap(),
            y: device.zeros(32).unwrap(),
            wide: device.zeros(32).unwrap(),
        }
    }

    fn record(&mut self, r: &mut Recorder<'_>) -> Result<()> {
        let Work { device, k, flag, host, x, y, wide } = self;
        r.run(upload(&*host, x))?;
        r.run(copy(x, y))?;
        r.run(copy(&x[..0], &mut y[..0]))?;
        r.run(fill(&mut y[..0], baked(1.0)))?;
        r.run(fill(y, baked(1.0)))?;
        r.run(fill(wide, baked(7)))?;
        // Long enough for programmatic edges by default.
        (0..16).try_for_each(|_| r.run(k.saxpy(baked(1.0), x, y)))?;
        r.run(k.saxpy(baked(1.0), &x[..0], &mut y[..0]))?;
        r.run(set_all(device, y))?;
        r.when(nonzero(&*flag), k.saxpy(baked(1.0), x, y))?.otherwise(k.saxpy(baked(2.0), x, y))?;
        r.switch(&*flag, 3, |r, _| r.run(fill(y, baked(2.0))))?;
        r.repeat_times(baked(2), |r: &mut Recorder<'_>| {
            (0..3).try_for_each(|_| r.run(k.saxpy(baked(1.0), x, y)))?;
            r.run(set_all(device, y))?;
            r.when(nonzero(&*flag), |r: &mut Recorder<'_>| r.run(copy(x, y)))?;
            r.when(nonzero(&*flag), k.saxpy(baked(1.0), x, y)).map(drop)
        })?;
        // Many readers, then many writers: a join between them.
        let mut sums = r.alloc::<f32>(32 * 16)?;
        r.run(fill(&mut sums, baked(0.0)))?;
        for sum in sums.chunks_mut(32) {
            r.run(k.saxpy(baked(1.0), y, sum))?;
        }
        for piece in y.chunks_mut(2) {
            r.run(fill(piece, baked(3.0)))?;
        }
        r.run(download(y, host))
    }
}

/// The calls that add something to a graph, in order, and how many handles were made before.
fn added(seen: &Seen) -> (Vec<&'static str>, usize) {
    let (handles, others): (Vec<Call>, Vec<Call>) = seen
        .calls()
        .into_iter()
        .filter(|call| {
            let symbol = call.symbol();
            symbol.starts_with("cuGraphAdd")
                || symbol.starts_with("cuStreamBeginCapture")
                || symbol.starts_with("cuStreamEndCapture")
                || *call == Call::cuGraphConditionalHandleCreate
        })
        .partition(|call| *call == Call::cuGraphConditionalHandleCreate);
    (others.into_iter().map(Call::symbol).collect(), handles.len())
}

/// The same, as a report tells it.
fn told(report: &Report) -> (Vec<&str>, usize) {
    let (handles, others): (Vec<&str>, Vec<&str>) = report
        .nodes
        .iter()
        .flat_map(|node| node.calls.iter().map(String::as_str))
        .partition(|call| *call == "cuGraphConditionalHandleCreate");
    (others, handles.len())
}

type Choose = for<'d> fn(GraphBuilder<'d>) -> GraphBuilder<'d>;

#[test]
fn the_calls_of_all_nodes_are_those_that_the_driver_saw_in_order() {
    let options: [Choose; 5] = [
        |graph| graph,
        |graph| graph.plain_edges(),
        |graph| graph.guarded(false),
        |graph| graph.straight_line(),
        |graph| graph.apart(),
    ];
    let old = || Software::new().options(|options| options.driver_version = 12_040);
    let mut all: BTreeMap<String, usize> = BTreeMap::new();
    for (software, option) in
        [Software::new(), old()].into_iter().flat_map(|it| options.map(|option| (it.clone(), option)))
    {
        let (device, seen) = seen(software);
        let mut work = Work::new(&device);
        let inspected = option(device.graph()).inspect(|r: &mut Recorder<'_>| work.record(r)).unwrap();
        seen.calls();
        let graph = option(device.graph()).record(|r: &mut Recorder<'_>| work.record(r)).unwrap();
        let (report, added) = (graph.inspect(), added(&seen));
        assert_eq!(told(&report), added);
        assert_eq!(told(&inspected), added, "without a graph");
        for call in report.nodes.iter().flat_map(|node| &node.calls) {
            *all.entry(call.clone()).or_default() += 1;
        }
    }
    let all: Vec<&str> = all.keys().map(String::as_str).collect();
    let expected = [
        "cuGraphAddChildGraphNode",
        "cuGraphAddEmptyNode",
        "cuGraphAddKernelNode_v2",
        "cuGraphAddMemcpyNode",
        "cuGraphAddMemsetNode",
        "cuGraphAddNode_v2",
        "cuGraphConditionalHandleCreate",
        "cuStreamBeginCaptureToGraph",
        "cuStreamEndCapture",
    ];
    assert_eq!(all, expected, "every kind of op was there");
}

#[test]
fn each_kind_of_node_says_how_it_was_added() {
    let device = Device::software().unwrap();
    let mut work = Work::new(&device);
    let report = device.record(|r| work.record(r)).unwrap().inspect();
    let of = |kind: Kind| report.nodes.iter().find(|node| node.kind == kind).map(|node| node.calls.join(" "));
    let expected = [
        (Kind::Copy, "cuGraphAddMemcpyNode"),
        (Kind::Upload, "cuGraphAddMemcpyNode"),
        (Kind::Download, "cuGraphAddMemcpyNode"),
        (Kind::Foreign, "cuStreamBeginCaptureToGraph cuStreamEndCapture"),
        (Kind::Branch, "cuGraphConditionalHandleCreate cuGraphAddNode_v2"),
        (Kind::Loop, "cuGraphConditionalHandleCreate cuGraphAddNode_v2"),
        (Kind::Guarded, ""),
        (Kind::Join, "cuGraphAddEmptyNode"),
    ];
    for (kind, calls) in expected {
        assert_eq!(of(kind).as_deref(), Some(calls), "{kind}");
    }
    let inside = report.nodes.iter().find(|node| node.kind == Kind::Foreign && node.inside.is_some()).unwrap();
    assert_eq!(inside.calls.last().map(String::as_str), Some("cuGraphAddChildGraphNode"), "apart, then a child");
}

/// The calls that change nodes of an executable graph.
fn patched(seen: &Seen) -> Vec<&'static str> {
    let mut calls: Vec<&str> = seen.calls().into_iter().map(Call::symbol).collect();
    calls.retain(|call| call.starts_with("cuGraphExec") && call.contains("SetParams"));
    calls.sort_unstable();
    calls
}

fn said(report: &Report) -> Vec<&str> {
    let mut calls: Vec<&str> = report.nodes.iter().filter_map(|node| node.patched_by.as_deref()).collect();
    calls.sort_unstable();
    calls
}

#[test]
fn a_launch_with_other_slots_changes_the_nodes_that_say_so_by_that_call() {
    let (device, seen) = seen(Software::new());
    let (stream, k) = (device.stream().unwrap(), Kernels::load(&device).unwrap());
    let (a, times) = (Slot::new(1.0f32), Slot::new(1u32));
    let (x, mut y) = (device.zeros::<f32>(8).unwrap(), device.zeros::<f32>(8).unwrap());
    let mut record = |r: &mut Recorder<'_>| {
        r.run(k.saxpy(&a, &x, &mut y))?;
        r.run(k.saxpy(baked(1.0), &x, &mut y))?;
        r.run(fill(&mut y, &a))?;
        r.run(fill(&mut y[..0], &a))?;
        r.run(fill(&mut y, baked(1.0)))?;
        r.run(copy(&x, &mut y))?;
        r.run(set_all(&device, &mut y))?;
        r.repeat_times(&times, |r: &mut Recorder<'_>| r.run(k.saxpy(&a, &x, &mut y))).map(drop)
    };
    let inspected = device.graph().inspect(&mut record).unwrap();
    let mut graph = device.record(&mut record).unwrap();
    let report = graph.inspect();
    graph.launch_sync(&stream).unwrap();
    assert_eq!(patched(&seen), [""; 0]);
    a.set(2.0);
    times.set(2);
    graph.launch_sync(&stream).unwrap();
    let patched = patched(&seen);
    assert_eq!(patched, said(&report));
    assert_eq!(patched, said(&inspected));
    let kernel = "cuGraphExecKernelNodeSetParams_v2";
    // Both of `saxpy`, and the two that decide about a round.
    assert_eq!(patched, [kernel, kernel, kernel, kernel, "cuGraphExecMemsetNodeSetParams"]);
}

#[test]
fn a_launch_on_other_memory_changes_the_nodes_that_say_so_by_that_call() {
    let (device, seen) = seen(Software::new());
    let (stream, k) = (device.stream().unwrap(), Kernels::load(&device).unwrap());
    let mut b: Vec<Buffer<f32>> = (0..5).map(|_| device.zeros(8).unwrap()).collect();
    let [x, x2, own, y, y2] = &mut b[..] else { unreachable!("five") };
    let mut graph = device
        .graph()
        .record_into(&x[..], &mut y[..], |r, x, y| {
            r.run(fill(own, baked(1.0)))?;
            r.run(copy(x, own))?;
            r.run(copy(&x[..0], &mut own[..0]))?;
            r.run(k.saxpy(baked(1.0), own, y))?;
            r.run(fill(&mut y[..2], baked(1.0)))
        })
        .unwrap();
    let report = graph.inspect();
    graph.launch(&stream, x, y).unwrap();
    patched(&seen);
    graph.launch(&stream, x2, y2).unwrap();
    let patched = patched(&seen);
    assert_eq!(patched, said(&report));
    let expected =
        ["cuGraphExecKernelNodeSetParams_v2", "cuGraphExecMemcpyNodeSetParams", "cuGraphExecMemsetNodeSetParams"];
    assert_eq!(patched, expected);
}

#[test]
fn nodes_of_a_captured_graph_name_no_calls() {
    let device = Device::software().unwrap();
    let (mut y, side) = (device.zeros::<f32>(8).unwrap(), CaptureStream::new(&device).unwrap());
    // SAFETY: what is captured is an op of ours.
    let mut capture = unsafe { capture::begin(&side, Mode::default()) }.unwrap();
    capture.run(fill(&mut y, baked(5.0))).unwrap();
    let report = capture.finish().unwrap().inspect();
    // The stream has added it, not one of these calls.
    assert_eq!((report.nodes.len(), told(&report)), (1, (Vec::new(), 0)));
}
