//! Copies from device to device: all devices of the form in one process, and each rank's thread copies to and from the others.

use dacapo::collective::Reduce;
use dacapo::{Buffer, Device, ErrorKind, Recorder, Slot, baked, copy, fill};

use super::kit::data;
use super::{Rank, RankForm};
use crate::forms::kernels::Kernels;
use crate::forms::{Failure, Outcome, holds, refused, same};

pub(super) const FORMS: &[RankForm] = &[
    RankForm { name: "copies/there_and_back", ranks_min: 1, body: there_and_back },
    RankForm { name: "copies/around_the_ring", ranks_min: 2, body: ring },
    RankForm { name: "copies/graphs_of_all_devices_share_memory", ranks_min: 2, body: shared },
    RankForm { name: "copies/one_buffer_of_parts", ranks_min: 2, body: parts },
    RankForm { name: "copies/temps_slots_and_outputs", ranks_min: 2, body: temps },
    RankForm { name: "copies/behind_a_collective", ranks_min: 2, body: behind },
    RankForm { name: "copies/waits_for_no_more_than_it_needs", ranks_min: 2, body: exact },
    RankForm { name: "copies/graph_and_memory_dropped_in_flight", ranks_min: 2, body: drops },
    RankForm { name: "copies/recorded_again_from_another_device", ranks_min: 2, body: again },
    RankForm { name: "copies/two_streams_a_device", ranks_min: 2, body: streams },
    RankForm { name: "copies/in_a_loop", ranks_min: 2, body: looped },
    RankForm { name: "copies/two_graphs_of_a_pool", ranks_min: 2, body: pool },
    RankForm { name: "copies/bound_at_launch", ranks_min: 2, body: bound },
    RankForm { name: "copies/reports_and_profiles", ranks_min: 2, body: reports },
    RankForm { name: "copies/what_is_refused", ranks_min: 2, body: errors },
];

/// Elements of most buffers here.
const LEN: usize = 96;

/// The device of the next rank.
fn next(rank: &Rank) -> &Device {
    &rank.devices[(rank.number() + 1) % rank.size()]
}

/// Every rank has memory on the next device, at the same time as all others.
fn there_and_back(rank: &Rank) -> Outcome {
    let (near, far) = (&rank.device, next(rank));
    let source: Vec<f32> = data(rank.number(), LEN);
    let x = near.buffer(&source)?;
    let mut there = far.zeros::<f32>(LEN)?;
    let mut y = near.zeros::<f32>(LEN)?;
    rank.stream.run(|r: &mut Recorder<'_>| {
        r.run(copy(&x, &mut there))?;
        r.run(copy(&there, &mut y))
    })?;
    same("eagerly", rank.stream.read(&y)?, &source[..])?;
    let mut graph = near.record(|r: &mut Recorder<'_>| {
        r.run(copy(&x, &mut there))?;
        r.run(copy(&there, &mut y))
    })?;
    for replay in 0..4 {
        rank.stream.run(fill(&mut y, baked(9.0)))?;
        graph.launch(&rank.stream)?;
        same(&format!("replay {replay}"), rank.stream.read(&y)?, &source[..])?;
    }
    let back = far.stream()?;
    same("read over there", back.read(&there)?, &source[..])
}

/// One thread for all devices. The others have nothing to do.
fn alone(rank: &Rank, body: impl FnOnce(&[Device]) -> Outcome) -> Outcome {
    if rank.number() == 0 { body(&rank.devices) } else { Ok(()) }
}

fn ring(rank: &Rank) -> Outcome {
    alone(rank, |devices| {
        let size = devices.len();
        let kernels = devices.iter().map(Kernels::load).collect::<dacapo::Result<Vec<_>>>()?;
        let streams = devices.iter().map(Device::stream).collect::<dacapo::Result<Vec<_>>>()?;
        let mut buffers =
            devices.iter().map(|device| device.zeros::<f32>(LEN)).collect::<dacapo::Result<Vec<Buffer<f32>>>>()?;
        let mut graphs = Vec::new();
        for from in 0..size {
            let to = (from + 1) % size;
            let [source, target] =
                buffers.get_disjoint_mut([from, to]).map_err(|_| Failure("one device".to_string()))?;
            graphs.push(devices[from].record(|r: &mut Recorder<'_>| {
                r.run(kernels[from].add_stride(baked(1.0), source))?;
                r.run(copy(source, target))
            })?);
        }
        for round in 1..=3 {
            for (graph, stream) in graphs.iter_mut().zip(&streams) {
                graph.launch(stream)?;
            }
            same("a round", streams[0].read(&buffers[0])?, [(round * size) as f32; LEN])?;
        }
        Ok(())
    })
}

