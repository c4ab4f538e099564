//! Collectives in every kind of recording there is, whole and half.

use std::time::{Duration, Instant};

use dacapo::capture::{CaptureStream, Mode, captured};
use dacapo::collective::{Communicator, Join, Reduce};
use dacapo::flow::{above, nonzero, unbounded, up_to};
use dacapo::page::Page;
use dacapo::shapes::GraphCache;
use dacapo::{ErrorKind, Recorder, Result, Slot, Stream, baked, copy, fill, port};

use crate::kind;
use crate::kit::{SHORT, all_well, ended, gone, group, group_with, is_failed, ranks_of};

#[test]
fn a_rerecording_that_fails_on_every_rank_leaves_the_old_graph() {
    all_well(0, 2, |rank| {
        let (mut x, mut y) = (rank.buffer(rank.mine(1.0), 8), rank.buffer(rank.mine(1.0), 4));
        let mut graph = rank.device.record(rank.comm.all_reduce_in_place(&mut x, Reduce::Max))?;
        let failed = graph.rerecord(|r: &mut Recorder<'_>| {
            r.run(rank.comm.all_reduce_in_place(&mut y, Reduce::Sum))?;
            Err(dacapo::Error::msg("no"))
        });
        kind!(failed, ErrorKind::Msg(_));
        // Ranks that rerecord different things.
        let failed = if rank.rank == 0 {
            graph.rerecord(rank.comm.all_reduce_in_place(&mut y, Reduce::Sum))
        } else {
            graph.rerecord(rank.comm.all_reduce_in_place(&mut y, Reduce::Min))
        };
        kind!(failed, ErrorKind::RanksDiffer { .. });
        graph.launch_sync(&rank.stream)?;
        assert_eq!(rank.stream.read(&x)?, [2.0; 8]);
        assert_eq!(rank.stream.read(&y)?, [rank.mine(1.0); 4]);
        // And one that holds.
        graph.rerecord(rank.comm.all_reduce_in_place(&mut y, Reduce::Sum))?;
        drop(x);
        graph.launch_sync(&rank.stream)?;
        assert_eq!(rank.stream.read(&y)?, [3.0; 4]);
        graph.reset();
        kind!(graph.launch(&rank.stream), ErrorKind::Reset);
        graph.rerecord(rank.comm.all_reduce_in_place(&mut y, Reduce::Sum))?;
        graph.launch_sync(&rank.stream)?;
        assert_eq!(rank.stream.read(&y)?, [6.0; 4]);
        Ok(())
    });
}

#[test]
fn a_graph_that_one_rank_has_reset_is_waited_for_no_longer_than_the_timeout() {
    let begun = Instant::now();
    let said = ended(0, 2, SHORT, |rank| {
        let mut x = rank.buffer(1.0, 8);
        let mut graph = rank.device.record(rank.comm.all_reduce_in_place(&mut x, Reduce::Max))?;
        if rank.rank == 1 {
            graph.reset();
            kind!(graph.launch(&rank.stream), ErrorKind::Reset);
            std::thread::sleep(3 * SHORT);
            return Ok(());
        }
        graph.launch_sync(&rank.stream).map(|_| ())
    });
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert!(is_failed(said[0].as_ref().unwrap_err()), "{said:?}");
}

