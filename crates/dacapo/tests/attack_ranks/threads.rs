//! One communicator on many threads, and an end that comes from another one.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use dacapo::collective::{Communicator, Join, Reduce, UniqueId};
use dacapo::{ErrorKind, Recorder, Result, copy};

use crate::kit::{SHORT, all_well, ended, gone, group, group_with, in_time, is_failed, ranks_of};

const THREADS: usize = 4;

/// Runs a body on four threads of this rank, and answers the first error.
fn on_threads(body: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    thread::scope(|scope| {
        let all: Vec<_> = (0..THREADS)
            .map(|at| {
                scope.spawn({
                    let body = &body;
                    move || body(at)
                })
            })
            .collect();
        all.into_iter().try_for_each(|one| one.join().expect("no panic"))
    })
}

#[test]
fn four_threads_of_a_rank_run_the_same_collectives() {
    for seed in 0..4 {
        all_well(seed, 2, |rank| {
            on_threads(|_| {
                let stream = rank.device.stream()?;
                for _ in 0..10 {
                    let mut x = rank.buffer(rank.mine(1.0), 32);
                    stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
                    assert_eq!(stream.read(&x)?, [3.0; 32]);
                }
                Ok(())
            })
        });
    }
}

#[test]
fn four_threads_of_a_rank_record_and_then_launch() {
    for seed in 0..4 {
        all_well(seed, 2, |rank| {
            let barrier = Barrier::new(THREADS);
            on_threads(|_| {
                let stream = rank.device.stream()?;
                let x = rank.buffer(rank.mine(1.0), 32);
                let mut y = rank.buffer(0.0, 32);
                for _ in 0..4 {
                    let graph = rank.device.record(rank.comm.all_reduce(&x, &mut y, Reduce::Sum));
                    // All of them have recorded: from here on the order is that of launches, which are alike.
                    barrier.wait();
                    let mut graph = graph?;
                    for _ in 0..5 {
                        graph.launch(&stream)?;
                    }
                    assert_eq!(stream.read(&y)?, [3.0; 32]);
                    barrier.wait();
                }
                Ok(())
            })
        });
    }
}

#[test]
fn threads_that_record_and_launch_at_once_end_one_way_or_the_other() {
    // What overtakes what is up to the threads, so the ranks may differ. But everything ends, and says why.
    for seed in 0..6 {
        let said = ended(seed, 2, SHORT, |rank| {
            let answers: Vec<Result<()>> = thread::scope(|scope| {
                let one = |at: usize| {
                    let rank = &rank;
                    scope.spawn(move || -> Result<()> {
                        let stream = rank.device.stream()?;
                        let mut x = rank.buffer(1.0, 32);
                        for _ in 0..3 {
                            if at.is_multiple_of(2) {
                                rank.device
                                    .record(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?
                                    .launch_sync(&stream)?;
                            } else {
                                stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
                            }
                        }
                        stream.synchronize()
                    })
                };
                let all: Vec<_> = (0..THREADS).map(one).collect();
                all.into_iter().map(|one| one.join().expect("no panic")).collect()
            });
            Ok(answers)
        });
        for answer in said.into_iter().flat_map(|said| said.unwrap()) {
            if let Err(error) = answer {
                assert!(
                    is_failed(&error) || matches!(error.kind(), ErrorKind::RanksDiffer { .. }),
                    "seed {seed}: {error:?}"
                );
            }
        }
    }
}

#[test]
fn a_graph_launches_on_one_thread_while_others_record_without_collectives() {
    for seed in 0..4 {
        all_well(seed, 2, |rank| {
            let mut x = rank.buffer(1.0, 32);
            let mut graph = rank.device.record(rank.comm.all_reduce_in_place(&mut x, Reduce::Max))?;
            let done = AtomicBool::new(false);
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        let (a, mut b) = (rank.buffer(1.0, 8), rank.buffer(1.0, 8));
                        while !done.load(Ordering::Relaxed) {
                            rank.device.record(copy(&a, &mut b)).unwrap();
                        }
                    });
                }
                let ran = (0..30).try_for_each(|_| graph.launch(&rank.stream).map(drop));
                let ran = ran.and_then(|()| rank.stream.synchronize());
                done.store(true, Ordering::Relaxed);
                ran
            })?;
            assert_eq!(rank.stream.read(&x)?, [1.0; 32]);
            Ok(())
        });
    }
}

