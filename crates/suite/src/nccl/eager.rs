//! Collectives that run at once.

use dacapo_nccl::types::*;

use super::collective::{ALL, Collective, Given, REDUCTIONS, TYPES, pattern};
use super::desk::{Asked, Desk};

const COUNT: usize = 1000;

pub(super) fn each(desk: &Desk) -> Asked {
    let (comm, stream) = (desk.comm(true)?, desk.stream()?);
    for &collective in ALL {
        for place in ["out of place", "in place"] {
            desk.say(format!(
                "{}, {place}: {}",
                collective.name(),
                one(desk, comm, stream, collective, ncclFloat32, place)?
            ));
        }
    }
    desk.end_of(comm);
    Ok(())
}

pub(super) fn types(desk: &Desk) -> Asked {
    let (comm, stream) = (desk.comm(true)?, desk.stream()?);
    for &(name, datatype, _) in TYPES {
        let mut seen = Vec::new();
        for &(reduction, op) in REDUCTIONS {
            let collective = Collective::AllReduce(op);
            let out = one(desk, comm, stream, collective, datatype, "out of place")?;
            let within = one(desk, comm, stream, collective, datatype, "in place")?;
            seen.push(match out == within {
                true => format!("{reduction} {out}"),
                false => format!("{reduction} out of place {out}, in place {within}"),
            });
        }
        desk.say(format!("{name}: {}", seen.join("; ")));
    }
    desk.end_of(comm);
    Ok(())
}

fn one(
    desk: &Desk,
    comm: ncclComm,
    stream: dacapo_driver::types::CUstream,
    collective: Collective,
    datatype: ncclDataType,
    place: &str,
) -> Asked<String> {
    let bytes = pattern(datatype, COUNT, datatype as usize);
    let source = desk.memory(&bytes)?;
    let target = if place == "in place" { source } else { desk.memory(&vec![0; bytes.len()])? };
    let code = collective.enqueue(desk.nccl, comm, stream, Given { source, target, count: COUNT, datatype });
    let said = desk.told(code);
    let synchronized = desk.synchronize(stream);
    if !synchronized.is_success() {
        return Err(format!("{}: {said}, stream {synchronized}", collective.name()));
    }
    Ok(match desk.read(target, bytes.len())? == bytes {
        true => format!("{said}, right"),
        false => format!("{said}, WRONG"),
    })
}
