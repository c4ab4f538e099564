//! Stream capture as a state machine, as an H200 (driver 580.159.04) was observed to run it.
//!
//! **States.** A stream is in no capture, or in one that is *active* or *invalidated*. A capture ends only by
//! `cuStreamEndCapture`, or by destroying its origin stream.
//!
//! **Beginning**
//! - never on the legacy stream (`UNSUPPORTED`); a mode other than 0, 1, 2 is `INVALID_VALUE`; on a stream that
//!   captures already `ILLEGAL_STATE`.
//! - into a graph: the graph and the dependencies must be real, and no other capture may be at that graph.
//!
//! **Joining and forking**
//! - a stream that waits for an event recorded in an active capture joins that capture, after the event's nodes;
//! - a stream of the same capture adds the event's nodes to what its next node comes after;
//! - a stream of another capture: `MERGE`, and both captures are invalidated;
//! - the legacy stream never joins: `IMPLICIT`, and the capture is invalidated;
//! - a capturing stream that waits for an event recorded outside: `ISOLATION`, invalidated; for one never recorded:
//!   nothing; for one left over from a finished capture: `INVALID_VALUE`, invalidated.
//!
//! **Unsafe calls** (the table's `Unsafe` rows) fail with `UNSUPPORTED` and invalidate a capture if and only if the
//! thread's own mode is not relaxed, the capture's mode is not relaxed, and the thread began the capture or both
//! modes are global.
//!
//! **The legacy stream** while a blocking stream captures: `IMPLICIT`, invalidated, in every mode and from every
//! thread. (Only asking whether the legacy stream captures answers `IMPLICIT` too, and does no harm.)
//!
//! **Ending**
//! - on a stream that does not capture: `ILLEGAL_STATE`;
//! - by another thread than the one that began, unless the mode is relaxed: `WRONG_THREAD`, *and the capture is over*;
//! - on a stream that joined rather than began: `UNMATCHED`, and the capture is invalidated;
//! - invalidated: `INVALIDATED`; a graph that the capture was made into is destroyed with it;
//! - a joined stream whose own last nodes do not come before the origin's: `UNJOINED`;
//! - in every one of these cases but `UNMATCHED` all its streams are free again.
//!
//! Every invalidation keeps its [`Cause`]: the call, the thread, the rule.

use std::collections::HashMap;

use dacapo_driver::types::{
    CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_RELAXED, CUgraphEdgeData, CUstreamCaptureMode,
};
use dacapo_driver::{CUresult, Call};

use super::graph::{Edge, Graph, Node};
use super::objects::Stream;
use super::table::Key;

/// A capture in progress.
pub(crate) struct Capture {
    /// Grows from capture to capture; never 0.
    pub(crate) id: u64,
    pub(crate) mode: CUstreamCaptureMode,
    /// The thread that began it.
    pub(crate) thread: u64,
    /// The stream it began on.
    pub(crate) origin: Key<Stream>,
    pub(crate) graph: Key<Graph>,
    /// The streams in it.
    pub(crate) branches: HashMap<Key<Stream>, Branch>,
    /// The last own nodes of streams that were destroyed while in it: they still have to be joined.
    pub(crate) orphans: Vec<Key<Node>>,
    /// Why it was invalidated.
    pub(crate) broken: Option<Cause>,
}

/// One stream's place in a capture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Branch {
    /// What its next node comes after, in the order in which it was learnt.
    pub(crate) after: Vec<(Key<Node>, CUgraphEdgeData)>,
    /// Its own last node, if it has made any.
    pub(crate) last: Option<Key<Node>>,
}

/// Who broke a capture, and by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    pub(crate) call: Call,
    pub(crate) thread: u64,
    pub(crate) code: CUresult,
    pub(crate) rule: Rule,
}

/// The rules by which a capture is invalidated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// A call that may not be made on a capturing stream.
    OnStream,
    /// A call that may not be made beside a capture in this mode.
    Unsafe,
    /// A call that may not be made anywhere while a capture runs.
    Anywhere,
    /// Work on the legacy stream while a blocking stream captures.
    Legacy,
    /// The legacy stream waited for an event of the capture.
    LegacyJoin,
    /// A wait for an event that was recorded outside the capture.
    Isolation,
    /// A wait for an event of another capture.
    Merge,
    /// A wait for an event of a capture that is over.
    FinishedEvent,
    /// A question about an event that stands for nodes, not for work.
    CapturedEvent,
    /// A launch that could never run.
    BadLaunch,
    /// An end on a stream that joined the capture.
    Unmatched,
    /// Something this driver cannot capture yet.
    Unsupported,
}

