//! Trains a small network with a whole step in one graph, and checks that nothing was lost by it.
//!
//! - One recording holds everything: forward, loss, backward, Adam.
//! - New batches are copied into the same memory before each replay; the learning rate changes half-way.
//! - The replayed run must equal the eager run and plain Rust, bit for bit, and the loss must fall. Otherwise the exit code
//!   is 1.
//! - `--ranks N` trains on N devices, each with its part of every batch. They must end with the same bits, and near one device.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use dacapo::collective::Launcher;
use dacapo::{Device, Error, Result};
use dacapo_example_train::{Adam, Model, Outcome, Ranks, RanksRuns, Shape, Training, Whereabouts, verdict};
use indicatif::{ProgressBar, ProgressStyle};

/// Trains a small network with a whole step in one graph, and checks that nothing was lost by it.
///
/// The same training runs three times: launch by launch, as replays of one graph, and in plain Rust. The exit code is 0 when
/// all three agree to the last bit and the loss fell, 1 when not, 2 when the sizes are none or the device refused. With
/// `--ranks` the training runs on several devices, in four ways that must agree.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// What to train
    #[arg(long, value_enum, default_value_t = Which::Gru)]
    model: Which,
    /// How many training steps
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..))]
    steps: u16,
    /// Where to train
    #[arg(long, value_enum, default_value_t = Where::Best)]
    device: Where,
    /// Numbers of a layer: a multiple of 8
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u16).range(8..))]
    hidden: u16,
    /// Sequences in a batch
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    batch: u16,
    /// Length of a sequence; the MLP takes each place as an example
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    time: u16,
    /// Layers of the MLP
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    layers: u16,
    /// The learning rate of the first half; the second half has half of it
    #[arg(long, default_value_t = 0.01)]
    rate: f32,
    /// Decides data and first parameters
    #[arg(long, default_value_t = 1)]
    seed: u32,
    /// Train on so many devices (1, 2, 4, ..; a divisor of --batch), each with its part of the batch: threads of this
    /// process, or one of the processes that torchrun, mpirun or srun has started
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=64))]
    ranks: Option<u8>,
    /// With --ranks: for how many seconds one of them may be waited for, to be started or to come to a step
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u16).range(1..), requires = "ranks")]
    patience: u16,
}

#[derive(Clone, Copy, ValueEnum)]
enum Which {
    /// A GRU over sequences with a linear layer behind it
    Gru,
    /// Linear layers with GELU
    Mlp,
}

#[derive(Clone, Copy, ValueEnum)]
enum Where {
    /// A GPU where there is one, else the software device
    Best,
    /// The first GPU
    Cuda,
    /// The software device: no GPU, no speed, the same results
    Software,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("{error:?}");
            ExitCode::from(2)
        }
    }
}

/// Trains, prints, and says whether all checks held.
fn run(arguments: &Arguments) -> Result<bool> {
    let model = match arguments.model {
        Which::Gru => Model::Gru,
        Which::Mlp => Model::Mlp,
    };
    let (hidden, batch, time) = (arguments.hidden.into(), arguments.batch.into(), arguments.time.into());
    let shape = Shape { model, hidden, batch, time, layers: arguments.layers.into() };
    if let Some(why) = shape.refused() {
        return Err(dacapo::Error::msg(why));
    }
    let adam = Adam { rate: arguments.rate, ..Adam::default() };
    let training = Training { shape, adam, steps: arguments.steps.into(), seed: arguments.seed };
    if let Some(ranks) = arguments.ranks {
        let whereabouts = whereabouts_of(arguments.device, ranks.into())?;
        let patience = Duration::from_secs(arguments.patience.into());
        return run_ranks(&training, &Ranks { whereabouts, patience });
    }
    let device = match arguments.device {
        Where::Best => Device::best()?,
        Where::Cuda => Device::cuda(0)?,
        Where::Software => Device::software()?,
    };

    let progress = progress(3 * training.steps);
    progress.set_message("eager");
    let eager = training.eager(&device, || progress.inc(1))?;
    progress.set_message("replayed");
    let (replayed, [nodes, edges]) = training.replayed(&device, || progress.inc(1))?;
    progress.set_message("plain Rust");
    let reference = training.reference(|| progress.inc(1));
    progress.finish_and_clear();

    println!("{}: one graph of {nodes} nodes and {edges} edges, {} replays", device.properties().name, training.steps);
    table(&training, ["eager", "replayed", "plain Rust"], [&eager, &replayed, &reference]);
    if device.is_software() {
        println!("the times are those of the software device and say nothing about a GPU");
    }
    Ok(told(&verdict::checks(&eager, &replayed, &reference, &device.findings())))
}

