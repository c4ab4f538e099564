//! `dacapo demo`: a step of a small network, run eagerly and replayed, and both compared with plain Rust.
//!
//! All three must agree in every bit after every block of steps. The step's rate is a slot that changes before each step:
//! what is recorded is not frozen.

mod kernels;
mod network;
mod reference;
mod report;

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use dacapo::page::Page;
use dacapo::{Device, Slot, Stream};

use crate::bench::blocks::{Contender, alternate};
use crate::bench::statistics::Samples;
use crate::complaint::Complaint;
use crate::output::Output;
use crate::target::{Target, Which};
use kernels::Kernels;
use network::{Network, Parameters, batch, parameters};
use report::{Profiled, Report, Times};

/// Rounds of blocks that are timed; one more warms up.
const BLOCKS: u32 = 5;

/// The arguments of `dacapo demo`.
#[derive(clap::Args, Debug, Default)]
pub struct Arguments {
    /// Where to run; the GPU where there is one, else the software device
    #[arg(long, value_enum)]
    pub device: Option<Which>,
    /// The seed of the software device
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Write a report of the recorded graph to this file, for `dacapo inspect`
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Time one more replay op by op, and print how long each took on the device
    #[arg(long)]
    pub profile: bool,
    /// The same as a file for Perfetto or chrome://tracing
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Write a page that shows the graph, the time of each op, eagerly and replayed, and the memory
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Runs the demonstration and tells what came of it.
///
/// # Errors
///
/// - A GPU that was asked for and is not there, a refused call, results that differ.
pub fn run(arguments: &Arguments, output: Output) -> Result<ExitCode, Complaint> {
    let target = Target::open(arguments.device, arguments.seed)?;
    let device = target.device();
    let steps = if target.is_software() { 4 } else { 200 };

    let k = Kernels::load(device)?;
    let stream = device.stream()?;
    let rate = Slot::new(0.0);
    let (mut eager, mut recorded) = (Network::new(device)?, Network::new(device)?);
    let started = Instant::now();
    let mut graph = device.record(recorded.step(&k, &rate))?;
    let recording = started.elapsed();
    if let Some(path) = &arguments.report {
        write(path, &graph.inspect().to_json())?;
    }

    let counts = [Cell::new(0), Cell::new(0)];
    let next_rate = |count: &Cell<u32>| {
        rate.set(rate_of(count.get()));
        count.set(count.get() + 1);
    };
    let hosts = <[RefCell<Samples>; 2]>::default();
    let timed = |host, step: &mut dyn FnMut() -> _| timed(steps, &stream, host, step);
    let mut samples = {
        let eagerly: Contender<'_> = Box::new(|| {
            timed(&hosts[0], &mut || {
                next_rate(&counts[0]);
                Ok(stream.run(eager.step(&k, &rate))?)
            })
        });
        let replayed: Contender<'_> = Box::new(|| {
            timed(&hosts[1], &mut || {
                next_rate(&counts[1]);
                drop(graph.launch(&stream)?);
                Ok(())
            })
        });
        alternate(0, BLOCKS, &mut [eagerly, replayed], || ())?
    };
    let (replay, eager_times) = (samples.pop().unwrap_or_default(), samples.pop().unwrap_or_default());

    let total = steps * (BLOCKS + 1);
    let (expected, losses) = by_hand(total);
    compare("eager runs", &eager.read(&stream)?, &expected)?;
    compare("replays", &recorded.read(&stream)?, &expected)?;
    let [eager_host, replay_host] = hosts.map(|host| host.borrow().median());
    output.tell(&Report {
        device: device.properties().name.clone(),
        is_software: target.is_software(),
        operations: graph.len(),
        dependencies: graph.dependencies().len(),
        recording,
        steps: total,
        losses,
        eager: Times { step: eager_times.median(), host: eager_host },
        replay: Times { step: replay.median(), host: replay_host },
        profile: profile(arguments, &mut graph, &stream)?,
        page_file: arguments.html.clone(),
        report_file: arguments.report.clone(),
        trace_file: arguments.trace.clone(),
    });
    Ok(ExitCode::SUCCESS)
}