/// A graph of each device writes what all others read.
fn shared(rank: &Rank) -> Outcome {
    alone(rank, |devices| {
        let streams = devices.iter().map(Device::stream).collect::<dacapo::Result<Vec<_>>>()?;
        let values: Vec<Slot<f32>> = devices.iter().map(|_| Slot::new(0.0)).collect();
        let mut board = devices[0].zeros::<f32>(devices.len())?;
        let mut seen =
            devices.iter().map(|device| device.zeros::<f32>(devices.len())).collect::<dacapo::Result<Vec<_>>>()?;
        let mut graphs = Vec::new();
        for (number, device) in devices.iter().enumerate() {
            let seen = &mut seen[number];
            graphs.push(device.record(|r: &mut Recorder<'_>| {
                let mut mine = r.alloc::<f32>(1)?;
                r.run(fill(&mut mine, &values[number]))?;
                // The board is device 0's: its own graph copies there as well.
                r.run(copy(&mine, &mut board[number..number + 1]))?;
                r.run(copy(&board, seen))
            })?);
        }
        let mut want = vec![0.0; devices.len()];
        for round in 0..4 {
            for number in 0..devices.len() {
                let value = (10 * round + number + 1) as f32;
                values[number].set(value);
                want[number] = value;
                graphs[number].launch(&streams[number])?;
                same("what it saw", streams[number].read(&seen[number])?, &want[..])?;
            }
        }
        Ok(())
    })
}

/// Each device fills its part of a buffer of device 0, and nobody waits for the host.
fn parts(rank: &Rank) -> Outcome {
    alone(rank, |devices| {
        let size = devices.len();
        let mut whole = devices[0].zeros::<u32>(size * LEN)?;
        for round in 0..3 {
            for (number, device) in devices.iter().enumerate() {
                let stream = device.stream()?;
                let mut part = device.zeros::<u32>(LEN)?;
                stream.run(fill(&mut part, baked((round * 100 + number) as u32)))?;
                stream.run(copy(&part, &mut whole[number * LEN..(number + 1) * LEN]))?;
            }
        }
        let want: Vec<u32> = (0..size * LEN).map(|at| (200 + at / LEN) as u32).collect();
        same("all parts", devices[0].stream()?.read(&whole)?, want)
    })
}

fn temps(rank: &Rank) -> Outcome {
    let far = next(rank);
    let value = Slot::new(0.0f32);
    let mut there = far.zeros::<f32>(LEN)?;
    let mut graph = rank.device.record(|r: &mut Recorder<'_>| {
        let (mut first, mut out) = (r.alloc::<f32>(LEN)?, r.output::<f32>(LEN)?);
        r.run(fill(&mut first, &value))?;
        r.run(copy(&first, &mut there))?;
        r.run(fill(&mut first, baked(-1.0)))?;
        let mut second = r.alloc::<f32>(LEN)?;
        r.run(copy(&there, &mut second))?;
        r.run(copy(&second, &mut out))?;
        Ok(out)
    })?;
    for step in 0..4 {
        let number = (step * 8 + rank.number()) as f32;
        value.set(number);
        let out = graph.launch_sync(&rank.stream)?;
        same("the output", rank.stream.read(out)?, [number; LEN])?;
    }
    Ok(())
}

fn behind(rank: &Rank) -> Outcome {
    let far = next(rank);
    let x = rank.device.buffer(&[rank.number() as f32; LEN])?;
    let (mut sum, mut there) = (rank.device.zeros::<f32>(LEN)?, far.zeros::<f32>(LEN)?);
    let mut graph = rank.device.record(|r: &mut Recorder<'_>| {
        r.run(rank.comm.all_reduce(&x, &mut sum, Reduce::Sum))?;
        r.run(copy(&sum, &mut there))
    })?;
    let back = far.stream()?;
    let want = (0..rank.size()).sum::<usize>() as f32;
    for _ in 0..3 {
        back.run(fill(&mut there, baked(0.0)))?;
        graph.launch(&rank.stream)?;
        same("over there", back.read(&there)?, [want; LEN])?;
    }
    Ok(())
}

