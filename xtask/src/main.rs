//! What a contributor runs that is not plain cargo.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod api;
mod bless;
mod cache;
mod clients;
mod conformance;
mod corpus;
mod declarations;
mod edges;
mod faster;
mod faults;
mod forms;
mod founding;
mod fuzz;
mod gpu_pack;
mod host_cost;
mod kernels;
mod libcuda;
mod mutants;
mod mutate;
mod nvrtc;
mod packages;
mod pages;
mod patches;
mod pictures;
mod planner;
mod probe;
mod programs;
mod ptx_forms;
mod ranks;
mod survivors;
mod tidy;
mod train;
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
    /// Hold the public API of the published crates against docs/api
    Api {
        /// Also list the public items that have no example that runs
        #[arg(long)]
        missing: bool,
    },
    /// Make what the tests get what they expect, and print which files changed
    Bless {
        /// Only expectations whose package or test contains this; `api` is that of `cargo xtask api`, `pictures` are docs/pictures
        #[arg(long)]
        only: Option<String>,
    },
    /// Send requests of many sizes through caches of graphs, and check caps, counters and results
    Cache(cache::Scale),
    /// Run clients that nobody here wrote on the software driver: their own tests, and programs of ours on them
    Clients(clients::Scale),
    /// Run the conformance cases on the software driver and compare with what an H200 answered
    Conformance {
        /// Decides the software driver's choices
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Only cases whose name contains this
        #[arg(long)]
        only: Option<String>,
        /// Print the transcripts of these cases
        #[arg(long)]
        print: bool,
    },
    /// Run the corpus on the software driver and compare with what a GPU gave
    Corpus {
        /// Decides the software driver's choices
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Only cases whose name contains this
        #[arg(long)]
        only: Option<String>,
        /// Also print where each bound comes from
        #[arg(long)]
        why: bool,
        /// What is looked for meanwhile, as DACAPO_DETECT takes it; a finding is a failure
        #[arg(long, default_value = "default")]
        detect: dacapo_sim::Detectors,
        /// The widest instruction set of the processor to use: baseline, avx2, avx512; results are the same with each
        #[arg(long, default_value = "avx512")]
        instructions: dacapo_sim::InstructionSet,
    },
    /// Hold true declarations of kernels against their PTX, and wrong ones
    Declarations {
        /// Also print what was decided about each kernel
        #[arg(long)]
        verbose: bool,
    },
    /// Measure the interpreter against that of another commit, in turns
    Faster {
        /// The commit to measure against
        commit: String,
        /// Only kernels whose name contains this
        #[arg(long)]
        only: Option<String>,
    },
    /// Fail every driver call of the library's scenarios with every lawful fault
    Faults(faults::Scale),
    /// Run every form of recording and launching on the software device, over seeds
    Forms(forms::Scale),
    /// Make calls that nobody would make, all of the table: no panic, no hang, no broken invariant
    Fuzz(fuzz::Scale),
    /// Build the GPU pack under target/gpu-pack: one binary with every recorder and test that wants a GPU
    GpuPack,
    /// Count instructions and lines of the caches of our own code around launches and recordings; wants valgrind
    HostCost {
        /// The benchmark `cost` of another commit, already built
        #[arg(long, value_name = "FILE")]
        binary: Option<std::path::PathBuf>,
    },
    /// Compile kernels/*.cu to kernels/ptx with NVRTC, or check what is committed
    Kernels {
        /// Compile nothing: compare hashes, offline
        #[arg(long)]
        check: bool,
    },
    /// Build the software driver as target/dacapo/libcuda.so.1
    Libcuda,
    /// Break each rule of the ledger and see that a test notices
    Mutants,
    /// Load and launch PTX that nobody wrote: no panic, no hang
    Mutate(mutate::Scale),
    /// Run the tests of CUDA C compiled at run time with a real NVRTC, from its wheel
    Nvrtc,
    /// Make the packages that would be published, build and test them outside of the tree, install the program from them
    Packages(packages::Scale),
    /// Open the pages that Dacapo writes in a headless Chromium, and use them as a user would
    Pages(pages::Scale),
    /// Plan the committed traces and random ones: how small, and nothing alive is shared
    Planner(planner::Scale),
    /// Compare the software driver with what an H200 answered to probe.c
    Probe {
        /// Only cases whose name contains this
        only: Option<String>,
    },
    /// Check every legal choice of programmatic edges on small graphs
    Edges(edges::Scale),
    /// Run random safe programs over the library against a model on the host
    Programs(programs::Scale),
    /// Run every form of work that several ranks do together, on 1, 2, 4 and 8 software devices
    Ranks(ranks::Scale),
    /// List which instruction forms of the inventory the software driver runs
    PtxForms,
    /// Hold docs/founding.md, where every founding item lives, against the sources
    Founding,
    /// List small changes to the library's code, or make them and see that tests notice; slow
    Survivors(survivors::Scale),
    /// Hold the training steps measured on a GPU, by hand, by the library and by PyTorch, against their limits, and train on
    /// 1, 2, 4 and 8 software devices
    Train {
        /// What `dacapo-bench --only train --report` wrote; the committed file when left out
        #[arg(long, value_name = "FILE")]
        bench: Option<std::path::PathBuf>,
        /// What crates/bench/anchors/torch_train.py printed; the committed file when left out
        #[arg(long, value_name = "FILE")]
        torch: Option<std::path::PathBuf>,
    },
    /// Check what no compiler checks: dependencies between crates, names, machine paths
    Tidy,
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Api { missing } => api::run(missing),
        Task::Bless { only } => bless::run(only.as_deref()),
        Task::Cache(scale) => cache::run(&scale),
        Task::Clients(scale) => clients::run(&scale),
        Task::Conformance { seed, only, print } => conformance::run(seed, only.as_deref(), print),
        Task::Corpus { seed, only, why, detect, instructions } => {
            corpus::run(corpus::How { seed, detectors: detect, instructions }, only.as_deref(), why)
        }
        Task::Declarations { verbose } => declarations::run(verbose),
        Task::Faster { commit, only } => faster::run(&commit, only.as_deref()),
        Task::Faults(scale) => faults::run(&scale),
        Task::Forms(scale) => forms::run(&scale),
        Task::Fuzz(scale) => fuzz::run(&scale),
        Task::GpuPack => gpu_pack::run(),
        Task::HostCost { binary } => host_cost::run(binary.as_deref()),
        Task::Kernels { check } => kernels::run(check),
        Task::Libcuda => libcuda::run(),
        Task::Mutants => mutants::run(),
        Task::Mutate(scale) => mutate::run(&scale),
        Task::Nvrtc => nvrtc::run(),
        Task::Packages(scale) => packages::run(&scale),
        Task::Pages(scale) => pages::run(&scale),
        Task::Planner(scale) => planner::run(&scale),
        Task::Probe { only } => probe::run(only.as_deref()),
        Task::Edges(scale) => edges::run(&scale),
        Task::Programs(scale) => programs::run(&scale),
        Task::PtxForms => ptx_forms::run(),
        Task::Ranks(scale) => ranks::run(&scale),
        Task::Founding => founding::run(),
        Task::Survivors(scale) => survivors::run(&scale),
        Task::Train { bench, torch } => train::run(bench, torch),
        Task::Tidy => tidy::run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