#[test]
fn graphs_whose_memory_is_bound_later() {
    // Foreign work refuses stand-ins, and says so on every rank; it takes what is not rebound.
    for seed in 0..3 {
        all_well(seed, 2, |rank| {
            let (x, mut y) = (rank.buffer(1.0, 8), rank.buffer(0.0, 8));
            let mut z = rank.buffer(rank.mine(1.0), 8);
            let refused = rank
                .device
                .graph()
                .record_into(&x[..], &mut y[..], |r, x, y| r.run(rank.comm.all_reduce(x, y, Reduce::Sum)));
            let error = refused.unwrap_err();
            assert!(error.location().is_some_and(|at| at.file().ends_with("recordings.rs")), "{error:?}");
            let mut graph = rank.device.graph().record_into(&x[..], &mut y[..], |r, x, y| {
                let mut t = r.alloc::<f32>(8)?;
                r.run(copy(x, &mut t))?;
                r.run(rank.comm.all_reduce_in_place(&mut t, Reduce::Sum))?;
                r.run(rank.comm.all_reduce_in_place(&mut z, Reduce::Max))?;
                r.run(copy(&t, y))
            })?;
            for value in [3.0, 4.0, 5.0] {
                let given = rank.buffer(rank.mine(value), 8);
                let mut out = rank.buffer(0.0, 8);
                graph.launch(&rank.stream, &given, &mut out)?;
                drop(given);
                assert_eq!(rank.stream.read(&out)?, [rank.sum(value); 8]);
            }
            assert_eq!(rank.stream.read(&z)?, [2.0; 8]);
            Ok(())
        });
    }
}

#[test]
fn a_graph_with_collectives_inside_another_recording() {
    for seed in 0..3 {
        all_well(seed, 2, |rank| {
            let mut x = rank.buffer(rank.mine(1.0), 8);
            let mut y = rank.buffer(0.0, 8);
            let inner = rank.device.record(rank.comm.all_reduce_in_place(&mut x, Reduce::Max))?;
            let mut outer = rank.device.record(|r: &mut Recorder<'_>| {
                r.run(inner.as_op())?;
                r.run(rank.comm.all_reduce(&x, &mut y, Reduce::Sum))?;
                r.run(inner.as_op())
            })?;
            drop(inner);
            for _ in 0..3 {
                outer.launch(&rank.stream)?;
            }
            assert_eq!(rank.stream.read(&y)?, [4.0; 8]);
            // Eagerly.
            let inner = rank.device.record(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            rank.stream.run(inner.as_op())?;
            assert_eq!(rank.stream.read(&x)?, [4.0; 8]);
            Ok(())
        });
    }
}

#[test]
fn embedded_graphs_count_when_ranks_are_compared() {
    let said = ended(0, 2, Duration::from_secs(10), |rank| {
        let mut x = rank.buffer(1.0, 8);
        let inner = rank.device.record(rank.comm.all_reduce_in_place(&mut x, Reduce::Max))?;
        let outer = rank.device.record(|r: &mut Recorder<'_>| {
            r.run(inner.as_op())?;
            if rank.rank == 0 { r.run(inner.as_op()) } else { Ok(()) }
        });
        outer.map(drop)
    });
    for said in said {
        kind!(said, ErrorKind::RanksDiffer { .. });
    }
}

/// Rank 0 sends in the group of what all reduce, and the last receives alone: what only two do is not compared.
#[test]
fn a_send_in_the_group_of_a_sum_is_not_compared() {
    for seed in 0..3 {
        all_well(seed, 3, |rank| {
            let mut x = rank.buffer(rank.mine(1.0), 4);
            let (sent, mut got, mut all) = (rank.buffer(9.0, 4), rank.buffer(0.0, 4), rank.buffer(0.0, 12));
            let comm = &rank.comm;
            let mut graph = rank.device.record(|r: &mut Recorder<'_>| {
                if rank.rank == 0 {
                    r.run(comm.group().all_reduce_in_place(&mut x, Reduce::Sum).send(&sent, 2).op())?;
                } else {
                    r.run(comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
                }
                if rank.rank == 2 {
                    r.run(comm.recv(&mut got, 0))?;
                }
                r.run(comm.all_gather(&x, &mut all))
            })?;
            for sum in [6.0, 18.0, 54.0] {
                graph.launch(&rank.stream)?;
                assert_eq!((rank.stream.read(&x)?, rank.stream.read(&all)?), (vec![sum; 4], vec![sum; 12]));
            }
            assert_eq!(rank.stream.read(&got)?, [if rank.rank == 2 { 9.0 } else { 0.0 }; 4]);
            // What all do is compared beside a send too, and so is how many calls a group has.
            let differs = match rank.rank {
                0 => rank.device.record(comm.group().all_reduce_in_place(&mut x, Reduce::Sum).send(&sent, 2).op()),
                _ => rank.device.record(comm.all_reduce_in_place(&mut x, Reduce::Max)),
            };
            kind!(differs, ErrorKind::RanksDiffer { .. });
            let differs = match rank.rank {
                0 => rank
                    .device
                    .record(comm.group().all_reduce_in_place(&mut x, Reduce::Sum).all_gather(&sent, &mut all).op()),
                _ => rank.device.record(comm.all_reduce_in_place(&mut x, Reduce::Sum)),
            };
            kind!(differs, ErrorKind::RanksDiffer { .. });
            Ok(())
        });
    }
}

