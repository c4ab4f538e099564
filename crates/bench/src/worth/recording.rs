//! Options of a recording, left out one at a time.

use std::cell::OnceCell;
use std::time::Instant;

use dacapo::graph::{Edge, GraphBuilder, Tuning};
use dacapo::half::bf16;
use dacapo::{Graph, Recorder, Slot, baked};
use dacapo_cli::bench::compare::{Bench, Round, Row};
use dacapo_cli::bench::library::{Edges, Library};
use dacapo_cli::bench::raw::{self, Raw};
use dacapo_cli::complaint::Complaint;
use dacapo_example_decode::gpt2::{Advance, Shape, Weights};
use dacapo_example_train::Model;

use super::sides;
use crate::gpt2::{self, LibraryStep};
use crate::train;

/// What is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// The graph: ops are run one by one.
    Graph,
    /// Programmatic edges.
    Edges,
    /// The same between kernels that are run one by one.
    EagerEdges,
    /// The choice of edges by `tune`.
    Tuning,
    /// The rules by which programmatic edges are left out where they do not pay.
    WhereItPays,
    /// Ops beside each other.
    Overlap,
    /// Bringing a graph onto the device before its first launch.
    Preload,
    /// Numbers that are set in place.
    Slot,
}

/// Elements of a tiny kernel.
const ELEMENTS: usize = 256;
/// Kernels behind each one, and how often.
const FAN: (usize, usize) = (16, 10);
/// The same where the device is a slow one.
const FAN_SMALL: (usize, usize) = (3, 2);

/// One round of a comparison.
///
/// # Errors
///
/// - A refused call, or a number that is wrong.
pub fn compare(
    bench: &Bench<'_>,
    round: &Round<'_, '_>,
    switch: Switch,
    decode: (Shape, &Weights<Vec<bf16>>),
    tuning: &OnceCell<Tuning>,
) -> Result<Row, Complaint> {
    let (library, launches) = (round.library, bench.launches(1, 40, 20, 40));
    match switch {
        Switch::Graph => eager(round, launches, decode),
        Switch::EagerEdges => eager_early(bench, round, launches, decode),
        Switch::Edges => {
            let plain = library.device.graph().plain_edges();
            decode_steps(round, launches, decode, (library.device.graph(), plain))
        }
        Switch::Tuning => {
            if tuning.get().is_none() {
                let mut step = LibraryStep::recorded(library, decode.0, decode.1, library.device.graph())?;
                let _ = tuning.set(step.graph.tune(&library.stream)?.tuning);
            }
            let known = tuning.get().ok_or_else(|| Complaint::new("a tuning that was set is not there"))?;
            decode_steps(round, launches, decode, (library.device.graph().tuned(known), library.device.graph()))
        }
        Switch::WhereItPays => fans(round, launches, if bench.small { FAN_SMALL } else { FAN }),
        Switch::Overlap => {
            let shape = train::shape(Model::Gru, bench.small);
            let mut with = train::LibraryStep::recorded(library, shape, library.device.graph())?;
            let mut without = train::LibraryStep::recorded(library, shape, library.device.graph().straight_line())?;
            let by = |step: &mut train::LibraryStep| step.device_block(library, round.raw, launches);
            let row = sides(round, launches, Box::new(|| by(&mut with)), Box::new(|| by(&mut without)))?;
            equal(&with.outcome(library)?, &without.outcome(library)?)?;
            Ok(row)
        }
        Switch::Preload => first_launches(round, if bench.small { 6 } else { 100 }, launches),
        Switch::Slot => slots(round, launches),
    }
}

/// The decode step, recorded in two ways.
fn decode_steps(
    round: &Round<'_, '_>,
    launches: u32,
    (shape, weights): (Shape, &Weights<Vec<bf16>>),
    (with, without): (GraphBuilder<'_>, GraphBuilder<'_>),
) -> Result<Row, Complaint> {
    let library = round.library;
    let mut with = LibraryStep::recorded(library, shape, weights, with)?;
    let mut without = LibraryStep::recorded(library, shape, weights, without)?;
    let by = |step: &mut LibraryStep| gpt2::block(&mut step.graph, library, round.raw, launches);
    let row = sides(round, launches, Box::new(|| by(&mut with)), Box::new(|| by(&mut without)))?;
    equal(&with.logits(library)?, &without.logits(library)?)?;
    Ok(row)
}

