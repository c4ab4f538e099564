//! What is dropped, forgotten or swapped, in every order and from everywhere.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

use dacapo::collective::{Communicator, Join, Reduce};
use dacapo::raw::foreign;
use dacapo::{ErrorKind, Graph, Recorder, Result, Software, baked, copy, download, fill};

use crate::kind;
use crate::kit::{SHORT, all_well, ended, gone, group, group_with, in_time, is_failed, nothing_found, ranks_of};

/// All orders of so many things.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(count - 1).into_iter();
    shorter.flat_map(|order| (0..count).map(move |at| [&order[..at], &[count - 1], &order[at..]].concat())).collect()
}

#[test]
fn everything_of_a_rank_goes_in_every_order_with_its_work_in_flight() {
    let all = orders(5);
    all_well(3, 2, move |rank| {
        let keeps = rank.stream;
        for (at, order) in all.iter().enumerate() {
            let mut kept = rank.device.zeros::<f32>(64)?;
            let comm = rank.comm.clone();
            let stream = rank.device.stream()?;
            let mut x = rank.device.zeros::<f32>(64)?;
            let mut graph = rank.device.record(|r: &mut Recorder<'_>| {
                let mut t = r.alloc::<f32>(64)?;
                r.run(fill(&mut x, baked(at as f32 + rank.rank as f32)))?;
                r.run(comm.all_reduce(&x, &mut t, Reduce::Sum))?;
                r.run(copy(&t, &mut kept))
            })?;
            graph.launch(&stream)?;
            let mut things: Vec<Option<Box<dyn std::any::Any + Send>>> = vec![
                Some(Box::new(comm)),
                Some(Box::new(graph)),
                Some(Box::new(x)),
                Some(Box::new(stream)),
                Some(Box::new(rank.device.clone())),
            ];
            // The other rank in the other order, and every third time on another thread.
            let order: Vec<usize> = if rank.rank == 0 { order.clone() } else { order.iter().rev().copied().collect() };
            let mut drops = move || order.iter().for_each(|thing| drop(things[*thing].take()));
            if at % 3 == 0 {
                std::thread::spawn(drops).join().unwrap()
            } else {
                drops()
            }
            let again = rank.device.buffer(&[77.0f32; 64])?;
            assert_eq!(keeps.read(&kept)?, [2.0 * at as f32 + 1.0; 64], "{at}");
            drop(again);
        }
        Ok(())
    });
}

