//! What two ranks do with each other.

use super::kit::{both, data};
use super::{Rank, RankForm};
use crate::forms::Outcome;

pub(super) const FORMS: &[RankForm] = &[
    RankForm { name: "pairs/chain", ranks_min: 2, body: chain },
    RankForm { name: "pairs/ring", ranks_min: 1, body: ring },
    RankForm { name: "pairs/two_messages_keep_their_order", ranks_min: 2, body: two },
];

/// Rank 0 sends to rank 1, which sends to rank 2, and so on.
fn chain(rank: &Rank) -> Outcome {
    let (number, last) = (rank.number(), rank.size() - 1);
    let source = data::<f32>(number, 7);
    let want = if number == 0 { vec![9.0; 7] } else { data::<f32>(0, 7) };
    both(rank, &source, &[9.0; 7], &want, |r, x, y| {
        if number == 0 {
            return r.run(rank.comm.send(x, 1));
        }
        r.run(rank.comm.recv(y, number - 1))?;
        if number < last { r.run(rank.comm.send(y, number + 1)) } else { Ok(()) }
    })
}

/// Everybody sends to the right and receives from the left, at once: alone, to itself.
fn ring(rank: &Rank) -> Outcome {
    let (number, size) = (rank.number(), rank.size());
    let (right, left) = ((number + 1) % size, (number + size - 1) % size);
    both(rank, &data::<u32>(number, 11), &[9; 11], &data::<u32>(left, 11), |r, x, y| {
        r.run(rank.comm.group().send(x, right).recv(y, left).op())
    })
}

fn two(rank: &Rank) -> Outcome {
    let number = rank.number();
    let want = if number == 1 { vec![1, 2, 3, 4, 0, 0] } else { vec![0; 6] };
    both(rank, &[1u32, 2, 3, 4, 5, 6], &[0; 6], &want, |r, x, y| match number {
        0 => {
            r.run(rank.comm.send(&x[..2], 1))?;
            r.run(rank.comm.send(&x[2..4], 1))
        }
        1 => {
            r.run(rank.comm.recv(&mut y[..2], 0))?;
            r.run(rank.comm.recv(&mut y[2..4], 0))
        }
        _ => Ok(()),
    })
}