#[test]
fn graphs_with_collectives_share_a_pool_and_an_arena() {
    for seed in 0..3 {
        all_well(seed, 2, |rank| {
            let (pool, arena) = (rank.device.pool(), rank.device.arena(1 << 16)?);
            let (mut x, mut y) = (rank.buffer(0.0, 64), rank.buffer(0.0, 64));
            let value = Slot::new(0.0f32);
            let body = |r: &mut Recorder<'_>, out: &mut dacapo::Slice<f32>, reduce| {
                let mut t = r.alloc::<f32>(64)?;
                r.run(fill(&mut t, &value))?;
                r.run(rank.comm.all_reduce_in_place(&mut t, reduce))?;
                r.run(copy(&t, out))
            };
            let mut sum =
                rank.device.graph().pool(&pool).record(|r: &mut Recorder<'_>| body(r, &mut x, Reduce::Sum))?;
            let mut max =
                rank.device.graph().pool(&pool).record(|r: &mut Recorder<'_>| body(r, &mut y, Reduce::Max))?;
            let other = rank.device.stream()?;
            for round in 0..6 {
                value.set(rank.mine(round as f32));
                sum.launch(&rank.stream)?;
                value.set(rank.mine(1.0 + round as f32));
                max.launch(&other)?;
            }
            drop(pool);
            assert_eq!((rank.stream.read(&x)?, rank.stream.read(&y)?), (vec![11.0; 64], vec![7.0; 64]));
            let mut z = rank.buffer(0.0, 64);
            let mut lies =
                rank.device.graph().arena(&arena).record(|r: &mut Recorder<'_>| body(r, &mut z, Reduce::Min))?;
            lies.launch(&rank.stream)?;
            rank.stream.run_in(&arena, |r: &mut Recorder<'_>| body(r, &mut x, Reduce::Min))?;
            drop((arena, lies));
            assert_eq!((rank.stream.read(&x)?, rank.stream.read(&z)?), (vec![6.0; 64], vec![6.0; 64]));
            Ok(())
        });
    }
}

#[test]
fn a_miss_of_a_cache_on_one_rank_only() {
    // That rank wants to record, and the other one launches: nobody hangs, and nobody gets a number.
    let begun = Instant::now();
    let said = ended(0, 2, SHORT, |rank| {
        let mut x = rank.buffer(1.0, 8);
        let mut cache: GraphCache<usize, ()> = GraphCache::new(&rank.device);
        let (comm, at) = (rank.comm.clone(), &mut x);
        cache.run(&rank.stream, &0, |r| r.run(comm.all_reduce_in_place(at, Reduce::Sum)))?;
        if rank.rank == 1 {
            cache.clear();
        }
        cache.run(&rank.stream, &0, |r| r.run(comm.all_reduce_in_place(at, Reduce::Sum)))?;
        rank.stream.synchronize()?;
        Ok(())
    });
    assert!(begun.elapsed() < Duration::from_secs(10));
    for (rank, said) in said.into_iter().enumerate() {
        let error = said.unwrap_err();
        assert!(is_failed(&error), "{error:?}");
        assert!(error.to_string().contains(&format!("rank {rank} of 2")), "{error}");
        if let Some(at) = error.location() {
            assert!(at.file().ends_with("recordings.rs"), "{error:?}");
        }
    }
}

#[test]
fn caches_and_functions_with_collectives_inside() {
    all_well(1, 2, |rank| {
        let mut graphed = port::graphed(&rank.device, |r: &mut Recorder<'_>, x: &dacapo::Buffer<f32>| {
            let mut out = r.output::<f32>(x.len())?;
            r.run(rank.comm.all_reduce(x, &mut out, Reduce::Sum))?;
            Ok(out)
        });
        for len in [4, 8, 4] {
            let x = rank.buffer(rank.mine(1.0), len);
            let out = graphed.call(&rank.stream, &x)?;
            assert_eq!(rank.stream.read(out)?, vec![3.0; len]);
        }
        Ok(())
    });
}

#[test]
fn reports_pages_profiles_and_warm_ups_of_collectives() {
    for seed in 0..2 {
        all_well(seed, 2, |rank| {
            let mut x = rank.buffer(rank.mine(1.0), 8);
            let mut graph =
                rank.device.graph().warmup(2).record(|r| r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Max)))?;
            assert_eq!(rank.stream.read(&x)?, [rank.mine(1.0); 8]);
            let report = graph.inspect();
            assert_eq!(report.nodes.len(), 1);
            let before = rank.device.graph().inspect(rank.comm.all_reduce_in_place(&mut x, Reduce::Max))?;
            assert!(report.to_string().contains("all_reduce") && before.to_string().contains("all_reduce"));
            graph.preload(&rank.stream)?;
            let profile = graph.profile(&rank.stream)?;
            assert_eq!(profile.ops.len(), 1);
            assert!(report.to_json().contains("all_reduce"));
            assert!(Page::new(report).html().contains("all_reduce"));
            rank.stream.profile(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            rank.stream.synchronize()?;
            graph.launch_sync(&rank.stream)?;
            assert_eq!(rank.stream.read(&x)?, [4.0; 8]);
            let frozen = rank
                .device
                .graph()
                .verify(|r: &mut Recorder<'_>| r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum)))?;
            assert!(frozen.is_empty());
            assert_eq!(rank.stream.read(&x)?, [4.0; 8]);
            Ok(())
        });
    }
}

#[test]
fn looking_at_a_recording_of_one_rank_asks_nobody() {
    let said = ended(0, 2, SHORT, |rank| {
        let mut x = rank.buffer(1.0, 8);
        if rank.rank == 0 {
            rank.device.graph().inspect(rank.comm.all_reduce_in_place(&mut x, Reduce::Max))?;
            rank.device
                .graph()
                .verify(|r: &mut Recorder<'_>| r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Max)))?;
            rank.device.graph().plan_only(rank.comm.all_reduce_in_place(&mut x, Reduce::Max))?;
        }
        Ok(())
    });
    assert!(said.iter().all(Result::is_ok), "{said:?}");
}

dacapo::kernels! {
    /// Kernels of these tests.
    unsafe struct Kernels(include_str!("../promises/kernels.ptx")) {
        /// y ← value
        fn put(value: u32, n: u32 = y.len(), y: &out [u32]) {
            grid: linear(y.len(), 32);
        }
        /// v ← v + 1
        fn bump(v: &mut u32) {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
    }
}

#[test]
fn tuning_replays_no_collective_more_often_on_one_rank() {
    // What the ranks compute between their collectives is not compared, and may be tried more often on one of them.
    let said = ended(0, 2, SHORT, |rank| {
        let k = Kernels::load(&rank.device)?;
        let mut x = rank.device.zeros::<u32>(64)?;
        let body = |r: &mut Recorder<'_>, x: &mut dacapo::Slice<u32>| {
            r.run(k.put(baked(1), &mut *x))?;
            (0..=rank.rank).try_for_each(|_| r.run(k.bump(x.at_mut(0))))?;
            if rank.rank == 1 { r.run(k.put(baked(2), &mut *x)) } else { Ok(()) }
        };
        let mut graph = rank.device.record(|r: &mut Recorder<'_>| {
            body(r, &mut x)?;
            r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Max))
        })?;
        kind!(graph.tune(&rank.stream), ErrorKind::Unsupported { .. });
        graph.launch_sync(&rank.stream)?;
        // As the error says: what is between them is tuned.
        let mut between = rank.device.record(|r: &mut Recorder<'_>| body(r, &mut x))?;
        let tuning = between.tune(&rank.stream)?.tuning;
        let mut graph = rank.device.graph().tuned(&tuning).record(|r: &mut Recorder<'_>| {
            body(r, &mut x)?;
            r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Max))
        })?;
        graph.launch_sync(&rank.stream)?;
        assert_eq!(rank.stream.read(&x[..2])?, [2, 2]);
        // One rank alone has nobody to wait for.
        let alone = dacapo::collective::Communicator::alone(&rank.device)?;
        let mut graph = rank.device.record(|r: &mut Recorder<'_>| {
            body(r, &mut x)?;
            r.run(alone.all_reduce_in_place(&mut x, Reduce::Max))
        })?;
        graph.tune(&rank.stream).map(drop)
    });
    said.into_iter().for_each(|said| said.unwrap());
}

