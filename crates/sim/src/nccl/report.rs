//! What goes wrong between ranks, in words: always both sides, each with what it called and where.

use std::sync::Arc;
use std::time::Duration;

use dacapo_nccl::types::ncclResult;

use super::meeting::{Gone, Meeting};
use super::transfer::Said;
use crate::finding::{Ending, Finding, FindingOp};

/// A communicator works no more: what its asynchronous error is, and why.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    pub(crate) code: ncclResult,
    /// For `ncclGetLastError`: one sentence, and below it the rest of the finding, if there is one.
    pub(crate) text: String,
    /// What is told of it, once; nothing where somebody has only left.
    pub(crate) finding: Option<Finding>,
}

impl Trouble {
    fn of(code: ncclResult, finding: Finding) -> Trouble {
        let whole = finding.to_string();
        let rest = whole.find('\n').map_or("", |end| &whole[end..]);
        Trouble { code, text: finding.what.clone() + rest, finding: Some(finding) }
    }

    pub(crate) fn told(code: ncclResult, text: impl Into<String>) -> Trouble {
        Trouble { code, text: text.into(), finding: None }
    }
}

/// Adds one side: the line of the program where it is known, and else the rank.
fn side(mut finding: Finding, rank: u32, what: &str, by: Option<&Arc<FindingOp>>) -> Finding {
    match by {
        Some(op) => {
            finding.places.push((op.place(), format!("rank {rank}: {what}, {op}")));
            if !finding.ops.contains(op) {
                finding.ops.push(FindingOp::clone(op));
            }
            finding
        }
        None => finding.at(format!("rank {rank}"), what),
    }
}

fn side_of(finding: Finding, (rank, said): &(u32, Option<Said>)) -> Finding {
    match said {
        Some(said) => side(finding, *rank, &said.told.to_string(), said.by.as_ref()),
        None => side(finding, *rank, "no further call in this group", None),
    }
}

/// Two ranks do not say the same of a call.
pub(crate) fn mismatch(meeting: &Meeting, one: (u32, Option<Said>), other: (u32, Option<Said>)) -> Trouble {
    let what = |said: &Option<Said>| said.as_ref().map_or("nothing more".to_string(), |said| said.told.to_string());
    let is_pair = one.1.as_ref().is_some_and(|said| said.told.kind.is_pair());
    let number = meeting.seats[one.0 as usize].begun;
    let which = if is_pair { "a transfer between them".to_string() } else { format!("collective {number}") };
    let sentence =
        format!("ranks {} and {} do not agree on {which}: {}, and {}", one.0, other.0, what(&one.1), what(&other.1));
    let help = if is_pair {
        "let a send and its receive have the same count and type"
    } else {
        "let every rank make the same calls in the same order, with the same count, type, reduction and root"
    };
    let finding = Finding::new("collective-mismatch", Ending::YourProgram, sentence);
    let finding = side_of(side_of(finding, &one), &other);
    let others = if is_pair { Vec::new() } else { meeting.who_agrees(one.0, other.0) };
    let finding = others
        .into_iter()
        .fold(finding, |finding, (rank, with)| finding.note(format!("rank {rank} has called the same as rank {with}")));
    let finding = finding.note("NCCL itself would wait for ever, or write wrong numbers").help(help);
    Trouble::of(ncclResult::ncclInvalidUsage, finding)
}

/// Ranks wait for each other in a circle.
pub(crate) fn circle(meeting: &Meeting, one: u32, other: u32) -> Trouble {
    let open = |rank: u32| meeting.open_calls(rank).next().cloned();
    let (a, b) = (open(one), open(other));
    let text = |said: &Option<Said>| said.as_ref().map_or(String::new(), |said| said.told.to_string());
    let sentence = match one == other {
        true => format!("rank {one} waits for itself: {}, and it does nothing that would end that", text(&a)),
        false => format!(
            "ranks {one} and {other} wait for each other: rank {one} is at {}, rank {other} at {}",
            text(&a),
            text(&b)
        ),
    };
    let finding = side_of(Finding::new("collective-mismatch", Ending::YourProgram, sentence), &(one, a));
    let finding = if one == other { finding } else { side_of(finding, &(other, b)) };
    let help = match finding.ops.is_empty() {
        true => "put a send and the receives that go with it between ncclGroupStart and ncclGroupEnd",
        false => {
            "put a send and the receives that go with it into one op: `comm.group().send(&x, to).recv(&mut y, from).op()`"
        }
    };
    Trouble::of(ncclResult::ncclInvalidUsage, finding.note("neither can go on before the other does").help(help))
}