/// What another device needs of a stream is there before the stream goes on: a collective behind it may wait for that device.
fn exact(rank: &Rank) -> Outcome {
    let (mut sum, mut go) = (rank.device.buffer(&[1.0f32; LEN])?, rank.device.zeros::<u32>(1)?);
    if rank.number() == 0 {
        let far = next(rank);
        let (x, mut there) = (rank.device.buffer(&[3.0f32; LEN])?, far.zeros::<f32>(LEN)?);
        rank.stream.run(copy(&x, &mut there))?;
        rank.stream.run(rank.comm.all_reduce_in_place(&mut sum, Reduce::Sum))?;
        same("over there", far.stream()?.read(&there)?, [3.0; LEN])?;
        let other = rank.device.stream()?;
        other.run(rank.other.broadcast(&mut go, 0))?;
    } else {
        rank.stream.run(rank.other.broadcast(&mut go, 0))?;
        rank.stream.synchronize()?;
        rank.stream.run(rank.comm.all_reduce_in_place(&mut sum, Reduce::Sum))?;
    }
    same("the sum", rank.stream.read(&sum)?, [rank.size() as f32; LEN])
}

fn drops(rank: &Rank) -> Outcome {
    let far = next(rank);
    let mut last = far.zeros::<u32>(LEN)?;
    let back = far.stream()?;
    for round in 0..4u32 {
        let (mut near, mut there) = (rank.device.zeros::<u32>(LEN)?, far.zeros::<u32>(LEN)?);
        let stream = rank.device.stream()?;
        let mut graph = rank.device.record(|r: &mut Recorder<'_>| {
            r.run(fill(&mut near, baked(round)))?;
            r.run(copy(&near, &mut there))
        })?;
        graph.launch(&stream)?;
        back.run(copy(&there, &mut last))?;
        match round {
            0 => drop((graph, near, there, stream)),
            1 => drop((there, near, stream, graph)),
            2 => drop((stream, graph, there, near)),
            _ => drop((near, stream, there, graph)),
        }
        // What comes now may lie where they were.
        let _again = (rank.device.buffer(&[77u32; LEN])?, far.buffer(&[78u32; LEN])?);
        same("the copy of the copy", back.read(&last)?, [round; LEN])?;
    }
    Ok(())
}

fn again(rank: &Rank) -> Outcome {
    let sources = rank.devices.iter().zip(0u32..).map(|(device, number)| device.buffer(&[number; LEN]));
    let sources = sources.collect::<dacapo::Result<Vec<_>>>()?;
    let mut y = rank.device.zeros::<u32>(LEN)?;
    let mut graph = rank.device.record(copy(&sources[0], &mut y))?;
    for number in (0..rank.size()).chain([0]) {
        graph.rerecord(copy(&sources[number], &mut y))?;
        graph.launch(&rank.stream)?;
        same("from there", rank.stream.read(&y)?, [number as u32; LEN])?;
    }
    Ok(())
}

fn streams(rank: &Rank) -> Outcome {
    let far = next(rank);
    let k = Kernels::load(&rank.device)?;
    let other = rank.device.stream()?;
    let back = far.stream()?;
    let (mut near, mut there) = (rank.device.zeros::<f32>(LEN)?, far.zeros::<f32>(LEN)?);
    for _ in 0..4 {
        rank.stream.run(k.add_stride(baked(1.0), &mut near))?;
        other.run(copy(&near, &mut there))?;
        back.run(copy(&there, &mut near))?;
    }
    same("near", other.read(&near)?, [4.0; LEN])?;
    same("there", back.read(&there)?, [4.0; LEN])
}

