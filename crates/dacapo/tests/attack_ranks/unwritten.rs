//! What a collective should have written, and who is told that it has not.

use std::sync::{Arc, Barrier};
use std::time::Duration;

use dacapo::collective::{Join, Reduce};
use dacapo::flow::above;
use dacapo::{Buffer, Device, ErrorKind, Recorder, Result, Stream, baked, copy, download, fill};

use crate::kind;
use crate::kit::{Rank, block_on, ended, group};

const LONG: Duration = Duration::from_secs(20);

/// Rank 0 does what the body says while rank 1 comes to no collective, and aborts when the body calls `die`.
fn rank_0(seed: u64, body: impl Fn(Rank, &dyn Fn()) -> Result<()> + Send + Sync + 'static) {
    let (body, barrier) = (Arc::new(body), Arc::new(Barrier::new(2)));
    let said = ended(seed, 2, LONG, move |rank| {
        if rank.rank == 0 {
            return body(rank, &|| _ = barrier.wait());
        }
        barrier.wait();
        rank.comm.abort("it does not come");
        Ok(())
    });
    assert!(said.iter().all(Result::is_ok), "{said:?}");
}

#[test]
fn a_stream_that_reads_what_another_one_should_have_written_is_told() {
    for seed in 0..6 {
        rank_0(seed, |rank, die| {
            let other = rank.device.stream()?;
            let (mut x, mut elements) = (rank.buffer(1.0, 64), [0.0f32; 64]);
            rank.stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            let later = other.read_later(&x)?;
            let asked = other.read_later(&x)?;
            die();
            kind!(other.read(&x), ErrorKind::RankFailed { .. });
            kind!(other.read_into(&x, &mut elements), ErrorKind::RankFailed { .. });
            kind!(later.wait(), ErrorKind::RankFailed { .. });
            kind!(block_on(asked), ErrorKind::RankFailed { .. });
            assert_eq!(elements, [0.0; 64], "nothing of it is shown");
            Ok(())
        });
    }
}

#[test]
fn the_host_is_told_where_its_memory_was_to_be_written_behind_it() {
    for seed in 0..6 {
        rank_0(seed, |rank, die| {
            let mut x = rank.buffer(1.0, 64);
            let mut host = rank.device.host(&[0.0f32; 64])?;
            rank.stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            rank.stream.run(download(&x, &mut host))?;
            die();
            kind!(host.to_vec(), ErrorKind::RankFailed { .. });
            // What the host writes itself is there.
            host.set(&[5.0; 64])?;
            Ok(())
        });
    }
}

#[test]
fn what_was_written_before_is_there() {
    for seed in 0..6 {
        rank_0(seed, |rank, die| {
            let other = rank.device.stream()?;
            let (mut x, mut y, z) = (rank.buffer(1.0, 64), rank.buffer(0.0, 64), rank.buffer(3.0, 64));
            let mut host = rank.device.host(&[0.0f32; 64])?;
            rank.stream.run(copy(&z, &mut y))?;
            rank.stream.run(download(&z, &mut host))?;
            rank.stream.synchronize()?;
            rank.stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            die();
            kind!(other.read(&x), ErrorKind::RankFailed { .. });
            assert_eq!(other.read(&y)?, [3.0; 64]);
            assert_eq!(host.to_vec()?, [3.0; 64]);
            // Memory that is written again on a stream that goes on is whole.
            other.write(&mut x, &[4.0; 64])?;
            assert_eq!(other.read(&x)?, [4.0; 64]);
            kind!(rank.stream.synchronize(), ErrorKind::RankFailed { .. });
            Ok(())
        });
    }
}

#[test]
fn dropping_the_graph_and_the_communicator_does_not_make_its_result_whole() {
    for seed in 0..6 {
        let (seen, is_seen) = (Arc::new(Barrier::new(2)), seed % 2 == 0);
        let other_seen = seen.clone();
        let devices = group(seed, 2);
        let ranks = Join::new().without_agreement().timeout(LONG).all(&devices).unwrap();
        let [here, there]: [_; 2] = ranks.try_into().unwrap();
        let (stream, other) = (devices[0].stream().unwrap(), devices[0].stream().unwrap());
        let mut x = devices[0].buffer(&[1.0f32; 64]).unwrap();
        let mut graph = devices[0].record(here.all_reduce_in_place(&mut x, Reduce::Sum)).unwrap();
        graph.launch(&stream).unwrap();
        let dies = std::thread::spawn(move || {
            there.abort("it does not come");
            other_seen.wait();
        });
        seen.wait();
        dies.join().unwrap();
        kind!(stream.synchronize(), ErrorKind::RankFailed { .. });
        if is_seen {
            kind!(other.read(&x), ErrorKind::RankFailed { .. });
        }
        drop((graph, here));
        kind!(other.read(&x), ErrorKind::RankFailed { .. });
        kind!(block_on(other.read_later(&x).unwrap()), ErrorKind::RankFailed { .. });
        other.write(&mut x, &[4.0; 64]).unwrap();
        assert_eq!(other.read(&x).unwrap(), [4.0; 64]);
    }
}