/// Two ranks wait for each other in two communicators, each at one that the other has not come to. Both are told, and one of
/// them has the finding.
pub(crate) fn crossed([one, other]: [(&Meeting, u32); 2]) -> [Trouble; 2] {
    let open = |(meeting, rank): (&Meeting, u32)| (rank, meeting.open_calls(rank).next().cloned());
    let (a, b) = (open(one), open(other));
    let at = |(rank, said): &(u32, Option<Said>)| {
        format!("rank {rank} waits at {}", said.as_ref().map_or(String::new(), |said| said.told.to_string()))
    };
    let what = format!("{} in one communicator, and {} in another one: each waits for the other", at(&a), at(&b));
    let finding = Finding::new("collective-mismatch", Ending::YourProgram, what);
    let finding = side_of(side_of(finding, &a), &b)
        .note("neither can go on before the other does")
        .help("let every rank use its communicators in the same order, or wait for none of them in between");
    let first = Trouble::of(ncclResult::ncclInvalidUsage, finding);
    let second = Trouble { finding: None, ..first.clone() };
    [first, second]
}

/// A rank waits for one that does not come: because it is gone, or after this long.
pub(crate) fn missing(meeting: &Meeting, waits: u32, missing: u32, patience: Option<Duration>) -> Trouble {
    let open = meeting.open_calls(waits).next().cloned();
    let at = open.as_ref().map_or(String::new(), |said| said.told.to_string());
    let seat = &meeting.seats[missing as usize];
    let (code, why) = match (&seat.gone, patience) {
        (Some(gone), _) => (ncclResult::ncclRemoteError, sentence(gone)),
        (None, Some(patience)) => {
            (ncclResult::ncclTimeout, format!("has not come to it for {:.1} s", patience.as_secs_f64()))
        }
        (None, None) => (ncclResult::ncclTimeout, "has not come to it".to_string()),
    };
    let what = format!("rank {waits} waits at {at}, and rank {missing} {why}");
    let finding = side_of(Finding::new("missing-rank", Ending::YourProgram, what), &(waits, open));
    let finding = match &seat.last {
        Some(said) => side(finding, missing, &format!("its last call was {}", said.told), said.by.as_ref()),
        None => side(finding, missing, "it has made no call of this communicator", None),
    };
    let help = match &seat.gone {
        None => format!(
            "let rank {missing} make the call, on a thread or in a process of its own; a rank that takes longer needs a longer \
             `Options::rank_patience`"
        ),
        Some(Gone::Lost(_)) => format!(
            "find out how the process of rank {missing} ended, from its exit code and its last words; the ranks that are left \
             can join a new communicator"
        ),
        Some(Gone::Left | Gone::Aborted) => format!(
            "let rank {missing} make the call before it ends its communicator; if it has failed, its own error says why"
        ),
    };
    Trouble::of(code, finding.note("NCCL itself would wait for ever; on GPUs `Join::timeout` ends that").help(help))
}

/// The way to the others is closed; `open` is the call that this rank waits at, if it does.
pub(crate) fn cut_off(rank: u32, open: Option<Said>, why: &str) -> Trouble {
    if open.is_none() {
        return Trouble::told(ncclResult::ncclRemoteError, why);
    }
    let at = open.as_ref().map_or(String::new(), |said| said.told.to_string());
    let what = format!("rank {rank} waits at {at}, and {why}");
    let finding = side_of(Finding::new("missing-rank", Ending::YourProgram, what), &(rank, open))
        .at("the other ranks", "cannot be reached any more")
        .help(
            "find out how that process ended, from its exit code and its last words; it must stay until all ranks have ended \
             their communicators",
        );
    Trouble::of(ncclResult::ncclRemoteError, finding)
}

/// A rank is gone, and nobody waits for it yet.
pub(crate) fn gone(rank: u32, gone: &Gone) -> Trouble {
    Trouble::told(ncclResult::ncclRemoteError, format!("rank {rank} {}", sentence(gone)))
}

fn sentence(gone: &Gone) -> String {
    match gone {
        Gone::Left => "has left the communicator".to_string(),
        Gone::Aborted => "has aborted the communicator".to_string(),
        Gone::Lost(why) => why.clone(),
    }
}