#[test]
fn a_warm_up_on_one_rank_only_is_a_mismatch_and_no_hang() {
    let begun = Instant::now();
    let said = ended(0, 2, SHORT, |rank| {
        let mut x = rank.buffer(1.0, 8);
        let times = if rank.rank == 0 { 1 } else { 0 };
        let graph =
            rank.device.graph().warmup(times).record(|r| r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Max)));
        graph.map(drop)
    });
    assert!(begun.elapsed() < Duration::from_secs(10));
    for (rank, said) in said.into_iter().enumerate() {
        let error = said.unwrap_err();
        assert!(is_failed(&error), "rank {rank}: {error:?}");
    }
}

#[test]
fn loops_and_branches_around_collectives() {
    for seed in 0..4 {
        all_well(seed, 2, |rank| {
            let mut x = rank.buffer(1.0, 8);
            let flag = Slot::new(1u32);
            let inner = rank.device.record(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            let mut graph = rank.device.record(|r: &mut Recorder<'_>| {
                r.when(nonzero(&flag), rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
                r.repeat_times(baked(3), rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
                r.switch(&flag, 2, |r, _| r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum)))?;
                r.repeat_times(&flag, inner.as_op())?;
                Ok(())
            })?;
            drop(inner);
            for (value, sum) in [(0, 16.0), (1, 64.0), (2, 64.0)] {
                flag.set(value);
                rank.stream.run(fill(&mut x, baked(1.0)))?;
                graph.launch(&rank.stream)?;
                assert_eq!(rank.stream.read(&x)?, [sum; 8], "{value}");
            }
            drop(graph);
            rank.stream.run(|r: &mut Recorder<'_>| {
                r.repeat(up_to(baked(3)), |r: &mut Recorder<'_>| {
                    r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Max))?;
                    Ok(above(baked(2), baked(1)))
                })?;
                Ok(())
            })?;
            rank.stream.synchronize()
        });
    }
}

