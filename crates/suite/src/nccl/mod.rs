//! NCCL with one rank: questions that its manual does not answer, asked of a machine (`dacapo-gpu nccl`).
//!
//! - [`library`] finds the library; [`QUESTIONS`] are what is asked; a [`Desk`] is what a question works with.
//! - Each question is answered in a process of its own, because some of them hang or break the process; what it said until then
//!   stands in the answer. A question tells what it saw and judges nothing: facts are for the documents.
//! - [`by_hand`](by_hand::by_hand) is a graph of collectives without Dacapo, to be compared with.
//!
//! One rank only. What ranks do to each other is not asked here.

mod besides;
pub mod by_hand;
mod captured;
mod collective;
mod cost;
mod desk;
mod eager;
mod ends;
mod errors;
mod hanging;
mod init;
pub mod library;

pub use desk::{Asked, Desk};

/// Something that is asked.
#[derive(Clone, Copy)]
pub struct Question {
    /// Its name, as one asks for it.
    pub name: &'static str,
    /// What is asked, as a sentence.
    pub asks: &'static str,
    /// After how long its process is ended.
    pub seconds: u64,
    /// Variables that its process is given.
    pub environment: &'static [(&'static str, &'static str)],
    /// Asks it, and says what was seen.
    pub ask: fn(&Desk) -> Asked,
}

const UNMIXED: &[(&str, &str)] = &[("NCCL_GRAPH_MIXING_SUPPORT", "0")];

const fn question(name: &'static str, asks: &'static str, seconds: u64, ask: fn(&Desk) -> Asked) -> Question {
    Question { name, asks, seconds, environment: &[], ask }
}

const fn unmixed(name: &'static str, asks: &'static str, seconds: u64, ask: fn(&Desk) -> Asked) -> Question {
    Question { name, asks, seconds, environment: UNMIXED, ask }
}

/// All of them, in the order in which they are asked.
pub const QUESTIONS: &[Question] = &[
    question(
        "init",
        "making and ending a communicator, with calls that wait and with calls that do not",
        30,
        init::ask,
    ),
    question("init-in-progress", "what is answered for a communicator that is not ready", 20, init::in_progress),
    question("eager", "each collective, eager, out of place and in place", 20, eager::each),
    question("types", "all_reduce of each type with each reduction, eager", 20, eager::types),
    question("captured-relaxed", "each collective captured, relaxed", 60, captured::relaxed),
    question("captured-thread-local", "each collective captured, thread-local", 60, captured::thread_local),
    question("captured-global", "each collective captured, global", 60, captured::global),
    question("captured-into", "each collective captured into a graph, relaxed", 60, captured::into),
    question(
        "captured-not-blocking",
        "captured with a communicator whose calls do not wait",
        60,
        captured::not_blocking,
    ),
    unmixed("captured-unmixed", "captured with NCCL_GRAPH_MIXING_SUPPORT=0", 60, captured::relaxed),
    question(
        "captured-chain",
        "several collectives in one capture, grouped and one by one, on two streams",
        20,
        captured::chain,
    ),
    question("child", "a captured graph as a child graph", 20, captured::child),
    question("body", "collectives captured in the body of a conditional", 20, captured::body),
    question("body-child", "a captured graph as a child graph in the body of a conditional", 20, captured::body_child),
    unmixed("child-unmixed", "as `child`, with NCCL_GRAPH_MIXING_SUPPORT=0", 20, captured::child),
    unmixed("body-unmixed", "as `body`, with NCCL_GRAPH_MIXING_SUPPORT=0", 20, captured::body),
    question("beside-global", "what calls of NCCL do to a global capture of another thread", 60, besides::global),
    question("beside-thread-local", "the same beside a thread-local capture", 60, besides::thread_local),
    question("beside-relaxed", "the same beside a relaxed capture", 60, besides::relaxed),
    question("disturbed", "what calls of another thread do to NCCL's relaxed capture", 60, besides::disturbed),
    question("destroy-copy", "ncclCommDestroy while a graph of all_reduce sum lives", 30, ends::destroy_copy),
    question("destroy-avg", "ncclCommDestroy while a graph of all_reduce avg lives", 30, ends::destroy_avg),
    question("destroy-send", "ncclCommDestroy while a graph of send+recv lives", 30, ends::destroy_send),
    question(
        "finalize-copy",
        "ncclCommFinalize and Destroy while a graph of all_reduce sum lives",
        30,
        ends::finalize_copy,
    ),
    question(
        "finalize-avg",
        "ncclCommFinalize and Destroy while a graph of all_reduce avg lives",
        30,
        ends::finalize_avg,
    ),
    question("finalize-send", "ncclCommFinalize and Destroy while a graph of send+recv lives", 30, ends::finalize_send),
    question("abort-copy", "ncclCommAbort while a graph of all_reduce sum lives", 30, ends::abort_copy),
    question("abort-avg", "ncclCommAbort while a graph of all_reduce avg lives", 30, ends::abort_avg),
    question("abort-send", "ncclCommAbort while a graph of send+recv lives", 30, ends::abort_send),
    question("destroy-not-blocking", "as `destroy-send`, with calls that do not wait", 30, ends::destroy_not_blocking),
    question(
        "finalize-not-blocking",
        "as `finalize-send`, with calls that do not wait",
        40,
        ends::finalize_not_blocking,
    ),
    question("abort-not-blocking", "as `abort-send`, with calls that do not wait", 30, ends::abort_not_blocking),
    question("hanging-copy", "ncclCommAbort while an eager all_reduce sum waits on the stream", 25, hanging::copy),
    question("hanging-avg", "ncclCommAbort while an eager all_reduce avg waits on the stream", 25, hanging::avg),
    question("hanging-send", "ncclCommAbort while an eager send+recv waits on the stream", 25, hanging::send),
    question(
        "hanging-graph",
        "ncclCommAbort while a launched graph of send+recv waits on the stream",
        25,
        hanging::graph,
    ),
    question("hanging-destroy", "ncclCommDestroy while an eager send+recv waits on the stream", 25, hanging::destroy),
    question("errors", "mistakes, one at a time", 20, errors::ask),
    question("errors-null", "null pointers, captured and eager", 20, errors::nulls),
    question("garbage-id", "an id that nobody made", 20, errors::garbage),
    question("two-ranks", "two ranks on one GPU, by two threads", 20, errors::two_ranks),
    question(
        "absent-rank",
        "ncclCommAbort while ncclCommInitRankConfig waits for a rank that never comes",
        25,
        errors::absent,
    ),
    question("cost", "what a launch costs the host", 40, cost::ask),
];

/// The captured collectives once, in this process: short enough for `compute-sanitizer`.
///
/// # Errors
///
/// - What could not be asked.
pub fn quick(desk: &Desk) -> Asked {
    captured::relaxed(desk)
}
