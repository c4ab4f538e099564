//! The program `dacapo`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod abilities;
mod doctor;

/// CUDA work without a GPU, and a look at the GPU where there is one.
#[derive(Parser)]
#[command(name = "dacapo", version)]
struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Subcommand)]
enum Task {
    /// Which drivers and devices there are, what they can do, and a self-test (what `dacapo` does when given nothing)
    Doctor {
        /// The seed of the software driver's self-test
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
}

fn main() -> ExitCode {
    match Arguments::parse().task.unwrap_or(Task::Doctor { seed: 0 }) {
        Task::Doctor { seed } => doctor::run(seed),
    }
}