#[test]
fn memory_that_is_written_anew_is_whole_while_the_graph_is_held() {
    let devices = group(1, 2);
    let ranks = Join::new().without_agreement().timeout(LONG).all(&devices).unwrap();
    let (stream, other) = (devices[0].stream().unwrap(), devices[0].stream().unwrap());
    let mut x = devices[0].buffer(&[1.0f32; 64]).unwrap();
    let mut graph = devices[0].record(ranks[0].all_reduce_in_place(&mut x, Reduce::Sum)).unwrap();
    graph.launch(&stream).unwrap();
    ranks[1].abort("it does not come");
    kind!(stream.synchronize(), ErrorKind::RankFailed { .. });
    kind!(other.read(&x), ErrorKind::RankFailed { .. });
    other.write(&mut x, &[4.0; 64]).unwrap();
    assert_eq!(other.read(&x).unwrap(), [4.0; 64]);
    // By a graph as well, and also when that is gone.
    let mut again = devices[0].record(fill(&mut x, baked(5.0))).unwrap();
    again.launch(&other).unwrap();
    assert_eq!(other.read(&x).unwrap(), [5.0; 64]);
    drop(again);
    assert_eq!(other.read(&x).unwrap(), [5.0; 64]);
    drop(graph);
    assert_eq!(other.read(&x).unwrap(), [5.0; 64]);
}

/// Two devices whose communicator is dead since a launch on the first one that was to write `x`; and another stream of that one.
fn dead_in_flight() -> ([Device; 2], Stream, Buffer<f32>) {
    let devices = group(1, 2);
    let ranks = Join::new().timeout(LONG).all(&devices).unwrap();
    let stream = devices[0].stream().unwrap();
    let mut x = devices[0].buffer(&[1.0f32; 64]).unwrap();
    stream.run(ranks[0].all_reduce_in_place(&mut x, Reduce::Sum)).unwrap();
    ranks[1].abort("it does not come");
    kind!(stream.synchronize(), ErrorKind::RankFailed { .. });
    let other = devices[0].stream().unwrap();
    (devices.try_into().unwrap(), other, x)
}

#[test]
fn ops_that_read_what_was_not_written_are_refused() {
    let (devices, other, mut x) = dead_in_flight();
    let (mut y, mut far) = (devices[0].zeros::<f32>(64).unwrap(), devices[1].zeros::<f32>(64).unwrap());
    let mut host = devices[0].host(&[0.0f32; 64]).unwrap();
    let there = devices[1].stream().unwrap();
    kind!(other.run(copy(&x, &mut y)), ErrorKind::RankFailed { .. });
    kind!(other.run(download(&x, &mut host)), ErrorKind::RankFailed { .. });
    kind!(there.run(copy(&x, &mut far)), ErrorKind::RankFailed { .. });
    let mut down = devices[0].record(download(&x, &mut host)).unwrap();
    kind!(down.launch(&other).map(drop), ErrorKind::RankFailed { .. });
    drop(down);
    let mut across = devices[1].record(copy(&x, &mut far)).unwrap();
    kind!(across.launch(&there).map(drop), ErrorKind::RankFailed { .. });
    let refused = other.run(|r: &mut Recorder<'_>| {
        r.run(fill(&mut y, baked(1.0)))?;
        r.when(above(x.at(0), baked(0.5)), |_| Ok(())).map(drop)
    });
    kind!(refused, ErrorKind::RankFailed { .. });
    // It says which op, and where.
    let said = other.run(copy(&x, &mut y)).unwrap_err().to_string();
    assert!(said.contains("`copy` at ") && said.contains("unwritten.rs"), "{said}");
    // What comes behind a write of the same piece of work sees that.
    let mut anew = devices[0]
        .record(|r: &mut Recorder<'_>| {
            r.run(fill(&mut x, baked(2.0)))?;
            r.run(download(&x, &mut host))
        })
        .unwrap();
    anew.launch(&other).unwrap();
    assert_eq!(host.to_vec().unwrap(), [2.0; 64]);
    across.launch(&there).unwrap();
    assert_eq!(there.read(&far).unwrap(), [2.0; 64]);
}

