//! What goes wrong between ranks is found, with both sides; and an abort ends every wait.
#![allow(clippy::undocumented_unsafe_blocks, reason = "driver calls of a test, with live handles and valid pointers")]

mod kit;

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Declared, DeclaredOf, Driver};
use dacapo_nccl::Nccl;
use dacapo_nccl::types::*;
use dacapo_sim::{Detectors, Machine, Options};
use kit::ok;
use kit::ranks::*;

const USAGE: ncclResult = ncclResult::ncclInvalidUsage;

#[test]
fn another_count() {
    in_time(|| {
        let r = Ranks::seeded(2, 1);
        let (a, b) = (r.floats(&[1.0; 8]), r.floats(&[2.0; 8]));
        fine(r.all_reduce(0, a, a, 8));
        fine(r.all_reduce(1, b, b, 4));
        while async_error(&r.nccl, r.comms[0]).0 == SUCCESS {
            unsafe { r.device.cuStreamQuery(r.streams[0]) };
        }
        for comm in &r.comms {
            let (code, text) = async_error(&r.nccl, *comm);
            assert_eq!(code, USAGE);
            assert!(text.contains("ranks 0 and 1 do not agree on collective 1"), "{text}");
        }
        assert_eq!(
            r.found(),
            "error[collective-mismatch]: ranks 0 and 1 do not agree on collective 1: ncclAllReduce of 8 float32, sum, and \
             ncclAllReduce of 4 float32, sum\n  \
             --> rank 0      ncclAllReduce of 8 float32, sum\n  \
             --> rank 1      ncclAllReduce of 4 float32, sum\n\
             note: NCCL itself would wait for ever, or write wrong numbers\n\
             help: let every rank make the same calls in the same order, with the same count, type, reduction and root"
        );
        r.comms.iter().for_each(|comm| abort(&r.nccl, *comm));
        r.sync();
        assert_eq!((r.read_floats(a, 1), r.read_floats(b, 1)), (vec![1.0], vec![2.0]), "nothing was written");
        r.all_is_well();
    });
}

#[test]
fn a_rank_that_does_not_come() {
    in_time(|| {
        let r = Ranks::new(2, Options { rank_patience: Duration::from_millis(200), ..Options::default() });
        let a = r.floats(&[1.0; 8]);
        fine(r.all_reduce(0, a, a, 8));
        while async_error(&r.nccl, r.comms[1]).0 == SUCCESS {
            unsafe { r.device.cuStreamQuery(r.streams[0]) };
        }
        assert_eq!(async_error(&r.nccl, r.comms[0]).0, ncclResult::ncclTimeout);
        assert_eq!(
            r.found(),
            "error[missing-rank]: rank 0 waits at ncclAllReduce of 8 float32, sum, and rank 1 has not come to it for 0.2 s\n  \
             --> rank 0      ncclAllReduce of 8 float32, sum\n  \
             --> rank 1      it has made no call of this communicator\n\
             note: NCCL itself would wait for ever; on GPUs `Join::timeout` ends that\n\
             help: let rank 1 make the call, on a thread or in a process of its own; a rank that takes longer needs a longer `Options::rank_patience`"
        );
        r.comms.iter().for_each(|comm| abort(&r.nccl, *comm));
        r.sync();
        r.all_is_well();
    });
}

#[test]
fn an_abort_from_another_thread_ends_a_wait() {
    in_time(|| {
        let r = Ranks::seeded(2, 3);
        let a = r.floats(&[1.0; 8]);
        fine(r.all_reduce(0, a, a, 8));
        let (nccl, comm) = (r.nccl.clone(), r.comms[0]);
        let other = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            abort(&nccl, comm);
        });
        r.sync();
        other.join().expect("no panic");
        let (code, text) = async_error(&r.nccl, r.comms[1]);
        assert_eq!((code, text.as_str()), (ncclResult::ncclRemoteError, "rank 0 has aborted the communicator"));
        assert_eq!(r.read_floats(a, 1), [1.0]);
        r.all_is_well();
    });
}

fn p(address: u64) -> *mut std::ffi::c_void {
    address as usize as *mut _
}

/// Moves work until the communicator of rank 0 has broken.
fn until_broken(r: &Ranks) -> (ncclResult, String) {
    while async_error(&r.nccl, r.comms[0]).0 == SUCCESS {
        unsafe { r.device.cuStreamQuery(r.streams[0]) };
    }
    async_error(&r.nccl, r.comms[0])
}

/// What each of two ranks calls, with a buffer of eight floats.
type Both<'c> = [&'c dyn Fn(&Ranks, u64); 2];

/// Both sides of a disagreement of two ranks.
fn disagreement(calls: Both<'_>) -> String {
    let r = Ranks::seeded(2, 7);
    let buffers = [r.floats(&[1.0; 8]), r.floats(&[1.0; 8])];
    calls[0](&r, buffers[0]);
    calls[1](&r, buffers[1]);
    assert_eq!(until_broken(&r).0, USAGE);
    let found = r.found();
    r.comms.iter().for_each(|comm| abort(&r.nccl, *comm));
    r.sync();
    r.all_is_well();
    found.lines().take(3).map(str::trim).collect::<Vec<_>>().join("\n")
}