#[test]
fn an_abort_reaches_whoever_records_launches_waits_and_drops() {
    for seed in 0..12 {
        let said = ended(seed, 2, Duration::from_secs(20), move |rank| {
            let (done, begun) = (AtomicBool::new(false), Instant::now());
            let barrier = Barrier::new(3);
            let answers = thread::scope(|scope| {
                let works = scope.spawn(|| -> Result<()> {
                    let mut x = rank.buffer(1.0, 32);
                    barrier.wait();
                    loop {
                        match seed % 4 {
                            0 => drop(rank.device.record(rank.comm.all_reduce_in_place(&mut x, Reduce::Max))?),
                            1 => rank.stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Max))?,
                            2 => {
                                let mut graph =
                                    rank.device.record(rank.comm.all_reduce_in_place(&mut x, Reduce::Max))?;
                                drop(graph.launch(&rank.stream)?);
                            }
                            _ => {
                                let ticket = rank.stream.submit(rank.comm.all_reduce_in_place(&mut x, Reduce::Max))?;
                                ticket.wait()?;
                            }
                        }
                    }
                });
                let clones = scope.spawn(|| {
                    barrier.wait();
                    while !done.load(Ordering::Relaxed) {
                        let clone = rank.comm.clone();
                        let mut bucket = clone.bucketed(1, Reduce::Sum);
                        drop(clone);
                        let _ = rank.device.record(|r: &mut Recorder<'_>| {
                            let _ = &r;
                            let _ = &mut bucket;
                            Ok(())
                        });
                    }
                });
                barrier.wait();
                thread::sleep(Duration::from_millis(20 + seed));
                if seed % 3 != 0 || rank.rank == 1 {
                    rank.comm.abort("from beside");
                }
                let answer = works.join().expect("no panic");
                done.store(true, Ordering::Relaxed);
                clones.join().expect("no panic");
                answer
            });
            assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
            answers
        });
        for said in said {
            let error = said.unwrap_err();
            assert!(is_failed(&error), "seed {seed}: {error:?}");
        }
    }
}

#[test]
fn many_threads_abort_at_once_and_the_first_reason_stays() {
    let said = ended(0, 2, Duration::from_secs(20), |rank| {
        let mut x = rank.buffer(1.0, 8);
        rank.stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
        rank.stream.synchronize()?;
        on_threads(|at| {
            rank.comm.abort(&format!("thread {at}"));
            Ok(())
        })?;
        let first = rank.comm.death().unwrap().to_string();
        rank.comm.abort("too late");
        assert_eq!(rank.comm.death().unwrap().to_string(), first);
        Ok(())
    });
    assert!(said.iter().all(Result::is_ok), "{said:?}");
}

#[test]
fn an_abort_in_the_middle_of_a_recording_fails_it() {
    let said = ended(0, 2, Duration::from_secs(20), |rank| {
        let mut x = rank.buffer(1.0, 8);
        rank.device.record(|r: &mut Recorder<'_>| {
            r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            rank.comm.abort("while recording");
            Ok(())
        })
    });
    for said in said {
        assert!(is_failed(&said.unwrap_err()));
    }
}

#[test]
fn an_abort_on_a_thread_frees_a_rank_that_waits_for_agreement() {
    let begun = Instant::now();
    let said = ended(0, 2, Duration::from_secs(40), |rank| {
        if rank.rank == 1 {
            thread::sleep(Duration::from_millis(300));
            rank.comm.abort("not coming");
            return Ok(());
        }
        let mut x = rank.buffer(1.0, 8);
        rank.device.record(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum)).map(drop)
    });
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    let error = said[0].as_ref().unwrap_err();
    assert!(is_failed(error), "{error:?}");
    // Which rank, op and line.
    assert!(error.to_string().contains("rank 0 of 2"), "{error}");
    assert!(error.location().is_some_and(|at| at.file().ends_with("threads.rs")), "{error:?}");
}