/// The decode step as a graph, and run op by op.
fn eager(
    round: &Round<'_, '_>,
    launches: u32,
    (shape, weights): (Shape, &Weights<Vec<bf16>>),
) -> Result<Row, Complaint> {
    let library = round.library;
    let mut with = LibraryStep::recorded(library, shape, weights, library.device.graph())?;
    let mut without = LibraryStep::recorded(library, shape, weights, library.device.graph())?;
    let replayed = || gpt2::block(&mut with.graph, library, round.raw, launches);
    let one_by_one = || one_by_one(&mut without, library, round.raw, launches);
    let row = sides(round, launches, Box::new(replayed), Box::new(one_by_one))?;
    equal(&with.logits(library)?, &without.logits(library)?)?;
    Ok(row)
}

/// The decode step run op by op, on a stream as it is and on a plain one.
fn eager_early(
    bench: &Bench<'_>,
    round: &Round<'_, '_>,
    launches: u32,
    (shape, weights): (Shape, &Weights<Vec<bf16>>),
) -> Result<Row, Complaint> {
    let library = round.library;
    let plain = bench.plain_library()?;
    let mut with = LibraryStep::recorded(library, shape, weights, library.device.graph())?;
    let mut without = LibraryStep::recorded(plain, shape, weights, plain.device.graph())?;
    let by_early = || one_by_one(&mut with, library, round.raw, launches);
    let by_plain = || one_by_one(&mut without, plain, round.raw, launches);
    let row = sides(round, launches, Box::new(by_early), Box::new(by_plain))?;
    equal(&with.logits(library)?, &without.logits(plain)?)?;
    Ok(row)
}

/// Steps run op by op: microseconds of one, by the device's clock.
fn one_by_one(step: &mut LibraryStep, library: &Library, raw: &Raw<'_>, launches: u32) -> Result<f64, Complaint> {
    let (start, end) = (raw.event(true)?, raw.event(true)?);
    raw.record_on(&start, &library.stream)?;
    for _ in 0..launches {
        library.stream.run(step.model.step(&mut step.state, Advance::Stay))?;
    }
    raw.record_on(&end, &library.stream)?;
    library.wait()?;
    Ok(end.microseconds_since(&start)? / f64::from(launches))
}

/// Kernels of which each lets many begin and waits for many: by default, and with every edge programmatic that may be.
fn fans(round: &Round<'_, '_>, launches: u32, (width, times): (usize, usize)) -> Result<Row, Complaint> {
    let library = round.library;
    let record = |builder: GraphBuilder<'_>| {
        let mut source = library.device.zeros::<f32>(ELEMENTS)?;
        let mut targets = vec![library.device.zeros::<f32>(ELEMENTS)?];
        targets.extend((1..width).map(|_| library.device.zeros(ELEMENTS)).collect::<Result<Vec<_>, _>>()?);
        let graph = builder.record(|r: &mut Recorder<'_>| {
            for _ in 0..times {
                r.run(library.kernels.bump(&mut source))?;
                for target in &mut targets {
                    r.run(library.kernels.axpy_slot(baked(1.0), &source, target))?;
                }
            }
            Ok(())
        })?;
        Ok::<_, Complaint>((graph, targets))
    };
    let (mut with, one) = record(library.device.graph())?;
    let (mut without, other) = record(library.device.graph().edges_by(|_, _| Edge::Waits))?;
    let by = |graph: &mut Graph<()>| gpt2::block(graph, library, round.raw, launches);
    let row = sides(round, launches, Box::new(|| by(&mut with)), Box::new(|| by(&mut without)))?;
    for (one, other) in one.iter().zip(&other) {
        equal(&library.stream.read(one)?, &library.stream.read(other)?)?;
    }
    Ok(row)
}

