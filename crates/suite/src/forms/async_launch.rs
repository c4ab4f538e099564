//! Waiting for a launch: not at all, at once, by asking, as a future, from another thread.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{Thread, current, park};

use dacapo::{Device, ErrorKind, Ticket, baked};

use super::check::{Failure, Outcome, holds, refused, same, shape};
use super::forms;
use super::kernels::{Kernels, churned};

forms!("launch":
    fire_and_forget, wait_and_sync, is_done, as_future, ticket_in_another_thread, many_tickets, two_futures_at_once,
    uploaded_before,
);

const ROUNDS: u32 = 400;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The smallest executor: polls, and sleeps until it is woken.
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

/// `launch` without a wait: the reads that follow are behind it.
fn fire_and_forget(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<u32>(4)?;
    let mut graph = device.record(k.churn(baked(ROUNDS), &mut y))?;
    shape(&graph, 1, &[])?;
    for _ in 0..5 {
        drop(graph.launch(&stream)?);
    }
    same("y", stream.read(&y)?, [churned(0, 5 * ROUNDS); 4])?;
    same("replays", graph.num_replays(), 5)
}

/// `wait` and `launch_sync` lend the outputs.
fn wait_and_sync(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut graph = device.record(|r| {
        let mut y = r.output::<u32>(4)?;
        r.run(k.churn(baked(ROUNDS), &mut y))?;
        Ok(y)
    })?;
    shape(&graph, 1, &[])?;
    let launched = graph.launch(&stream)?;
    let y = launched.wait()?;
    same("after a wait", stream.read(y)?, [churned(0, ROUNDS); 4])?;
    holds("nothing is left to do", stream.is_done()?)?;
    same("after a synchronous launch", stream.read(graph.launch_sync(&stream)?)?, [churned(0, 2 * ROUNDS); 4])
}

/// Asking does not wait; in the end the answer is yes, and then the data is there.
fn is_done(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<u32>(4)?;
    let mut graph = device.record(k.churn(baked(ROUNDS), &mut y))?;
    shape(&graph, 1, &[])?;
    let launched = graph.launch(&stream)?;
    let begun = std::time::Instant::now();
    while !launched.is_done() {
        holds("it ends within a minute", begun.elapsed().as_secs() < 60)?;
        std::thread::yield_now();
    }
    holds("the stream is done too", stream.is_done()?)?;
    same("y", stream.read(&y)?, [churned(0, ROUNDS); 4])
}

/// A launch is a future of its outputs.
fn as_future(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut graph = device.record(|r| {
        let mut y = r.output::<u32>(4)?;
        r.run(k.churn(baked(ROUNDS), &mut y))?;
        Ok(y)
    })?;
    shape(&graph, 1, &[])?;
    for launch in 1..4 {
        let y = block_on(graph.launch(&stream)?)?;
        same("y", stream.read(y)?, [churned(0, launch * ROUNDS); 4])?;
    }
    // Inside an async function, with `?` and no wait in between.
    let last = block_on(async {
        graph.launch(&stream)?.await?;
        graph.launch(&stream)?.await
    })?;
    same("y in the end", stream.read(last)?, [churned(0, 5 * ROUNDS); 4])
}

/// A ticket borrows nothing: it is awaited in another thread, while this one goes on.
fn ticket_in_another_thread(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<u32>(4)?;
    let mut graph = device.record(k.churn(baked(ROUNDS), &mut y))?;
    shape(&graph, 1, &[])?;
    let ticket: Ticket = graph.submit(&stream)?;
    let waiting = std::thread::spawn(move || block_on(ticket));
    let second = graph.submit(&stream)?;
    waiting.join().map_err(|_| Failure::new("the thread panicked"))??;
    second.wait()?;
    same("y", stream.read(&y)?, [churned(0, 2 * ROUNDS); 4])
}

/// Many tickets, finished in any order by asking and by waiting.
fn many_tickets(device: &Device) -> Outcome {
    let (one, two, k) = (device.stream()?, device.stream()?, Kernels::load(device)?);
    let (mut y, mut z) = (device.zeros::<u32>(4)?, device.zeros::<u32>(4)?);
    let mut first = device.record(k.churn(baked(ROUNDS), &mut y))?;
    let mut second = device.record(k.churn(baked(1), &mut z))?;
    shape(&first, 1, &[])?;
    shape(&second, 1, &[])?;
    let mut tickets = Vec::new();
    for _ in 0..12 {
        tickets.push(first.submit(&one)?);
        tickets.push(second.submit(&two)?);
    }
    let last = tickets.pop().ok_or_else(|| Failure::new("no ticket"))?;
    last.wait()?;
    for (i, ticket) in tickets.into_iter().rev().enumerate() {
        match i % 3 {
            0 => block_on(ticket)?,
            1 => ticket.wait()?,
            _ => while !ticket.is_done() {},
        }
    }
    same("y", one.read(&y)?, [churned(0, 12 * ROUNDS); 4])?;
    same("z", one.read(&z)?, [churned(0, 12); 4])
}

/// Two launches awaited together by hand: each is woken for itself.
fn two_futures_at_once(device: &Device) -> Outcome {
    let (one, two, k) = (device.stream()?, device.stream()?, Kernels::load(device)?);
    let (mut y, mut z) = (device.zeros::<u32>(4)?, device.zeros::<u32>(4)?);
    let mut slow = device.record(k.churn(baked(4 * ROUNDS), &mut y))?;
    let mut fast = device.record(k.churn(baked(1), &mut z))?;
    shape(&slow, 1, &[])?;
    shape(&fast, 1, &[])?;
    let (mut first, mut second) = (pin!(slow.launch(&one)?), pin!(fast.launch(&two)?));
    let (mut first_done, mut second_done) = (false, false);
    block_on(std::future::poll_fn(|context| {
        if !first_done && let Poll::Ready(done) = first.as_mut().poll(context) {
            done?;
            first_done = true;
        }
        if !second_done && let Poll::Ready(done) = second.as_mut().poll(context) {
            done?;
            second_done = true;
        }
        if first_done && second_done { Poll::Ready(Ok::<(), Failure>(())) } else { Poll::Pending }
    }))?;
    same("y", one.read(&y)?, [churned(0, 4 * ROUNDS); 4])?;
    same("z", two.read(&z)?, [churned(0, 1); 4])
}

/// Uploading is not launching, and happens once; replays count launches that succeeded.
fn uploaded_before(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<u32>(4)?;
    let mut graph = device.record(k.churn(baked(1), &mut y))?;
    shape(&graph, 1, &[])?;
    holds("it is not on the device yet", !graph.is_preloaded())?;
    graph.preload(&stream)?;
    graph.preload(&stream)?;
    holds("it is there now", graph.is_preloaded())?;
    same("nothing ran", (graph.num_replays(), stream.read(&y)?), (0, vec![0; 4]))?;
    graph.launch(&stream)?;
    same("once", (graph.num_replays(), stream.read(&y)?), (1, vec![churned(0, 1); 4]))?;
    let refused_launch = device.record(|_| graph.launch(&stream).map(drop));
    refused("a launch in a recording", refused_launch, |kind| matches!(kind, ErrorKind::EagerInRecording { .. }))?;
    same("still once", (graph.num_replays(), stream.read(&y)?), (1, vec![churned(0, 1); 4]))?;
    let at_once = device.graph().preloaded().record(k.churn(baked(1), &mut y))?;
    holds("it is uploaded when it is made", at_once.is_preloaded() && at_once.num_replays() == 0)
}
