//! Graphs with loops on several streams and threads, and dropped in the middle.

use std::sync::Barrier;

use dacapo::flow::{below, nonzero, unbounded, up_to};
use dacapo::{Device, Recorder, Slot, baked, copy, fill};

use crate::forms::check::{Failure, Outcome, same};
use crate::forms::forms;
use crate::forms::kernels::{Kernels, churned};

forms!("flow":
    two_streams_one_buffer, one_graph_on_two_streams, untaken_branch_orders, eager_loops_on_two_streams,
    threads_with_loops, dropped_while_a_loop_runs, results_of_a_ticket,
);

/// Steps of `churn` in a round: long enough that what does not wait would come too early.
const STEPS: u32 = 300;

/// One writes in a loop what the other reads in a loop, on two streams.
fn two_streams_one_buffer(device: &Device) -> Outcome {
    let (one, two, k) = (device.stream()?, device.stream()?, Kernels::load(device)?);
    let (mut x, mut seen) = (device.zeros::<u32>(4)?, device.zeros::<u32>(4)?);
    let mut writer = device.record(|r| r.repeat_times(baked(5), |r| r.run(k.churn(baked(STEPS), &mut x))).map(drop))?;
    let mut reader = device.record(|r| r.repeat_times(baked(2), |r| r.run(copy(&x, &mut seen))).map(drop))?;
    for launch in 1..4 {
        writer.launch(&one)?;
        reader.launch(&two)?;
        writer.launch(&one)?;
        same("what was seen", two.read(&seen)?, [churned(0, (2 * launch - 1) * 5 * STEPS); 4])?;
    }
    same("x", two.read(&x)?, [churned(0, 30 * STEPS); 4])
}

/// One graph on two streams in turn: it never overlaps itself, so the numbers of its loop are its own.
fn one_graph_on_two_streams(device: &Device) -> Outcome {
    let (one, two, k) = (device.stream()?, device.stream()?, Kernels::load(device)?);
    let (mut y, mut counts, times) = (device.zeros::<u32>(4)?, device.zeros::<u32>(1)?, Slot::new(0u32));
    let mut graph = device.record(|r| {
        let rounds = r.repeat_times(&times, |r| r.run(k.churn(baked(STEPS), &mut y)))?;
        r.run(copy(rounds.count().as_slice(), &mut counts))
    })?;
    let mut sum = 0;
    for launch in 0..6 {
        times.set(launch);
        sum += launch;
        graph.launch(if launch % 2 == 0 { &one } else { &two })?;
    }
    same("y", one.read(&y)?, [churned(0, sum * STEPS); 4])?;
    same("the last count", one.read(&counts)?, [5])
}

/// What a branch may touch is ordered, also where it is not taken: an eager write before and behind.
fn untaken_branch_orders(device: &Device) -> Outcome {
    let (one, two, k) = (device.stream()?, device.stream()?, Kernels::load(device)?);
    let (mut x, mut y, flag) = (device.zeros::<u32>(4)?, device.zeros::<u32>(4)?, Slot::new(0u32));
    let mut graph = device.record(|r| {
        r.when(nonzero(&flag), |r| r.run(k.churn(baked(STEPS), &mut x)))?.otherwise(|r| r.run(copy(&x, &mut y)))
    })?;
    let (mut here, mut there) = (0, 0);
    for (turn, f) in [0u32, 1, 0, 1, 1, 0].into_iter().enumerate() {
        flag.set(f);
        if turn % 2 == 0 {
            here = turn as u32;
            one.run(fill(&mut x, baked(here)))?;
        }
        graph.launch(&two)?;
        match f {
            0 => there = here,
            _ => here = churned(here, STEPS),
        }
        one.run(k.churn(baked(1), &mut x))?;
        here = churned(here, 1);
    }
    same("x", two.read(&x)?, [here; 4])?;
    same("y", one.read(&y)?, [there; 4])
}