#[test]
fn what_a_launch_binds_is_asked_about_too() {
    let (devices, other, mut x) = dead_in_flight();
    let (mut y, ok) = (devices[0].zeros::<f32>(64).unwrap(), devices[0].buffer(&[2.0f32; 64]).unwrap());
    let mut graph = devices[0].graph().record_into(&ok[..], &mut y[..], |r, x, y| r.run(copy(x, y))).unwrap();
    kind!(graph.launch(&other, &x, &mut y).map(drop), ErrorKind::RankFailed { .. });
    kind!(graph.profile(&other, &x, &mut y).map(drop), ErrorKind::RankFailed { .. });
    graph.launch(&other, &ok, &mut y).unwrap();
    assert_eq!(other.read(&y).unwrap(), [2.0; 64]);
    graph.launch(&other, &ok, &mut x).unwrap();
    assert_eq!(other.read(&x).unwrap(), [2.0; 64]);
}

#[test]
fn a_profile_and_a_tuning_are_launches() {
    let (devices, other, x) = dead_in_flight();
    let mut y = devices[0].zeros::<f32>(64).unwrap();
    let mut graph = devices[0].record(copy(&x, &mut y)).unwrap();
    kind!(graph.profile(&other).map(drop), ErrorKind::RankFailed { .. });
    kind!(graph.tune(&other).map(drop), ErrorKind::RankFailed { .. });
}

#[test]
fn putting_back_what_was_not_written_does_not_make_it_whole() {
    let (devices, other, mut x) = dead_in_flight();
    let warm = devices[0].graph().warmup(1).record(|r| r.run(fill(&mut x, baked(1.0))));
    kind!(warm.map(drop), ErrorKind::RankFailed { .. });
    kind!(other.read(&x), ErrorKind::RankFailed { .. });
    let mut graph = devices[0].record(fill(&mut x, baked(1.0))).unwrap();
    kind!(graph.tune(&other).map(drop), ErrorKind::RankFailed { .. });
    kind!(other.read(&x), ErrorKind::RankFailed { .. });
    // Nothing is put back here.
    graph.launch(&other).unwrap();
    assert_eq!(other.read(&x).unwrap(), [1.0; 64]);
}

#[test]
fn a_stream_whose_work_died_takes_no_more() {
    let devices = group(4, 2);
    let ranks = Join::new().timeout(LONG).all(&devices).unwrap();
    let stream = devices[0].stream().unwrap();
    let (mut x, mut y) = (devices[0].buffer(&[1.0f32; 64]).unwrap(), devices[0].buffer(&[2.0f32; 64]).unwrap());
    let mut graph = devices[0].record(fill(&mut y, baked(3.0))).unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!(stream.read(&y).unwrap(), [3.0; 64]);
    stream.run(ranks[0].all_reduce_in_place(&mut x, Reduce::Sum)).unwrap();
    ranks[1].abort("it does not come");
    kind!(stream.synchronize(), ErrorKind::RankFailed { .. });
    kind!(stream.write(&mut x, &[4.0; 64]), ErrorKind::RankFailed { .. });
    kind!(stream.run(fill(&mut x, baked(4.0))), ErrorKind::RankFailed { .. });
    let mut other_graph = devices[0].record(fill(&mut x, baked(4.0))).unwrap();
    kind!(other_graph.launch(&stream).map(drop), ErrorKind::RankFailed { .. });
    let said = format!("{:?}", graph.launch(&stream).map(drop).unwrap_err());
    assert!(said.contains("make a new stream"), "{said}");
    // What was there is there, and goes on elsewhere.
    let other = devices[0].stream().unwrap();
    assert_eq!(other.read(&y).unwrap(), [3.0; 64]);
    graph.launch(&other).unwrap();
    other_graph.launch(&other).unwrap();
    assert_eq!((other.read(&x).unwrap(), other.read(&y).unwrap()), (vec![4.0; 64], vec![3.0; 64]));
}

