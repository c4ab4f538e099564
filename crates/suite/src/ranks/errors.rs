//! What is refused, and that everything goes on behind it.

use dacapo::collective::Reduce;
use dacapo::{ErrorKind, Recorder};

use super::{Rank, RankForm};
use crate::forms::{Outcome, holds, refused, same};

pub(super) const FORMS: &[RankForm] = &[
    RankForm { name: "errors/lengths", ranks_min: 1, body: lengths },
    RankForm { name: "errors/ranks", ranks_min: 1, body: ranks },
    RankForm { name: "errors/another_device", ranks_min: 2, body: devices },
    RankForm { name: "errors/other_recordings", ranks_min: 2, body: differ },
    RankForm { name: "errors/fewer_collectives", ranks_min: 2, body: fewer },
];

/// All ranks together still work.
fn goes_on(rank: &Rank) -> Outcome {
    let mut x = rank.device.buffer(&[1u32; 2])?;
    rank.stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
    same("afterwards", rank.stream.read(&x)?, [rank.size() as u32; 2])
}

fn lengths(rank: &Rank) -> Outcome {
    let (x, mut y) = (rank.device.zeros::<f32>(4)?, rank.device.zeros::<f32>(5)?);
    let is_length = |kind: &ErrorKind| matches!(kind, ErrorKind::Length { .. });
    refused("all_reduce", rank.device.record(rank.comm.all_reduce(&x, &mut y, Reduce::Sum)), is_length)?;
    refused("all_reduce", rank.stream.run(rank.comm.all_reduce(&x, &mut y, Reduce::Sum)), is_length)?;
    let mut long = rank.device.zeros::<f32>(4 * rank.size() + 1)?;
    refused("all_gather", rank.stream.run(rank.comm.all_gather(&x, &mut long)), is_length)?;
    refused("reduce_scatter", rank.stream.run(rank.comm.reduce_scatter(&long, &mut y[..3], Reduce::Sum)), is_length)?;
    goes_on(rank)
}

fn ranks(rank: &Rank) -> Outcome {
    let mut x = rank.device.zeros::<f32>(4)?;
    let beyond = rank.size();
    let is_rank = |kind: &ErrorKind| matches!(kind, ErrorKind::Rank { .. });
    refused("broadcast", rank.stream.run(rank.comm.broadcast(&mut x, beyond)), is_rank)?;
    refused("send", rank.stream.run(rank.comm.send(&x, beyond)), is_rank)?;
    refused("recv", rank.device.record(rank.comm.recv(&mut x, beyond)), is_rank)?;
    refused("group", rank.stream.run(rank.comm.group().send(&x, beyond).op()), is_rank)?;
    refused("to itself", rank.stream.run(rank.comm.send(&x, rank.number())), |_| true)?;
    goes_on(rank)
}

fn devices(rank: &Rank) -> Outcome {
    let elsewhere = dacapo::Device::software()?;
    let mut x = elsewhere.zeros::<f32>(4)?;
    let is_device = |kind: &ErrorKind| matches!(kind, ErrorKind::WrongDevice { .. });
    refused("memory", rank.stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum)), is_device)?;
    refused("a recorder", elsewhere.record(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum)), is_device)?;
    goes_on(rank)
}

/// The last rank has another length: everybody is told so, and of which op.
fn differ(rank: &Rank) -> Outcome {
    let is_last = rank.number() + 1 == rank.size();
    let len = if is_last { 8 } else { 4 };
    let (mut x, mut y) = (rank.device.zeros::<f32>(2)?, rank.device.zeros::<f32>(len)?);
    let recorded = rank.device.record(|r: &mut Recorder<'_>| {
        r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
        r.run(rank.comm.all_reduce_in_place(&mut y, Reduce::Sum))
    });
    let error = refused("a recording", recorded, |kind| matches!(kind, ErrorKind::RanksDiffer { number: 2, .. }))?;
    let text = format!("{error:#}");
    holds("both sides are named", text.contains("of 4 f32") && text.contains("of 8 f32"))?;
    holds("the line is named", text.contains("errors.rs"))?;
    goes_on(rank)
}

fn fewer(rank: &Rank) -> Outcome {
    let mut x = rank.device.zeros::<f32>(2)?;
    let recorded = rank.device.record(|r: &mut Recorder<'_>| {
        r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
        if rank.number() == 0 { r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Max)) } else { Ok(()) }
    });
    let error = refused("a recording", recorded, |kind| matches!(kind, ErrorKind::RanksDiffer { number: 2, .. }))?;
    holds("what is missing is named", format!("{error:#}").contains("it has fewer"))?;
    goes_on(rank)
}
