//! A panic on one rank: what it leaves, and what the others are told.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use dacapo::collective::{Communicator, Join, Reduce};
use dacapo::raw::foreign;
use dacapo::{ErrorKind, Recorder, Result, baked, fill};

use crate::kind;
use crate::kit::{all_well, ended, gone, group, is_failed, ranks_of};

#[test]
fn a_panic_in_a_recording_of_one_rank_is_told_to_the_others_soon() {
    let devices = group(0, 3);
    let begun = Instant::now();
    let said = ranks_of(&devices, &Join::new().timeout(Duration::from_secs(50)), |rank| {
        let mut x = rank.buffer(1.0, 8);
        let recorded = rank.device.record(|r: &mut Recorder<'_>| {
            r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            assert!(rank.rank != 1, "in the closure");
            Ok(())
        });
        recorded.map(drop)
    });
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(said[1].as_ref().is_err_and(|text| text.contains("in the closure")), "{said:?}");
    for at in [0, 2] {
        assert!(is_failed(said[at].as_ref().unwrap().as_ref().unwrap_err()), "{said:?}");
    }
    gone(&devices);
}

#[test]
fn a_panic_that_is_caught_leaves_the_rank_working() {
    for seed in 0..4 {
        all_well(seed, 2, |rank| {
            let mut x = rank.buffer(1.0, 8);
            let caught = catch_unwind(AssertUnwindSafe(|| {
                rank.device.record(|r: &mut Recorder<'_>| -> Result<()> {
                    r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
                    panic!("caught")
                })
            }));
            assert!(caught.is_err());
            let caught = catch_unwind(AssertUnwindSafe(|| {
                rank.device.record(|r: &mut Recorder<'_>| -> Result<()> {
                    r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
                    // SAFETY: it enqueues nothing.
                    r.run(unsafe { foreign((), (), |_, (), ()| -> Result<()> { panic!("foreign") }) })
                })
            }));
            assert!(caught.is_err() || caught.is_ok_and(|answer| answer.is_err()));
            let caught = catch_unwind(AssertUnwindSafe(|| {
                // SAFETY: as above.
                let foreign = unsafe { foreign((), (), |_, (), ()| -> Result<()> { panic!("foreign") }) };
                rank.stream.run(foreign)
            }));
            assert!(caught.is_err() || caught.is_ok_and(|answer| answer.is_err()));
            let mut graph = rank.device.record(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            graph.launch_sync(&rank.stream)?;
            assert_eq!(rank.stream.read(&x)?, [2.0; 8]);
            Ok(())
        });
    }
}

#[test]
fn a_panic_in_foreign_work_of_one_rank_is_told_to_the_other() {
    let begun = Instant::now();
    let devices = group(1, 2);
    let said = ranks_of(&devices, &Join::new().timeout(Duration::from_secs(50)), |rank| {
        let mut x = rank.buffer(1.0, 8);
        let at = rank.rank;
        let recorded = rank.device.record(|r: &mut Recorder<'_>| {
            r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            // SAFETY: it enqueues nothing.
            r.run(unsafe {
                foreign((), (), move |_, (), ()| -> Result<()> {
                    assert!(at == 0, "in foreign work");
                    Ok(())
                })
            })
        });
        recorded.and_then(|mut graph| graph.launch_sync(&rank.stream).map(|_| ()))
    });
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    let error = said[0].as_ref().unwrap().as_ref().unwrap_err();
    assert!(is_failed(error), "{error:?}");
    gone(&devices);
}

#[test]
fn an_error_in_a_recording_of_one_rank_puts_the_others_one_recording_behind() {
    // The rank that failed records something else next: both are told, by the line.
    let said = ended(0, 2, Duration::from_secs(20), |rank| {
        let (mut x, mut y) = (rank.buffer(1.0, 8), rank.buffer(1.0, 4));
        let first = rank.device.record(|r: &mut Recorder<'_>| {
            r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            if rank.rank == 1 { Err(dacapo::Error::msg("half of it")) } else { Ok(()) }
        });
        if rank.rank == 1 {
            kind!(first, ErrorKind::Msg(_));
            return rank.device.record(rank.comm.all_reduce_in_place(&mut y, Reduce::Sum)).map(drop);
        }
        first.map(drop)
    });
    for said in said {
        let error = said.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::RanksDiffer { .. }), "{error:?}");
        assert!(error.to_string().contains("8 f32") || format!("{error:?}").contains("8 f32"), "{error:?}");
        assert!(format!("{error:?}").contains("4 f32"), "{error:?}");
    }
}