/// In a body both ends must be at hand: where devices are no peers, recording says so, and an eager run goes.
fn looped(rank: &Rank) -> Outcome {
    let far = next(rank);
    let k = Kernels::load(&rank.device)?;
    let (mut near, mut there) = (rank.device.zeros::<f32>(LEN)?, far.zeros::<f32>(LEN)?);
    let mut thrice = |r: &mut Recorder<'_>| {
        r.repeat_times(baked(3), |r| {
            r.run(k.add_stride(baked(1.0), &mut near))?;
            r.run(copy(&near, &mut there))
        })
        .map(drop)
    };
    rank.stream.run(&mut thrice)?;
    let replayed = match rank.device.record(&mut thrice) {
        Ok(mut graph) => {
            graph.launch(&rank.stream)?;
            true
        }
        Err(error) => {
            holds("a copy without access in a body", matches!(error.kind(), ErrorKind::NotInBody { .. }))?;
            false
        }
    };
    same("rounds", far.stream()?.read(&there)?, [if replayed { 6.0 } else { 3.0 }; LEN])
}

/// Two graphs of one pool lay their temps into the same bytes, and both copy from and to the other device.
fn pool(rank: &Rank) -> Outcome {
    let far = next(rank);
    let pool = rank.device.pool();
    let (mut there, mut y) = (far.zeros::<f32>(LEN)?, rank.device.zeros::<f32>(LEN)?);
    let value = Slot::new(0.0f32);
    let mut go = rank.device.graph().pool(&pool).record(|r| {
        let mut temp = r.alloc::<f32>(LEN)?;
        r.run(fill(&mut temp, &value))?;
        r.run(copy(&temp, &mut there))
    })?;
    let mut back = rank.device.graph().pool(&pool).record(|r| {
        let mut temp = r.alloc::<f32>(LEN)?;
        r.run(copy(&there, &mut temp))?;
        r.run(copy(&temp, &mut y))
    })?;
    let other = rank.device.stream()?;
    for round in 0..3 {
        value.set(round as f32);
        go.launch(&rank.stream)?;
        back.launch(&other)?;
        same("through the other device", rank.stream.read(&y)?, [round as f32; LEN])?;
    }
    Ok(())
}

fn bound(rank: &Rank) -> Outcome {
    let far = next(rank);
    let there = far.buffer(&[5.0f32; LEN])?;
    let (x, mut y) = (rank.device.buffer(&[1.0f32; LEN])?, rank.device.zeros::<f32>(LEN)?);
    let mut graph = rank.device.graph().record_into(&x[..], &mut y[..], |r, _, out| r.run(copy(&there, out)))?;
    let mut outs = [rank.device.zeros::<f32>(LEN)?, rank.device.zeros::<f32>(LEN)?];
    for out in &mut outs {
        graph.launch(&rank.stream, &x, out)?;
        same("what was bound", rank.stream.read(out)?, [5.0; LEN])?;
    }
    Ok(())
}

fn reports(rank: &Rank) -> Outcome {
    let far = next(rank);
    let (x, mut there) = (rank.device.buffer(&[1.0f32; LEN])?, far.zeros::<f32>(LEN)?);
    let mut graph = rank.device.record(copy(&x, &mut there))?;
    let report = graph.inspect();
    let across = report.nodes[0].across.ok_or_else(|| Failure("the report says nothing of devices".to_string()))?;
    same("from where to where", [across.source, across.target], [rank.device.ordinal(), far.ordinal()])?;
    let profile = graph.profile(&rank.stream)?;
    same("ops of the profile", profile.ops.len(), 1)?;
    let ticket = graph.submit(&rank.stream)?;
    ticket.wait()?;
    same("over there", far.stream()?.read(&there)?, [1.0; LEN])
}

fn errors(rank: &Rank) -> Outcome {
    let is_device = |kind: &ErrorKind| matches!(kind, ErrorKind::WrongDevice { .. });
    let far = next(rank);
    let k = Kernels::load(&rank.device)?;
    let (mut there, mut also) = (far.zeros::<f32>(LEN)?, far.zeros::<f32>(LEN)?);
    refused("a kernel", rank.stream.run(k.add_stride(baked(1.0), &mut there)), is_device)?;
    refused("a fill", rank.stream.run(fill(&mut there, baked(1.0))), is_device)?;
    refused("a read", rank.stream.read(&there), is_device)?;
    refused("a copy of two others", rank.device.record(copy(&there, &mut also)), is_device)?;
    refused("a collective", rank.stream.run(rank.comm.all_reduce_in_place(&mut there, Reduce::Sum)), is_device)?;
    Ok(())
}