/// Eager loops wait for their conditions, and for what other streams do with their memory.
fn eager_loops_on_two_streams(device: &Device) -> Outcome {
    let (one, two, k) = (device.stream()?, device.stream()?, Kernels::load(device)?);
    let (mut x, mut y) = (device.zeros::<u32>(4)?, device.zeros::<u32>(1)?);
    for round in 1..4u32 {
        one.run(k.churn(baked(STEPS), &mut x))?;
        two.run(|r: &mut Recorder<'_>| {
            r.run(fill(&mut y, baked(0)))?;
            r.repeat_while(below(y.at(0), baked(round)), unbounded(), |r: &mut Recorder<'_>| {
                r.run(k.increment_first(baked(1), &mut y))?;
                r.run(k.churn(baked(STEPS), &mut x))
            })
            .map(drop)
        })?;
        one.run(k.churn(baked(STEPS), &mut x))?;
        same("y", one.read(&y)?, [round])?;
    }
    same("x", two.read(&x)?, [churned(0, (6 + 6) * STEPS); 4])
}

/// Four threads, each records, launches and runs eagerly loops of its own.
fn threads_with_loops(device: &Device) -> Outcome {
    let (k, begin) = (Kernels::load(device)?, Barrier::new(4));
    let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let work = |number: u32| {
            let (k, begin) = (&k, &begin);
            move || {
                begin.wait();
                let (stream, times) = (device.stream()?, Slot::new(0u32));
                let mut y = device.zeros::<u32>(8)?;
                let mut op = |r: &mut Recorder<'_>| {
                    r.repeat_times(&times, |r: &mut Recorder<'_>| {
                        let mut t = r.alloc::<u32>(8)?;
                        r.run(copy(&y, &mut t))?;
                        r.run(k.churn(baked(10), &mut t))?;
                        r.run(copy(&t, &mut y))
                    })
                    .map(drop)
                };
                let mut graph = device.record(&mut op)?;
                let mut steps = 0;
                for launch in 0..6 {
                    times.set(launch % (number + 2));
                    steps += 10 * (launch % (number + 2));
                    match launch % 3 {
                        2 => stream.run(&mut op)?,
                        _ => graph.launch(&stream).map(drop)?,
                    }
                }
                drop(graph);
                same("y", stream.read(&y)?, [churned(0, steps); 8])
            }
        };
        let threads = [0, 1, 2, 3].map(|number| scope.spawn(work(number)));
        threads.into_iter().map(|t| t.join().unwrap_or_else(|_| Err(Failure::new("a thread panicked")))).collect()
    });
    outcomes.into_iter().collect()
}

/// A graph that is dropped while its loop runs ends its work first; so does all that it touches.
fn dropped_while_a_loop_runs(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<u32>(4)?;
    for _ in 0..3 {
        let gone = device.scalar(7u32)?;
        let mut graph = device.record(|r| {
            r.repeat_times(&gone, |r| {
                let mut t = r.alloc::<u32>(4)?;
                r.run(copy(&y, &mut t))?;
                r.run(k.churn(baked(STEPS), &mut t))?;
                r.run(copy(&t, &mut y))
            })
            .map(drop)
        })?;
        graph.launch(&stream)?;
        graph.launch(&stream)?;
        drop(gone);
        drop(graph);
    }
    same("y", stream.read(&y)?, [churned(0, 3 * 2 * 7 * STEPS); 4])
}

/// A ticket is done when the last round is.
fn results_of_a_ticket(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.host(&[0u32; 4])?;
    let mut x = device.zeros::<u32>(4)?;
    let mut graph = device.record(|r| {
        r.repeat(up_to(baked(20)), |r| {
            r.run(k.churn(baked(STEPS), &mut x))?;
            Ok(nonzero(x.at(0)))
        })?;
        r.run(dacapo::download(&x, &mut y))
    })?;
    let ticket = graph.submit(&stream)?;
    ticket.wait()?;
    same("on the host", y.to_vec()?, [churned(0, 20 * STEPS); 4])
}