#[test]
fn conditions_that_differ_end_by_the_timeout() {
    for seed in 0..4 {
        let begun = Instant::now();
        let said = ended(seed, 2, SHORT, |rank| {
            let mut x = rank.buffer(1.0, 8);
            let flag = Slot::new(rank.rank as u32);
            let mut graph = rank.device.record(|r: &mut Recorder<'_>| {
                r.when(nonzero(&flag), rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
                Ok(())
            })?;
            graph.launch_sync(&rank.stream)?;
            Ok(())
        });
        assert!(begun.elapsed() < Duration::from_secs(10));
        assert!(is_failed(said[1].as_ref().unwrap_err()), "{said:?}");
    }
}

#[test]
fn a_bucket_that_is_opened_in_a_body_and_closed_outside() {
    all_well(0, 2, |rank| {
        let (mut x, flag) = (rank.buffer(1.0, 8), Slot::new(0u32));
        let across = rank.device.record(|r: &mut Recorder<'_>| {
            let mut bucket = rank.comm.bucketed(1 << 20, Reduce::Sum);
            r.when(nonzero(&flag), |r: &mut Recorder<'_>| bucket.add(r, &mut x))?;
            bucket.finish(r)
        });
        let Err(error) = across else { panic!("accepted") };
        assert!(matches!(error.kind(), ErrorKind::NotReduced { .. } | ErrorKind::TempOfBody), "{error:?}");
        let inward = rank.device.record(|r: &mut Recorder<'_>| {
            let mut bucket = rank.comm.bucketed(1 << 20, Reduce::Sum);
            bucket.add(r, &mut x)?;
            r.when(nonzero(&flag), |r: &mut Recorder<'_>| bucket.finish(r))?;
            Ok(())
        });
        let Err(error) = inward else { panic!("accepted") };
        assert!(matches!(error.kind(), ErrorKind::NotReduced { .. } | ErrorKind::TempOfBody), "{error:?}");
        Ok(())
    });
}

