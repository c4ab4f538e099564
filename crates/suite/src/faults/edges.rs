//! Programmatic edges: kernels that signal, which want a module of their own, tunings, and kernels with a wait of their own.

use std::sync::OnceLock;

use dacapo::graph::{Edge, Tuning};
use dacapo::shapes::{Bucketed, Buckets, GraphCache, Pad, rows};
use dacapo::{Buffer, Device, Graph, Recorder, Result, Slice, baked, copy};

use super::{Bench, right, scenarios};

scenarios!("edges": signals, given_a_tuning, early, tuned, tuned_cache, tuned_buckets);

const PTX: &str = ".version 8.0
.target sm_90
.address_size 64
// y[i] = y[i] * 3 + b
.visible .entry triple(.param .u32 b, .param .u64 y)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd1, %r1, 4;
    ld.param.u64 %rd2, [y];
    add.u64 %rd3, %rd2, %rd1;
    ld.param.u32 %r2, [b];
    ld.global.u32 %r3, [%rd3];
    mad.lo.u32 %r3, %r3, 3, %r2;
    st.global.u32 [%rd3], %r3;
    ret;
}
// y[i] = w[i] + x[i], with a look at w before its wait
.visible .entry add_early(.param .u64 w, .param .u64 x, .param .u64 y)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<5>;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd1, %r1, 4;
    ld.param.u64 %rd2, [w];
    add.u64 %rd2, %rd2, %rd1;
    ld.global.u32 %r2, [%rd2];
    griddepcontrol.wait;
    ld.param.u64 %rd3, [x];
    add.u64 %rd3, %rd3, %rd1;
    ld.global.u32 %r3, [%rd3];
    add.u32 %r3, %r3, %r2;
    ld.param.u64 %rd4, [y];
    add.u64 %rd4, %rd4, %rd1;
    st.global.u32 [%rd4], %r3;
    ret;
}
";

dacapo::kernels! {
    /// Safe by: one block of as many threads as each slice has elements.
    unsafe struct Line(PTX) {
        fn triple(b: u32, y: &mut [u32]) {
            requires: y.len() <= 64;
            grid: exact([1, 1, 1], [y.len() as u32, 1, 1]);
        }
        fn add_early(w: &[u32], x: &[u32], y: &out [u32]) {
            early: w;
            requires: w.len() == y.len(), x.len() == y.len(), y.len() <= 64;
            grid: exact([1, 1, 1], [y.len() as u32, 1, 1]);
        }
    }
}

impl Line {
    /// Two kernels, one after the other.
    fn twice(&self, r: &mut Recorder<'_>, y: &mut Slice<u32>) -> Result<()> {
        r.run(self.triple(baked(1), y))?;
        r.run(self.triple(baked(2), y))
    }
}

/// What two kernels make of a number.
fn twice(x: u32) -> u32 {
    (x * 3 + 1) * 3 + 2
}

/// Of kernels that signal there is a second module. Refused once, it is there the next time.
fn signals(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let (k, mut y) = (Line::load(device)?, device.buffer(&[1u32; 4])?);
    let mut record = || device.graph().edges_by(|_, _| Edge::Signals).record(|r| k.twice(r, &mut y));
    let first = record();
    let (mut graph, refused) = match first {
        Ok(graph) => (graph, None),
        Err(error) => (record()?, Some(error)),
    };
    graph.launch(stream)?;
    drop(graph);
    right("y", stream.read(&y)?, [twice(1); 4])?;
    refused.map_or(Ok(()), Err)
}