#[test]
fn ranks_that_say_different_things() {
    in_time(|| {
        let sum = |rank: usize, op: i32, datatype: i32| {
            move |r: &Ranks, a: u64| unsafe {
                fine(r.nccl.ncclAllReduce(p(a), p(a), 2, datatype, op, r.comms[rank], r.streams[rank]));
            }
        };
        let from = |rank: usize, root: i32| {
            move |r: &Ranks, a: u64| unsafe {
                fine(r.nccl.ncclBroadcast(p(a), p(a), 2, ncclFloat32, root, r.comms[rank], r.streams[rank]));
            }
        };
        let many = |rank: usize, calls: usize| {
            move |r: &Ranks, a: u64| unsafe {
                fine(r.nccl.ncclGroupStart());
                (0..calls).for_each(|_| fine(r.all_reduce(rank, a, a, 2)));
                fine(r.nccl.ncclGroupEnd());
            }
        };
        let with_a_send = |r: &Ranks, a: u64| unsafe {
            fine(r.nccl.ncclGroupStart());
            fine(r.all_reduce(0, a, a, 2));
            fine(r.nccl.ncclSend(p(a + 16), 1, ncclFloat32, 1, r.comms[0], r.streams[0]));
            fine(r.nccl.ncclGroupEnd());
        };
        let send = |rank: usize, count: usize, gives: bool| {
            move |r: &Ranks, a: u64| unsafe {
                let (peer, comm, stream) = (1 - rank as i32, r.comms[rank], r.streams[rank]);
                fine(match gives {
                    true => r.nccl.ncclSend(p(a), count, ncclFloat32, peer, comm, stream),
                    false => r.nccl.ncclRecv(p(a), count, ncclFloat32, peer, comm, stream),
                });
            }
        };
        let head = "error[collective-mismatch]: ranks 0 and 1 do not agree on";
        let cases: [(Both<'_>, &str); 8] = [
            (
                [&sum(0, ncclSum, ncclFloat32), &sum(1, ncclMax, ncclFloat32)],
                "collective 1: ncclAllReduce of 2 float32, sum, and ncclAllReduce of 2 float32, max\n--> rank 0      ncclAllReduce of 2 float32, sum\n--> rank 1      ncclAllReduce of 2 float32, max",
            ),
            (
                [&sum(0, ncclSum, ncclFloat32), &sum(1, ncclSum, ncclInt32)],
                "collective 1: ncclAllReduce of 2 float32, sum, and ncclAllReduce of 2 int32, sum\n--> rank 0      ncclAllReduce of 2 float32, sum\n--> rank 1      ncclAllReduce of 2 int32, sum",
            ),
            (
                [&from(0, 0), &from(1, 1)],
                "collective 1: ncclBroadcast of 2 float32, from rank 0, and ncclBroadcast of 2 float32, from rank 1\n--> rank 0      ncclBroadcast of 2 float32, from rank 0\n--> rank 1      ncclBroadcast of 2 float32, from rank 1",
            ),
            (
                [&from(0, 0), &sum(1, ncclSum, ncclFloat32)],
                "collective 1: ncclBroadcast of 2 float32, from rank 0, and ncclAllReduce of 2 float32, sum\n--> rank 0      ncclBroadcast of 2 float32, from rank 0\n--> rank 1      ncclAllReduce of 2 float32, sum",
            ),
            (
                [&many(0, 2), &many(1, 1)],
                "collective 1: ncclAllReduce of 2 float32, sum, and nothing more\n--> rank 0      ncclAllReduce of 2 float32, sum\n--> rank 1      no further call in this group",
            ),
            (
                [&with_a_send, &sum(1, ncclMax, ncclFloat32)],
                "collective 1: ncclAllReduce of 2 float32, sum, and ncclAllReduce of 2 float32, max\n--> rank 0      ncclAllReduce of 2 float32, sum\n--> rank 1      ncclAllReduce of 2 float32, max",
            ),
            (
                [&send(0, 3, true), &send(1, 4, false)],
                "a transfer between them: ncclSend of 3 float32, to rank 1, and ncclRecv of 4 float32, from rank 0\n--> rank 0      ncclSend of 3 float32, to rank 1\n--> rank 1      ncclRecv of 4 float32, from rank 0",
            ),
            ([&send(0, 3, true), &send(1, 3, true)], ""),
        ];
        for (calls, expected) in cases {
            let found = disagreement(calls);
            if expected.is_empty() {
                assert_eq!(
                    found,
                    "error[collective-mismatch]: ranks 0 and 1 wait for each other: rank 0 is at ncclSend of 3 float32, to \
                     rank 1, rank 1 at ncclSend of 3 float32, to rank 0\n\
                     --> rank 0      ncclSend of 3 float32, to rank 1\n--> rank 1      ncclSend of 3 float32, to rank 0"
                );
            } else {
                assert_eq!(found, format!("{head} {expected}"));
            }
        }
    });
}

/// The line of the program is named, on both sides.
#[test]
fn a_report_names_the_ops_of_both_ranks() {
    in_time(|| {
        let r = Ranks::seeded(2, 2);
        let a = r.floats(&[1.0; 8]);
        let at = std::panic::Location::caller();
        for (rank, (label, count)) in [("left", 8), ("right", 4)].into_iter().enumerate() {
            r.device.declare(DeclaredOf::Next, Some(&Declared { op: "all_reduce", label, at, slices: None }));
            fine(r.all_reduce(rank, a, a, count));
            r.device.declare(DeclaredOf::Next, None);
        }
        until_broken(&r);
        let finding = r.device.findings().remove(0);
        assert_eq!(finding.ops.iter().map(|op| op.label.as_str()).collect::<Vec<_>>(), ["left", "right"]);
        let place = format!("{}:{}:{}", at.file(), at.line(), at.column());
        let side = |rank, count, label| {
            let what =
                format!("rank {rank}: ncclAllReduce of {count} float32, sum, op `all_reduce`, labelled `{label}`");
            (place.clone(), what)
        };
        assert_eq!(finding.places, [side(0, 8, "left"), side(1, 4, "right")]);
        r.comms.iter().for_each(|comm| abort(&r.nccl, *comm));
        r.sync();
    });
}

#[test]
fn a_circle_of_three_is_found_at_once() {
    in_time(|| {
        let r = Ranks::seeded(3, 2);
        let a = r.floats(&[1.0; 8]);
        for rank in 0..3 {
            let next = (rank as i32 + 1) % 3;
            fine(unsafe { r.nccl.ncclSend(p(a), 1, ncclFloat32, next, r.comms[rank], r.streams[rank]) });
        }
        assert_eq!(until_broken(&r).0, USAGE);
        let found = r.found();
        assert!(found.contains("wait for each other"), "{found}");
        assert!(found.ends_with("between ncclGroupStart and ncclGroupEnd"), "{found}");
        r.comms.iter().for_each(|comm| abort(&r.nccl, *comm));
        r.sync();
    });
}

#[test]
fn a_rank_that_has_left() {
    in_time(|| {
        let r = Ranks::seeded(2, 2);
        let a = r.floats(&[1.0; 8]);
        fine(r.all_reduce(0, a, a, 1));
        fine(r.all_reduce(1, a + 4, a + 4, 1));
        // Its work in flight is still done.
        fine(unsafe { r.nccl.ncclCommDestroy(r.comms[1]) });
        r.sync();
        assert_eq!(r.read_floats(a, 2), [2.0, 2.0]);
        assert_eq!(async_error(&r.nccl, r.comms[0]).0, SUCCESS);
        fine(r.all_reduce(0, a, a, 1));
        let (code, text) = until_broken(&r);
        assert_eq!(code, ncclResult::ncclRemoteError);
        // The last error is the finding, without its word.
        let whole = "rank 0 waits at ncclAllReduce of 1 float32, sum, and rank 1 has left the communicator\n  \
                     --> rank 0      ncclAllReduce of 1 float32, sum\n  \
                     --> rank 1      its last call was ncclAllReduce of 1 float32, sum\n\
                     note: NCCL itself would wait for ever; on GPUs `Join::timeout` ends that\n\
                     help: let rank 1 make the call before it ends its communicator; if it has failed, its own error says why";
        assert_eq!(text, whole);
        assert_eq!(r.found(), format!("error[missing-rank]: {whole}"));
        // A broken one lets its work go when it is destroyed too.
        fine(unsafe { r.nccl.ncclCommDestroy(r.comms[0]) });
        r.sync();
        r.all_is_well();
    });
}

/// Whoever comes first, the report is the same: it is made when all have come, and says who agrees with whom.
#[test]
fn three_ranks_are_judged_when_all_have_come() {
    in_time(|| {
        for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0], [0, 2, 1]] {
            let r = Ranks::seeded(3, 1);
            let a = r.floats(&[1.0; 8]);
            let call = |rank: usize| {
                fine(r.all_reduce(rank, a, a, if rank == 2 { 3 } else { 4 }));
                unsafe { r.device.cuStreamQuery(r.streams[rank]) };
            };
            call(order[0]);
            call(order[1]);
            for _ in 0..100 {
                unsafe { r.device.cuStreamQuery(r.streams[order[0]]) };
            }
            assert_eq!(async_error(&r.nccl, r.comms[0]).0, SUCCESS, "{order:?}: one has not come");
            call(order[2]);
            assert_eq!(until_broken(&r).0, USAGE);
            assert_eq!(
                r.found(),
                "error[collective-mismatch]: ranks 0 and 2 do not agree on collective 1: ncclAllReduce of 4 float32, sum, \
                 and ncclAllReduce of 3 float32, sum\n  \
                 --> rank 0      ncclAllReduce of 4 float32, sum\n  \
                 --> rank 2      ncclAllReduce of 3 float32, sum\n\
                 note: rank 1 has called the same as rank 0\n\
                 note: NCCL itself would wait for ever, or write wrong numbers\n\
                 help: let every rank make the same calls in the same order, with the same count, type, reduction and root",
                "{order:?}"
            );
            r.comms.iter().for_each(|comm| abort(&r.nccl, *comm));
            r.sync();
        }
    });
}