#[test]
fn a_recording_in_a_recording_and_what_would_run_now() {
    all_well(0, 2, |rank| {
        let mut x = rank.buffer(rank.mine(1.0), 8);
        let mut y = rank.buffer(rank.mine(1.0), 8);
        let (stream, device): (&Stream, _) = (&rank.stream, &rank.device);
        let graph = device.record(|r: &mut Recorder<'_>| {
            kind!(stream.run(rank.comm.all_reduce_in_place(&mut y, Reduce::Sum)), ErrorKind::EagerInRecording { .. });
            // Made while another one is being recorded: refused, or a graph of its own.
            let inner = device.record(rank.comm.all_reduce_in_place(&mut y, Reduce::Sum));
            if let Ok(mut inner) = inner {
                kind!(inner.launch(stream), ErrorKind::EagerInRecording { .. });
            }
            r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))
        });
        graph?.launch_sync(stream)?;
        assert_eq!(stream.read(&x)?, [3.0; 8]);
        Ok(())
    });
}

#[test]
fn a_graph_that_ranks_compare_is_not_made_inside_a_recording() {
    all_well(0, 2, |rank| {
        let mut x = rank.buffer(rank.mine(1.0), 8);
        let mut inner = None;
        let mut line = 0;
        rank.device.record(|r: &mut Recorder<'_>| {
            line = line!() + 1;
            inner = Some(rank.device.record(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum)));
            r.run(copy(&rank.buffer(1.0, 8), &mut rank.buffer(1.0, 8)))
        })?;
        let error = inner.unwrap().unwrap_err();
        let text = error.to_string();
        assert!(matches!(error.kind(), ErrorKind::EagerInRecording { .. }), "{error:?}");
        assert!(text.contains("making a graph with collectives of several ranks"), "{text}");
        assert!(text.contains(&format!("recordings.rs:{line}:")), "{text}");
        // One that has none, and one of a rank that is alone, are compared with nobody.
        let alone = dacapo::collective::Communicator::alone(&rank.device)?;
        rank.device.record(|_: &mut Recorder<'_>| {
            rank.device.record(alone.all_reduce_in_place(&mut x, Reduce::Sum))?;
            rank.device.record(fill(&mut x, baked(1.0))).map(drop)
        })?;
        Ok(())
    });
}

#[test]
fn no_memory_for_the_comparison_is_told_of_the_users_line() {
    all_well(0, 2, |rank| {
        let mut x = rank.buffer(rank.mine(1.0), 8);
        rank.device.set_memory_budget(Some(1));
        let (line, op) = (line!(), rank.comm.all_reduce_in_place(&mut x, Reduce::Sum));
        let error = rank.device.record(op).unwrap_err();
        rank.device.set_memory_budget(None);
        let text = format!("{error:#}");
        assert!(matches!(error.kind(), ErrorKind::OverBudget { .. }), "{error:?}");
        assert!(text.contains("compare recordings") && text.contains(&format!("recordings.rs:{line}:")), "{text}");
        assert!(!text.contains("gather.rs"), "{text}");
        Ok(())
    });
}

