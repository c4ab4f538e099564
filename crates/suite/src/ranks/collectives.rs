//! Collectives that move and do not compute.

use super::kit::{both, data, in_place};
use super::{Rank, RankForm};
use crate::forms::Outcome;

pub(super) const FORMS: &[RankForm] = &[
    RankForm { name: "collectives/all_gather", ranks_min: 1, body: all_gather },
    RankForm { name: "collectives/all_gather_of_structs", ranks_min: 1, body: structs },
    RankForm { name: "collectives/broadcast", ranks_min: 1, body: broadcast },
    RankForm { name: "collectives/all_to_all", ranks_min: 1, body: all_to_all },
    RankForm { name: "collectives/one_behind_the_other", ranks_min: 1, body: chain },
];

fn all_gather(rank: &Rank) -> Outcome {
    let (size, source) = (rank.size(), data::<f32>(rank.number(), 5));
    let want: Vec<f32> = (0..size).flat_map(|rank| data::<f32>(rank, 5)).collect();
    both(rank, &source, &vec![9.0; 5 * size], &want, |r, x, y| r.run(rank.comm.all_gather(x, y)))
}

/// An element that is no number.
#[derive(Clone, Copy, Debug, PartialEq, dacapo::Pod)]
#[repr(C)]
struct Entry {
    key: u64,
    weight: f32,
    rank: u32,
}

fn structs(rank: &Rank) -> Outcome {
    let of = |rank: usize| [1, 2, 3].map(|key| Entry { key: key << 40, weight: 0.5 * key as f32, rank: rank as u32 });
    let want: Vec<Entry> = (0..rank.size()).flat_map(of).collect();
    let blank = vec![Entry { key: 0, weight: 0.0, rank: 99 }; want.len()];
    both(rank, &of(rank.number()), &blank, &want, |r, x, y| r.run(rank.comm.all_gather(x, y)))
}

fn broadcast(rank: &Rank) -> Outcome {
    for root in 0..rank.size() {
        let (mine, want) = (data::<u32>(rank.number(), 9), data::<u32>(root, 9));
        in_place(rank, &mine, &want, |r, x| r.run(rank.comm.broadcast(x, root)))?;
    }
    Ok(())
}

fn all_to_all(rank: &Rank) -> Outcome {
    let size = rank.size();
    let of = |from: usize, to: usize, at: usize| (100 * from + 10 * to + at) as u32;
    let source: Vec<u32> = (0..size).flat_map(|to| (0..3).map(move |at| of(rank.number(), to, at))).collect();
    let want: Vec<u32> = (0..size).flat_map(|from| (0..3).map(move |at| of(from, rank.number(), at))).collect();
    both(rank, &source, &vec![0; 3 * size], &want, |r, x, y| r.run(rank.comm.all_to_all(x, y)))
}

/// Each takes what the one before it has written.
fn chain(rank: &Rank) -> Outcome {
    use dacapo::collective::Reduce;
    let (size, comm) = (rank.size(), &rank.comm);
    let source = vec![rank.number() as u64 + 1; size];
    // Reduce-scatter, all-gather and broadcast make an all-reduce.
    let want = vec![(1..=size as u64).sum::<u64>(); size];
    both(rank, &source, &vec![0; size], &want, |r, x, y| {
        let mut part = r.alloc::<u64>(1)?;
        r.run(comm.reduce_scatter(x, &mut part, Reduce::Sum))?;
        r.run(comm.all_gather(&part, y))?;
        r.run(comm.broadcast(y, size - 1))
    })
}