/// Ranks that do not agree are told so too where the third leaves, or does not come.
#[test]
fn two_of_three_that_do_not_agree_are_told_in_the_end() {
    in_time(|| {
        for leaves in [true, false] {
            let r = Ranks::new(3, Options { rank_patience: Duration::from_millis(200), ..Options::default() });
            let a = r.floats(&[1.0; 8]);
            fine(r.all_reduce(0, a, a, 4));
            fine(r.all_reduce(1, a, a, 3));
            if leaves {
                for _ in 0..100 {
                    unsafe { r.device.cuStreamQuery(r.streams[0]) };
                }
                fine(unsafe { r.nccl.ncclCommDestroy(r.comms[2]) });
            }
            let (code, text) = until_broken(&r);
            assert_eq!(code, USAGE);
            assert!(text.starts_with("ranks 0 and 1 do not agree on collective 1"), "{text}");
            let here = if leaves { 2 } else { 3 };
            r.comms[..here].iter().for_each(|comm| abort(&r.nccl, *comm));
            r.sync();
        }
    });
}

/// Three ranks of which the first sends to the last in the group of a sum. Rank 1 is at its gather, which comes next, before
/// the last rank has received: the sum has met, and the group is open for the send alone.
fn a_group_open_for_its_send(seed: u64, rank_patience: Duration) -> (Ranks, [u64; 3]) {
    let r = Ranks::new(3, Options { seed, rank_patience, journal: true, ..Options::default() });
    let buffers = [0.0, 1.0, 2.0].map(|rank| r.floats(&[rank, rank, rank, 10.0 + rank, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]));
    fine(unsafe { r.nccl.ncclGroupStart() });
    fine(r.all_reduce(0, buffers[0], buffers[0], 3));
    fine(unsafe { r.nccl.ncclSend(p(buffers[0] + 12), 1, ncclFloat32, 2, r.comms[0], r.streams[0]) });
    fine(unsafe { r.nccl.ncclGroupEnd() });
    fine(r.all_reduce(1, buffers[1], buffers[1], 3));
    fine(r.all_reduce(2, buffers[2], buffers[2], 3));
    gather(&r, 1, buffers[1], 1);
    while !r.device.journal().iter().any(|line| line == "ncclAllGather of rank 1") {
        unsafe { r.device.cuStreamQuery(r.streams[1]) };
    }
    (r, buffers)
}