#[test]
fn the_only_communicator_and_the_last_device_go_in_flight() {
    for seed in 0..6 {
        let devices = group(seed, 2);
        let machine = devices[0].machine().unwrap().clone();
        let ranks = Communicator::all(&devices).unwrap();
        let threads: Vec<_> = devices
            .into_iter()
            .zip(ranks)
            .map(|(device, comm)| {
                std::thread::spawn(move || {
                    let stream = device.stream().unwrap();
                    let mut x = device.buffer(&[1.0f32; 32]).unwrap();
                    let mut graph = device.record(comm.all_reduce_in_place(&mut x, Reduce::Sum)).unwrap();
                    graph.launch(&stream).unwrap();
                    match seed % 3 {
                        0 => drop((comm, graph, x, stream, device)),
                        1 => drop((device, stream, x, graph, comm)),
                        _ => drop((graph, device, comm, x, stream)),
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let until = Instant::now() + Duration::from_secs(10);
        while machine.census().retains > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        let left = machine.census();
        assert_eq!((left.retains, left.allocations, left.streams), (0, 0, 0), "seed {seed}: {left:?}");
        let found: Vec<String> = machine.findings().iter().map(ToString::to_string).collect();
        assert!(found.is_empty(), "seed {seed}: {found:?}");
    }
}

#[test]
fn dropping_never_waits_for_a_rank_that_does_not_come() {
    let said = ended(1, 2, Duration::from_secs(3), |rank| {
        if rank.rank == 1 {
            std::thread::sleep(Duration::from_millis(1500));
            return Ok(());
        }
        let mut x = rank.buffer(1.0, 8);
        let mut y = rank.buffer(1.0, 8);
        let begun = Instant::now();
        rank.stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
        let ticket = rank.stream.submit(rank.comm.all_reduce_in_place(&mut y, Reduce::Sum))?;
        drop((ticket, x, y, rank.comm, rank.stream, rank.device));
        assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
        Ok(())
    });
    assert!(said.iter().all(Result::is_ok), "{said:?}");
}

#[test]
fn a_communicator_goes_inside_foreign_work() {
    for seed in 0..4 {
        all_well(seed, 2, |rank| {
            let mut x = rank.buffer(rank.mine(1.0), 8);
            let mut y = rank.buffer(0.0, 8);
            let held = Mutex::new(Some((rank.comm.clone(), rank.device.clone())));
            let forever = rank.comm.clone();
            let mut graph = rank.device.record(|r: &mut Recorder<'_>| {
                r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
                // SAFETY: it enqueues nothing.
                r.run(unsafe {
                    foreign(&x[..], &mut y[..], move |_, _, _| -> Result<()> {
                        assert!(forever.rank() < 2);
                        drop(held.lock().unwrap().take());
                        Ok(())
                    })
                })?;
                r.keep(rank.comm.clone());
                r.run(copy(&x, &mut y))
            })?;
            drop(rank.comm);
            drop(x);
            graph.launch(&rank.stream)?;
            graph.launch(&rank.stream)?;
            drop(graph);
            assert_eq!(rank.stream.read(&y)?, [6.0; 8]);
            Ok(())
        });
    }
}

struct Doing(Mutex<Option<Box<dyn FnOnce() + Send>>>, AtomicBool);

impl Wake for Doing {
    fn wake(self: Arc<Self>) {
        if let Some(body) = self.0.lock().unwrap().take() {
            body();
        }
        self.1.store(true, Ordering::Release);
    }
}

fn poll_once(future: &mut (impl std::future::Future + Unpin), body: impl FnOnce() + Send + 'static) -> Arc<Doing> {
    let doing = Arc::new(Doing(Mutex::new(Some(Box::new(body))), AtomicBool::new(false)));
    let waker = Waker::from(doing.clone());
    if std::pin::Pin::new(future).poll(&mut Context::from_waker(&waker)).is_ready() {
        doing.clone().wake();
    }
    doing
}

fn until(what: &AtomicBool) {
    let begun = Instant::now();
    while !what.load(Ordering::Acquire) {
        assert!(begun.elapsed() < Duration::from_secs(20), "the waker is never called");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn everything_goes_in_a_waker() {
    for seed in 0..4 {
        all_well(seed, 2, |rank| {
            let mut x = rank.buffer(rank.mine(1.0), 1 << 10);
            let mut graph = rank.device.record(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            let mut ticket = graph.submit(&rank.stream)?;
            let (comm, device) = (rank.comm, rank.device.clone());
            let doing = poll_once(&mut ticket, move || drop((graph, comm, x, device)));
            until(&doing.1);
            Ok(())
        });
    }
}

#[test]
fn a_waker_launches_records_and_aborts() {
    let said = ended(2, 2, Duration::from_secs(10), |rank| {
        let mut x = rank.buffer(1.0, 16);
        let mut y = rank.buffer(1.0, 16);
        let mut ticket = rank.stream.submit(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
        let (comm, device) = (rank.comm.clone(), rank.device.clone());
        let doing = poll_once(&mut ticket, move || {
            let stream = device.stream().unwrap();
            let mut graph = device.record(comm.all_reduce_in_place(&mut y, Reduce::Sum)).unwrap();
            graph.launch_sync(&stream).unwrap();
            assert_eq!(stream.read(&y).unwrap(), [2.0; 16]);
            comm.abort("in a waker");
        });
        until(&doing.1);
        assert!(rank.comm.death().is_some());
        Ok(())
    });
    assert!(said.iter().all(Result::is_ok), "{said:?}");
}

#[test]
fn forgotten_guards_leave_everything_working() {
    for seed in 0..4 {
        let devices = group(seed, 2);
        let said = ranks_of(&devices, &Join::new(), |rank| -> Result<()> {
            let mut x = rank.buffer(rank.mine(1.0), 8);
            let mut y = rank.buffer(0.0, 8);
            let mut z = rank.buffer(rank.mine(1.0), 8);
            std::mem::forget(rank.comm.group().all_reduce(&x, &mut y, Reduce::Sum));
            std::mem::forget(rank.comm.group().all_reduce(&x, &mut y, Reduce::Sum).op());
            std::mem::forget(rank.comm.all_reduce(&x, &mut y, Reduce::Sum));
            std::mem::forget(rank.comm.bucketed(8, Reduce::Sum));
            std::mem::forget(rank.stream.submit(rank.comm.all_reduce(&x, &mut y, Reduce::Sum))?);
            let mut graph = rank.device.record(rank.comm.all_reduce_in_place(&mut z, Reduce::Sum))?;
            std::mem::forget(graph.submit(&rank.stream)?);
            std::mem::forget(graph.launch(&rank.stream)?);
            let bucket = rank.device.record(|r: &mut Recorder<'_>| {
                let mut bucket = rank.comm.bucketed(1 << 20, Reduce::Sum);
                bucket.add(r, &mut x)?;
                std::mem::forget(bucket);
                Ok(())
            });
            kind!(bucket, ErrorKind::NotReduced { .. });
            assert_eq!(rank.stream.read(&y)?, [3.0; 8]);
            assert_eq!(rank.stream.read(&z)?, [6.0; 8]);
            Ok(())
        });
        for ended in said {
            ended.unwrap().unwrap();
        }
        nothing_found(&devices);
    }
}

#[test]
fn buckets_do_not_move_between_recordings() {
    all_well(2, 2, |rank| {
        let mut x = rank.buffer(rank.mine(1.0), 8);
        let mut y = rank.buffer(rank.mine(2.0), 8);
        let mut z = rank.buffer(rank.mine(3.0), 8);
        // Made outside, filled in one recording and finished in the next.
        let mut bucket = rank.comm.bucketed(1 << 20, Reduce::Sum);
        kind!(rank.device.record(|r: &mut Recorder<'_>| bucket.add(r, &mut x)), ErrorKind::NotReduced { .. });
        let mut graph = rank.device.record(|r: &mut Recorder<'_>| {
            bucket.add(r, &mut y)?;
            bucket.finish(r)
        })?;
        graph.launch_sync(&rank.stream)?;
        assert_eq!(rank.stream.read(&x)?, [rank.mine(1.0); 8]);
        assert_eq!(rank.stream.read(&y)?, [rank.sum(2.0); 8]);
        // Swapped while a recording has pieces in one of them.
        let mut spare = rank.comm.bucketed(1 << 20, Reduce::Sum);
        let ended = rank.device.record(|r: &mut Recorder<'_>| {
            let mut bucket = rank.comm.bucketed(1 << 20, Reduce::Sum);
            bucket.add(r, &mut z)?;
            std::mem::swap(&mut bucket, &mut spare);
            bucket.finish(r)
        });
        kind!(ended, ErrorKind::NotReduced { .. });
        rank.stream.run(|r: &mut Recorder<'_>| spare.finish(r))?;
        assert_eq!(rank.stream.read(&z)?, [rank.mine(3.0); 8]);
        Ok(())
    });
}

/// Two devices number their recordings alike.
#[test]
fn buckets_do_not_move_between_recordings_of_two_devices() {
    in_time(|| {
        let devices = group(0, 2);
        let comm = Communicator::alone(&devices[0]).unwrap();
        let (mut big, mut small) = (devices[0].zeros::<f32>(16).unwrap(), devices[1].zeros::<f32>(4).unwrap());
        let mut bucket = comm.bucketed(64, Reduce::Sum);
        for _ in 0..3 {
            devices[0].record(|r: &mut Recorder<'_>| bucket.add(r, &mut big)).unwrap();
            let waits = devices[1].record(|r: &mut Recorder<'_>| bucket.add(r, &mut small));
            kind!(waits, ErrorKind::NotReduced { pieces: 1, used: None });
        }
        drop((bucket, comm, big, small));
        gone(&devices);
    });
}

/// Whether its bucket was full inside or not: the op has left nothing, so the piece is not reduced.
#[test]
fn a_piece_that_was_added_in_an_op_that_failed_is_not_reduced() {
    all_well(1, 2, |rank| {
        let (mut x, mut y) = (rank.buffer(rank.mine(1.0), 8), rank.buffer(rank.mine(1.0), 8));
        for (bytes, writes) in [(1 << 20, false), (1 << 20, true), (4, false), (4, true)] {
            let recorded = rank.device.record(|r: &mut Recorder<'_>| {
                let mut bucket = rank.comm.bucketed(bytes, Reduce::Sum);
                bucket.add(r, &mut y)?;
                let failed: Result<()> = r.run(|r: &mut Recorder<'_>| {
                    if writes {
                        r.run(fill(&mut x, baked(1.0)))?;
                    }
                    bucket.add(r, &mut x)?;
                    Err(dacapo::Error::msg("no"))
                });
                kind!(failed, ErrorKind::Msg(_));
                bucket.finish(r)
            });
            kind!(recorded, ErrorKind::NotReduced { pieces: 1, used: None });
        }
        // What was added before it waits on, and what fails without a piece of the bucket takes none.
        let mut graph = rank.device.record(|r: &mut Recorder<'_>| {
            let mut bucket = rank.comm.bucketed(1 << 20, Reduce::Sum);
            bucket.add(r, &mut x)?;
            for writes in [false, true] {
                let failed: Result<()> = r.run(|r: &mut Recorder<'_>| {
                    if writes {
                        r.run(fill(&mut x, baked(1.0)))?;
                    }
                    Err(dacapo::Error::msg("no"))
                });
                kind!(failed, ErrorKind::Msg(_));
            }
            bucket.add(r, &mut y)?;
            bucket.finish(r)
        })?;
        assert_eq!(graph.len(), 1);
        graph.launch_sync(&rank.stream)?;
        assert_eq!((rank.stream.read(&x)?, rank.stream.read(&y)?), (vec![3.0; 8], vec![3.0; 8]));
        Ok(())
    });
}

#[test]
fn a_piece_may_go_before_its_bucket_is_recorded() {
    for seed in 0..4 {
        all_well(seed, 2, |rank| {
            let mut graph = rank.device.record(|r: &mut Recorder<'_>| {
                let mut bucket = rank.comm.bucketed(1 << 20, Reduce::Sum);
                for len in [4, 100, 1000] {
                    let mut gone = rank.device.buffer(&vec![1.0f32; len])?;
                    let mut temp = r.alloc::<f32>(len)?;
                    r.run(fill(&mut temp, baked(1.0)))?;
                    bucket.add(r, &mut gone)?;
                    bucket.add(r, &mut temp)?;
                }
                bucket.finish(r)
            })?;
            let other: Vec<_> = [4, 100, 1000].map(|len| rank.device.buffer(&vec![5.0f32; len])).into_iter().collect();
            for _ in 0..3 {
                graph.launch(&rank.stream)?;
            }
            rank.stream.synchronize()?;
            for buffer in other {
                let buffer = buffer?;
                assert!(rank.stream.read(&buffer)?.iter().all(|x| *x == 5.0));
            }
            Ok(())
        });
    }
}

#[test]
fn a_piece_is_in_a_bucket_once() {
    all_well(0, 2, |rank| {
        let mut x = rank.buffer(rank.mine(1.0), 8);
        for (first, second) in [(0..8, 0..8), (0..8, 4..8), (0..4, 2..6)] {
            let twice = rank.device.record(|r: &mut Recorder<'_>| {
                let mut bucket = rank.comm.bucketed(1 << 20, Reduce::Sum);
                bucket.add(r, &mut x[first.clone()])?;
                bucket.add(r, &mut x[second.clone()])?;
                bucket.finish(r)
            });
            let error = twice.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Overlap { .. } | ErrorKind::NotReduced { .. }), "{error:?}");
        }
        Ok(())
    });
}

#[test]
fn an_op_that_was_made_before_the_end_is_refused_after_it() {
    let said = ended(0, 2, SHORT, |rank| {
        let mut x = rank.buffer(1.0, 8);
        let op = rank.comm.all_reduce_in_place(&mut x, Reduce::Sum);
        rank.comm.abort("enough");
        rank.stream.run(op)
    });
    for (rank, said) in said.into_iter().enumerate() {
        let error = said.unwrap_err();
        assert!(is_failed(&error), "{error:?}");
        assert_eq!(error.op(), "all_reduce");
        assert!(error.location().is_some_and(|at| at.file().ends_with("lifetimes.rs")), "{error:?}");
        assert!(
            error.to_string().contains(&format!("rank {rank} of 2")) && error.to_string().contains("enough"),
            "{error}"
        );
    }
}

#[test]
fn a_rank_that_unwinds_takes_its_work_with_it() {
    for seed in 0..4 {
        let devices = group_with(seed, 2, SHORT);
        let begun = Instant::now();
        let said = ranks_of(&devices, &Join::new().timeout(Duration::from_secs(20)), |rank| -> Result<()> {
            let mut x = rank.buffer(1.0, 8);
            let mut graph = rank.device.record(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            graph.launch(&rank.stream)?;
            rank.stream.synchronize()?;
            assert!(rank.rank == 0, "this rank panics");
            graph.launch_sync(&rank.stream).map(|_| ())
        });
        assert!(said[1].as_ref().is_err_and(|text| text.contains("this rank panics")), "{said:?}");
        let error = said[0].as_ref().unwrap().as_ref().unwrap_err();
        assert!(is_failed(error), "{error:?}");
        assert!(begun.elapsed() < Duration::from_secs(10));
        gone(&devices);
    }
}

#[test]
fn the_graph_outlives_its_communicator_and_every_device_handle() {
    all_well(1, 3, |rank| {
        let (stream, mut x) = (rank.stream, rank.device.buffer(&[rank.rank as f32; 8])?);
        let mut graph: Graph<()> = rank.device.record(rank.comm.all_reduce_in_place(&mut x, Reduce::Max))?;
        drop((rank.comm, rank.device));
        for _ in 0..50 {
            graph.launch(&stream)?;
        }
        assert_eq!(stream.read(&x)?, [2.0; 8]);
        Ok(())
    });
}

#[test]
fn a_communicator_of_another_device_is_refused() {
    in_time(|| {
        let devices = group(0, 2);
        let ranks = Communicator::all(&devices).unwrap();
        let (stream, mut x) = (devices[0].stream().unwrap(), devices[0].zeros::<f32>(4).unwrap());
        let mut y = devices[1].zeros::<f32>(4).unwrap();
        kind!(stream.run(ranks[1].all_reduce_in_place(&mut x, Reduce::Sum)), ErrorKind::WrongDevice { .. });
        kind!(stream.run(ranks[1].all_reduce_in_place(&mut y, Reduce::Sum)), ErrorKind::WrongDevice { .. });
        kind!(stream.run(ranks[0].all_reduce_in_place(&mut y, Reduce::Sum)), ErrorKind::WrongDevice { .. });
        kind!(stream.run(ranks[0].all_reduce(&x, &mut y, Reduce::Sum)), ErrorKind::WrongDevice { .. });
        kind!(devices[0].record(ranks[1].all_reduce_in_place(&mut x, Reduce::Sum)), ErrorKind::WrongDevice { .. });
        kind!(devices[0].record(ranks[0].all_reduce_in_place(&mut y, Reduce::Sum)), ErrorKind::WrongDevice { .. });
        let mut bucket = ranks[1].bucketed(1, Reduce::Sum);
        kind!(devices[0].record(|r: &mut Recorder<'_>| bucket.add(r, &mut x)), ErrorKind::WrongDevice { .. });
        drop((ranks, stream, x, y, bucket));
        gone(&devices);
    });
}

#[test]
fn what_was_in_flight_stays_an_error_when_the_communicator_is_dropped() {
    // The advice is to drop the graphs and the communicator: that must not make their results look whole.
    for how in 0..6 {
        let said = ended(how, 2, SHORT, move |rank| {
            if rank.rank == 1 {
                std::thread::sleep(3 * SHORT);
                return Ok(());
            }
            let mut x = rank.buffer(1.0, 8);
            if how % 2 == 0 {
                rank.stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            } else {
                rank.stream.run(|r: &mut Recorder<'_>| {
                    let mut t = r.alloc::<f32>(8)?;
                    r.run(fill(&mut t, baked(1.0)))?;
                    r.run(rank.comm.all_reduce(&t, &mut x, Reduce::Sum))
                })?;
            }
            match how / 2 {
                0 => drop(rank.comm),
                1 => {
                    while rank.comm.death().is_none() {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    drop(rank.comm);
                }
                _ => {
                    rank.comm.abort("now");
                    drop(rank.comm);
                }
            }
            std::thread::sleep(4 * SHORT);
            kind!(rank.stream.read(&x), ErrorKind::RankFailed { .. });
            kind!(rank.stream.synchronize(), ErrorKind::RankFailed { .. });
            Ok(())
        });
        for said in said {
            said.unwrap_or_else(|error| panic!("{how}: {error:?}"));
        }
    }
}

#[test]
fn work_behind_a_collective_hides_neither_its_hang_nor_its_end() {
    // More launches than a report names come behind it, on the same stream.
    for how in 0..2 {
        let devices = group_with(how, 2, Duration::from_secs(40));
        let begun = Instant::now();
        let said = ranks_of(&devices, &Join::new().timeout(SHORT), move |rank| -> Result<()> {
            let mut x = rank.buffer(1.0, 8);
            let mut y = rank.buffer(1.0, 8);
            if rank.rank == 1 {
                std::thread::sleep(5 * SHORT);
                return Ok(());
            }
            rank.stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            for at in 0..40 {
                rank.stream.run(fill(&mut y, baked(at as f32)))?;
            }
            if how == 0 {
                kind!(rank.stream.synchronize(), ErrorKind::RankFailed { .. });
            }
            drop(rank.comm);
            std::thread::sleep(4 * SHORT);
            rank.stream.read(&x).map(drop)
        });
        assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
        kind!(said[0].as_ref().unwrap().clone(), ErrorKind::RankFailed { .. });
        gone(&devices);
    }
}

#[test]
fn what_was_dropped_is_released_without_waiting_for_another_rank() {
    // Page-locked memory, mapped memory and modules go by calls that wait for the whole context. One of them, made by whoever comes
    // next, would wait for the collective of rank 0; and that is whom it waits for.
    for what in 0..3 {
        in_time(move || {
            let devices = group_with(what, 2, Duration::from_secs(20));
            let ranks = Join::new().timeout(Duration::from_secs(20)).all(&devices).unwrap();
            let (near, far) = (devices[0].stream().unwrap(), devices[1].stream().unwrap());
            let (mut x, mut y) = (devices[0].buffer(&[1.0f32; 8]).unwrap(), devices[1].buffer(&[2.0f32; 8]).unwrap());
            let mut z = devices[0].zeros::<f32>(8).unwrap();
            let host = devices[0].host(&[1.0f32; 8]).unwrap();
            let pool = devices[0].pool();
            let planned = devices[0].graph().pool(&pool).record(|r: &mut Recorder<'_>| {
                let mut t = r.alloc::<f32>(1 << 20)?;
                r.run(fill(&mut t, baked(1.0)))
            });
            let kernels = Kernels::load(&devices[0]).unwrap();
            devices[0].synchronize().unwrap();
            near.run(ranks[0].all_reduce_in_place(&mut x, Reduce::Sum)).unwrap();
            let (mut host, mut planned, mut kernels) = (Some(host), Some((planned, pool)), Some(kernels));
            match what {
                0 => drop(host.take()),
                1 => drop(planned.take()),
                _ => drop(kernels.take()),
            }
            // One thread has both ranks: nothing it does here waits, so it comes to the second rank's call.
            let begun = Instant::now();
            let beside = devices[0].stream().unwrap();
            beside.run(fill(&mut z, baked(3.0))).unwrap();
            far.run(copy(&z, &mut y)).unwrap();
            far.run(ranks[1].all_reduce_in_place(&mut y, Reduce::Sum)).unwrap();
            assert_eq!(near.read(&x).unwrap(), [4.0; 8]);
            assert_eq!(far.read(&y).unwrap(), [4.0; 8]);
            assert!(begun.elapsed() < Duration::from_secs(5), "{what}: {:?}", begun.elapsed());
            drop((near, far, beside, x, y, z, ranks, host, planned, kernels));
            gone(&devices);
            nothing_found(&devices);
        });
    }
}

dacapo::kernels! {
    /// Kernels of these tests.
    unsafe struct Kernels(include_str!("../promises/kernels.ptx")) {
        /// v ← v + 1
        fn bump(v: &mut u32) {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
    }
}

#[test]
fn page_locked_memory_of_a_device_that_is_never_idle_is_used_again() {
    all_well(1, 2, |rank| {
        let (mut x, other) = (rank.buffer(1.0, 256), rank.device.buffer(&[0.0f32; 64])?);
        let mut ahead = None;
        for step in 0..300 {
            // One step is always in flight.
            let ticket = rank.stream.submit(rank.comm.all_reduce_in_place(&mut x, Reduce::Average))?;
            if let Some(before) = ahead.replace(ticket) {
                before.wait()?;
            }
            let mut host = rank.device.host(&[step as f32; 64])?;
            assert_eq!(host.to_vec()?, [step as f32; 64]);
            rank.stream.run(download(&other, &mut host))?;
            drop(host);
            let counters = rank.device.counters();
            assert!(counters.waiting < 40, "step {step}: {counters}");
        }
        Ok(())
    });
}

#[test]
fn page_locked_memory_that_was_dropped_makes_room_in_a_budget_beside_ranks() {
    let devices = group(1, 2);
    let ranks = Communicator::all(&devices).unwrap();
    devices[0].set_memory_budget(Some(1 << 20));
    drop(devices[0].host(&vec![1u8; 600_000]).unwrap());
    drop(devices[0].host(&vec![1u8; 500_000]).unwrap());
    drop(devices[0].zeros::<u8>(600_000).unwrap());
    drop(ranks);
}

#[test]
fn what_was_put_apart_is_released_when_the_last_rank_has_gone() {
    // Ranks of other tests are in this process too.
    let devices = group(1, 2);
    let ranks = Communicator::all(&devices).unwrap();
    drop(devices[0].host(&[1u8; 4096]).unwrap());
    devices[0].synchronize().unwrap();
    drop(ranks);
    gone(&devices);
}

#[test]
fn a_stream_for_each_graph_is_not_kept_by_what_they_read() {
    let device = Software::new().seed(1).open().unwrap();
    let weights = device.buffer(&[1u32; 8]).unwrap();
    let streams = || device.machine().unwrap().census().streams;
    let before = streams();
    for _ in 0..200 {
        let stream = device.stream().unwrap();
        let mut x = device.zeros::<u32>(8).unwrap();
        let mut graph = device.record(copy(&weights, &mut x)).unwrap();
        graph.launch(&stream).unwrap();
        drop(graph);
        stream.synchronize().unwrap();
    }
    device.synchronize().unwrap();
    assert!(streams() < before + 8, "{} streams of the driver", streams());
}
