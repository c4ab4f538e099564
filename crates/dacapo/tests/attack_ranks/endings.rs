//! Ends in the middle of something: of a group, of an eager run, of a wait, of a comparison.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use dacapo::collective::{Communicator, Join, Reduce, UniqueId};
use dacapo::{Device, ErrorKind, Recorder};
use dacapo_nccl::types::ncclResult;
use dacapo_nccl::{FaultNccl, HookedNccl, NcclCall, NcclHook};

use crate::kind;
use crate::kit::{block_on, gone, group, group_with, in_time, is_failed, nothing_found};

/// Aborts its communicator inside a call, and makes the call when that is known.
#[derive(Default)]
struct AbortsIn {
    call: Option<NcclCall>,
    whose: OnceLock<Communicator>,
}

impl NcclHook for AbortsIn {
    fn around(&self, call: NcclCall, run: &mut dyn FnMut() -> ncclResult) -> ncclResult {
        if let Some(comm) = self.whose.get().filter(|comm| self.call == Some(call) && comm.death().is_none()) {
            comm.abort("in the middle of a group");
        }
        run()
    }
}

#[test]
fn a_group_is_closed_whatever_becomes_of_its_communicator() {
    in_time(|| {
        for call in [NcclCall::ncclGroupStart, NcclCall::ncclSend, NcclCall::ncclRecv] {
            let devices = group(1, 1);
            let hook = Arc::new(AbortsIn { call: Some(call), ..AbortsIn::default() });
            let nccl = HookedNccl::new(devices[0].machine().unwrap().nccl(), hook.clone());
            // SAFETY: it is the device's own, and every call is made.
            let join = unsafe { Join::new().library(Arc::new(nccl)) };
            let id = UniqueId::new(&devices[0]).unwrap();
            let comm = join.join(&devices[0], &id, 0, 1).unwrap();
            assert!(hook.whose.set(comm.clone()).is_ok());
            let stream = devices[0].stream().unwrap();
            let (x, mut y) = (devices[0].buffer(&[1u32]).unwrap(), devices[0].zeros::<u32>(1).unwrap());
            kind!(stream.run(comm.group().send(&x, 0).recv(&mut y, 0).op()), ErrorKind::RankFailed { .. });
            // The same thread goes on with another communicator of another device.
            let other = Device::software().unwrap();
            let (stream, comm) = (other.stream().unwrap(), Communicator::alone(&other).unwrap());
            let (a, mut b) = (other.buffer(&[5u32]).unwrap(), other.zeros::<u32>(1).unwrap());
            stream.run(comm.all_gather(&a, &mut b)).unwrap();
            assert_eq!(stream.read(&b).unwrap(), [5], "{call:?}");
        }
    });
}

/// Two devices with a communicator of both; rank 1 of it comes to nothing.
fn pair() -> (Vec<Device>, Vec<Communicator>) {
    let devices = group(2, 2);
    let ranks = Join::new().timeout(Duration::from_secs(50)).all(&devices).unwrap();
    (devices, ranks)
}

#[test]
fn who_awaits_what_a_partner_has_left_is_told_as_who_waits() {
    in_time(|| {
        let (devices, ranks) = pair();
        let stream = devices[0].stream().unwrap();
        let (mut x, mut y) = (devices[0].buffer(&[1.0f32; 8]).unwrap(), devices[0].buffer(&[1.0f32; 8]).unwrap());
        let first = stream.submit(ranks[0].all_reduce_in_place(&mut x, Reduce::Sum)).unwrap();
        let second = stream.submit(ranks[0].all_reduce_in_place(&mut y, Reduce::Sum)).unwrap();
        let third = stream.submit(ranks[0].all_reduce_in_place(&mut x, Reduce::Sum)).unwrap();
        ranks[1].abort("no");
        kind!(block_on(first), ErrorKind::RankFailed { .. });
        let begun = Instant::now();
        while !second.is_done() {
            assert!(begun.elapsed() < Duration::from_secs(20), "it is never done");
        }
        kind!(second.wait(), ErrorKind::RankFailed { .. });
        kind!(block_on(third), ErrorKind::RankFailed { .. });
    });
}