#[test]
fn the_same_rank_joins_twice_at_once() {
    in_time(|| {
        let devices = group_with(0, 2, SHORT);
        let id = UniqueId::new(&devices[0]).unwrap();
        let join = Join::new().timeout(SHORT);
        let begun = Instant::now();
        let said: Vec<Result<Communicator>> = thread::scope(|scope| {
            let join = &join;
            let ranks = [(0, 0), (0, 0), (1, 1)];
            let all: Vec<_> = ranks
                .map(|(at, rank)| {
                    scope.spawn({
                        let device = &devices[at];
                        move || join.join(device, &id, rank, 2)
                    })
                })
                .into();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(begun.elapsed() < Duration::from_secs(10));
        assert!(said.iter().any(Result::is_err), "{said:?}");
        for error in said.iter().filter_map(|said| said.as_ref().err()) {
            assert!(matches!(error.kind(), ErrorKind::NotJoined { .. }), "{error:?}");
        }
        drop(said);
        gone(&devices);
    });
}

#[test]
fn ranks_join_while_others_of_the_same_devices_come_and_go() {
    let devices = group(1, 3);
    let count = Arc::new(AtomicUsize::new(0));
    let counts = count.clone();
    let all = devices.clone();
    in_time(move || {
        let work = |all: &[dacapo::Device]| {
            for _ in 0..8 {
                for ended in ranks_of(all, &Join::new(), |rank| -> Result<()> {
                    let mut x = rank.buffer(1.0, 8);
                    rank.device
                        .record(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?
                        .launch_sync(&rank.stream)?;
                    assert_eq!(rank.stream.read(&x)?, [rank.size as f32; 8]);
                    Ok(())
                }) {
                    ended.unwrap().unwrap();
                    counts.fetch_add(1, Ordering::Relaxed);
                }
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| work(&all[..2]));
            scope.spawn(|| work(&all[1..]));
            scope.spawn(|| work(&all[..]));
        });
    });
    assert_eq!(count.load(Ordering::Relaxed), 8 * 7);
    gone(&devices);
    crate::kit::nothing_found(&devices);
}

/// Calls when the thread's values go.
struct AtEnd(Box<dyn FnMut()>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        (self.0)();
    }
}

thread_local!(static AT_END: RefCell<Option<AtEnd>> = const { RefCell::new(None) });

/// As a logger would that reduces its last numbers.
#[test]
fn a_thread_that_ends_may_still_make_collectives() {
    for is_group in [false, true] {
        let devices = group(0, 2);
        let ranks = Join::new().all(&devices).unwrap();
        let (tell, told) = mpsc::channel();
        for comm in ranks {
            let tell = tell.clone();
            let body = move || {
                // There before anything of the library's, and so gone behind it.
                AT_END.set(None);
                let (device, stream) = (comm.device().clone(), comm.device().stream().unwrap());
                let mut x = device.buffer(&[1.0f32]).unwrap();
                let mut run = move || {
                    let op = comm.group().all_reduce_in_place(&mut x, Reduce::Sum).op();
                    match is_group {
                        true => stream.run(op)?,
                        false => {
                            drop(op);
                            stream.run(comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
                        }
                    }
                    // One that NCCL refuses, and one that is recorded.
                    assert!(stream.run(comm.send(&x, comm.rank())).is_err());
                    let mut graph = device.record(comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
                    graph.launch(&stream)?;
                    drop(graph);
                    stream.read(&x)
                };
                assert_eq!(run().unwrap(), [4.0]);
                AT_END.set(Some(AtEnd(Box::new(move || tell.send(run()).unwrap()))));
            };
            thread::spawn(body);
        }
        drop(tell);
        let told: Vec<Result<Vec<f32>>> = told.iter().collect();
        assert_eq!(told.into_iter().map(Result::unwrap).collect::<Vec<_>>(), [[16.0], [16.0]]);
        gone(&devices);
    }
}