/// The first launch of a line that was just recorded, until the call returns.
fn first_launches(round: &Round<'_, '_>, length: u32, times: u32) -> Result<Row, Complaint> {
    let library = round.library;
    let mut memory = [library.device.zeros::<f32>(ELEMENTS)?, library.device.zeros::<f32>(ELEMENTS)?];
    let [with, without] = &mut memory;
    let mut first = |x: &mut dacapo::Buffer<f32>, is_preloaded: bool| {
        let mut microseconds = 0.0;
        for _ in 0..times {
            let mut graph = library.chain_with(x, length, Edges::Usual)?;
            if is_preloaded {
                graph.preload(&library.stream)?;
            }
            library.wait()?;
            let start = Instant::now();
            drop(graph.launch(&library.stream)?);
            microseconds += start.elapsed().as_secs_f64() * 1e6;
            library.wait()?;
        }
        Ok(microseconds / f64::from(times))
    };
    let first = std::cell::RefCell::new(&mut first);
    let row = sides(
        round,
        times,
        Box::new(|| first.borrow_mut()(with, true)),
        Box::new(|| first.borrow_mut()(without, false)),
    )?;
    let bumps = (round.launches_in_all(times) * length) as f32;
    memory.iter().try_for_each(|x| library.all_equal("first launches", x, bumps))?;
    Ok(row)
}

/// A number that changes before each launch: set in a slot, and recorded anew.
fn slots(round: &Round<'_, '_>, launches: u32) -> Result<Row, Complaint> {
    const LENGTH: u32 = 10;
    let library = round.library;
    let (ones, slot) = (library.device.buffer(&[1.0; ELEMENTS])?, Slot::new(0.0));
    let mut memory = [library.device.zeros::<f32>(ELEMENTS)?, library.device.zeros::<f32>(ELEMENTS)?];
    let [with, without] = &mut memory;
    let mut by_slot = library.device.record(|r: &mut Recorder<'_>| {
        r.run(library.kernels.axpy_slot(&slot, &ones, with))?;
        (1..LENGTH).try_for_each(|_| r.run(library.kernels.bump(with)))
    })?;
    let mut anew = library.device.record(|r: &mut Recorder<'_>| {
        r.run(library.kernels.axpy_slot(baked(0.0), &ones, without))?;
        (1..LENGTH).try_for_each(|_| r.run(library.kernels.bump(without)))
    })?;
    let value = |launch: u32| (launch % 8) as f32;
    let (mut set, mut recorded) = (0, 0);
    let timed = |launch: &mut dyn FnMut() -> Result<(), Complaint>| {
        let mut microseconds = 0.0;
        for _ in 0..launches {
            let start = Instant::now();
            launch()?;
            microseconds += start.elapsed().as_secs_f64() * 1e6;
            library.wait()?;
        }
        Ok(microseconds / f64::from(launches))
    };
    let in_place = || {
        timed(&mut || {
            slot.set(value(set));
            set += 1;
            drop(by_slot.launch(&library.stream)?);
            Ok(())
        })
    };
    let by_rerecord = || {
        timed(&mut || {
            let number = value(recorded);
            recorded += 1;
            anew.rerecord(|r: &mut Recorder<'_>| {
                r.run(library.kernels.axpy_slot(baked(number), &ones, without))?;
                (1..LENGTH).try_for_each(|_| r.run(library.kernels.bump(without)))
            })?;
            drop(anew.launch(&library.stream)?);
            Ok(())
        })
    };
    let row = sides(round, launches, Box::new(in_place), Box::new(by_rerecord))?;
    let [with, without] = &memory;
    raw::all_equal("slots", &library.stream.read(with)?, library.stream.read(without)?[0])?;
    Ok(row)
}

/// Refuses numbers that differ in a bit.
fn equal(want: &[f32], got: &[f32]) -> Result<(), Complaint> {
    match want.iter().zip(got).position(|(want, got)| want.to_bits() != got.to_bits()) {
        None if want.len() == got.len() => Ok(()),
        at => Err(Complaint::new(format!("with and without it, number {at:?} differs"))
            .help("this is a bug; `dacapo doctor` tells whether the driver works at all")),
    }
}
