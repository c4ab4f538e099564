//! Trains a small network with a whole step in one graph, and checks that nothing was lost by it.
//!
//! - One recording holds everything: forward, loss, backward, Adam.
//! - New batches are copied into the same memory before each replay; the learning rate changes half-way.
//! - The replayed run must equal the eager run and plain Rust, bit for bit, and the loss must fall. Otherwise the exit code
//!   is 1.

use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use dacapo::{Device, Result};
use dacapo_example_train::{Adam, Model, Outcome, Shape, Training, verdict};
use indicatif::{ProgressBar, ProgressStyle};

/// Trains a small network with a whole step in one graph, and checks that nothing was lost by it.
///
/// The same training runs three times: launch by launch, as replays of one graph, and in plain Rust. The exit code is 0 when
/// all three agree to the last bit and the loss fell, 1 when not, 2 when the sizes are none or the device refused.
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
    let device = match arguments.device {
        Where::Best => Device::best()?,
        Where::Cuda => Device::cuda(0)?,
        Where::Software => Device::software()?,
    };
    let adam = Adam { rate: arguments.rate, ..Adam::default() };
    let training = Training { shape, adam, steps: arguments.steps.into(), seed: arguments.seed };

    let progress = ProgressBar::new(3 * u64::from(arguments.steps));
    if let Ok(style) = ProgressStyle::with_template("{msg:12} {wide_bar} {pos}/{len}") {
        progress.set_style(style);
    }
    progress.set_message("eager");
    let eager = training.eager(&device, || progress.inc(1))?;
    progress.set_message("replayed");
    let (replayed, [nodes, edges]) = training.replayed(&device, || progress.inc(1))?;
    progress.set_message("plain Rust");
    let reference = training.reference(|| progress.inc(1));
    progress.finish_and_clear();

    println!("{}: one graph of {nodes} nodes and {edges} edges, {} replays", device.properties().name, training.steps);
    table(&training, [&eager, &replayed, &reference]);
    if device.is_software() {
        println!("the times are those of the software device and say nothing about a GPU");
    }
    let checks = verdict::checks(&eager, &replayed, &reference, &device.findings());
    for check in &checks {
        println!("{}  {}", if check.held { "ok    " } else { "FAILED" }, check.what);
    }
    Ok(checks.iter().all(|check| check.held))
}

/// The losses of some steps, and the mean time of one.
fn table(training: &Training, outcomes: [&Outcome; 3]) {
    println!("{:>8} {:>8} {:>12} {:>12} {:>12}", "step", "rate", "eager", "replayed", "plain Rust");
    let rows = 8.min(training.steps);
    for row in 0..rows {
        // The first, the last, and evenly between.
        let step = if rows == 1 { 0 } else { row * (training.steps - 1) / (rows - 1) };
        let [eager, replayed, reference] = outcomes.map(|outcome| outcome.losses[step]);
        println!("{step:>8} {:>8} {eager:>12.6} {replayed:>12.6} {reference:>12.6}", training.rate(step));
    }
    let [eager, replayed, reference] =
        outcomes.map(|outcome| outcome.elapsed.as_secs_f64() * 1e6 / training.steps as f64);
    println!("{:>17} {eager:>12.0} {replayed:>12.0} {reference:>12.0}", "us a step");
}
