//! Launching, waiting, letting go.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{Thread, current, park};

use dacapo::{Result, baked, copy};

use super::{Bench, right, scenarios};
use crate::forms::kernels::churned;

scenarios!("launch":
    many_streams, tickets, futures, polled, dropped_in_flight, kept_in_flight, pools, pool_on_streams, other_thread,
    synchronized,
);

/// One graph on three streams, and another that reads what it writes.
fn many_streams(bench: &Bench) -> Result<()> {
    let Bench { device, k, .. } = bench;
    let streams = [device.stream()?, device.stream()?, device.stream()?];
    let (mut x, mut y) = (device.zeros::<u32>(8)?, device.zeros::<u32>(8)?);
    let mut first = device.record(k.churn(baked(10), &mut x))?;
    let mut second = device.record(copy(&x, &mut y))?;
    for (at, stream) in streams.iter().enumerate() {
        first.launch(stream)?;
        second.launch(&streams[(at + 1) % 3])?;
    }
    right("y", streams[1].read(&y)?, [churned(0, 30); 8])
}

/// Launches that are waited for elsewhere.
fn tickets(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut y = device.zeros::<u32>(8)?;
    let mut graph = device.record(k.churn(baked(10), &mut y))?;
    let (first, second) = (graph.submit(stream)?, graph.submit(stream)?);
    let waited = std::thread::scope(|scope| scope.spawn(move || first.wait()).join());
    waited.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    second.wait()?;
    drop(graph.submit(stream)?);
    right("y", stream.read(&y)?, [churned(0, 30); 8])
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(out) => return out,
            Poll::Pending => park(),
        }
    }
}

/// Launches that are awaited: by the graph's own future, and by a ticket's.
fn futures(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut y = device.zeros::<u32>(8)?;
    let mut graph = device.record(k.churn(baked(10), &mut y))?;
    block_on(graph.launch(stream)?)?;
    let ticket = graph.submit(stream)?;
    block_on(ticket)?;
    right("y", stream.read(&y)?, [churned(0, 20); 8])
}

/// Asked until it is over, or somebody says why not.
fn polled(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut y = device.zeros::<u32>(8)?;
    let mut graph = device.record(k.churn(baked(10), &mut y))?;
    let launched = graph.launch(stream)?;
    while !launched.is_done() {
        std::thread::yield_now();
    }
    launched.wait()?;
    while !stream.is_done()? {
        std::thread::yield_now();
    }
    right("y", stream.read(&y)?, [churned(0, 10); 8])
}

/// Everything is dropped while it runs.
fn dropped_in_flight(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let side = device.stream()?;
    for _ in 0..2 {
        let host = device.host(&[1u32; 16])?;
        let mut y = device.zeros::<u32>(16)?;
        let mut graph = device.record(|r| {
            let mut t = r.alloc(16)?;
            r.run(dacapo::upload(&host, &mut t))?;
            r.run(k.churn(baked(30), &mut t))?;
            r.run(copy(&t, &mut y))
        })?;
        graph.launch(&side)?;
        graph.launch(stream)?;
    }
    drop(side);
    let next = device.buffer(&[3u32; 16])?;
    right("a stranger", stream.read(&next)?, [3; 16])
}

/// Values that a graph, an eager run and a closure keep go when their last work is over.
fn kept_in_flight(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, token, .. } = bench;
    let mut y = device.zeros::<u32>(8)?;
    let mut graph = device.record(|r| {
        r.keep(token.clone());
        r.run(k.churn(baked(30), &mut y))
    })?;
    graph.launch(stream)?;
    drop(graph);
    stream.run(|r: &mut dacapo::Recorder<'_>| {
        r.keep(token.clone());
        r.run(k.churn(baked(30), &mut y))
    })?;
    device.synchronize()?;
    device.synchronize()?;
    right("values", Arc::strong_count(token), 1)
}

/// A pool's values wait for its graphs.
fn pools(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, token, .. } = bench;
    let pool = device.pool();
    pool.keep(token.clone())?;
    let mut y = device.zeros::<u32>(8)?;
    let mut graph = device.graph().pool(&pool).record(k.churn(baked(10), &mut y))?;
    graph.launch(stream)?;
    drop(graph);
    right("y", stream.read(&y)?, [churned(0, 10); 8])?;
    pool.clear()?;
    pool.keep(token.clone()).map(drop)
}

/// Graphs of one pool on two streams are in order.
fn pool_on_streams(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let (pool, other) = (device.pool(), device.stream()?);
    let (mut x, mut y) = (device.zeros::<u32>(8)?, device.zeros::<u32>(8)?);
    let mut first = device.graph().pool(&pool).record(k.churn(baked(10), &mut x))?;
    let mut second = device.graph().pool(&pool).record(k.churn(baked(1), &mut y))?;
    for _ in 0..2 {
        first.launch(stream)?;
        second.launch(&other)?;
    }
    right("y", other.read(&y)?, [churned(0, 2); 8])?;
    right("x", other.read(&x)?, [churned(0, 20); 8])
}

/// Launched and dropped in a thread of its own.
fn other_thread(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut y = device.zeros::<u32>(8)?;
    let mut graph = device.record(k.churn(baked(10), &mut y))?;
    graph.launch(stream)?;
    let other = stream.clone();
    let launched = std::thread::spawn(move || graph.launch(&other).map(drop)).join();
    launched.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    right("y", stream.read(&y)?, [churned(0, 20); 8])
}

/// Waiting for a stream and for all of them.
fn synchronized(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let other = device.stream()?;
    let (mut x, mut y) = (device.zeros::<u32>(8)?, device.zeros::<u32>(8)?);
    stream.run(k.churn(baked(10), &mut x))?;
    stream.synchronize()?;
    other.run(k.churn(baked(10), &mut y))?;
    stream.run(copy(&x, &mut y))?;
    device.synchronize()?;
    right("y", other.read(&y)?, [churned(0, 10); 8])
}
