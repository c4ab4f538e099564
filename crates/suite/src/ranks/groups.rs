//! Calls that begin together.

use dacapo::collective::Reduce;

use super::kit::{both, data};
use super::{Rank, RankForm};
use crate::forms::{Outcome, same};

pub(super) const FORMS: &[RankForm] = &[
    RankForm { name: "groups/several_all_reduces", ranks_min: 1, body: several },
    RankForm { name: "groups/of_every_kind", ranks_min: 1, body: kinds },
    RankForm { name: "groups/of_all_calls", ranks_min: 1, body: all_calls },
    RankForm { name: "groups/neighbours_on_both_sides", ranks_min: 2, body: neighbours },
    RankForm { name: "groups/parts_of_one_buffer", ranks_min: 1, body: parts },
];

fn several(rank: &Rank) -> Outcome {
    let source = vec![rank.number() as f32; 12];
    let sum = (0..rank.size()).sum::<usize>() as f32;
    let most = (rank.size() - 1) as f32;
    let want = [vec![sum; 4], vec![most; 4], vec![0.0; 4]].concat();
    both(rank, &source, &[9.0; 12], &want, |r, x, y| {
        let (first, rest) = y.split_at_mut(4);
        let (second, third) = rest.split_at_mut(4);
        let group = rank.comm.group().all_reduce(&x[..4], first, Reduce::Sum);
        r.run(group.all_reduce(&x[4..8], second, Reduce::Max).all_reduce(&x[8..], third, Reduce::Min).op())
    })
}

fn kinds(rank: &Rank) -> Outcome {
    let (size, number) = (rank.size(), rank.number());
    let (right, left) = ((number + 1) % size, (number + size - 1) % size);
    let source = data::<u32>(number, 4);
    let gathered = (0..size).flat_map(|rank| data::<u32>(rank, 4));
    let want: Vec<u32> = gathered.chain(data::<u32>(left, 4)).collect();
    both(rank, &source, &vec![9; 4 * size + 4], &want, |r, x, y| {
        let (all, one) = y.split_at_mut(4 * size);
        r.run(rank.comm.group().all_gather(x, all).send(x, right).recv(one, left).op())
    })
}

/// Collectives with a root, with parts, and pieces from everyone to everyone begin together.
fn all_calls(rank: &Rank) -> Outcome {
    let (size, number) = (rank.size(), rank.number());
    let (root, last) = (size / 2, size - 1);
    let source = data::<u32>(number, 2 * size);
    let of = |rank: usize| data::<u32>(rank, 2 * size);
    let sum = |at: usize| (0..size).map(|rank| of(rank)[at]).sum::<u32>();
    let reduced = (0..2 * size).map(|at| if number == root { sum(at) } else { 9 });
    let scattered = (0..2).map(|at| sum(2 * number + at));
    let exchanged = (0..size).flat_map(|rank| of(rank)[2 * number..2 * number + 2].to_vec());
    let want: Vec<u32> = reduced.chain(scattered).chain(exchanged).chain([7, 8]).collect();
    let mut blank = vec![9; 4 * size + 4];
    if number == last {
        blank[4 * size + 2..].copy_from_slice(&[7, 8]);
    }
    both(rank, &source, &blank, &want, |r, x, y| {
        let (to_root, rest) = y.split_at_mut(2 * size);
        let (part, rest) = rest.split_at_mut(2);
        let (pieces, data) = rest.split_at_mut(2 * size);
        let group = rank.comm.group().reduce(x, to_root, Reduce::Sum, root).reduce_scatter(x, part, Reduce::Sum);
        r.run(group.all_to_all(x, pieces).broadcast(data, last).op())
    })
}

/// A halo: a cell to and from each side.
fn neighbours(rank: &Rank) -> Outcome {
    let (size, number) = (rank.size(), rank.number());
    let source = [10 * number as u32, 10 * number as u32 + 1];
    let mut want = [9; 2];
    if number > 0 {
        want[0] = 10 * (number as u32 - 1) + 1;
    }
    if number + 1 < size {
        want[1] = 10 * (number as u32 + 1);
    }
    both(rank, &source, &[9; 2], &want, |r, x, y| {
        let (low, high) = y.split_at_mut(1);
        let mut group = rank.comm.group();
        if number > 0 {
            group = group.send(&x[..1], number - 1).recv(low, number - 1);
        }
        if number + 1 < size {
            group = group.send(&x[1..], number + 1).recv(high, number + 1);
        }
        r.run(group.op())
    })
}

/// Calls of one group may read the same memory, and write parts of one buffer.
fn parts(rank: &Rank) -> Outcome {
    let x = rank.device.buffer(&[1.0f32; 8])?.share();
    let mut y = rank.device.zeros::<f32>(8)?;
    let (first, second) = y.split_at_mut(4);
    let group = rank.comm.group().all_reduce(&x[..4], first, Reduce::Sum).all_reduce(&x[2..6], second, Reduce::Sum);
    rank.stream.run(group.op())?;
    same("both halves", rank.stream.read(&y)?, [rank.size() as f32; 8])
}
