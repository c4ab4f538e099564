//! What it costs the host to have collectives done.

use std::time::Instant;

use dacapo_driver::types::*;
use dacapo_nccl::types::*;

use super::by_hand::{ByHand, by_hand};
use super::collective::{Collective, Given};
use super::desk::{Asked, Desk};

const COUNT: usize = 1024;
const LINKS: usize = 10;
const LAUNCHES: usize = 200;
const BLOCKS: usize = 21;

/// Microseconds of one block: until the last call returned, and until the stream was done.
type Block = (f64, f64);

pub(super) fn ask(desk: &Desk) -> Asked {
    let (comm, stream) = (desk.comm(true)?, desk.stream()?);
    let (a, b) = (desk.memory(&[0; 4 * COUNT])?, desk.memory(&[0; 4 * COUNT])?);
    let links: Vec<_> = (0..LINKS).map(|link| if link % 2 == 0 { (a, b) } else { (b, a) }).collect();
    let graph = |op| {
        // SAFETY: the communicator, the stream and the memory live until the process ends, and nobody else uses them.
        unsafe { by_hand(desk.driver, desk.nccl, comm, stream, &links, COUNT, op) }
    };
    let (sum, avg) = (graph(ncclSum)?, graph(ncclAvg)?);
    let launches = |graph: &ByHand<'_>| {
        block(desk, stream, LAUNCHES, || {
            // SAFETY: as above.
            let code = unsafe { graph.launch(stream) };
            if code.is_success() { Ok(()) } else { Err(format!("cuGraphLaunch: {code}")) }
        })
    };
    let eager = |collective: Collective| {
        block(desk, stream, LAUNCHES, || {
            let given = Given { source: a, target: b, count: COUNT, datatype: ncclFloat32 };
            let code = collective.enqueue(desk.nccl, comm, stream, given);
            if code.is_success() { Ok(()) } else { Err(format!("{}: {code:?}", collective.name())) }
        })
    };
    let copies = || {
        block(desk, stream, LAUNCHES, || {
            // SAFETY: both are this long.
            let code = unsafe { desk.driver.cuMemcpyDtoDAsync_v2(b, a, 4 * COUNT, stream) };
            if code.is_success() { Ok(()) } else { Err(format!("cuMemcpyDtoDAsync: {code}")) }
        })
    };
    type Measure<'a> = (&'a str, Box<dyn Fn() -> Asked<Block> + 'a>);
    let measures: [Measure<'_>; 6] = [
        ("cuGraphLaunch of 10 all_reduce sum", Box::new(|| launches(&sum))),
        ("cuGraphLaunch of 10 all_reduce avg", Box::new(|| launches(&avg))),
        ("eager ncclAllReduce sum", Box::new(|| eager(Collective::AllReduce(ncclSum)))),
        ("eager ncclAllReduce avg", Box::new(|| eager(Collective::AllReduce(ncclAvg)))),
        ("eager send+recv", Box::new(|| eager(Collective::SendRecv))),
        ("eager cuMemcpyDtoDAsync", Box::new(copies)),
    ];
    let mut blocks: Vec<Vec<Block>> = vec![Vec::new(); measures.len()];
    for round in 0..=BLOCKS {
        for (at, (_, measure)) in measures.iter().enumerate() {
            let measured = measure()?;
            // The first round only warms up.
            if round > 0 {
                blocks[at].push(measured);
            }
        }
    }
    desk.say(format!(
        "microseconds a call: median (lowest .. highest) of {BLOCKS} alternating blocks of {LAUNCHES} calls"
    ));
    for ((what, _), blocks) in measures.iter().zip(&blocks) {
        let host = spread(blocks.iter().map(|block| block.0));
        let done = spread(blocks.iter().map(|block| block.1));
        desk.say(format!("{what:<36} until it returns {host}, until the stream is done {done}"));
    }
    drop(measures);
    drop((sum, avg));
    desk.end_of(comm);
    Ok(())
}

fn block(desk: &Desk, stream: CUstream, times: usize, call: impl Fn() -> Asked) -> Asked<Block> {
    let began = Instant::now();
    for _ in 0..times {
        call()?;
    }
    let returned = began.elapsed();
    let code = desk.synchronize(stream);
    if !code.is_success() {
        return Err(format!("cuStreamSynchronize: {code}"));
    }
    let each = |took: std::time::Duration| took.as_secs_f64() * 1e6 / times as f64;
    Ok((each(returned), each(began.elapsed())))
}

fn spread(values: impl Iterator<Item = f64>) -> String {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    format!("{:.2} ({:.2} .. {:.2})", values[values.len() / 2], values[0], values[values.len() - 1])
}
