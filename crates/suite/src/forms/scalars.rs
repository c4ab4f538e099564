//! Numbers in device memory: parameters `&f32`, `&mut f32` and `&out f32`, and one element of a slice.

use dacapo::inspect::{Access, How};
use dacapo::{Device, baked, copy};

use super::check::{Outcome, holds, same, shape};
use super::forms;
use super::kernels::{Kernels, ramp};

forms!("scalars": parameters, set_between_launches, element_of_slice, loss_on_device, module_state);

/// One of each kind, with what the report says of them.
fn parameters(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y) = (device.buffer(&ramp(4))?, device.buffer(&[1.0; 4])?);
    let (mut sum, mut total) = (device.scalar(0.0f32)?, device.scalar(100.0f32)?);
    let mut graph = device.record(|r| {
        r.run(k.sum(&x, &mut sum))?;
        r.run(k.add_to(&sum, &mut total))?;
        r.run(k.scale_by(&total, &mut y))
    })?;
    shape(&graph, 3, &[(0, 1), (1, 2)])?;
    let report = graph.inspect();
    let accesses: Vec<Option<Access>> = report.nodes[..2]
        .iter()
        .flat_map(|node| &node.arguments)
        .filter_map(|argument| match argument.how {
            How::Scalar { access, .. } => Some(Some(access)),
            _ => None,
        })
        .collect();
    same("how", accesses, [Access::Write, Access::Read, Access::ReadWrite].map(Some))?;
    graph.launch(&stream)?;
    same("after one", (sum.get(&stream)?, total.get(&stream)?), (6.0, 106.0))?;
    graph.launch(&stream)?;
    same("after two", (sum.get(&stream)?, total.get(&stream)?), (6.0, 112.0))?;
    same("y", stream.read(&y)?, [106.0 * 112.0; 4])
}

/// `set` is in stream order: launches before it see the old number, launches after it the new one.
fn set_between_launches(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (mut step, mut total) = (device.scalar(1.0f32)?, device.scalar(0.0f32)?);
    let mut graph = device.record(k.add_to(&step, &mut total))?;
    shape(&graph, 1, &[])?;
    for value in [1.0, 10.0, 100.0] {
        step.set(&stream, value)?;
        graph.launch(&stream)?;
    }
    same("the total", total.get(&stream)?, 111.0)?;
    same("the step", step.get(&stream)?, 100.0)
}

/// `at` and `at_mut`: one element where a number is wanted; different elements are in nobody's way.
fn element_of_slice(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (steps, mut totals) = (device.buffer(&[1.0f32, 20.0, 300.0])?, device.zeros::<f32>(3)?);
    let mut graph = device.record(|r| {
        r.run(k.add_to(steps.at(2), totals.at_mut(0)))?;
        r.run(k.add_to(steps.at(0), totals.at_mut(1)))?;
        r.run(k.add_to(steps.at(1), totals.at_mut(0)))
    })?;
    shape(&graph, 3, &[(0, 2)])?;
    graph.launch(&stream)?;
    same("totals", stream.read(&totals)?, [320.0, 1.0, 0.0])
}

/// A loss that is made, read, and used on the device, replay after replay.
fn loss_on_device(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut weights = device.buffer(&[8.0f32, 4.0])?;
    let half = device.scalar(0.5f32)?;
    let mut graph = device.record(|r| {
        let (mut loss, mut seen) = (r.output_scalar::<f32>()?, r.output::<f32>(1)?);
        r.run(k.scale_by(&half, &mut weights))?;
        r.run(k.sum(&weights, &mut loss))?;
        r.run(copy(loss.as_slice(), &mut seen))?;
        Ok((loss, seen))
    })?;
    shape(&graph, 3, &[(0, 1), (1, 2)])?;
    for want in [6.0, 3.0, 1.5] {
        let (loss, seen) = graph.launch_sync(&stream)?;
        same("the loss", loss.get(&stream)?, want)?;
        same("its copy", stream.read(seen)?, [want])?;
    }
    Ok(())
}

/// A global of the module is an access: kernels that share it are ordered, and it stays between replays.
fn module_state(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (mut first, mut second) = (device.scalar(0u32)?, device.scalar(0u32)?);
    let mut graph = device.record(|r| {
        r.run(k.count_call(&mut first))?;
        r.run(k.count_call(&mut second))
    })?;
    shape(&graph, 2, &[(0, 1)])?;
    for launch in 0..3 {
        graph.launch(&stream)?;
        let counts = (first.get(&stream)?, second.get(&stream)?);
        same("counts", counts, (2 * launch + 1, 2 * launch + 2))?;
    }
    // Another module has its own, and nothing of it is ordered against the first.
    let other = Kernels::load(device)?;
    let mut third = device.scalar(0u32)?;
    let mut both = device.record(|r| {
        r.run(k.count_call(&mut first))?;
        r.run(other.count_call(&mut third))
    })?;
    shape(&both, 2, &[])?;
    both.launch(&stream)?;
    same("both", (first.get(&stream)?, third.get(&stream)?), (7, 1))?;
    let unused = device.record(k.add_stride(baked(0.0), &mut device.zeros(1)?))?;
    holds("the state is not in what does not touch it", unused.inspect().memories.len() == 1)
}