/// Gathers what is in front of the buffer behind its first four numbers.
fn gather(r: &Ranks, rank: usize, a: u64, count: usize) {
    let (from, to) = (p(a), p(a + 16));
    fine(unsafe { r.nccl.ncclAllGather(from, to, count, ncclFloat32, r.comms[rank], r.streams[rank]) });
}

fn receive(r: &Ranks, a: u64) {
    fine(unsafe { r.nccl.ncclRecv(p(a), 1, ncclFloat32, 0, r.comms[2], r.streams[2]) });
}

#[test]
fn what_a_group_has_met_is_not_compared_with_what_comes_next() {
    in_time(|| {
        for seed in 0..5 {
            let (r, a) = a_group_open_for_its_send(seed, Duration::from_secs(10));
            receive(&r, a[2]);
            gather(&r, 2, a[2], 1);
            gather(&r, 0, a[0], 1);
            r.sync();
            r.all_is_well();
            let first = |rank: usize| r.read_floats(a[rank], 7);
            assert_eq!(first(0), [3.0, 3.0, 3.0, 10.0, 3.0, 3.0, 10.0]);
            assert_eq!(first(1), [3.0, 3.0, 3.0, 11.0, 3.0, 3.0, 10.0]);
            assert_eq!(first(2), [10.0, 3.0, 3.0, 12.0, 3.0, 3.0, 10.0]);
            r.destroy();
        }
    });
}

/// Who is to receive leaves, or does not come: that is what is told, and not that the others disagree.
#[test]
fn nobody_receives_what_a_group_sends() {
    in_time(|| {
        for leaves in [true, false] {
            let patience = Duration::from_millis(if leaves { 10_000 } else { 500 });
            let (r, _) = a_group_open_for_its_send(1, patience);
            if leaves {
                fine(unsafe { r.nccl.ncclCommDestroy(r.comms[2]) });
            }
            let (code, text) = until_broken(&r);
            let why = if leaves { "has left the communicator" } else { "has not come to it for 0.5 s" };
            let what = format!("rank 0 waits at ncclSend of 1 float32, to rank 2, and rank 2 {why}\n");
            assert!(text.starts_with(&what), "{text}");
            assert_eq!(code == ncclResult::ncclRemoteError, leaves);
            assert!(r.found().starts_with("error[missing-rank]"));
            r.comms[..if leaves { 2 } else { 3 }].iter().for_each(|comm| abort(&r.nccl, *comm));
            r.sync();
        }
    });
}

/// What comes next is compared while a group is open for its send, and when it is over.
#[test]
fn ranks_that_disagree_around_a_group_are_told() {
    in_time(|| {
        for is_over in [false, true] {
            let (r, a) = a_group_open_for_its_send(1, Duration::from_secs(10));
            if is_over {
                receive(&r, a[2]);
                gather(&r, 0, a[0], 1);
            }
            gather(&r, 2, a[2], 2);
            assert_eq!(until_broken(&r).0, USAGE);
            let (one, found) = (if is_over { 0 } else { 1 }, r.found());
            let what = format!(
                "error[collective-mismatch]: ranks {one} and 2 do not agree on collective 2: ncclAllGather of 1 float32, and \
                 ncclAllGather of 2 float32\n"
            );
            assert!(found.starts_with(&what), "{found}");
            // Rank 0 is at nothing that could be compared while its group is open.
            assert_eq!(found.contains("has called the same as"), is_over, "{found}");
            r.comms.iter().for_each(|comm| abort(&r.nccl, *comm));
            r.sync();
        }
    });
}

