//! The program `dacapo`, and those parts of it that the benchmarks of this repository share.
//!
//! `cargo install dacapo-cli` gives the program; `dacapo --help` says what it does. As a library this crate is no API:
//! its items serve `crates/bench`, which measures whole models, and may change in any version.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use complaint::Complaint;
use output::Output;

pub mod bench;
pub mod complaint;
mod demo;
mod doctor;
mod inspect;
mod libcuda;
pub mod output;
pub mod pipe;
mod run;
pub mod session;
mod settings;
mod soak;
pub mod target;

/// CUDA work without a GPU, and a look at the GPU where there is one.
#[derive(Parser, Debug)]
#[command(name = "dacapo", version)]
struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,
    /// Print one JSON document instead of text; complaints too are JSON then, on standard error
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand, Debug)]
enum Task {
    /// A step of a small network, run eagerly, replayed and checked (what `dacapo` does when given nothing)
    Demo(demo::Arguments),
    /// Which drivers and devices there are, what they can do, and a self-test
    Doctor(doctor::Arguments),
    /// Run a program that uses the CUDA driver API on the software driver
    Run(run::Arguments),
    /// Find or build the software driver's `libcuda.so.1`, and print where it is
    Libcuda(libcuda::Arguments),
    /// What the library costs over driver calls by hand, measured
    Bench(bench::Arguments),
    /// Very many replays by several threads: every number right, nothing leaks
    Soak(soak::Arguments),
    /// Print, draw or compare reports of recordings and graphs
    Inspect(inspect::Arguments),
}

/// Does what the command line asks for, and says how it ended.
pub fn main() -> ExitCode {
    pipe::end_quietly_when_closed();
    let Arguments { task, json } = Arguments::try_parse().unwrap_or_else(|error| refused(&error));
    let output = Output { json };
    let done = match task.unwrap_or(Task::Demo(demo::Arguments::default())) {
        Task::Demo(arguments) => demo::run(&arguments, output),
        Task::Doctor(arguments) => Ok(doctor::run(&arguments, output)),
        Task::Run(arguments) => Ok(run::run(&arguments, output)),
        Task::Libcuda(arguments) => libcuda::run(&arguments, output),
        Task::Bench(arguments) => bench::run(&arguments, output, &[bench::LAUNCHES, bench::MANY_STREAMS]),
        Task::Soak(arguments) => soak::run(&arguments, output),
        Task::Inspect(arguments) => inspect::run(&arguments, output),
    };
    done.unwrap_or_else(|complaint| {
        output.complain(&complaint);
        ExitCode::FAILURE
    })
}

/// Ends the program over arguments that it does not take, or over a question for help.
fn refused(error: &clap::Error) -> ! {
    let mut words = std::env::args_os().take_while(|word| word != "--");
    if error.use_stderr() && words.any(|word| word == "--json") {
        Output { json: true }.complain(&Complaint::from(error));
        std::process::exit(2);
    }
    error.exit()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn what_follows_the_program_is_the_programs() {
        let line = ["dacapo", "run", "--seed", "7", "--", "prog", "--seed", "8", "-x", "--json"];
        let arguments = Arguments::parse_from(line);
        assert!(!arguments.json);
        let Some(Task::Run(run)) = arguments.task else { panic!("not run: {arguments:?}") };
        assert_eq!(run.seed, Some(7));
        assert_eq!(run.program, ["prog", "--seed", "8", "-x", "--json"]);
        assert!(Arguments::try_parse_from(["dacapo", "run"]).is_err());
    }
}
