//! Trains a small network with a whole step in one graph, and checks that nothing was lost by it.
//!
//! - One recording holds everything: gradients to zero, forward, loss, backward, Adam.
//! - New batches are copied into the same memory before each replay; the learning rate changes half-way.
//! - The replayed run must equal the eager run and plain Rust, bit for bit, and the loss must fall. Otherwise the exit code
//!   is 1.

mod data;
mod kernels;
mod network;
mod reference;
mod shape;
mod training;
mod verdict;

use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use dacapo::{Device, Result};
use indicatif::{ProgressBar, ProgressStyle};

use crate::shape::{Adam, Shape};
use crate::training::{Outcome, Training};

/// Trains a small network with a whole step in one graph, and checks that nothing was lost by it.
///
/// The same training runs three times: launch by launch, as replays of one graph, and in plain Rust. The exit code is 0 when
/// all three agree to the last bit and the loss fell, 1 when not, 2 when the device refused.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// How many training steps
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..))]
    steps: u16,
    /// Where to train
    #[arg(long, value_enum, default_value_t = Where::Best)]
    device: Where,
    /// Examples in a batch
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    batch: u16,
    /// Numbers in the hidden layer
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..))]
    hidden: u16,
    /// Decides data and first parameters
    #[arg(long, default_value_t = 1)]
    seed: u64,
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
    let device = match arguments.device {
        Where::Best => Device::best()?,
        Where::Cuda => Device::cuda(0)?,
        Where::Software => Device::software()?,
    };
    let shape = Shape { inputs: 2, hidden: arguments.hidden.into(), classes: 3, batch: arguments.batch.into() };
    let training = Training { shape, adam: Adam::default(), steps: arguments.steps.into(), seed: arguments.seed };

    let progress = ProgressBar::new(3 * u64::from(arguments.steps));
    if let Ok(style) = ProgressStyle::with_template("{msg:12} {wide_bar} {pos}/{len}") {
        progress.set_style(style);
    }
    progress.set_message("eager");
    let eager = training.eager(&device, &progress)?;
    progress.set_message("replayed");
    let (replayed, [nodes, edges]) = training.replayed(&device, &progress)?;
    progress.set_message("plain Rust");
    let reference = training.reference(&progress);
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
