//! Collectives of the library on one device with one rank (`dacapo-gpu ranks`): on a GPU with NVIDIA's NCCL, and on a software
//! device so that the bodies are tried before.
//!
//! - [`PARTS`] are what is done; a [`Floor`] is what a part works with; [`Came`] is what came of one.
//! - Each part runs in a process of its own with a time limit, so that a hang costs no more than that part. What it said until
//!   then stands.
//! - One rank only. What ranks do to each other is tried on software devices ([`ranks`](crate::ranks)).

mod beside;
mod cost;
mod floor;
mod forms;
mod outlive;
mod overlap;
mod watched;

pub use floor::{Floor, Made};

/// What came of a part.
#[derive(Clone, Debug)]
pub struct Came {
    /// Whether all of it held.
    pub well: bool,
    /// For the last line of the report; empty where there is nothing to say there.
    pub figure: String,
}

/// One part.
#[derive(Clone, Copy)]
pub struct Part {
    /// Its name, as one asks for it.
    pub name: &'static str,
    /// What is done, as a sentence.
    pub does: &'static str,
    /// After how long its process is ended.
    pub seconds: u64,
    /// Whether it belongs to what `quick` does.
    pub is_quick: bool,
    /// Whether all of it must hold. Else it shows what NVIDIA's driver does, and may end its process.
    pub must: bool,
    /// Does it, and says what was seen. An error: it could not be done.
    pub run: fn(&Floor) -> Made<Came>,
}

const fn part(name: &'static str, does: &'static str, is_quick: bool, run: fn(&Floor) -> Made<Came>) -> Part {
    Part { name, does, seconds: 60, is_quick, must: true, run }
}

/// All of them, in the order in which they are done.
pub const PARTS: &[Part] = &[
    part("forms", "every form that one rank can run", true, forms::run),
    part("outlive", "graphs of each collective when everything else was dropped", true, outlive::collectives),
    part("types", "the same for each type of number, through every reduction", true, outlive::types),
    part("cost", "what a launch costs the host, beside a graph captured by hand", false, cost::run),
    part("captures", "recordings beside a thread whose driver calls break captures", false, beside::run),
    part("watch", "launches that do not end in time", false, watched::run),
    part("overlap", "buckets beside the kernels of the next layer", false, overlap::run),
    Part {
        must: false,
        ..part("unpaced", "recordings beside cuCtxSynchronize without a pause; shown only", false, beside::run_unpaced)
    },
];
