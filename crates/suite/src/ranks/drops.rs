//! What is dropped while collectives are in flight.

use dacapo::collective::{Communicator, Reduce};

use super::{Rank, RankForm};
use crate::forms::{Outcome, same};

pub(super) const FORMS: &[RankForm] = &[
    RankForm { name: "drops/graph_in_flight", ranks_min: 1, body: graph },
    RankForm { name: "drops/communicator_before_its_graph", ranks_min: 1, body: communicator },
    RankForm { name: "drops/everything_but_the_result", ranks_min: 1, body: everything },
];

fn graph(rank: &Rank) -> Outcome {
    let (x, mut y) = (rank.device.buffer(&[1.0f32; 4])?, rank.device.zeros::<f32>(4)?);
    for _ in 0..3 {
        let mut graph = rank.device.record(rank.comm.all_reduce(&x, &mut y, Reduce::Sum))?;
        graph.launch(&rank.stream)?;
    }
    same("y", rank.stream.read(&y)?, [rank.size() as f32; 4])
}

/// A communicator of this form's own, alone: it goes before what it has recorded.
fn communicator(rank: &Rank) -> Outcome {
    let mut y = rank.device.buffer(&[3.0f32; 4])?;
    let alone = Communicator::alone(&rank.device)?;
    let mut graph = rank.device.record(alone.all_reduce_in_place(&mut y, Reduce::Sum))?;
    drop(alone);
    for _ in 0..3 {
        graph.launch(&rank.stream)?;
    }
    same("y", rank.stream.read(&y)?, [3.0; 4])
}

fn everything(rank: &Rank) -> Outcome {
    let mut y = rank.device.zeros::<f32>(4)?;
    {
        let x = rank.device.buffer(&[1.0f32; 4])?;
        let other = rank.device.stream()?;
        let mut graph = rank.device.record(rank.other.all_reduce(&x, &mut y, Reduce::Sum))?;
        graph.launch(&other)?;
        other.run(rank.other.all_reduce_in_place(&mut y, Reduce::Max))?;
    }
    same("y", rank.stream.read(&y)?, [rank.size() as f32; 4])
}
