//! Gradients in buckets, beside what computes the next ones.

use dacapo::collective::Reduce;
use dacapo::{ErrorKind, Recorder, baked, copy, fill};

use super::{Rank, RankForm};
use crate::forms::{Outcome, holds, refused, same};

pub(super) const FORMS: &[RankForm] = &[
    RankForm { name: "buckets/joined_by_size", ranks_min: 1, body: joined },
    RankForm { name: "buckets/beside_the_next_layer", ranks_min: 1, body: beside },
    RankForm { name: "buckets/never_finished_or_used_too_early", ranks_min: 1, body: owed },
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

/// Nothing of a bucket is left unreduced, or used unreduced, in silence: neither in a graph nor in an eager run.
fn owed(rank: &Rank) -> Outcome {
    let (device, comm) = (&rank.device, &rank.comm);
    let (mut first, mut second) = (device.zeros::<f32>(16)?, device.zeros::<f32>(16)?);
    let never = |kind: &ErrorKind| matches!(kind, ErrorKind::NotReduced { pieces: 1, used: None });
    let mut dropped = |r: &mut Recorder<'_>| comm.bucketed(96, Reduce::Sum).add(r, &mut first);
    refused("recorded, never finished", device.record(&mut dropped), never)?;
    refused("run, never finished", rank.stream.run(&mut dropped), never)?;
    // What waits when a bucket comes to another recording stays owed to the first, and is not reduced by the second.
    let mut carried = comm.bucketed(96, Reduce::Sum);
    refused("left behind", device.record(|r: &mut Recorder<'_>| carried.add(r, &mut first)), never)?;
    let second_recording = device.record(|r: &mut Recorder<'_>| carried.finish(r))?;
    holds("nothing of the first recording is in the second", second_recording.is_empty())?;
    // A full bucket and an empty one owe nothing.
    rank.stream.run(|r: &mut Recorder<'_>| comm.bucketed(64, Reduce::Sum).add(r, &mut first))?;

    let early = |kind: &ErrorKind| matches!(kind, ErrorKind::NotReduced { used: Some(used), .. } if used.contains("copy") && used.contains("buckets.rs"));
    let body = |bytes: usize, first: &mut dacapo::Slice<f32>, second: &mut dacapo::Slice<f32>| {
        device.record(|r: &mut Recorder<'_>| {
            let mut buckets = comm.bucketed(bytes, Reduce::Sum);
            buckets.add(r, first)?;
            r.run(copy(first, second))?;
            buckets.finish(r)
        })
    };
    refused("used before its bucket", body(96, &mut first, &mut second), early)?;
    // The same where the bucket is full.
    drop(body(64, &mut first, &mut second)?);
    Ok(())
}
