//! A line of tiny kernels on the device's clock: full edges by hand against the library's edges, as they are by default and as
//! `tune` leaves them.
//!
//! Beside them, as references: a second graph by hand, and the library with full edges.

use std::cell::{Cell, OnceCell};

use dacapo::graph::{Edge, Tuned};
use dacapo::{Buffer, Graph};

use super::blocks::Contender;
use super::chain::{ELEMENTS, Way};
use super::compare::{Bench, LIBRARY, RAW, Round, Row};
use super::library::{Edges, Library};
use super::raw::{self, Shape};
use crate::complaint::Complaint;

/// Kernels of the line.
const LENGTH: u32 = 100;
/// The same where the device is a slow one.
const LENGTH_SMALL: u32 = 6;

/// Names, and elements of each: one block, and one on every multiprocessor of an H200.
pub const LINES: [(&str, u32); 2] =
    [("edges-1-block/back-to-back", ELEMENTS), ("edges-132-blocks/back-to-back", 132 * 256)];

/// The same where kernels have been run one by one on many streams before. The device then takes longer from kernel to kernel
/// until the process ends, so these are measured last.
pub const LINES_OF_MANY_STREAMS: [(&str, u32); 2] =
    [("edges-1-block/many-streams", LINES[0].1), ("edges-132-blocks/many-streams", LINES[1].1)];

/// Streams on which kernels are run for that: twelve were too few on an H200, 24 were enough.
const STREAMS: u32 = 24;

/// The side that `tune` has chosen the edges of.
pub const TUNED: &str = "tuned";

/// Measures the lines that were asked for.
///
/// # Errors
///
/// - A refused call, or a number that is wrong.
pub fn measure(bench: &Bench<'_>) -> Result<Vec<Row>, Complaint> {
    lines(bench, LINES)
}

/// The same in a process that has used many streams.
///
/// # Errors
///
/// - As [`measure`].
pub fn measure_with_many_streams(bench: &Bench<'_>) -> Result<Vec<Row>, Complaint> {
    if LINES_OF_MANY_STREAMS.iter().any(|(name, _)| bench.wants(name)) {
        let x = bench.raw.floats(&[0.0; ELEMENTS as usize])?;
        for _ in 0..STREAMS {
            let stream = bench.raw.another_stream()?;
            bench.raw.bump(&x, ELEMENTS).launch(&stream)?;
            stream.synchronize()?;
        }
    }
    lines(bench, LINES_OF_MANY_STREAMS)
}

fn lines(bench: &Bench<'_>, lines: [(&'static str, u32); 2]) -> Result<Vec<Row>, Complaint> {
    let wanted = lines.into_iter().filter(|(name, _)| bench.wants(name));
    let measured = wanted.map(|(name, elements)| {
        let (launches, tuning) = (Way::BackToBack.launches(bench, LENGTH), Tuning::default());
        let (length, elements) = if bench.small { (LENGTH_SMALL, elements.min(512)) } else { (LENGTH, elements) };
        let row = bench.rounds(name, |round| measure_line(round, (length, elements), launches, &tuning));
        let [full, waits, signals] = tuning.used.get();
        if let Some(tuned) = tuning.found.into_inner() {
            let used = format!("edges of the last round's graph: {full} full, {waits} wait, {signals} signal");
            bench.progress.suspend(|| eprintln!("{name}: tune: {tuned}\n  {used}"));
        }
        row
    });
    measured.collect()
}

/// What `tune` found in the first round, and how many edges of each kind the last round's graph had by it.
#[derive(Default)]
struct Tuning {
    found: OnceCell<Tuned>,
    used: Cell<[usize; 3]>,
}

/// The library's line, with some edges.
struct Line<'l> {
    library: &'l Library,
    graph: Graph<()>,
    x: Buffer<f32>,
}

impl<'l> Line<'l> {
    fn new(library: &'l Library, (length, elements): (u32, u32), edges: Edges<'_>) -> Result<Line<'l>, Complaint> {
        let mut x = library.device.zeros::<f32>(elements as usize)?;
        let graph = library.chain_with(&mut x, length, edges)?;
        Ok(Line { library, graph, x })
    }

    /// The same with the edges that `tune` has chosen, or chooses now.
    fn tuned(library: &'l Library, sizes: (u32, u32), tuning: &Tuning) -> Result<Line<'l>, Complaint> {
        if let Some(known) = tuning.found.get() {
            return Line::new(library, sizes, Edges::Tuned(&known.tuning));
        }
        let mut line = Line::new(library, sizes, Edges::Usual)?;
        let _ = tuning.found.set(line.graph.tune(&library.stream)?);
        Ok(line)
    }

    fn block(&mut self, launches: u32) -> Result<f64, Complaint> {
        let (library, graph) = (self.library, &mut self.graph);
        let launch = || {
            drop(graph.launch(&library.stream)?);
            Ok(())
        };
        Way::BackToBack.time(launches, launch, || library.wait())
    }
}

fn measure_line(
    round: &Round<'_, '_>,
    (length, elements): (u32, u32),
    launches: u32,
    tuning: &Tuning,
) -> Result<Row, Complaint> {
    let (raw, again, library) = (round.raw, round.raw_again, round.library);
    let (stream, stream_again) = (raw.stream()?, again.stream()?);
    let zeros = vec![0.0; elements as usize];
    let (x, x_again) = (raw.floats(&zeros)?, again.floats(&zeros)?);
    let graph = raw.graph(&vec![raw.bump(&x, elements); length as usize], Shape::Line)?;
    let graph_again = again.graph(&vec![again.bump(&x_again, elements); length as usize], Shape::Line)?;
    let sizes = (length, elements);
    let mut lines = [
        Line::new(library, sizes, Edges::Usual)?,
        Line::tuned(library, sizes, tuning)?,
        Line::new(library, sizes, Edges::Plain)?,
    ];
    let kinds = lines[1].graph.edges();
    let count = |of: Edge| kinds.iter().filter(|(_, _, kind)| *kind == of).count();
    tuning.used.set([Edge::Full, Edge::Waits, Edge::Signals].map(count));
    let way = Way::BackToBack;
    let mut sides: Vec<(&'static str, Contender<'_>)> =
        vec![(RAW, Box::new(|| way.time(launches, || Ok(graph.launch(&stream)?), || Ok(stream.synchronize()?))))];
    for (line, name) in lines.iter_mut().zip([LIBRARY, TUNED, "full edges"]) {
        sides.push((name, Box::new(move || line.block(launches))));
    }
    let again: Contender<'_> =
        Box::new(|| way.time(launches, || Ok(graph_again.launch(&stream_again)?), || Ok(stream_again.synchronize()?)));
    sides.push(("raw again", again));
    let row = round.compare(launches, sides)?;
    let bumps = (f64::from(round.launches_in_all(launches)) * f64::from(length)) as f32;
    raw::all_equal("the graph by hand", &raw::read_floats(&x)?, bumps)?;
    raw::all_equal("the second graph by hand", &raw::read_floats(&x_again)?, bumps)?;
    // Tuning has left no trace.
    lines.iter().try_for_each(|line| library.all_equal("replays", &line.x, bumps))?;
    Ok(row)
}
