//! What goes wrong between ranks is found, with both sides; and an abort ends every wait.
#![allow(clippy::undocumented_unsafe_blocks, reason = "driver calls of a test, with live handles and valid pointers")]

mod kit;

use std::time::Duration;

use dacapo_driver::Driver;
use dacapo_nccl::types::*;
use dacapo_sim::Options;
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
             note: on GPUs this waits for ever, or writes wrong numbers\n\
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
             note: on GPUs the ranks that wait would wait for ever\n\
             help: let every rank make the call; a rank that takes longer needs a longer `Options::rank_patience`"
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