/// Where so many ranks are: where a launcher says, else on as many devices of this process.
fn whereabouts_of(device: Where, size: usize) -> Result<Whereabouts> {
    let gpus = match device {
        Where::Software => false,
        Where::Cuda => true,
        Where::Best => !Device::best()?.is_software(),
    };
    match Launcher::from_env() {
        Ok(launcher) if launcher.size == size && size > 1 => Ok(Whereabouts::Process { launcher, software: !gpus }),
        // A shell that Slurm has given says that it is one of one.
        Ok(launcher) if launcher.size > 1 => {
            Err(Error::msg(format!("the launcher has started {} processes, and --ranks says {size}", launcher.size)))
        }
        _ if matches!(device, Where::Cuda) || gpus && Device::count()? >= size => Ok(Whereabouts::Cuda(size)),
        _ => Ok(Whereabouts::Software(size)),
    }
}

/// Trains on several ranks, prints where rank 0 is, and says whether all checks held.
fn run_ranks(training: &Training, ranks: &Ranks) -> Result<bool> {
    let progress = progress(ranks.steps(training));
    let done = |run| {
        progress.set_message(run);
        progress.inc(1);
    };
    let runs = ranks.runs(training, done)?;
    progress.finish_and_clear();

    let checks = verdict::ranks_checks(training, ranks.size(), &runs);
    if !ranks.is_first() {
        return Ok(checks.iter().all(|check| check.held));
    }
    let RanksRuns { device, eager, replayed, plain, other_seed, .. } = &runs;
    let [nodes, edges] = replayed.graph;
    let (size, batch) = (ranks.size(), training.shape.batch);
    let ranks = if size == 1 { "rank" } else { "ranks" };
    println!("{device}: {size} {ranks} with {} of {batch} sequences each", batch / size);
    println!("each with one graph of {nodes} nodes and {edges} edges, {} replays", training.steps);
    table(training, ["eager", "replayed", "no ranks"], [&eager.outcome, &replayed.outcome, plain]);
    println!(
        "{} parameters after the last step; digest of all bits {:016x}",
        replayed.outcome.parameters.len(),
        replayed.outcome.digest()
    );
    if other_seed.is_some() {
        println!("the times are those of software devices and say nothing about GPUs");
    }
    Ok(told(&checks))
}

fn progress(steps: usize) -> ProgressBar {
    let progress = ProgressBar::new(steps as u64);
    if let Ok(style) = ProgressStyle::with_template("{msg:12} {wide_bar} {pos}/{len}") {
        progress.set_style(style);
    }
    progress
}

/// Prints the checks, and says whether all held.
fn told(checks: &[verdict::Check]) -> bool {
    for check in checks {
        println!("{}  {}", if check.held { "ok    " } else { "FAILED" }, check.what);
    }
    checks.iter().all(|check| check.held)
}

/// The losses of some steps, and the mean time of one.
fn table(training: &Training, names: [&str; 3], outcomes: [&Outcome; 3]) {
    println!("{:>8} {:>8} {:>12} {:>12} {:>12}", "step", "rate", names[0], names[1], names[2]);
    let rows = 8.min(training.steps);
    for row in 0..rows {
        // The first, the last, and evenly between.
        let step = if rows == 1 { 0 } else { row * (training.steps - 1) / (rows - 1) };
        let [a, b, c] = outcomes.map(|outcome| outcome.losses[step]);
        println!("{step:>8} {:>8} {a:>12.6} {b:>12.6} {c:>12.6}", training.rate(step));
    }
    let [a, b, c] = outcomes.map(|outcome| outcome.elapsed.as_secs_f64() * 1e6 / training.steps as f64);
    println!("{:>17} {a:>12.0} {b:>12.0} {c:>12.0}", "us a step");
}