#[test]
fn what_is_over_is_not_in_flight() {
    for pipelined in [false, true] {
        let devices = group(3, 2);
        let ranks = Join::new().timeout(LONG).all(&devices).unwrap();
        let [mine, theirs] = <[_; 2]>::try_from(ranks).unwrap();
        let there = devices[1].clone();
        let partner = std::thread::spawn(move || {
            let (stream, mut x) = (there.stream().unwrap(), there.buffer(&[1.0f32; 8]).unwrap());
            stream.run(theirs.broadcast(&mut x, 0)).unwrap();
            stream.synchronize().unwrap();
            theirs
        });
        let stream = devices[0].stream().unwrap();
        let (mut x, mut y) = (devices[0].buffer(&[1.0f32; 8]).unwrap(), devices[0].buffer(&[1.0f32; 8]).unwrap());
        stream.run(mine.broadcast(&mut x, 0)).unwrap();
        let theirs = partner.join().unwrap();
        let before = stream.read_later(&x).unwrap();
        if pipelined {
            // What comes behind it is there before anybody has waited.
            stream.run(mine.all_reduce_in_place(&mut y, Reduce::Sum)).unwrap();
        }
        assert_eq!(before.wait().unwrap(), [1.0; 8]);
        theirs.abort("it does not come");
        while mine.death().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let said = format!("{:?}", mine.death().unwrap());
        assert!(!said.contains("`broadcast`"), "{said}");
        assert_eq!(said.contains("in flight: eager `all_reduce`"), pipelined, "{said}");
        match pipelined {
            true => kind!(stream.synchronize(), ErrorKind::RankFailed { .. }),
            false => assert_eq!(stream.read(&x).unwrap(), [1.0; 8]),
        }
    }
}

#[test]
fn what_the_host_has_written_since_is_whole() {
    rank_0(1, |rank, die| {
        let other = rank.device.stream()?;
        let (mut x, mut y) = (rank.buffer(1.0, 64), rank.buffer(0.0, 64));
        let mut host = rank.device.host(&[0.0f32; 64])?;
        rank.stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
        rank.stream.run(download(&x, &mut host))?;
        die();
        kind!(host.to_vec(), ErrorKind::RankFailed { .. });
        host.set(&[5.0; 64])?;
        assert_eq!(host.to_vec()?, [5.0; 64]);
        other.run(dacapo::upload(&host, &mut y))?;
        assert_eq!(other.read(&y)?, [5.0; 64]);
        Ok(())
    });
}

#[test]
fn a_graph_across_devices_that_has_run_before_is_refused_too() {
    let devices = group(2, 2);
    let ranks = Join::new().timeout(LONG).all(&devices).unwrap();
    let (stream, there) = (devices[0].stream().unwrap(), devices[1].stream().unwrap());
    let (mut x, mut far) = (devices[0].buffer(&[3.0f32; 64]).unwrap(), devices[1].zeros::<f32>(64).unwrap());
    let mut across = devices[1].record(copy(&x, &mut far)).unwrap();
    for _ in 0..3 {
        across.launch(&there).unwrap();
        assert_eq!(there.read(&far).unwrap(), [3.0; 64]);
    }
    stream.run(ranks[0].all_reduce_in_place(&mut x, Reduce::Sum)).unwrap();
    ranks[1].abort("it does not come");
    kind!(stream.synchronize(), ErrorKind::RankFailed { .. });
    kind!(across.launch(&there).map(drop), ErrorKind::RankFailed { .. });
}

#[test]
fn what_was_refused_does_not_count_as_written() {
    let (devices, other, mut x) = dead_in_flight();
    devices[0].set_memory_budget(Some(1 << 16));
    let refused = other.run(|r: &mut Recorder<'_>| {
        let mut t = r.alloc::<f32>(1 << 20)?;
        r.run(fill(&mut t, baked(5.0)))?;
        r.run(copy(&t[..64], &mut x))
    });
    assert!(refused.is_err());
    kind!(other.read(&x), ErrorKind::RankFailed { .. });
}

#[test]
fn memory_that_is_written_anew_is_whole_when_the_graph_is_dropped() {
    let devices = group(1, 2);
    let ranks = Join::new().without_agreement().timeout(LONG).all(&devices).unwrap();
    let (stream, other) = (devices[0].stream().unwrap(), devices[0].stream().unwrap());
    let mut x = devices[0].buffer(&[1.0f32; 64]).unwrap();
    let mut graph = devices[0].record(ranks[0].all_reduce_in_place(&mut x, Reduce::Sum)).unwrap();
    graph.launch(&stream).unwrap();
    ranks[1].abort("it does not come");
    while ranks[0].death().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    other.write(&mut x, &[5.0; 64]).unwrap();
    drop(graph);
    assert_eq!(other.read(&x).unwrap(), [5.0; 64]);
}

