//! A line of tiny kernels, replayed: what a launch costs the host, what it takes back to back, and launched and waited for.
//!
//! Both sides launch the same kernel with the same geometry on as many elements, each on memory of its own. Beside them, as
//! references: a second graph by hand, which tells how far two equal things are apart, and eager launches.

use std::time::{Duration, Instant};

use super::blocks::{Contender, each, together};
use super::compare::{Bench, LIBRARY, RAW, Round, Row};
use super::raw::{self, Raw, Shape};
use crate::complaint::Complaint;

/// Lengths of the chains.
pub const LENGTHS: [u32; 4] = [1, 10, 100, 1000];

/// Elements that each kernel works on.
pub const ELEMENTS: u32 = 32;

/// How launches are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The call alone; the device is idle before each, so that the queue is never full.
    HostLaunch,
    /// Many launches, then one wait.
    BackToBack,
    /// Each launch is waited for.
    LaunchAndWait,
}

impl Way {
    /// All of them.
    pub const ALL: [Way; 3] = [Way::HostLaunch, Way::BackToBack, Way::LaunchAndWait];

    /// As it stands in the name of a measurement.
    pub fn name(self) -> &'static str {
        match self {
            Way::HostLaunch => "host-launch",
            Way::BackToBack => "back-to-back",
            Way::LaunchAndWait => "launch-and-wait",
        }
    }

    /// Launches of a block, for a graph of this many kernels.
    pub fn launches(self, bench: &Bench<'_>, kernels: u32) -> u32 {
        match self {
            Way::BackToBack => bench.launches(kernels, 4000, 10, 400),
            Way::HostLaunch | Way::LaunchAndWait => bench.launches(kernels, 2000, 20, 100),
        }
    }

    /// Microseconds a launch in one block of `launches`.
    ///
    /// # Errors
    ///
    /// - What either of them answers.
    pub fn time(
        self,
        launches: u32,
        mut launch: impl FnMut() -> Result<(), Complaint>,
        mut wait: impl FnMut() -> Result<(), Complaint>,
    ) -> Result<f64, Complaint> {
        match self {
            Way::HostLaunch => each(launches, launch, wait),
            Way::BackToBack => together(launches, launch, wait),
            Way::LaunchAndWait => each(
                launches,
                || {
                    launch()?;
                    wait()
                },
                || Ok(()),
            ),
        }
    }
}

/// Measures the chain of `length` kernels in each way that was asked for.
///
/// # Errors
///
/// - A refused call, or a number that is wrong.
pub fn measure(bench: &Bench<'_>, length: u32) -> Result<Vec<Row>, Complaint> {
    let names = Way::ALL.map(|way| (way, format!("chain-{length}/{}", way.name())));
    let wanted = names.into_iter().filter(|(_, name)| bench.wants(name));
    let measured = wanted.map(|(way, name)| {
        let launches = way.launches(bench, length);
        bench.rounds(&name, |round| measure_way(round, length, way, launches))
    });
    measured.collect()
}

fn measure_way(round: &Round<'_, '_>, length: u32, way: Way, launches: u32) -> Result<Row, Complaint> {
    let (raw, again, library) = (round.raw, round.raw_again, round.library);
    let stream = raw.stream()?;
    let zeros = [0.0; ELEMENTS as usize];
    let (x, x_again, eager_x) = (raw.floats(&zeros)?, again.floats(&zeros)?, raw.floats(&zeros)?);
    let (graph, stream_again) =
        (raw.graph(&vec![raw.bump(&x, ELEMENTS); length as usize], Shape::Line)?, again.stream()?);
    let graph_again = again.graph(&vec![again.bump(&x_again, ELEMENTS); length as usize], Shape::Line)?;
    let bump = raw.bump(&eager_x, ELEMENTS);
    let wait = || Ok(stream.synchronize()?);
    let by_hand: Contender<'_> = Box::new(|| way.time(launches, || Ok(graph.launch(&stream)?), wait));
    let by_hand_again: Contender<'_> =
        Box::new(|| way.time(launches, || Ok(graph_again.launch(&stream_again)?), || Ok(stream_again.synchronize()?)));
    let eager: Contender<'_> =
        Box::new(|| way.time(launches, || Ok((0..length).try_for_each(|_| bump.launch(&stream))?), wait));
    let mut library_x = library.device.zeros::<f32>(ELEMENTS as usize)?;
    let mut recorded = library.chain(&mut library_x, length)?;
    let replayed: Contender<'_> = Box::new(|| {
        let launch = || {
            drop(recorded.launch(&library.stream)?);
            Ok(())
        };
        way.time(launches, launch, || library.wait())
    });
    let row = round
        .compare(launches, vec![(RAW, by_hand), (LIBRARY, replayed), ("raw again", by_hand_again), ("eager", eager)])?;
    stream.synchronize()?;
    let bumps = (f64::from(round.launches_in_all(launches)) * f64::from(length)) as f32;
    raw::all_equal("the graph by hand", &raw::read_floats(&x)?, bumps)?;
    raw::all_equal("the second graph by hand", &raw::read_floats(&x_again)?, bumps)?;
    raw::all_equal("eager launches", &raw::read_floats(&eager_x)?, bumps)?;
    library.all_equal("replays", &library_x, bumps)?;
    Ok(row)
}

/// Keeps the device at work for this long.
///
/// # Errors
///
/// - A refused call.
pub fn warm_up(raw: &Raw<'_>, time: Duration) -> Result<(), Complaint> {
    let (stream, x) = (raw.stream()?, raw.floats(&[0.0; ELEMENTS as usize])?);
    let graph = raw.graph(&vec![raw.bump(&x, ELEMENTS); 100], Shape::Line)?;
    let started = Instant::now();
    while started.elapsed() < time {
        graph.launch(&stream)?;
        stream.synchronize()?;
    }
    Ok(())
}
