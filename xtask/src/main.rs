//! What a contributor runs that is not plain cargo.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod libcuda;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "What a contributor runs that is not plain cargo")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

/// One variant for each task; a task's own file says what it does.
#[derive(Subcommand)]
enum Task {
    /// Build the software driver as target/dacapo/libcuda.so.1
    Libcuda,
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Libcuda => libcuda::run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
