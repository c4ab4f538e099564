//! What a contributor runs that is not plain cargo.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod gpu_pack;
mod kernels;
mod libcuda;
mod workspace;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "What a contributor runs that is not plain cargo")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

/// One variant for each task; a task's own file says what it does.
#[derive(Subcommand)]
enum Task {
    /// Build the GPU pack under target/gpu-pack: one binary with every recorder and test that wants a GPU
    GpuPack,
    /// Compile kernels/*.cu to kernels/ptx with NVRTC, or check what is committed
    Kernels {
        /// Compile nothing: compare hashes, offline
        #[arg(long)]
        check: bool,
    },
    /// Build the software driver as target/dacapo/libcuda.so.1
    Libcuda,
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::GpuPack => gpu_pack::run(),
        Task::Kernels { check } => kernels::run(check),
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