/// A recording with a tuning that says that all kernels signal, made without faults on a device of its own.
fn given_a_tuning(bench: &Bench) -> Result<()> {
    static TUNING: OnceLock<Tuning> = OnceLock::new();
    let tuning = match TUNING.get() {
        Some(tuning) => tuning,
        None => TUNING.get_or_init(|| signalling_tuning().unwrap_or_default()),
    };
    right("pairs in the tuning", tuning.len(), 1)?;
    let Bench { device, stream, .. } = bench;
    let (k, mut y) = (Line::load(device)?, device.buffer(&[1u32; 4])?);
    let mut graph = device.graph().tuned(tuning).record(|r| k.twice(r, &mut y))?;
    graph.launch(stream)?;
    // Recorded again with the same edges, in place.
    graph.rerecord(|r: &mut Recorder<'_>| k.twice(r, &mut y))?;
    graph.launch(stream)?;
    drop(graph);
    right("y", stream.read(&y)?, [twice(twice(1)); 4])
}

fn signalling_tuning() -> Result<Tuning> {
    let device = Device::software()?;
    let (stream, k, mut y) = (device.stream()?, Line::load(&device)?, device.buffer(&[1u32; 4])?);
    let found = device.record(|r| k.twice(r, &mut y))?.tune(&stream)?.tuning.to_string();
    found.replace("\nfull ", "\nsignals ").replace("\nwaits ", "\nsignals ").parse()
}

/// A kernel that looks at its weights before its own wait, behind one that signals.
fn early(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let k = Line::load(device)?;
    let (w, mut x, mut y) = (device.buffer(&[5u32; 4])?, device.buffer(&[1u32; 4])?, device.zeros::<u32>(4)?);
    let mut graph = device.graph().edges_by(|_, _| Edge::Signals).record(|r| {
        r.run(k.triple(baked(1), &mut x))?;
        r.run(k.add_early(&w, &x, &mut y))
    })?;
    for want in [9, 18] {
        graph.launch(stream)?;
        right("y", stream.read(&y)?, [want; 4])?;
    }
    Ok(())
}

/// A tuning that is refused leaves memory and graph as they were.
fn tuned(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let (k, mut y) = (Line::load(device)?, device.buffer(&[1u32; 4])?);
    let mut graph: Graph<()> = device.record(|r| k.twice(r, &mut y))?;
    let tuned = graph.tune(stream);
    right("y, put back", stream.read(&y)?, [1; 4])?;
    graph.launch(stream)?;
    drop(graph);
    right("y", stream.read(&y)?, [twice(1); 4])?;
    tuned.map(drop)
}

/// The same of two graphs in a cache, which serves on with those that it has, and records one more.
fn tuned_cache(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let (k, x) = (Line::load(device)?, device.buffer(&[1u32; 6])?);
    let mut cache: GraphCache<usize, Buffer<u32>> = GraphCache::new(device);
    let body = |r: &mut Recorder<'_>, len: usize| {
        let mut y = r.output::<u32>(len)?;
        r.run(copy(&x[..len], &mut y))?;
        k.twice(r, &mut y)?;
        Ok(y)
    };
    cache.prepare([2usize, 4], |r, &len| body(r, len))?;
    let tuned = cache.tune(stream);
    for len in [2, 4, 6] {
        let y = cache.run(stream, &len, |r| body(r, len))?;
        right("y", stream.read(y)?, vec![twice(1); len])?;
    }
    // Where memory ran out for the third, one of the others had to go.
    right("graphs", (cache.counters().recorded, cache.counters().alive()), (3, cache.len() as u64))?;
    tuned.map(drop)
}

/// The same of buckets.
fn tuned_buckets(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let k = Line::load(device)?;
    let mut both = Bucketed::new(device, Buckets::new([2])?, rows(1, Pad::Zero), |r, n, x: &Slice<u32>| {
        let mut y = r.output(n)?;
        r.run(copy(x, &mut y))?;
        k.twice(r, &mut y)?;
        Ok(y)
    })?;
    both.prepare()?;
    let tuned = both.tune(stream);
    let x = device.buffer(&[7u32])?;
    right("y", stream.read(both.call(stream, 1, &x)?)?, [twice(7)])?;
    tuned.map(drop)
}