#[test]
fn a_communicator_whose_work_was_behind_the_dead_launch_goes_on() {
    let devices = group(1, 2);
    let dying = Join::new().timeout(LONG).all(&devices).unwrap();
    let living = Join::new().timeout(LONG).all(&devices).unwrap();
    let (stream, other) = (devices[0].stream().unwrap(), devices[0].stream().unwrap());
    let (mut x, mut y) = (devices[0].buffer(&[1.0f32; 8]).unwrap(), devices[0].buffer(&[1.0f32; 8]).unwrap());
    stream.run(dying[0].all_reduce_in_place(&mut x, Reduce::Sum)).unwrap();
    stream.run(living[0].all_reduce_in_place(&mut y, Reduce::Sum)).unwrap();
    let rank_1 = {
        let (device, comm) = (devices[1].clone(), living[1].clone());
        std::thread::spawn(move || -> Result<Vec<f32>> {
            let (stream, mut y) = (device.stream()?, device.buffer(&[2.0f32; 8])?);
            stream.run(comm.all_reduce_in_place(&mut y, Reduce::Sum))?;
            stream.run(fill(&mut y, baked(2.0)))?;
            stream.run(comm.all_reduce_in_place(&mut y, Reduce::Sum))?;
            stream.read(&y)
        })
    };
    dying[1].abort("it does not come");
    kind!(stream.synchronize(), ErrorKind::RankFailed { .. });
    other.write(&mut y, &[1.0; 8]).unwrap();
    other.run(living[0].all_reduce_in_place(&mut y, Reduce::Sum)).unwrap();
    assert_eq!(other.read(&y).unwrap(), [3.0; 8]);
    assert_eq!(rank_1.join().unwrap().unwrap(), [3.0; 8]);
}

/// That other work died on its stream is not that it is late itself.
#[test]
fn a_communicator_whose_work_was_behind_the_dead_launch_does_not_die_of_that() {
    let devices = group(1, 2);
    let dying = Join::new().timeout(LONG).all(&devices).unwrap();
    let living = Join::new().timeout(Duration::from_secs(1)).all(&devices).unwrap();
    let (stream, there) = (devices[0].stream().unwrap(), devices[1].stream().unwrap());
    let (mut x, mut y) = (devices[0].buffer(&[1.0f32; 8]).unwrap(), devices[0].buffer(&[1.0f32; 8]).unwrap());
    let mut z = devices[1].buffer(&[1.0f32; 8]).unwrap();
    stream.run(dying[0].all_reduce_in_place(&mut x, Reduce::Sum)).unwrap();
    stream.run(living[0].all_reduce_in_place(&mut y, Reduce::Sum)).unwrap();
    there.run(living[1].all_reduce_in_place(&mut z, Reduce::Sum)).unwrap();
    // Long enough that the launch was looked at.
    std::thread::sleep(Duration::from_millis(400));
    dying[1].abort("it does not come");
    kind!(stream.synchronize(), ErrorKind::RankFailed { .. });
    there.synchronize().unwrap();
    std::thread::sleep(Duration::from_millis(2000));
    assert!(living.iter().all(|comm| comm.death().is_none()), "{:?}", living[0].death());
}

/// Another rank may come only when something else that is awaited here is over.
#[test]
fn who_awaits_a_collective_keeps_nobody_else_waiting() {
    let devices = group(2, 2);
    let [first, second] = [(); 2].map(|()| Join::new().timeout(LONG).all(&devices).unwrap());
    let [stream, other, there] = [0, 0, 1].map(|device: usize| devices[device].stream().unwrap());
    let [mut x, mut y, mut z] = [0, 0, 1].map(|device: usize| devices[device].buffer(&[1.0f32; 8]).unwrap());
    let begun = std::time::Instant::now();
    let awaited = stream.submit(first[0].all_reduce_in_place(&mut x, Reduce::Sum)).unwrap();
    let waits = std::thread::spawn(move || block_on(awaited));
    std::thread::sleep(Duration::from_millis(100));
    let before = other.submit(second[0].all_reduce_in_place(&mut y, Reduce::Sum)).unwrap();
    let waits_before = std::thread::spawn(move || block_on(before));
    std::thread::sleep(Duration::from_millis(100));
    there.run(second[1].all_reduce_in_place(&mut z, Reduce::Sum)).unwrap();
    waits_before.join().unwrap().unwrap();
    there.run(first[1].all_reduce_in_place(&mut z, Reduce::Sum)).unwrap();
    waits.join().unwrap().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(there.read(&z).unwrap(), [3.0; 8]);
}