/// The rounds that an abort has overtaken are no use of a communicator that has ended.
#[test]
fn a_rank_that_aborts_is_no_mistake_of_the_one_that_loops() {
    let devices = group_with(0, 2, Duration::from_secs(20));
    let launched = std::sync::Arc::new(std::sync::Barrier::new(2));
    let said = ranks_of(&devices, &Join::new(), move |rank| -> Result<()> {
        let mut x = rank.buffer(1.0, 4);
        let mut graph = rank.device.record(|r: &mut Recorder<'_>| {
            r.repeat_times(baked(2000), rank.comm.all_reduce_in_place(&mut x, Reduce::Max)).map(drop)
        })?;
        if rank.rank == 1 {
            launched.wait();
            rank.comm.abort("the data is gone");
            return Ok(());
        }
        graph.launch(&rank.stream)?;
        launched.wait();
        kind!(rank.stream.synchronize(), ErrorKind::RankFailed { .. });
        kind!(graph.launch(&rank.stream), ErrorKind::RankFailed { .. });
        Ok(())
    });
    said.into_iter().for_each(|said| said.unwrap().unwrap());
    gone(&devices);
    let found = devices[0].findings();
    assert!(!found.iter().any(|found| found.contains("dead-communicator")), "{} findings, {:?}", found.len(), found[0]);
}

#[test]
fn joining_inside_a_recording_is_refused_or_works() {
    let devices = group_with(0, 2, SHORT);
    let said = ranks_of(&devices, &Join::new().timeout(SHORT), |rank| {
        let mut x = rank.buffer(rank.mine(1.0), 8);
        let mut inside = None;
        let graph = rank.device.record(|r: &mut Recorder<'_>| {
            inside = Some(dacapo::collective::Communicator::alone(&rank.device));
            r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))
        });
        let inside = inside.unwrap();
        if let Err(error) = &inside {
            assert!(matches!(error.kind(), ErrorKind::EagerInRecording { .. }), "{error:?}");
        }
        graph.and_then(|mut graph| graph.launch_sync(&rank.stream).map(|_| ()))
    });
    for said in said {
        said.unwrap().unwrap();
    }
    gone(&devices);
}

#[test]
fn without_agreement_a_graph_is_made_on_one_rank_alone() {
    let devices = group_with(0, 2, SHORT);
    let said = ranks_of(&devices, &Join::new().timeout(SHORT).without_agreement(), |rank| {
        let mut x = rank.buffer(1.0, 8);
        let begun = Instant::now();
        if rank.rank == 1 {
            std::thread::sleep(SHORT);
            return Ok(());
        }
        let mut graph = rank.device.record(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
        assert!(begun.elapsed() < SHORT / 2, "{:?}", begun.elapsed());
        graph.launch_sync(&rank.stream).map(|_| ())
    });
    let error = said[0].as_ref().unwrap().as_ref().unwrap_err();
    assert!(is_failed(error), "{error:?}");
    gone(&devices);
}

#[test]
fn two_communicators_are_recorded_in_either_order() {
    for seed in 0..4 {
        let devices = group_with(seed, 2, Duration::from_secs(20));
        let others = Join::new().timeout(Duration::from_secs(5)).all(&devices).unwrap();
        let begun = Instant::now();
        let said = ranks_of(&devices, &Join::new().timeout(Duration::from_secs(5)), move |rank| -> Result<()> {
            let (mut x, mut y) = (rank.buffer(rank.mine(1.0), 8), rank.buffer(rank.mine(2.0), 8));
            let (first, second) = (&rank.comm, &others[rank.rank]);
            let mut graph = rank.device.record(|r: &mut Recorder<'_>| {
                if rank.rank == 0 {
                    r.run(first.all_reduce_in_place(&mut x, Reduce::Sum))?;
                    return r.run(second.all_reduce_in_place(&mut y, Reduce::Sum));
                }
                r.run(second.all_reduce_in_place(&mut y, Reduce::Sum))?;
                r.run(first.all_reduce_in_place(&mut x, Reduce::Sum))
            })?;
            graph.launch_sync(&rank.stream)?;
            assert_eq!((rank.stream.read(&x)?, rank.stream.read(&y)?), (vec![3.0; 8], vec![5.0; 8]));
            Ok(())
        });
        assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
        said.into_iter().for_each(|said| said.unwrap().unwrap());
        gone(&devices);
    }
}

