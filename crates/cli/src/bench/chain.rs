//! A line of tiny kernels, replayed: what a launch costs the host, what it takes back to back, and launched and waited for.
//!
//! Both sides launch the same kernel with the same geometry on as many elements, each on memory of its own. Eager launches
//! of the same kernels stand beside them as a reference.

use super::blocks::{Contender, each, together};
use super::compare::{Bench, LIBRARY, RAW, Row};
use super::raw::{self, Shape};
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
            Way::BackToBack => bench.launches(kernels, 4000, 4, 400),
            Way::HostLaunch | Way::LaunchAndWait => bench.launches(kernels, 2000, 4, 100),
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
    wanted.map(|(way, name)| measure_way(bench, length, way, &name).map_err(|complaint| complaint.at(&name))).collect()
}

fn measure_way(bench: &Bench<'_>, length: u32, way: Way, name: &str) -> Result<Row, Complaint> {
    let launches = way.launches(bench, length);
    let raw = &bench.raw;
    let stream = raw.stream()?;
    let (x, eager_x) = (raw.floats(&[0.0; ELEMENTS as usize])?, raw.floats(&[0.0; ELEMENTS as usize])?);
    let graph = raw.graph(&vec![raw.bump(&x, ELEMENTS); length as usize], Shape::Line)?;
    let bump = raw.bump(&eager_x, ELEMENTS);
    let wait = || Ok(stream.synchronize()?);
    let by_hand: Contender<'_> = Box::new(|| way.time(launches, || Ok(graph.launch(&stream)?), wait));
    let eager: Contender<'_> =
        Box::new(|| way.time(launches, || Ok((0..length).try_for_each(|_| bump.launch(&stream))?), wait));
    let library = &bench.library;
    let mut library_x = library.device.zeros::<f32>(ELEMENTS as usize)?;
    let mut recorded = library.chain(&mut library_x, length)?;
    let replayed: Contender<'_> = Box::new(|| {
        let launch = || {
            drop(recorded.launch(&library.stream)?);
            Ok(())
        };
        way.time(launches, launch, || library.wait())
    });
    let row = bench.compare(name, launches, vec![(RAW, by_hand), (LIBRARY, replayed), ("eager", eager)])?;
    stream.synchronize()?;
    // One more block than was counted: the one that warmed up.
    let bumps = (f64::from(bench.blocks + 1) * f64::from(launches) * f64::from(length)) as f32;
    raw::all_equal("the graph by hand", &raw::read_floats(&x)?, bumps)?;
    raw::all_equal("eager launches", &raw::read_floats(&eager_x)?, bumps)?;
    library.all_equal("replays", &library_x, bumps)?;
    Ok(row)
}
