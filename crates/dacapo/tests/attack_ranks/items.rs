//! Every public item of the module, used as nobody means it.

use dacapo::collective::{Communicator, Group, Join, Launcher, Number, Reduce, UniqueId};
use dacapo::op::from_fn;
use dacapo::{ErrorKind, Op, Recorder, Result, baked, copy, fill};

use crate::kind;
use crate::kit::{all_well, group, in_time};

#[test]
fn what_goes_between_threads() {
    fn send_sync<T: Send + Sync>() {}
    send_sync::<Communicator>();
    send_sync::<dacapo::collective::Bucketed>();
    send_sync::<Join>();
    send_sync::<Launcher>();
    send_sync::<UniqueId>();
    fn named<T: Number>() -> &'static str {
        T::NAME
    }
    assert_eq!([named::<f32>(), named::<u8>(), named::<dacapo::half::bf16>()], ["f32", "u8", "bf16"]);
}

#[test]
fn an_op_that_runs_a_collective_twice_or_never() {
    for seed in 0..3 {
        all_well(seed, 2, |rank| {
            let mut x = rank.buffer(rank.mine(1.0), 8);
            let twice = from_fn(|r: &mut Recorder<'_>| {
                r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Max))?;
                r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))
            });
            rank.stream.run(twice)?;
            assert_eq!(rank.stream.read(&x)?, [4.0; 8]);
            let never = |_: &mut Recorder<'_>| {
                let _ = rank.comm.all_reduce_in_place(&mut x, Reduce::Max);
                Ok(())
            };
            let mut graph = rank.device.record(never)?;
            graph.launch_sync(&rank.stream)?;
            rank.stream.run(|_: &mut Recorder<'_>| {
                let _ = rank.comm.all_reduce_in_place(&mut x, Reduce::Max).label("never");
                Ok(())
            })?;
            assert_eq!(rank.stream.read(&x)?, [4.0; 8]);
            // Labels, grids and chains on ops that have none.
            let (mut y, mut z) = (rank.buffer(1.0, 8), rank.buffer(1.0, 8));
            let chained = rank.comm.all_reduce_in_place(&mut y, Reduce::Sum).label("first");
            let chained =
                chained.zip(rank.comm.all_reduce_in_place(&mut z, Reduce::Sum).map(|()| 7)).and_then(|((), seven)| {
                    assert_eq!(seven, 7);
                    rank.comm.group().op()
                });
            rank.stream.run(chained)?;
            assert_eq!(rank.stream.read(&z)?, [2.0; 8]);
            Ok(())
        });
    }
}

#[test]
fn groups_of_nothing_and_of_too_much() {
    all_well(0, 2, |rank| {
        rank.stream.run(rank.comm.group().op())?;
        rank.device.record(rank.comm.group().op())?.launch_sync(&rank.stream)?;
        // A group of a hundred.
        let mut all: Vec<_> = (0..100).map(|at| rank.buffer(rank.mine(at as f32), 3)).collect();
        let mut group: Group<'_> = rank.comm.group();
        for one in &mut all {
            group = group.all_reduce_in_place(one, Reduce::Sum);
        }
        rank.stream.run(group.op())?;
        for (at, one) in all.iter().enumerate() {
            assert_eq!(rank.stream.read(one)?, [rank.sum(at as f32); 3]);
        }
        Ok(())
    });
}

#[test]
fn a_shared_handle_does_not_let_a_collective_read_what_it_writes() {
    all_well(0, 2, |rank| {
        let mut x = rank.device.buffer(&[1.0f32; 12])?;
        let also = x.share();
        let comm = &rank.comm;
        let other = 1 - rank.rank;
        kind!(rank.stream.run(comm.all_reduce(&also[..8], &mut x[4..], Reduce::Sum)), ErrorKind::Overlap { .. });
        kind!(rank.device.record(comm.all_reduce(&also[..8], &mut x[4..], Reduce::Sum)), ErrorKind::Overlap { .. });
        kind!(rank.stream.run(comm.all_reduce(&also, &mut x, Reduce::Sum)), ErrorKind::Overlap { .. });
        kind!(rank.stream.run(comm.all_gather(&also[..6], &mut x)), ErrorKind::Overlap { .. });
        kind!(rank.stream.run(comm.reduce_scatter(&also, &mut x[..6], Reduce::Sum)), ErrorKind::Overlap { .. });
        kind!(rank.stream.run(comm.all_to_all(&also, &mut x)), ErrorKind::Overlap { .. });
        // Elsewhere than at the root the target is not written.
        kind!(rank.stream.run(comm.reduce(&also, &mut x, Reduce::Sum, rank.rank)), ErrorKind::Overlap { .. });
        kind!(rank.stream.run(comm.group().send(&also, other).recv(&mut x, other).op()), ErrorKind::Overlap { .. });
        let (head, tail) = x.split_at_mut(6);
        kind!(
            rank.stream.run(
                comm.group().all_reduce_in_place(head, Reduce::Sum).all_reduce(&also[..6], tail, Reduce::Sum).op()
            ),
            ErrorKind::Overlap { .. }
        );
        assert_eq!(rank.stream.read(&x)?, [1.0; 12]);
        // Halves that touch are apart.
        let (head, tail) = x.split_at_mut(6);
        rank.stream.run(comm.all_reduce(head, tail, Reduce::Sum))?;
        assert_eq!(rank.stream.read(&x[6..])?, [2.0; 6]);
        Ok(())
    });
}