/// Who aborts has said so: it is no finding, whether somebody waits by then or not.
#[test]
fn an_abort_is_no_finding() {
    in_time(|| {
        for waits in [true, false] {
            let r = Ranks::seeded(2, 2);
            let a = r.floats(&[1.0; 8]);
            if waits {
                fine(r.all_reduce(0, a, a, 1));
                for _ in 0..100 {
                    unsafe { r.device.cuStreamQuery(r.streams[0]) };
                }
            }
            abort(&r.nccl, r.comms[1]);
            let (code, text) = until_broken(&r);
            assert_eq!((code, &*text), (ncclResult::ncclRemoteError, "rank 1 has aborted the communicator"));
            abort(&r.nccl, r.comms[0]);
            r.sync();
            r.all_is_well();
            assert!(r.device.findings().is_empty(), "{:?}", r.device.findings());
        }
    });
}

#[test]
fn two_at_a_time_of_one_communicator() {
    in_time(|| {
        let (mut by_meeting, mut by_order) = (0, 0);
        for (seed, unordered) in (0..20).flat_map(|seed| [(seed, false), (seed, true)]) {
            let detectors = Detectors { unordered, ..Detectors::default() };
            let r = Ranks::new(1, Options { seed, detectors, ..Options::default() });
            let both = communicators(&r.nccl, 2);
            let streams: Vec<CUstream> = (0..4).map(|_| r.device.stream()).collect();
            let a: Vec<u64> = (0..4).map(|_| r.floats(&[1.0])).collect();
            ok(unsafe { r.device.cuCtxSynchronize() });
            for at in 0..4 {
                let comm = both[at % 2];
                fine(unsafe { r.nccl.ncclAllReduce(p(a[at]), p(a[at]), 1, ncclFloat32, ncclSum, comm, streams[at]) });
            }
            streams.iter().for_each(|stream| ok(unsafe { r.device.cuStreamSynchronize(*stream) }));
            let found: Vec<String> = r.device.findings().iter().map(ToString::to_string).collect();
            let overlaps = found.iter().filter(|found| found.starts_with("error[collective-overlap]: rank")).count();
            assert_eq!(overlaps, found.len(), "{found:?}");
            if unordered {
                assert_eq!(overlaps, 2, "seed {seed}: on each rank, by luck or by the order");
                by_order += 1;
            } else {
                by_meeting += usize::from(overlaps > 0);
            }
            let text =
                "nothing orders the two, and on GPUs the ranks may take them in different orders and wait for ever";
            assert!(found.iter().all(|found| found.contains(text)), "{found:?}");
        }
        assert!(by_meeting > 0 && by_order == 20);
    });
}

#[test]
fn a_communicator_that_has_ended() {
    in_time(|| {
        let r = Ranks::seeded(1, 2);
        let a = r.floats(&[1.0; 8]);
        let exec = r.instantiate(r.capture(0, || fine(r.all_reduce(0, a, a, 1))));
        r.launch(0, exec);
        fine(unsafe { r.nccl.ncclCommFinalize(r.comms[0]) });
        r.sync();
        r.all_is_well();
        assert_eq!(r.all_reduce(0, a, a, 1), USAGE);
        assert_eq!(
            r.found(),
            "error[dead-communicator]: ncclAllReduce of a communicator that has ended\n  \
             --> ncclAllReduce      the communicator was finalized before this call\n\
             note: with NVIDIA's library this uses memory that is gone\n\
             help: make the last use of a communicator before it is finalized, destroyed or aborted"
        );
        fine(unsafe { r.nccl.ncclCommDestroy(r.comms[0]) });
        assert_eq!(r.all_reduce(0, a, a, 1), ncclResult::ncclInvalidArgument);
        assert!(r.found().contains("the communicator was destroyed or aborted before this call"));
        r.launch(0, exec);
        r.sync();
        assert!(r.found().starts_with(
            "error[dead-communicator]: a graph runs ncclAllReduce of 1 float32, sum of a communicator that has ended"
        ));
        // Once is enough.
        r.launch(0, exec);
        r.sync();
        r.all_is_well();
        assert_eq!(r.all_reduce(0, a, a, 1), ncclResult::ncclInvalidArgument);
    });
}