#[test]
fn collectives_and_copies_between_devices_in_a_capture() {
    for seed in 0..2 {
        let devices = group_with(seed, 2, Duration::from_secs(20));
        let all = devices.clone();
        let said = ranks_of(&devices, &Join::new().timeout(Duration::from_secs(2)), move |rank| -> Result<()> {
            let (mut x, side) = (rank.buffer(rank.mine(1.0), 8), CaptureStream::new(&rank.device)?);
            // SAFETY: no raw calls are made.
            let capture = |op: dacapo::op::BoxOp<'_>| unsafe { captured(&side, Mode::Relaxed, |c| c.run(op)) };
            let mut graph = capture(Box::new(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum)))?;
            graph.launch(&rank.stream)?;
            assert_eq!(rank.stream.read(&x)?, [3.0; 8]);
            let mut far = all[1 - rank.rank].zeros::<f32>(8)?;
            let mut over = capture(Box::new(copy(&x, &mut far)))?;
            over.launch(&rank.stream)?;
            let there = all[1 - rank.rank].stream()?;
            assert_eq!(there.read(&far)?, [3.0; 8]);
            // Ranks that differ.
            let reduce = if rank.rank == 0 { Reduce::Sum } else { Reduce::Max };
            kind!(capture(Box::new(rank.comm.all_reduce_in_place(&mut x, reduce))), ErrorKind::RanksDiffer { .. });
            // One that does not come.
            if rank.rank == 1 {
                std::thread::sleep(Duration::from_secs(4));
                return Ok(());
            }
            let begun = Instant::now();
            kind!(graph.launch_sync(&rank.stream), ErrorKind::RankFailed { .. });
            assert!(begun.elapsed() < Duration::from_secs(10));
            Ok(())
        });
        for said in said {
            said.unwrap().unwrap();
        }
        gone(&devices);
    }
}

#[test]
fn a_collective_in_a_loop_without_a_bound_is_refused_where_there_are_others() {
    let devices = group(1, 2);
    let ranks = Communicator::all(&devices).unwrap();
    let mut x = devices[0].buffer(&[1.0f32; 4]).unwrap();
    for depth in [1, 2] {
        let refused = devices[0].record(|r: &mut Recorder<'_>| {
            r.repeat(unbounded(), |r: &mut Recorder<'_>| {
                match depth {
                    1 => r.run(ranks[0].all_reduce_in_place(&mut x, Reduce::Max))?,
                    _ => drop(r.when(
                        above(x.at(0), baked(0.0)),
                        ranks[0].all_reduce_in_place(&mut y(&devices[0]), Reduce::Max),
                    )?),
                }
                Ok(above(x.at(0), baked(0.5)))
            })
            .map(drop)
        });
        kind!(refused.map(drop), ErrorKind::NoBound);
    }
    let alone = Communicator::alone(&devices[0]).unwrap();
    let recorded = devices[0].record(|r: &mut Recorder<'_>| {
        r.repeat(unbounded(), |r: &mut Recorder<'_>| {
            r.run(alone.all_reduce_in_place(&mut x, Reduce::Max))?;
            Ok(above(x.at(0), baked(1.5)))
        })
        .map(drop)
    });
    recorded.unwrap();
}

fn y(device: &dacapo::Device) -> dacapo::Buffer<f32> {
    device.zeros::<f32>(4).unwrap()
}
