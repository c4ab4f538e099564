//! Collectives among other work: kernels, temps, slots, several graphs, streams and communicators.

use dacapo::collective::Reduce;
use dacapo::{Recorder, Slot, copy, fill};

use super::kit::both;
use super::{Rank, RankForm};
use crate::forms::{Outcome, same};

pub(super) const FORMS: &[RankForm] = &[
    RankForm { name: "graphs/temps", ranks_min: 1, body: temps },
    RankForm { name: "graphs/slots", ranks_min: 1, body: slots },
    RankForm { name: "graphs/two_graphs_share_memory", ranks_min: 1, body: shared },
    RankForm { name: "graphs/two_streams", ranks_min: 1, body: streams },
    RankForm { name: "graphs/two_communicators", ranks_min: 1, body: communicators },
    RankForm { name: "graphs/one_in_another", ranks_min: 1, body: embedded },
    RankForm { name: "graphs/eager_between_replays", ranks_min: 1, body: between },
    RankForm { name: "graphs/recorded_again", ranks_min: 1, body: again },
    RankForm { name: "graphs/many_replays", ranks_min: 1, body: many },
    RankForm { name: "graphs/awaited_by_ticket", ranks_min: 1, body: tickets },
];

fn sum_of(size: usize) -> f32 {
    (0..size).sum::<usize>() as f32
}

fn temps(rank: &Rank) -> Outcome {
    let sum = sum_of(rank.size());
    both(rank, &[rank.number() as f32; 6], &[9.0; 6], &[sum; 6], |r, x, y| {
        let (mut mine, mut all) = (r.alloc::<f32>(6)?, r.alloc::<f32>(6)?);
        r.run(copy(x, &mut mine))?;
        r.run(rank.comm.all_reduce(&mine, &mut all, Reduce::Sum))?;
        r.run(copy(&all, y))
    })
}

fn slots(rank: &Rank) -> Outcome {
    let value = Slot::new(0.0f32);
    let (mut x, mut y) = (rank.device.zeros::<f32>(4)?, rank.device.zeros::<f32>(4)?);
    let mut graph = rank.device.record(|r: &mut Recorder<'_>| {
        r.run(fill(&mut x, &value))?;
        r.run(rank.comm.all_reduce(&x, &mut y, Reduce::Sum))
    })?;
    for step in 0..5 {
        value.set((step * (rank.number() + 1)) as f32);
        graph.launch(&rank.stream)?;
        let want = (1..=rank.size()).map(|rank| (step * rank) as f32).sum::<f32>();
        same("a step", rank.stream.read(&y)?, [want; 4])?;
    }
    Ok(())
}

fn shared(rank: &Rank) -> Outcome {
    let mut x = rank.device.buffer(&[1.0f32; 4])?;
    let mut y = rank.device.zeros::<f32>(4)?;
    let mut sum = rank.device.record(rank.comm.all_reduce(&x, &mut y, Reduce::Sum))?;
    let mut back = rank.device.record(copy(&y, &mut x))?;
    let other = rank.device.stream()?;
    for _ in 0..3 {
        sum.launch(&rank.stream)?;
        back.launch(&other)?;
    }
    let want = (rank.size() as f32).powi(3);
    same("x", rank.stream.read(&x)?, [want; 4])
}

fn streams(rank: &Rank) -> Outcome {
    let (mut x, mut y) = (rank.device.buffer(&[1.0f32; 4])?, rank.device.buffer(&[2.0f32; 4])?);
    let other = rank.device.stream()?;
    // Different memory, and one communicator: their order is that of the calls.
    for _ in 0..4 {
        rank.stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Average))?;
        other.run(rank.comm.all_reduce_in_place(&mut y, Reduce::Max))?;
    }
    same("x", rank.stream.read(&x)?, [1.0; 4])?;
    same("y", other.read(&y)?, [2.0; 4])
}

fn communicators(rank: &Rank) -> Outcome {
    let sum = sum_of(rank.size());
    both(rank, &[rank.number() as f32; 3], &[9.0; 6], &[[sum; 3], [sum; 3]].concat(), |r, x, y| {
        let (first, second) = y.split_at_mut(3);
        r.run(rank.comm.all_reduce(x, first, Reduce::Sum))?;
        r.run(rank.other.all_reduce(x, second, Reduce::Sum))
    })
}

fn embedded(rank: &Rank) -> Outcome {
    let (x, mut y) = (rank.device.buffer(&[1.0f32; 4])?, rank.device.zeros::<f32>(4)?);
    let mut z = rank.device.zeros::<f32>(4)?;
    let inner = rank.device.record(rank.comm.all_reduce(&x, &mut y, Reduce::Sum))?;
    let mut outer = rank.device.record(|r: &mut Recorder<'_>| {
        r.run(inner.as_op())?;
        r.run(rank.comm.all_reduce(&y, &mut z, Reduce::Sum))
    })?;
    drop(inner);
    outer.launch(&rank.stream)?;
    let size = rank.size() as f32;
    same("y", rank.stream.read(&y)?, [size; 4])?;
    same("z", rank.stream.read(&z)?, [size * size; 4])
}

fn between(rank: &Rank) -> Outcome {
    let (x, mut y) = (rank.device.buffer(&[1.0f32; 4])?, rank.device.zeros::<f32>(4)?);
    let mut graph = rank.device.record(rank.comm.all_reduce(&x, &mut y, Reduce::Sum))?;
    let size = rank.size() as f32;
    for _ in 0..3 {
        graph.launch(&rank.stream)?;
        rank.stream.run(rank.comm.all_reduce_in_place(&mut y, Reduce::Sum))?;
        same("y", rank.stream.read(&y)?, [size * size; 4])?;
    }
    Ok(())
}

fn again(rank: &Rank) -> Outcome {
    let (x, mut y) = (rank.device.buffer(&[2.0f32; 4])?, rank.device.zeros::<f32>(4)?);
    let mut graph = rank.device.record(rank.comm.all_reduce(&x, &mut y, Reduce::Sum))?;
    graph.launch(&rank.stream)?;
    graph.rerecord(rank.comm.all_reduce(&x, &mut y, Reduce::Max))?;
    graph.launch(&rank.stream)?;
    same("y", rank.stream.read(&y)?, [2.0; 4])
}

fn many(rank: &Rank) -> Outcome {
    let mut x = rank.device.buffer(&[rank.number() as u64; 8])?;
    let mut graph = rank.device.record(|r: &mut Recorder<'_>| {
        for _ in 0..4 {
            r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Max))?;
        }
        Ok(())
    })?;
    for _ in 0..25 {
        graph.launch(&rank.stream)?;
    }
    same("x", rank.stream.read(&x)?, [rank.size() as u64 - 1; 8])
}

fn tickets(rank: &Rank) -> Outcome {
    let (x, mut y) = (rank.device.buffer(&[1u32; 4])?, rank.device.zeros::<u32>(4)?);
    let mut graph = rank.device.record(rank.comm.all_reduce(&x, &mut y, Reduce::Sum))?;
    let tickets = [graph.submit(&rank.stream)?, graph.submit(&rank.stream)?];
    tickets.into_iter().try_for_each(|ticket| ticket.wait())?;
    same("y", rank.stream.read(&y)?, [rank.size() as u32; 4])
}