#[test]
fn who_awaits_a_graph_that_a_partner_has_left_is_told() {
    in_time(|| {
        let devices = group(3, 2);
        let ranks = Join::new().without_agreement().timeout(Duration::from_secs(50)).all(&devices).unwrap();
        let stream = devices[0].stream().unwrap();
        let mut x = devices[0].buffer(&[1.0f32; 8]).unwrap();
        let mut graph = devices[0].record(ranks[0].all_reduce_in_place(&mut x, Reduce::Sum)).unwrap();
        let launched = graph.launch(&stream).unwrap();
        ranks[1].abort("no");
        kind!(block_on(launched), ErrorKind::RankFailed { .. });
        kind!(graph.launch(&stream).map(drop), ErrorKind::RankFailed { .. });
    });
}

#[test]
fn a_comparison_that_meets_something_else_is_an_error() {
    in_time(|| {
        for words in [[1u64 << 40, 0], [u64::MAX, 7], [0, 0], [0x3f00_0000_3f80_0000, 0x4000_0000]] {
            let (devices, ranks) = pair();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let stream = devices[1].stream().unwrap();
                    let (mine, mut all) = (devices[1].buffer(&words).unwrap(), devices[1].zeros::<u64>(4).unwrap());
                    let ran = stream.run(ranks[1].all_gather(&mine, &mut all)).and_then(|()| stream.read(&all));
                    assert!(ran.is_err_and(|error| is_failed(&error)));
                });
                let mut x = devices[0].buffer(&[1.0f32; 8]).unwrap();
                let recorded = devices[0].record(ranks[0].all_reduce_in_place(&mut x, Reduce::Sum)).map(drop);
                kind!(recorded, ErrorKind::RankFailed { .. });
            });
            let found = devices[0].findings();
            assert!(found.len() == 1 && found[0].contains("collective-mismatch"), "{found:?}");
        }
    });
}

/// Rank 0 of two on a library that refuses its first all-reduce with this code; rank 1 does nothing.
fn refused_once(devices: &[Device], code: ncclResult) -> [Communicator; 2] {
    let id = UniqueId::new(&devices[0]).unwrap();
    let fault = FaultNccl::new(Some(NcclCall::ncclAllReduce), 1, code);
    let nccl = HookedNccl::new(devices[0].machine().unwrap().nccl(), fault);
    // SAFETY: it is the device's own; one call is refused without having been made.
    let faulty = unsafe { Join::new().library(Arc::new(nccl)) };
    let other = devices[1].clone();
    let joining = std::thread::spawn(move || Communicator::join(&other, &id, 1, 2).unwrap());
    [faulty.join(&devices[0], &id, 0, 2).unwrap(), joining.join().unwrap()]
}

#[test]
fn what_an_eager_run_had_launched_before_it_was_refused_has_a_limit_of_time() {
    in_time(|| {
        let devices = group_with(1, 2, Duration::from_secs(40));
        let here = Join::new().timeout(Duration::from_secs(1)).all(&devices).unwrap();
        let there = refused_once(&devices, ncclResult::ncclRemoteError);
        let stream = devices[0].stream().unwrap();
        let (mut x, mut y) = (devices[0].buffer(&[1.0f32; 4]).unwrap(), devices[0].buffer(&[1.0f32; 4]).unwrap());
        let ran = stream.run(|r: &mut Recorder<'_>| {
            r.run(here[0].all_reduce_in_place(&mut x, Reduce::Sum))?;
            r.run(there[0].all_reduce_in_place(&mut y, Reduce::Sum))
        });
        kind!(ran, ErrorKind::RankFailed { .. });
        assert!(here[0].death().is_none(), "it is not this one's fault");
        let begun = Instant::now();
        kind!(stream.synchronize(), ErrorKind::RankFailed { .. });
        assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
        assert!(here[0].death().is_some(), "it has waited for rank 1, and not for ever");
    });
}

#[test]
fn a_stream_is_whole_if_the_first_op_of_a_run_was_refused() {
    in_time(|| {
        let devices = group(2, 2);
        let ranks = refused_once(&devices, ncclResult::ncclRemoteError);
        let stream = devices[0].stream().unwrap();
        let mut x = devices[0].buffer(&[1.0f32; 4]).unwrap();
        kind!(stream.run(ranks[0].all_reduce_in_place(&mut x, Reduce::Sum)), ErrorKind::RankFailed { .. });
        stream.run(dacapo::fill(&mut x, dacapo::baked(3.0))).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(stream.read(&x).unwrap(), [3.0; 4]);
        drop((x, stream, ranks));
        gone(&devices);
        nothing_found(&devices);
    });
}
