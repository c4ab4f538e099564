//! What the bodies of forms share: data that depends on the rank, and one comparison of eager, replayed and plain Rust.

use std::fmt::Debug;

use dacapo::collective::Number;
use dacapo::half::{bf16, f16};
use dacapo::{Pod, Recorder, Slice};

use super::Rank;
use crate::forms::{Outcome, same};

/// How often graphs are replayed.
const REPLAYS: usize = 4;

/// An element that small whole numbers can be made of.
pub(super) trait Small: Number + PartialEq + Debug {
    fn of(number: u8) -> Self;
}

macro_rules! small {
    ($($ty:ty: $from:expr;)*) => { $(impl Small for $ty { fn of(number: u8) -> $ty { $from(number) } })* };
}

small! {
    i8: |n| n as i8;
    u8: |n| n;
    i32: i32::from;
    u32: u32::from;
    i64: i64::from;
    u64: u64::from;
    f32: f32::from;
    f64: f64::from;
    f16: |n| f16::from_f32(f32::from(n));
    bf16: |n| bf16::from_f32(f32::from(n));
}

/// Element `at` of rank `rank`: 0 to 4, so that sums and products of 8 ranks fit each type.
pub(super) fn number(rank: usize, at: usize) -> u8 {
    ((rank * 7 + at * 3 + rank * at) % 5) as u8
}

/// What a rank begins with.
pub(super) fn data<T: Small>(rank: usize, len: usize) -> Vec<T> {
    (0..len).map(|at| T::of(number(rank, at))).collect()
}

/// Runs `op` eagerly, then as a graph several times, each with a target of `blank`, and compares what is there with `want`.
pub(super) fn both<T: Pod + PartialEq + Debug>(
    rank: &Rank,
    source: &[T],
    blank: &[T],
    want: &[T],
    op: impl Fn(&mut Recorder<'_>, &Slice<T>, &mut Slice<T>) -> dacapo::Result<()>,
) -> Outcome {
    let (device, stream) = (&rank.device, &rank.stream);
    let (x, mut y) = (device.buffer(source)?, device.buffer(blank)?);
    stream.run(|r: &mut Recorder<'_>| op(r, &x, &mut y))?;
    same("eagerly", stream.read(&y)?, want)?;
    let mut graph = device.record(|r: &mut Recorder<'_>| op(r, &x, &mut y))?;
    for replay in 0..REPLAYS {
        stream.write(&mut y, blank)?;
        graph.launch(stream)?;
        same(&format!("replay {replay}"), stream.read(&y)?, want)?;
    }
    same("the source", stream.read(&x)?, source)
}

/// The same of an op that works where its data lie.
pub(super) fn in_place<T: Pod + PartialEq + Debug>(
    rank: &Rank,
    data: &[T],
    want: &[T],
    op: impl Fn(&mut Recorder<'_>, &mut Slice<T>) -> dacapo::Result<()>,
) -> Outcome {
    both(rank, &data[..1.min(data.len())], data, want, |r, _, y| op(r, y))
}