#[test]
fn of_writes_on_two_streams_that_nobody_ordered_both_are_asked() {
    let devices = group(1, 2);
    let ranks = Join::new().without_agreement().timeout(LONG).all(&devices).unwrap();
    let (stream, other) = (devices[0].stream().unwrap(), devices[0].stream().unwrap());
    let (mut x, z) = (devices[0].buffer(&[1.0f32; 64]).unwrap(), devices[0].buffer(&[9.0f32; 64]).unwrap());
    let mut y = devices[0].buffer(&[7.0f32; 64]).unwrap();
    devices[0].record(copy(&z, &mut y)).unwrap().launch(&other).unwrap();
    let mut kept = devices[0].record(copy(&z, &mut y)).unwrap();
    kept.launch(&other).unwrap();
    stream.run(ranks[0].all_reduce_in_place(&mut x, Reduce::Sum)).unwrap();
    devices[0].record(copy(&x, &mut y)).unwrap().launch(&stream).unwrap();
    ranks[1].abort("it does not come");
    while ranks[0].death().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let third = devices[0].stream().unwrap();
    kind!(third.read(&y), ErrorKind::RankFailed { .. });
    drop(kept);
    kind!(third.read(&y), ErrorKind::RankFailed { .. });
}

#[test]
fn an_op_of_no_bytes_writes_nothing() {
    let (devices, other, mut x) = dead_in_flight();
    let z = devices[0].buffer(&[0.0f32; 64]).unwrap();
    other.run(copy(&z[..0], &mut x[3..3])).unwrap();
    kind!(other.read(&x), ErrorKind::RankFailed { .. });
    let mut graph = devices[0].record(copy(&z[..0], &mut x[3..3])).unwrap();
    graph.launch(&other).unwrap();
    kind!(other.read(&x), ErrorKind::RankFailed { .. });
    let mut bound = devices[0].graph().record_into(&z[..0], &mut x[..0], |r, z, x| r.run(copy(z, x))).unwrap();
    bound.launch(&other, &z[..0], &mut x[5..5]).unwrap();
    kind!(other.read(&x), ErrorKind::RankFailed { .. });
}

#[test]
fn a_profile_on_a_device_without_a_rank_asks_as_well() {
    let devices = group(1, 3);
    let ranks = Join::new().timeout(LONG).all(&devices[..2]).unwrap();
    let (stream, there) = (devices[0].stream().unwrap(), devices[2].stream().unwrap());
    let mut x = devices[0].buffer(&[1.0f32; 64]).unwrap();
    let mut far = devices[2].zeros::<f32>(64).unwrap();
    stream.run(ranks[0].all_reduce_in_place(&mut x, Reduce::Sum)).unwrap();
    ranks[1].abort("it does not come");
    kind!(stream.synchronize(), ErrorKind::RankFailed { .. });
    let mut graph = devices[2].record(copy(&x, &mut far)).unwrap();
    kind!(graph.launch(&there).map(drop), ErrorKind::RankFailed { .. });
    kind!(graph.profile(&there).map(drop), ErrorKind::RankFailed { .. });
    let mut host = devices[0].host(&[0.0f32; 64]).unwrap();
    let mut down = devices[0].record(download(&x, &mut host)).unwrap();
    kind!(down.profile(&devices[0].stream().unwrap()).map(drop), ErrorKind::RankFailed { .. });
    drop(down);
    assert_eq!(host.to_vec().unwrap(), [0.0; 64]);
}

#[test]
fn what_is_only_brought_onto_the_device_has_written_nothing() {
    for is_dropped in [false, true] {
        let (devices, other, mut x) = dead_in_flight();
        let mut graph = devices[0].graph().preloaded().record(fill(&mut x, baked(2.0))).unwrap();
        kind!(other.read(&x), ErrorKind::RankFailed { .. });
        if is_dropped {
            drop(graph);
            kind!(other.read(&x), ErrorKind::RankFailed { .. });
        } else {
            graph.launch(&other).unwrap();
            assert_eq!(other.read(&x).unwrap(), [2.0; 64]);
        }
    }
}