#[test]
fn a_scope_that_unwinds_ends() {
    crate::kit::in_time(|| {
        let devices = group(0, 2);
        let ranks = Join::new().timeout(Duration::from_secs(30)).all(&devices).unwrap();
        let caught = catch_unwind(AssertUnwindSafe(|| {
            std::thread::scope(|scope| {
                let mut ranks = ranks.into_iter();
                let (first, second) = (ranks.next().unwrap(), ranks.next().unwrap());
                let waits = scope.spawn(move || -> Result<()> {
                    let stream = first.device().stream()?;
                    let mut x = first.device().zeros::<f32>(4)?;
                    stream.run(first.all_reduce_in_place(&mut x, Reduce::Sum))?;
                    stream.synchronize()
                });
                let panics = scope.spawn(move || {
                    let _held: Communicator = second;
                    panic!("between two collectives")
                });
                assert!(panics.join().is_err());
                let error = waits.join().unwrap().unwrap_err();
                assert!(is_failed(&error), "{error:?}");
                panic!("the scope")
            })
        }));
        assert!(caught.is_err());
        gone(&devices);
    });
}

#[test]
fn a_panic_with_the_communicator_kept_holds_the_others_for_no_longer_than_the_timeout() {
    let begun = Instant::now();
    let said = ended(0, 2, Duration::from_millis(1500), |rank| {
        let mut x = rank.buffer(1.0, 8);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            rank.device
                .record(|r: &mut Recorder<'_>| {
                    r.run(fill(&mut x, baked(1.0)))?;
                    r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
                    assert!(rank.rank == 0, "caught");
                    Ok(())
                })
                .map(drop)
        }));
        if rank.rank == 1 {
            // Alive, and doing something else.
            std::thread::sleep(Duration::from_secs(4));
            return Ok(());
        }
        caught.unwrap()
    });
    let error = said[0].as_ref().unwrap_err();
    assert!(is_failed(error), "{error:?}");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

dacapo::kernels! {
    /// Kernels of these tests.
    unsafe struct Kernels(include_str!("../promises/kernels.ptx")) {
        /// Declared with a condition that is not enough: stores outside for an index past the end.
        fn store_at(index: u32, y: &mut [u32]) {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
    }
}

#[test]
fn a_rank_whose_device_breaks() {
    // Before the collective, behind it, and while another rank waits for it.
    for how in 0..3 {
        let begun = Instant::now();
        let devices = crate::kit::group_with(how, 2, Duration::from_millis(1500));
        let said = ranks_of(&devices, &Join::new().timeout(Duration::from_millis(1500)), move |rank| -> Result<()> {
            let k = Kernels::load(&rank.device)?;
            let (mut x, mut bad) = (rank.buffer(1.0, 8), rank.device.zeros::<u32>(4)?);
            let other = rank.device.stream()?;
            let breaks = |k: &Kernels, bad: &mut dacapo::Buffer<u32>| other.run(k.store_at(baked(1 << 20), bad));
            if rank.rank == 1 && how != 1 {
                let _ = breaks(&k, &mut bad);
                let _ = if how == 0 { other.synchronize() } else { Ok(()) };
            }
            let ran = rank.stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum));
            if rank.rank == 1 && how == 1 {
                let _ = breaks(&k, &mut bad);
            }
            ran.and_then(|()| rank.stream.synchronize())
        });
        assert!(begun.elapsed() < Duration::from_secs(10), "{how}: {:?}", begun.elapsed());
        let ended: Vec<&Result<()>> = said.iter().map(|said| said.as_ref().unwrap()).collect();
        if how == 0 {
            assert!(is_failed(ended[0].as_ref().unwrap_err()), "{how}: {ended:?}");
            kind!(ended[1].clone(), ErrorKind::Lost { .. });
        }
        if let Err(error) = ended[0] {
            assert!(is_failed(error), "{how}: {error:?}");
        }
        // And it can be joined no more, while the other one can.
        let alone = Join::new().timeout(Duration::from_millis(500));
        kind!(alone.all(&devices[1..]), ErrorKind::Lost { .. } | ErrorKind::NotJoined { .. });
        assert!(alone.all(&devices[..1]).is_ok(), "{how}");
    }
}

