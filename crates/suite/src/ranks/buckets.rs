//! Gradients in buckets, beside what computes the next ones.

use dacapo::collective::Reduce;
use dacapo::{Recorder, baked, fill};

use super::{Rank, RankForm};
use crate::forms::{Outcome, holds, same};

pub(super) const FORMS: &[RankForm] = &[
    RankForm { name: "buckets/joined_by_size", ranks_min: 1, body: joined },
    RankForm { name: "buckets/beside_the_next_layer", ranks_min: 1, body: beside },
];

fn joined(rank: &Rank) -> Outcome {
    let device = &rank.device;
    let mut pieces = Vec::new();
    for _ in 0..5 {
        pieces.push(device.buffer(&[rank.number() as f32; 8])?);
    }
    let mut graph = device.record(|r: &mut Recorder<'_>| {
        let mut buckets = rank.comm.bucketed(64, Reduce::Sum);
        pieces.iter_mut().try_for_each(|piece| buckets.add(r, piece))?;
        buckets.finish(r)
    })?;
    // Two pieces of 32 bytes make a bucket.
    same("ops", graph.len(), 3)?;
    graph.launch(&rank.stream)?;
    let sum = (0..rank.size()).sum::<usize>() as f32;
    for piece in &pieces {
        same("a piece", rank.stream.read(piece)?, [sum; 8])?;
    }
    Ok(())
}

/// The bucket of one layer has no edge to what computes the next one.
fn beside(rank: &Rank) -> Outcome {
    let device = &rank.device;
    let (mut first, mut second) = (device.zeros::<f32>(16)?, device.zeros::<f32>(16)?);
    let mut graph = device.record(|r: &mut Recorder<'_>| {
        let mut buckets = rank.comm.bucketed(64, Reduce::Average);
        r.run(fill(&mut first, baked(1.0)))?;
        buckets.add(r, &mut first)?;
        r.run(fill(&mut second, baked(2.0)))?;
        buckets.add(r, &mut second)?;
        buckets.finish(r)
    })?;
    // fill, bucket, fill, bucket: each bucket behind its own fill, and the second behind the first.
    let edges = graph.dependencies();
    holds("the second layer does not wait for the first bucket", !edges.contains(&(1, 2)) && !edges.contains(&(0, 2)))?;
    holds("a bucket waits for its layer", edges.contains(&(0, 1)) && edges.contains(&(2, 3)))?;
    holds("buckets have an order", edges.contains(&(1, 3)))?;
    for _ in 0..3 {
        graph.launch(&rank.stream)?;
    }
    same("the first", rank.stream.read(&first)?, [1.0; 16])?;
    same("the second", rank.stream.read(&second)?, [2.0; 16])
}