#[test]
fn a_buffer_that_is_too_small_and_one_that_nobody_has_written() {
    in_time(|| {
        let r = Ranks::seeded(2, 2);
        let (a, b) = (r.floats(&[1.0; 8]), r.device.buffer(32));
        fine(r.all_reduce(0, a, a, 8));
        fine(r.all_reduce(1, b, b, 8));
        r.sync();
        assert!(r.found().contains("rank 1 gives memory to ncclAllReduce that nobody has written"));
        fine(r.all_reduce(0, a, a, 9));
        let code = unsafe { r.device.cuStreamSynchronize(r.streams[0]) };
        assert_eq!(code, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        let found = r.device.take_findings();
        assert_eq!(found[0].code, "out-of-bounds");
        let (code, text) = async_error(&r.nccl, r.comms[1]);
        assert_eq!(code, ncclResult::ncclRemoteError);
        assert_eq!(text, "rank 0 has a device that is broken, and its work was dropped");
    });
}

#[test]
fn arguments_that_mean_nothing() {
    in_time(|| {
        let r = Ranks::seeded(2, 2);
        let (a, comm, stream) = (r.floats(&[1.0; 8]), r.comms[0], r.streams[0]);
        let argument = ncclResult::ncclInvalidArgument;
        unsafe {
            assert_eq!(r.nccl.ncclAllReduce(p(a), p(a), 1, 99, ncclSum, comm, stream), argument);
            assert_eq!(r.nccl.ncclAllReduce(p(a), p(a), 1, ncclInt8, 99, comm, stream), argument);
            assert_eq!(r.nccl.ncclBroadcast(p(a), p(a), 1, ncclInt8, 2, comm, stream), argument);
            assert_eq!(r.nccl.last_error().expect("said"), "ncclBroadcast: there is no rank 2 in a communicator of 2");
            assert_eq!(r.nccl.ncclSend(p(a), 1, ncclInt8, -1, comm, stream), argument);
            assert_eq!(r.nccl.ncclAllReduce(p(0), p(a), 1, ncclInt8, ncclSum, comm, stream), argument);
            assert_eq!(r.nccl.ncclAllReduce(p(a), p(a), usize::MAX, ncclInt32, ncclSum, comm, stream), argument);
            assert_eq!(r.nccl.ncclAllReduce(p(a), p(a), 1, ncclInt32, ncclSum, ncclComm::NULL, stream), argument);
            assert_eq!(r.nccl.ncclCommCount(comm, std::ptr::null_mut()), argument);
            assert_eq!(r.nccl.ncclGroupEnd(), USAGE);
            // A refusal in a group is the answer of its end too, and nothing of it is done.
            fine(r.nccl.ncclGroupStart());
            fine(r.all_reduce(0, a, a, 1));
            assert_eq!(r.nccl.ncclBroadcast(p(a), p(a), 1, ncclInt8, 2, comm, stream), argument);
            assert_eq!(r.nccl.ncclGroupEnd(), argument);
        }
        r.sync();
        r.all_is_well();
    });
}

#[test]
fn ids_and_ranks_that_cannot_be_meant() {
    in_time(|| {
        let patience = Options { rank_patience: Duration::from_millis(300), ..Options::default() };
        let r = Ranks::new(1, patience);
        let nccl = &r.nccl;
        let argument = ncclResult::ncclInvalidArgument;
        assert_eq!(join(nccl, 1, ncclUniqueId { internal: [7; 128] }, 0), Err(argument));
        assert_eq!(join(nccl, 1, ncclUniqueId { internal: [0; 128] }, 0), Err(argument));
        let id = unique_id(nccl);
        assert_eq!(join(nccl, 2, id, 2), Err(argument));
        assert_eq!(join(nccl, 0, id, 0), Err(argument));
        let mut other = id;
        other.internal[9] ^= 1;
        assert_eq!(join(nccl, 1, other, 0), Err(argument));
        assert_eq!(nccl.last_error().expect("said"), "this is not an id that was made here");
        // Alone where two were said to come.
        assert_eq!(join(nccl, 2, id, 0), Err(ncclResult::ncclTimeout));
        assert_eq!(nccl.last_error().expect("said"), "of 2 ranks these have not come: 1");
        // Used up.
        assert_eq!(join(nccl, 2, id, 0), Err(USAGE));
        // Whichever comes first: both hear the same.
        let r = Ranks::seeded(1, 0);
        let differ = "says that there are ";
        for (ranks, rank, sentence) in [(2, 0, "two have joined as rank 0"), (3, 1, differ)] {
            let id = unique_id(&r.nccl);
            let machine = r.device.machine.clone();
            let first = std::thread::spawn(move || {
                enter(&machine);
                let nccl = machine.nccl();
                (join(&nccl, 2, id, 0), nccl.last_error())
            });
            assert_eq!(join(&r.nccl, ranks, id, rank), Err(USAGE));
            let heard = r.nccl.last_error().expect("said");
            assert!(heard.contains(sentence), "{heard}");
            assert_eq!(first.join().expect("no panic"), (Err(USAGE), Some(heard)));
        }
        r.all_is_well();
    });
}

/// The same id with the port of somebody who tells the first ranks that come that all are in their machine.
fn with_a_stranger_for_a_hub(mut id: ncclUniqueId, guests: usize) -> (ncclUniqueId, std::thread::JoinHandle<()>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("a port").port();
    id.internal[24..26].copy_from_slice(&port.to_le_bytes());
    let stranger = std::thread::spawn(move || {
        for _ in 0..guests {
            let (mut guest, _) = listener.accept().expect("a rank");
            guest.read_exact(&mut [0; 48]).expect("its hello");
            guest.write_all(&[1, 0, 0, 0, 2]).expect("it listens");
        }
    });
    (id, stranger)
}

#[test]
fn a_stranger_for_a_hub_seats_nobody_where_others_sit() {
    in_time(|| {
        let mut r = Ranks::seeded(2, 1);
        let id = unique_id(&r.nccl);
        r.comms = communicators_of(&r.nccl, 2, id);
        let (faked, stranger) = with_a_stranger_for_a_hub(id, 4);
        let known = "ranks, and those who joined before that there are 2";
        for (ranks, rank, why) in [
            (6, 5, format!("rank 5 says that there are 6 {known}")),
            (1, 0, format!("rank 0 says that there are 1 {known}")),
            (2, 0, "two have joined as rank 0".to_string()),
            (2, 1, "two have joined as rank 1".to_string()),
        ] {
            assert_eq!(join(&r.nccl, ranks, faked, rank), Err(USAGE), "rank {rank} of {ranks}");
            assert_eq!(r.nccl.last_error(), Some(why));
        }
        stranger.join().expect("no panic");
        // Those who sit there go on as before, and so does the machine.
        let (a, b) = (r.floats(&[1.0; 8]), r.floats(&[2.0; 8]));
        fine(r.all_reduce(0, a, a, 8));
        fine(r.all_reduce(1, b, b, 8));
        r.sync();
        assert_eq!((r.read_floats(a, 8), r.read_floats(b, 8)), (vec![3.0; 8], vec![3.0; 8]));
        // A seat stays taken when who sat there has gone, and the others are still there.
        fine(unsafe { r.nccl.ncclCommDestroy(r.comms[1]) });
        let (faked, stranger) = with_a_stranger_for_a_hub(id, 1);
        assert_eq!(join(&r.nccl, 2, faked, 1), Err(USAGE));
        stranger.join().expect("no panic");
        r.all_is_well();
    });
}

#[test]
fn more_ranks_than_an_id_has_are_refused_by_whoever_joins() {
    in_time(|| {
        let r = Ranks::seeded(1, 0);
        // Nobody listens there, and nobody is asked.
        let (faked, stranger) = with_a_stranger_for_a_hub(unique_id(&r.nccl), 0);
        stranger.join().expect("no panic");
        for ranks in [(1 << 16) + 1, i32::MAX as usize] {
            assert_eq!(join(&r.nccl, ranks, faked, 0), Err(ncclResult::ncclInvalidArgument));
            assert_eq!(r.nccl.last_error(), Some(format!("there is no rank 0 of {ranks}")));
        }
        r.all_is_well();
    });
}

#[test]
fn without_a_context_there_is_no_rank() {
    in_time(|| {
        let machine = Machine::new(Options::default());
        let nccl = machine.nccl();
        ok(unsafe { machine.cuInit(0) });
        assert_eq!(join(&nccl, 1, unique_id(&nccl), 0), Err(ncclResult::ncclUnhandledCudaError));
        assert!(nccl.last_error().expect("said").contains("CUDA_ERROR_INVALID_CONTEXT"));
    });
}

#[test]
fn a_config_that_does_not_wait_and_ones_that_are_old_or_wrong() {
    in_time(|| {
        let r = Ranks::seeded(1, 0);
        let id = unique_id(&r.nccl);
        let mut config = ncclConfig::new(false);
        let mut comms = [ncclComm::NULL; 2];
        let make = |comm: &mut ncclComm, id, ranks, rank, config: &mut ncclConfig| unsafe {
            r.nccl.ncclCommInitRankConfig(comm, ranks, id, rank, config)
        };
        assert_eq!(make(&mut comms[0], id, 2, 0, &mut config), ncclResult::ncclInProgress);
        assert_eq!(async_error(&r.nccl, comms[0]).0, ncclResult::ncclInProgress);
        let a = r.floats(&[1.0]);
        let early = unsafe { r.nccl.ncclAllReduce(p(a), p(a), 1, ncclFloat32, ncclSum, comms[0], r.streams[0]) };
        assert_eq!(early, ncclResult::ncclInvalidArgument);
        assert_eq!(make(&mut comms[1], id, 2, 1, &mut config), ncclResult::ncclInProgress);
        for comm in comms {
            while async_error(&r.nccl, comm).0 == ncclResult::ncclInProgress {
                std::thread::yield_now();
            }
            assert_eq!(async_error(&r.nccl, comm).0, SUCCESS);
        }
        // One that is aborted while it joins.
        assert_eq!(make(&mut comms[0], unique_id(&r.nccl), 2, 0, &mut config), ncclResult::ncclInProgress);
        let began = Instant::now();
        abort(&r.nccl, comms[0]);
        assert!(began.elapsed() < Duration::from_secs(2));
        // Too short for the field, and before it existed: the call waits.
        let short = ncclConfig { size: 16, ..config };
        let old = ncclConfig { version: 21_300, ..config };
        let unset = ncclConfig { blocking: i32::MIN, ..config };
        for mut config in [short, old, unset] {
            assert_eq!(make(&mut comms[0], unique_id(&r.nccl), 1, 0, &mut config), SUCCESS);
        }
        for mut config in [ncclConfig { magic: 1, ..config }, ncclConfig { blocking: 2, ..config }] {
            let code = make(&mut comms[0], unique_id(&r.nccl), 1, 0, &mut config);
            assert_eq!(code, ncclResult::ncclInvalidArgument);
        }
        r.all_is_well();
    });
}

#[test]
fn garbage_at_the_hub() {
    in_time(|| {
        let r = Ranks::seeded(1, 0);
        let id = unique_id(&r.nccl);
        let port = u16::from_le_bytes([id.internal[24], id.internal[25]]);
        let connect = || std::net::TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        let silent = connect();
        for bytes in
            [&[0xff; 4096][..], b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: everything there is\r\n\r\n", &[]]
        {
            let mut connection = connect();
            let _ = connection.write_all(bytes);
            let _ = connection.shutdown(std::net::Shutdown::Write);
            let mut answer = Vec::new();
            let _ = connection.read_to_end(&mut answer);
            assert!(answer.len() < 200);
        }
        // The rank still finds it.
        assert!(join(&r.nccl, 1, id, 0).is_ok());
        drop(silent);
        r.all_is_well();
    });
}

#[test]
fn a_machine_that_is_dropped_in_the_middle() {
    in_time(|| {
        let r = Ranks::seeded(2, 0);
        let a = r.floats(&[1.0; 8]);
        let _graph = r.capture(1, || fine(r.all_reduce(1, a, a, 8)));
        fine(r.all_reduce(0, a, a, 8));
        unsafe { r.device.cuStreamQuery(r.streams[0]) };
    });
}

fn on_all(r: &Ranks, call: impl Fn(usize) -> ncclResult) {
    (0..r.comms.len()).for_each(|rank| fine(call(rank)));
    r.sync();
}

/// What nobody has written goes with the bytes, to whoever they go to; and it is found where somebody computes with it.
#[test]
fn unwritten_memory_stays_unwritten_on_other_ranks() {
    type Move = fn(&Ranks, [u64; 2], [u64; 2]);
    let broadcast: Move = |r, from, to| {
        on_all(r, |rank| unsafe {
            r.nccl.ncclBroadcast(p(from[rank]), p(to[rank]), 64, ncclUint8, 0, r.comms[rank], r.streams[rank])
        })
    };
    let gather: Move = |r, from, to| {
        on_all(r, |rank| unsafe {
            r.nccl.ncclAllGather(p(from[rank]), p(to[rank]), 64, ncclUint8, r.comms[rank], r.streams[rank])
        })
    };
    let send: Move = |r, from, to| {
        on_all(r, |rank| unsafe {
            match rank {
                0 => r.nccl.ncclSend(p(from[0]), 64, ncclUint8, 1, r.comms[0], r.streams[0]),
                _ => r.nccl.ncclRecv(p(to[1]), 64, ncclUint8, 0, r.comms[1], r.streams[1]),
            }
        })
    };
    for (name, step) in [("broadcast", broadcast), ("gather", gather), ("send", send)] {
        in_time(move || {
            let options = Options { detectors: Detectors::all(), seed: 3, ..Options::default() };
            let r = Ranks::new(2, options);
            let from = [r.device.buffer(64), r.buffer(&[2; 64])];
            let to = [r.buffer(&[9; 128]), r.buffer(&[9; 128])];
            ok(unsafe { r.device.cuMemsetD8_v2(from[0] + 16, 5, 32) });
            step(&r, from, to);
            r.all_is_well();
            // What was written may be used, and what never was is found.
            let sum = |start: u64, floats: usize| {
                let at = to[1] + start;
                let all = [to[0] + 64, at];
                on_all(&r, |rank| r.all_reduce(rank, all[rank], all[rank], floats));
            };
            sum(16, 8);
            r.all_is_well();
            sum(8, 8);
            let found = r.found();
            let first = "error[uninitialised-read]: rank 1 gives memory to ncclAllReduce that nobody has written\n";
            assert!(found.starts_with(first), "{name}: {found}");
        });
    }
}

/// A rank is given memory of another device: found as what a kernel would do there.
#[test]
fn memory_of_another_device() {
    for (receives, peers) in [(false, false), (true, false), (false, true), (true, true)] {
        in_time(move || {
            let group = kit::group::Group::seeded(2, 5);
            let nccl = group.devices[0].machine.nccl();
            let other = group.on(1).zeros(8);
            let own = group.on(0).zeros(8);
            if peers {
                group.befriend(0, 1);
            }
            let device = group.on(0);
            let comm = join(&nccl, 1, unique_id(&nccl), 0).expect("one rank");
            let stream = device.stream();
            let (from, to) = if receives { (own, other) } else { (other, own) };
            fine(unsafe { nccl.ncclAllReduce(p(from), p(to), 8, ncclFloat32, ncclSum, comm, stream) });
            let code = unsafe { device.cuStreamSynchronize(stream) };
            let found: Vec<String> = device.take_findings().iter().map(ToString::to_string).collect();
            if peers {
                assert_eq!((code, &found[..]), (CUresult::CUDA_SUCCESS, &[][..]));
                return;
            }
            assert_eq!((code, found.len()), (CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, 1), "{found:?}");
            let what = found[0].split_once(" is byte 0 of ").map(|(before, _)| before);
            assert!(
                what.is_some_and(|what| what.starts_with("error[peer-access]: ncclAllReduce of rank 0: 0x")),
                "{found:?}"
            );
            assert!(found[0].contains("device 0 works here, and has no access to memory of device 1"), "{}", found[0]);
            assert!(found[0].contains("help: give a rank memory of its own device"), "{}", found[0]);
        });
    }
}
