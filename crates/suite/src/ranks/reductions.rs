//! All-reduces, reduces and reduce-scatters: every reduction, every type, odd places and lengths.

use dacapo::collective::Reduce;
use dacapo::half::{bf16, f16};

use super::kit::{Small, both, data, in_place, number};
use super::{Rank, RankForm};
use crate::forms::Outcome;

pub(super) const FORMS: &[RankForm] = &[
    RankForm { name: "reductions/sum", ranks_min: 1, body: |rank| all_reduce::<f32>(rank, Reduce::Sum, 100) },
    RankForm { name: "reductions/product", ranks_min: 1, body: |rank| all_reduce::<i64>(rank, Reduce::Product, 33) },
    RankForm { name: "reductions/min", ranks_min: 1, body: |rank| all_reduce::<i32>(rank, Reduce::Min, 64) },
    RankForm { name: "reductions/max", ranks_min: 1, body: |rank| all_reduce::<f64>(rank, Reduce::Max, 64) },
    RankForm { name: "reductions/average", ranks_min: 1, body: average },
    RankForm { name: "reductions/types", ranks_min: 1, body: types },
    RankForm { name: "reductions/lengths", ranks_min: 1, body: lengths },
    RankForm { name: "reductions/in_place", ranks_min: 1, body: at_their_place },
    RankForm { name: "reductions/parts_of_buffers", ranks_min: 1, body: parts },
    RankForm { name: "reductions/order_of_ranks", ranks_min: 1, body: order },
    RankForm { name: "reductions/reduce", ranks_min: 1, body: reduce },
    RankForm { name: "reductions/reduce_scatter", ranks_min: 1, body: scatter },
];

/// Plain Rust: the reduction of all ranks' element.
fn reduced(reduce: Reduce, size: usize, at: usize) -> u64 {
    let each = (0..size).map(|rank| u64::from(number(rank, at)));
    match reduce {
        Reduce::Sum => each.sum(),
        Reduce::Product => each.product(),
        Reduce::Min => each.min().unwrap_or(0),
        Reduce::Max => each.max().unwrap_or(0),
        Reduce::Average => each.sum::<u64>() / size as u64,
    }
}

fn wanted<T: Small>(rank: &Rank, reduce: Reduce, places: impl Iterator<Item = usize>) -> Vec<T> {
    let of = |at| u8::try_from(reduced(reduce, rank.size(), at)).unwrap_or(u8::MAX);
    places.map(|at| T::of(of(at))).collect()
}

fn all_reduce<T: Small>(rank: &Rank, reduce: Reduce, len: usize) -> Outcome {
    let want = match reduce {
        // Products of eight ranks do not fit a byte.
        Reduce::Product => {
            let each = |at| (0..rank.size()).map(|rank| number(rank, at)).collect::<Vec<_>>();
            let is_small = |at: &usize| each(*at).iter().map(|n| u64::from(*n)).product::<u64>() < 256;
            let source: Vec<T> = (0..len).filter(is_small).map(|at| T::of(number(rank.number(), at))).collect();
            let want = wanted(rank, reduce, (0..len).filter(is_small));
            let blank = vec![T::of(9); source.len()];
            return both(rank, &source, &blank, &want, |r, x, y| r.run(rank.comm.all_reduce(x, y, reduce)));
        }
        _ => wanted(rank, reduce, 0..len),
    };
    let source = data::<T>(rank.number(), len);
    both(rank, &source, &vec![T::of(9); len], &want, |r, x, y| r.run(rank.comm.all_reduce(x, y, reduce)))
}

fn average(rank: &Rank) -> Outcome {
    let source: Vec<f32> = (0..50).map(|at| (number(rank.number(), at) as f32) * 0.5).collect();
    // Each is divided first, then they are added in the order of the ranks; sizes are powers of two, so this is exact.
    let want: Vec<f32> =
        (0..50).map(|at| reduced(Reduce::Sum, rank.size(), at) as f32 * 0.5 / rank.size() as f32).collect();
    both(rank, &source, &[0.0; 50], &want, |r, x, y| r.run(rank.comm.all_reduce(x, y, Reduce::Average)))
}

fn types(rank: &Rank) -> Outcome {
    all_reduce::<i8>(rank, Reduce::Sum, 17)?;
    all_reduce::<u8>(rank, Reduce::Max, 17)?;
    all_reduce::<i32>(rank, Reduce::Sum, 17)?;
    all_reduce::<u32>(rank, Reduce::Min, 17)?;
    all_reduce::<i64>(rank, Reduce::Sum, 17)?;
    all_reduce::<u64>(rank, Reduce::Sum, 17)?;
    all_reduce::<f16>(rank, Reduce::Sum, 17)?;
    all_reduce::<bf16>(rank, Reduce::Sum, 17)?;
    all_reduce::<f64>(rank, Reduce::Sum, 17)
}

fn lengths(rank: &Rank) -> Outcome {
    // Nothing at all is an op that does nothing.
    for len in [0, 1, 31, 33, 1000] {
        all_reduce::<f32>(rank, Reduce::Sum, len)?;
    }
    Ok(())
}

fn at_their_place(rank: &Rank) -> Outcome {
    let (source, want) = (data::<f32>(rank.number(), 40), wanted::<f32>(rank, Reduce::Sum, 0..40));
    in_place(rank, &source, &want, |r, x| r.run(rank.comm.all_reduce_in_place(x, Reduce::Sum)))
}

fn parts(rank: &Rank) -> Outcome {
    let source = data::<f32>(rank.number(), 40);
    let sums = wanted::<f32>(rank, Reduce::Sum, 5..25);
    let mut want = vec![9.0; 40];
    want[10..30].copy_from_slice(&sums);
    both(rank, &source, &[9.0; 40], &want, |r, x, y| {
        r.run(rank.comm.all_reduce(&x[5..25], &mut y[10..30], Reduce::Sum))
    })
}

/// Sums of numbers of very different sizes depend on their order: it is that of the ranks.
fn order(rank: &Rank) -> Outcome {
    let of = |rank: usize, at: usize| [1.0e8f32, 1.0, -1.0e8, 0.5][(rank + at) % 4] + at as f32;
    let source: Vec<f32> = (0..16).map(|at| of(rank.number(), at)).collect();
    let sum = |at| (1..rank.size()).fold(of(0, at), |sum, rank| sum + of(rank, at));
    let want: Vec<f32> = (0..16).map(sum).collect();
    both(rank, &source, &[0.0; 16], &want, |r, x, y| r.run(rank.comm.all_reduce(x, y, Reduce::Sum)))
}

fn reduce(rank: &Rank) -> Outcome {
    let source = data::<i32>(rank.number(), 20);
    for root in 0..rank.size() {
        let want = match rank.number() == root {
            true => wanted(rank, Reduce::Sum, 0..20),
            false => vec![9; 20],
        };
        both(rank, &source, &[9; 20], &want, |r, x, y| r.run(rank.comm.reduce(x, y, Reduce::Sum, root)))?;
    }
    Ok(())
}

fn scatter(rank: &Rank) -> Outcome {
    let (size, part) = (rank.size(), 6);
    let source = data::<u64>(rank.number(), part * size);
    let want = wanted(rank, Reduce::Sum, rank.number() * part..(rank.number() + 1) * part);
    both(rank, &source, &[9; 6], &want, |r, x, y| r.run(rank.comm.reduce_scatter(x, y, Reduce::Sum)))
}
