//! Every form of work that several ranks do together holds on software devices, for one seed. `cargo xtask ranks --full` runs a
//! hundred.

use std::time::Duration;

use dacapo::collective::{Communicator, Reduce};
use dacapo::{Device, ErrorKind};
use dacapo_suite::ranks::{SIZES, all, on_software};

#[test]
fn every_form_holds() {
    let mut failed = Vec::new();
    for form in all() {
        for size in SIZES.into_iter().filter(|size| *size >= form.ranks_min && *size <= 4) {
            if let Err(failure) = on_software(&form, size, 1) {
                let again = format!("cargo xtask ranks --only {} --size {size} --seed 1", form.name);
                failed.push(format!("{} on {size} devices: {failure}\nreproduce: {again}", form.name));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn names_are_unique_and_there_are_enough() {
    let mut names: Vec<&str> = all().iter().map(|form| form.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "two forms have the same name");
    assert!(count >= 30, "{count} forms");
}

/// Whether the thread that watches has noticed it or the call does: the other rank's end is `RankFailed`.
#[test]
fn another_ranks_end_is_told_at_once_and_later() -> dacapo::Result<()> {
    for ms in (0..80).step_by(8) {
        let devices = Device::software_group(2)?;
        let ranks = Communicator::all(&devices)?;
        let stream = devices[0].stream()?;
        let mut x = devices[0].zeros::<f32>(4)?;
        ranks[1].abort("its data are gone");
        std::thread::sleep(Duration::from_millis(ms));
        let ran = stream.run(ranks[0].all_reduce_in_place(&mut x, Reduce::Sum)).and_then(|()| stream.synchronize());
        let error = ran.expect_err("the other rank is gone");
        assert!(matches!(error.kind(), ErrorKind::RankFailed { .. }), "after {ms} ms: {error:?}");
        assert!(ranks[0].death().is_some());
    }
    Ok(())
}

/// Ranks that do not agree: a call that is refused for it says so as the thread that watches would have, which comes later.
#[test]
fn a_call_that_is_refused_for_another_rank_says_which() -> dacapo::Result<()> {
    let devices = Device::software_group(2)?;
    let ranks = Communicator::all(&devices)?;
    let until_refused = &|comm: &Communicator| -> dacapo::Result<dacapo::Error> {
        let (device, stream) = (comm.device(), comm.device().stream()?);
        let mut x = device.zeros::<f32>(4 + comm.rank())?;
        let refused = (0..10_000).find_map(|_| stream.run(comm.all_reduce_in_place(&mut x, Reduce::Sum)).err());
        Ok(refused.expect("the other rank has another length"))
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = ranks.iter().map(|comm| scope.spawn(move || until_refused(comm))).collect();
        for (rank, thread) in running.into_iter().enumerate() {
            let error = thread.join().expect("no rank panics")?;
            let ErrorKind::RankFailed { why, .. } = error.kind() else { panic!("rank {rank}: {error:?}") };
            assert!(why.contains("of 4 float32") && why.contains("of 5 float32"), "rank {rank}: {error:?}");
        }
        Ok(())
    })
}

/// One device has one rank, as NCCL has it.
#[test]
fn a_device_twice_is_refused() {
    let device = dacapo::Device::software().expect("a software device");
    let joined = dacapo::collective::Communicator::all(&[device.clone(), device]);
    let error = joined.expect_err("one of them is there twice");
    assert!(matches!(error.kind(), dacapo::ErrorKind::NotJoined { rank: 1, size: 2, .. }), "{error:?}");
    assert!(error.location().is_some_and(|at| at.file().ends_with("tests/ranks.rs")), "{error:?}");
}

/// An eager call that NCCL does not come back from holds its stream, and is noticed all the same.
#[test]
fn a_call_that_hangs_is_noticed_while_it_holds_its_stream() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    use dacapo::collective::{Join, Reduce};
    use dacapo_nccl::types::ncclResult;
    use dacapo_nccl::{HookedNccl, NcclCall, NcclHook};

    /// The second all-reduce takes long.
    struct Slow(AtomicU64);
    impl NcclHook for Slow {
        fn around(&self, call: NcclCall, run: &mut dyn FnMut() -> ncclResult) -> ncclResult {
            if call == NcclCall::ncclAllReduce && self.0.fetch_add(1, Ordering::SeqCst) == 1 {
                std::thread::sleep(Duration::from_secs(4));
            }
            run()
        }
    }
    let device = dacapo::Device::software().expect("a software device");
    let nccl = device.machine().expect("a machine").nccl();
    let hooked = Arc::new(HookedNccl::new(nccl, Slow(AtomicU64::new(0))));
    // SAFETY: it is the device's own, slower.
    let join = unsafe { Join::new().timeout(Duration::from_millis(300)).library(hooked) };
    let id = join.unique_id(&device).expect("an id");
    let comm = join.join(&device, &id, 0, 1).expect("alone");
    let (stream, mut x) = (device.stream().expect("a stream"), device.zeros::<f32>(4).expect("memory"));
    stream.run(comm.all_reduce_in_place(&mut x, Reduce::Sum)).expect("the first");
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let hangs = scope.spawn(|| stream.run(comm.all_reduce_in_place(&mut x, Reduce::Sum)));
        while comm.death().is_none() && begun.elapsed() < Duration::from_secs(3) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let noticed = begun.elapsed();
        drop(hangs.join());
        assert!(noticed < Duration::from_secs(3), "noticed after {noticed:?}");
    });
    let said = comm.death().map(ToString::to_string).unwrap_or_default();
    assert!(said.contains("has not returned for 300ms"), "{said}");
}