/// One more step, timed op by op, where that was asked for: the table, if it was.
fn profile<T>(
    arguments: &Arguments,
    graph: &mut dacapo::Graph<T>,
    stream: &Stream,
) -> Result<Option<Profiled>, Complaint> {
    if !arguments.profile && arguments.trace.is_none() && arguments.html.is_none() {
        return Ok(None);
    }
    let profile = graph.profile(stream)?;
    if let Some(path) = &arguments.html {
        let page = Page::new(graph.inspect()).profile(profile.clone()).profile(stream.profile(graph.as_op())?);
        let page = page.memory(&graph.memory()).books(&stream.device().memory_report()?);
        write(path, &page.findings(stream.device().found()).html())?;
    }
    if let Some(path) = &arguments.trace {
        write(path, &profile.trace())?;
    }
    let ops = profile.ops.iter().map(|op| (op.name.clone(), op.time_ns)).collect();
    Ok(arguments.profile.then(|| Profiled { table: format!("{profile:#}"), total_ns: profile.total_ns, ops }))
}

fn write(path: &Path, text: &str) -> Result<(), Complaint> {
    std::fs::write(path, text).map_err(|error| Complaint::new(format!("{}: {error}", path.display())))
}

/// Three steps, eagerly and replayed, compared with plain Rust: for `doctor`. Says how many operations a step has.
///
/// # Errors
///
/// - A refused call, results that differ.
pub fn self_test(device: &Device) -> Result<usize, Complaint> {
    const STEPS: u32 = 3;
    let (k, stream, rate) = (Kernels::load(device)?, device.stream()?, Slot::new(0.0));
    let (mut eager, mut recorded) = (Network::new(device)?, Network::new(device)?);
    let mut graph = device.record(recorded.step(&k, &rate))?;
    for step in 0..STEPS {
        rate.set(rate_of(step));
        stream.run(eager.step(&k, &rate))?;
        drop(graph.launch(&stream)?);
    }
    let (expected, _) = by_hand(STEPS);
    compare("eager runs", &eager.read(&stream)?, &expected)?;
    compare("replays", &recorded.read(&stream)?, &expected)?;
    Ok(graph.len())
}

/// Smaller from step to step, so that a frozen one would show.
fn rate_of(step: u32) -> f32 {
    0.004 / (1.0 + step as f32 * 0.001)
}

/// Microseconds a step, waited for at the end; what of it the calls took goes to `host`.
fn timed(
    steps: u32,
    stream: &Stream,
    host: &RefCell<Samples>,
    step: &mut dyn FnMut() -> Result<(), Complaint>,
) -> Result<f64, Complaint> {
    let started = Instant::now();
    for _ in 0..steps {
        step()?;
    }
    host.borrow_mut().push(started.elapsed().as_secs_f64() * 1e6 / f64::from(steps));
    stream.synchronize()?;
    Ok(started.elapsed().as_secs_f64() * 1e6 / f64::from(steps))
}

/// The parameters after so many steps in plain Rust, and the loss before and after.
fn by_hand(steps: u32) -> (Parameters, (f32, f32)) {
    let ((x, target), mut parameters) = (batch(), parameters());
    let before = reference::loss(&parameters, &x, &target);
    for step in 0..steps {
        reference::step(&mut parameters, &x, &target, rate_of(step));
    }
    let after = reference::loss(&parameters, &x, &target);
    (parameters, (before, after))
}

/// Refuses when one bit differs.
fn compare(whose: &str, got: &Parameters, want: &Parameters) -> Result<(), Complaint> {
    for (tensor, (got, want)) in ["W1", "b1", "W2", "b2"].iter().zip(got.iter().zip(want)) {
        let differs = got.iter().zip(want).position(|(got, want)| got.to_bits() != want.to_bits());
        if let Some(at) = differs {
            let (got, want) = (got[at], want[at]);
            return Err(Complaint::new(format!("{whose}: {tensor}[{at}] is {got}, and plain Rust says {want}"))
                .help("this is a bug; `dacapo doctor` tells whether the driver works at all"));
        }
    }
    Ok(())
}