impl Rule {
    /// The rule as a sentence, and what to do about it.
    pub(crate) fn explain(self) -> (&'static str, &'static str) {
        match self {
            Rule::OnStream => (
                "a capturing stream records work and does not run it, so it cannot be waited for, asked or called back",
                "end the capture first, or make this call on another stream",
            ),
            Rule::Unsafe => (
                "this call may synchronise with the device, so no thread may make it while a global capture runs, nor the capturing thread while a thread-local one does",
                "make the call before the capture, capture in relaxed mode, or exchange this thread's mode to relaxed around it",
            ),
            Rule::Anywhere => (
                "waiting for the whole context would wait for the capturing stream",
                "wait for the streams you mean instead",
            ),
            Rule::Legacy => (
                "the legacy stream waits for every blocking stream, and a blocking stream is capturing",
                "create the capturing stream with CU_STREAM_NON_BLOCKING, or use no legacy stream and no synchronous copy meanwhile",
            ),
            Rule::LegacyJoin => ("the legacy stream cannot join a capture", "wait on a stream that you created"),
            Rule::Isolation => (
                "the event stands for work outside the capture, which a replay cannot wait for",
                "record the event inside the capture, or wait with CU_EVENT_WAIT_EXTERNAL",
            ),
            Rule::Merge => {
                ("two captures cannot become one", "capture both streams in one capture, or keep them apart")
            }
            Rule::FinishedEvent => {
                ("the event was recorded in a capture that is over", "record the event again before waiting for it")
            }
            Rule::CapturedEvent => (
                "the event was recorded in a capture, so nothing has happened that could be asked about",
                "ask after a launch of the graph, about an event recorded by it with CU_EVENT_RECORD_EXTERNAL",
            ),
            Rule::BadLaunch => ("the launch could never run", "check grid, block and shared memory before the launch"),
            Rule::Unmatched => {
                ("a capture is ended on the stream it began on", "end it on that stream, after joining this one to it")
            }
            Rule::Unsupported => ("the software driver cannot capture this yet", "capture it on a GPU"),
        }
    }
}

impl Capture {
    /// Whether an unsafe call by `thread`, in its own mode, breaks this capture.
    pub(crate) fn forbids_unsafe(&self, thread: u64, thread_mode: CUstreamCaptureMode) -> bool {
        thread_mode != CU_STREAM_CAPTURE_MODE_RELAXED
            && self.mode != CU_STREAM_CAPTURE_MODE_RELAXED
            && (self.thread == thread
                || (thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL && self.mode == CU_STREAM_CAPTURE_MODE_GLOBAL))
    }

    /// Whether `thread` may end it.
    pub(crate) fn may_end(&self, thread: u64) -> bool {
        self.mode == CU_STREAM_CAPTURE_MODE_RELAXED || self.thread == thread
    }

    /// `stream` comes after `nodes` too, and is in the capture from now on.
    pub(crate) fn join(&mut self, stream: Key<Stream>, nodes: &[Edge]) {
        let branch = self.branches.entry(stream).or_default();
        for (node, data) in nodes {
            if !branch.after.iter().any(|(known, _)| known == node) {
                branch.after.push((*node, *data));
            }
        }
    }

    /// What must come before the origin's last nodes for nothing to be unjoined.
    pub(crate) fn loose_ends(&self) -> Vec<Key<Node>> {
        let others = self.branches.iter().filter(|(stream, _)| **stream != self.origin);
        let mut ends: Vec<_> =
            others.filter_map(|(_, branch)| branch.last).chain(self.orphans.iter().copied()).collect();
        ends.sort();
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::table::Table;

    fn capture(mode: u32) -> Capture {
        let (mut streams, mut graphs) = (Table::new(1), Table::new(2));
        let context = Table::new(3).insert(crate::model::objects::Context::new(0, 1, 0));
        let stream = Stream::new(context, crate::model::objects::StreamKind::Created, false, 0, 1);
        Capture {
            id: 1,
            mode,
            thread: 1,
            origin: streams.insert(stream),
            graph: graphs.insert(Graph::default()),
            branches: HashMap::new(),
            orphans: Vec::new(),
            broken: None,
        }
    }

    #[test]
    fn unsafe_calls_by_mode_as_observed() {
        // capture mode, thread mode, same thread => refused; capture.interaction_mode_matrix_cuMemAlloc
        let refused = [(0, 0, true), (0, 0, false), (0, 1, true), (1, 0, true), (1, 1, true)];
        for capture_mode in 0..3 {
            for thread_mode in 0..3 {
                for same in [true, false] {
                    let thread = if same { 1 } else { 2 };
                    assert_eq!(
                        capture(capture_mode).forbids_unsafe(thread, thread_mode),
                        refused.contains(&(capture_mode, thread_mode, same)),
                        "capture {capture_mode}, thread {thread_mode}, same {same}"
                    );
                }
            }
        }
    }

    #[test]
    fn only_a_relaxed_capture_may_be_ended_by_another_thread() {
        for mode in 0..3 {
            assert!(capture(mode).may_end(1));
            assert_eq!(capture(mode).may_end(2), mode == 2);
        }
    }
}