#[test]
fn buckets_of_a_shared_handle_and_of_pieces_in_use() {
    all_well(0, 2, |rank| {
        let mut x = rank.device.buffer(&[1.0f32; 8])?;
        let also = x.share();
        let mut y = rank.device.zeros::<f32>(8)?;
        let reads = rank.device.record(|r: &mut Recorder<'_>| {
            let mut bucket = rank.comm.bucketed(1 << 20, Reduce::Sum);
            bucket.add(r, &mut x)?;
            r.run(copy(&also, &mut y))?;
            bucket.finish(r)
        });
        kind!(reads, ErrorKind::NotReduced { .. });
        let inside = rank.device.record(|r: &mut Recorder<'_>| {
            let mut bucket = rank.comm.bucketed(1 << 20, Reduce::Sum);
            bucket.add(r, &mut x)?;
            r.when(dacapo::flow::nonzero(baked(1u32)), copy(&also, &mut y))?;
            bucket.finish(r)
        });
        kind!(inside, ErrorKind::NotReduced { .. });
        let writes = rank.stream.run(|r: &mut Recorder<'_>| {
            let mut bucket = rank.comm.bucketed(1 << 20, Reduce::Sum);
            bucket.add(r, &mut x)?;
            r.run(fill(&mut x, baked(3.0)))?;
            bucket.finish(r)
        });
        kind!(writes, ErrorKind::NotReduced { .. });
        // Eagerly what was run has been run; the bucket has not.
        let written = rank.stream.read(&x)?;
        assert!(written == [1.0; 8] || written == [3.0; 8], "{written:?}");
        let never = rank.stream.run(|r: &mut Recorder<'_>| rank.comm.bucketed(1 << 20, Reduce::Sum).add(r, &mut x));
        kind!(never, ErrorKind::NotReduced { .. });
        // An error of the body is what is told, not what follows from it.
        let failed: Result<()> = rank.stream.run(|r: &mut Recorder<'_>| {
            rank.comm.bucketed(1 << 20, Reduce::Sum).add(r, &mut x)?;
            Err(dacapo::Error::msg("mine"))
        });
        kind!(failed, ErrorKind::Msg(_));
        Ok(())
    });
}

#[test]
fn a_bucket_whose_op_was_taken_back_is_owed() {
    all_well(0, 2, |rank| {
        let mut x = rank.device.buffer(&[1.0f32; 8])?;
        let also = x.share();
        let mut y = rank.device.zeros::<f32>(8)?;
        // Full, and recorded, in an op that then fails.
        let lost = rank.device.record(|r: &mut Recorder<'_>| {
            let mut bucket = rank.comm.bucketed(1, Reduce::Sum);
            let failed: Result<()> = r.run(|r: &mut Recorder<'_>| {
                bucket.add(r, &mut x)?;
                Err(dacapo::Error::msg("after it"))
            });
            kind!(failed, ErrorKind::Msg(_));
            bucket.finish(r)
        });
        kind!(lost, ErrorKind::NotReduced { .. });
        // Added in an op that fails behind others, and used before it is reduced.
        let used = rank.device.record(|r: &mut Recorder<'_>| {
            let mut bucket = rank.comm.bucketed(1 << 20, Reduce::Sum);
            let failed: Result<()> = r.run(|r: &mut Recorder<'_>| {
                (0..5).try_for_each(|_| r.run(fill(&mut y, baked(0.0))))?;
                bucket.add(r, &mut x)?;
                Err(dacapo::Error::msg("after it"))
            });
            kind!(failed, ErrorKind::Msg(_));
            r.run(copy(&also, &mut y))?;
            bucket.finish(r)
        });
        kind!(used, ErrorKind::NotReduced { .. });
        // An op that fails elsewhere changes nothing.
        let mut graph = rank.device.record(|r: &mut Recorder<'_>| {
            let mut bucket = rank.comm.bucketed(1, Reduce::Sum);
            r.run(fill(&mut x, baked(1.0)))?;
            bucket.add(r, &mut x)?;
            let failed: Result<()> = r.run(|r: &mut Recorder<'_>| {
                r.run(fill(&mut y, baked(0.0)))?;
                Err(dacapo::Error::msg("beside it"))
            });
            kind!(failed, ErrorKind::Msg(_));
            bucket.finish(r)
        })?;
        graph.launch_sync(&rank.stream)?;
        assert_eq!(rank.stream.read(&x)?, [2.0; 8]);
        Ok(())
    });
}

#[test]
fn buckets_of_two_communicators_types_and_sizes() {
    for bytes in [0, 1, 17, usize::MAX] {
        all_well(1, 2, move |rank| {
            let (mut x, mut y) = (rank.buffer(rank.mine(1.0), 3), rank.device.buffer(&[1u8; 5])?);
            let mut z = rank.device.zeros::<f64>(0)?;
            let mut graph = rank.device.record(|r: &mut Recorder<'_>| {
                let mut bucket = rank.comm.bucketed(bytes, Reduce::Sum);
                bucket.add(r, &mut x)?;
                bucket.add(r, &mut y)?;
                bucket.add(r, &mut z)?;
                bucket.finish(r)
            })?;
            graph.launch_sync(&rank.stream)?;
            assert_eq!((rank.stream.read(&x)?, rank.stream.read(&y)?), (vec![3.0; 3], vec![2; 5]));
            Ok(())
        });
    }
}

#[test]
fn an_id_says_nothing_of_itself() {
    // It is as secret as the program's data.
    in_time(|| {
        let devices = group(0, 1);
        let id = UniqueId::new(&devices[0]).unwrap();
        let shown = format!("{id:?}");
        assert!(shown.len() < 64, "{shown}");
        assert_eq!(UniqueId::from_bytes(id.to_bytes()), id);
        assert_ne!(UniqueId::new(&devices[0]).unwrap(), id);
        let comm = Communicator::alone(&devices[0]).unwrap();
        assert!(!format!("{comm:?}").is_empty());
    });
}