/// Others need not wait until their patience is over.
#[test]
fn a_rank_with_a_broken_device_tells_the_others() {
    for aborts in [true, false] {
        let (devices, begun) = (group(3, 2), Instant::now());
        let said = ranks_of(&devices, &Join::new(), move |rank| -> Result<()> {
            let mut x = rank.buffer(1.0, 8);
            if rank.rank == 1 {
                let (k, mut bad) = (Kernels::load(&rank.device)?, rank.device.zeros::<u32>(4)?);
                let _ = rank.stream.run(k.store_at(baked(1 << 20), &mut bad));
                kind!(rank.stream.synchronize(), ErrorKind::Lost { .. });
                if aborts {
                    rank.comm.abort("its device is broken");
                }
                return Ok(());
            }
            rank.stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            rank.stream.synchronize()
        });
        assert!(begun.elapsed() < Duration::from_secs(10), "{aborts}: {:?}", begun.elapsed());
        let told = said.into_iter().next().unwrap().unwrap();
        assert!(is_failed(&told.unwrap_err()));
    }
}

#[test]
fn foreign_work_that_uses_the_communicator() {
    let said = ended(0, 2, Duration::from_secs(20), |rank| {
        let (mut x, y) = (rank.buffer(1.0, 8), rank.buffer(1.0, 8));
        let (comm, device, told) =
            (rank.comm.clone(), rank.device.clone(), std::sync::Arc::new(std::sync::Mutex::new(Vec::new())));
        let tell = told.clone();
        // SAFETY: it enqueues nothing.
        let op = unsafe {
            foreign(&y[..], (), move |_, _, ()| -> Result<()> {
                let (stream, mut z) = (device.stream(), device.zeros::<f32>(8));
                let mut answers: Vec<Result<()>> = Vec::new();
                if let Ok(z) = &mut z {
                    answers.push(device.record(comm.all_reduce_in_place(z, Reduce::Sum)).map(drop));
                    if let Ok(stream) = &stream {
                        answers.push(stream.run(comm.all_reduce_in_place(z, Reduce::Sum)));
                        answers.push(stream.synchronize());
                    }
                }
                answers.push(Communicator::alone(&device).map(drop));
                comm.abort("in foreign work");
                tell.lock().unwrap().extend(answers);
                Ok(())
            })
        };
        let graph = rank.device.record(|r: &mut Recorder<'_>| {
            r.run(fill(&mut x, baked(1.0)))?;
            r.run(op)
        });
        drop(graph);
        assert!(rank.comm.death().is_some());
        for answer in told.lock().unwrap().iter() {
            assert!(
                answer.is_ok() || matches!(answer.as_ref().unwrap_err().kind(), ErrorKind::EagerInRecording { .. }),
                "{answer:?}"
            );
        }
        Ok(())
    });
    assert!(said.iter().all(Result::is_ok), "{said:?}");
}

#[test]
fn whoever_is_told_of_a_finding_may_end_the_communicator() {
    crate::kit::in_time(|| {
        let held: std::sync::Arc<std::sync::Mutex<Option<Communicator>>> = std::sync::Arc::default();
        let ends = held.clone();
        let options = move |options: &mut dacapo_sim::Options| {
            options.rank_patience = Duration::from_millis(300);
            options.on_finding = Some(std::sync::Arc::new(move |_| {
                if let Some(comm) = ends.lock().unwrap().take() {
                    comm.abort("found");
                }
            }));
        };
        let devices = dacapo::Software::new().options(options).open_group(2).unwrap();
        let mut ranks = Join::new().timeout(Duration::from_secs(20)).all(&devices).unwrap();
        *held.lock().unwrap() = Some(ranks[0].clone());
        let (stream, mut x) = (devices[0].stream().unwrap(), devices[0].zeros::<f32>(4).unwrap());
        let ran = stream.run(ranks[0].all_reduce_in_place(&mut x, Reduce::Sum)).and_then(|()| stream.synchronize());
        assert!(is_failed(&ran.unwrap_err()));
        assert!(ranks.pop().is_some());
    });
}
