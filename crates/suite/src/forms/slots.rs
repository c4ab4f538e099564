//! Slots: numbers that change between replays, and what follows from them.

use std::sync::Barrier;

use dacapo::inspect::How;
use dacapo::{Device, ErrorKind, Recorder, Slot, baked};

use super::check::{Failure, Outcome, holds, refused, same, shape};
use super::forms;
use super::kernels::{Affine, Kernels, ramp};

forms!("slots":
    changed, unchanged, in_two_nodes, by_another_thread, drive_geometry, drive_to_no_work, broken_condition, own_struct,
    baked_stays, many,
);

/// A slot's new value is in the next launch, and only there.
fn changed(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y) = (device.buffer(&[1.0; 8])?, device.zeros::<f32>(8)?);
    let a = Slot::new(1.0);
    let mut graph = device.record(k.saxpy(&a, &x, &mut y))?;
    shape(&graph, 1, &[])?;
    for value in [1.0, 10.0, 100.0] {
        a.set(value);
        graph.launch(&stream)?;
        // Too late for that launch.
        a.set(1000.0);
    }
    same("y", stream.read(&y)?, [111.0; 8])
}

/// A slot that is set to the value it has changes nothing; one that nobody sets neither.
fn unchanged(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y) = (device.buffer(&[1.0; 8])?, device.zeros::<f32>(8)?);
    let a = Slot::new(2.0);
    let mut graph = device.record(k.saxpy(&a, &x, &mut y))?;
    shape(&graph, 1, &[])?;
    graph.launch(&stream)?;
    graph.launch(&stream)?;
    a.set(2.0);
    graph.launch(&stream)?;
    same("replays", graph.num_replays(), 3)?;
    same("y", stream.read(&y)?, [6.0; 8])
}

/// One slot in two nodes, and a clone of it: all see one value.
fn in_two_nodes(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y, mut z) = (device.buffer(&[1.0; 4])?, device.zeros::<f32>(4)?, device.zeros::<f32>(4)?);
    let a = Slot::new(0.0);
    let twin = a.clone();
    let mut graph = device.record(|r| {
        r.run(k.add(&x, &a, &mut y))?;
        r.run(k.add(&x, &twin, &mut z))
    })?;
    shape(&graph, 2, &[])?;
    for value in [3.0, 4.0] {
        twin.set(value);
        graph.launch(&stream)?;
        same("y", stream.read(&y)?, [1.0 + value; 4])?;
        same("z", stream.read(&z)?, [1.0 + value; 4])?;
    }
    Ok(())
}

/// Set by another thread while this one launches: both nodes of a launch see the same value, and it is one that was set.
fn by_another_thread(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y, mut z) = (device.buffer(&[0.0; 4])?, device.zeros::<f32>(4)?, device.zeros::<f32>(4)?);
    let a = Slot::new(0.0);
    let mut graph = device.record(|r| {
        r.run(k.add(&x, &a, &mut y))?;
        r.run(k.add(&x, &a, &mut z))
    })?;
    shape(&graph, 2, &[])?;
    let begin = Barrier::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            begin.wait();
            (1..=50).for_each(|value| a.set(value as f32));
        });
        begin.wait();
        for _ in 0..8 {
            graph.launch(&stream)?;
            let (y, z) = (stream.read(&y)?, stream.read(&z)?);
            same("both nodes", &y, &z)?;
            holds("the value is one that was set", y[0].fract() == 0.0 && (0.0..=50.0).contains(&y[0]))?;
        }
        Ok::<(), Failure>(())
    })?;
    graph.launch(&stream)?;
    same("after the thread has ended", stream.read(&y)?, [50.0; 4])
}

/// A slot decides how many threads there are.
fn drive_geometry(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut y = device.zeros::<u32>(100)?;
    let count = Slot::new(1u32);
    let mut graph = device.record(k.increment_first(&count, &mut y))?;
    shape(&graph, 1, &[])?;
    let mut want = vec![0u32; 100];
    for n in [100, 33, 32, 1, 64] {
        count.set(n);
        graph.launch(&stream)?;
        want[..n as usize].iter_mut().for_each(|y| *y += 1);
        same("y", stream.read(&y)?, &want[..])?;
        let geometry = graph.inspect().nodes[0].geometry;
        same("blocks", geometry.map(|g| g.blocks[0]), Some(n.div_ceil(32)))?;
    }
    Ok(())
}

/// To no work and back: the node does nothing, and its neighbours all the same.
fn drive_to_no_work(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (mut y, mut z) = (device.zeros::<u32>(4)?, device.zeros::<u32>(2)?);
    let (count, offset) = (Slot::new(0u32), Slot::new(0u32));
    let mut graph = device.record(|r| {
        r.run(k.increment_first(baked(4), &mut y))?;
        r.run(k.increment_first(&count, &mut y))?;
        r.run(k.window(&offset, &y, &mut z))
    })?;
    shape(&graph, 3, &[(0, 1), (1, 2)])?;
    let mut sum = 0;
    for n in [0, 4, 0, 0, 4] {
        count.set(n);
        graph.launch(&stream)?;
        sum += 1 + n.min(1);
        same("y", stream.read(&y)?, [sum; 4])?;
        same("z behind the node", stream.read(&z)?, [sum; 2])?;
    }
    Ok(())
}

/// A value that breaks a condition is refused at the launch, before anything runs; then back again.
fn broken_condition(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let x = device.buffer(&[10u32, 11, 12, 13, 14])?;
    let (mut y, mut calls) = (device.zeros::<u32>(2)?, device.zeros::<u32>(1)?);
    let offset = Slot::new(0u32);
    let mut graph = device.record(|r| {
        r.run(k.increment_first(baked(1), &mut calls))?;
        r.run(k.window(&offset, &x, &mut y))
    })?;
    shape(&graph, 2, &[])?;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [10, 11])?;
    for bad in [4, u32::MAX] {
        offset.set(bad);
        let error =
            refused("a window past the end", graph.launch(&stream), |kind| matches!(kind, ErrorKind::Requires { .. }))?;
        same("the op", error.op(), "window")?;
        holds("the value is named", error.to_string().contains(&format!("offset = {bad}")))?;
        holds("the line is named", error.location().is_some_and(|at| at.file().ends_with("slots.rs")))?;
        same("nothing ran", (stream.read(&y)?, stream.read(&calls)?), (vec![10, 11], vec![1]))?;
        same("replays", graph.num_replays(), 1)?;
    }
    offset.set(3);
    graph.launch(&stream)?;
    same("back again", (stream.read(&y)?, stream.read(&calls)?), (vec![13, 14], vec![2]))?;
    same("replays", graph.num_replays(), 2)
}

/// A struct of one's own, by value: baked, and as a slot.
fn own_struct(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y, mut z) = (device.buffer(&ramp(6))?, device.zeros::<f32>(6)?, device.zeros::<f32>(6)?);
    let first = Affine { scale: 2.0, shift: 1.0, skip: 2 };
    let p = Slot::new(first);
    let mut graph = device.record(|r| {
        r.run(k.affine(baked(first), &x, &mut y))?;
        r.run(k.affine(&p, &x, &mut z))
    })?;
    shape(&graph, 2, &[])?;
    graph.launch(&stream)?;
    same("z as recorded", stream.read(&z)?, [0.0, 0.0, 5.0, 7.0, 9.0, 11.0])?;
    p.set(Affine { scale: -1.0, shift: 0.5, skip: 0 });
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [0.0, 0.0, 5.0, 7.0, 9.0, 11.0])?;
    same("z", stream.read(&z)?, [0.5, -0.5, -1.5, -2.5, -3.5, -4.5])
}

/// A baked value stays, and a report says of each argument what it is.
fn baked_stays(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (x, mut y) = (device.buffer(&[1.0; 4])?, device.zeros::<f32>(4)?);
    let mut number = 5.0;
    let mut graph = device.record(k.saxpy(baked(number), &x, &mut y))?;
    number += 1.0;
    graph.launch(&stream)?;
    same("y", stream.read(&y)?, [5.0; 4])?;
    same("the number went on", number, 6.0)?;
    let report = graph.inspect();
    let how = |name: &str| report.nodes[0].arguments.iter().find(|a| a.name == name).map(|a| a.how.clone());
    holds("n is derived", matches!(how("n"), Some(How::Derived { value }) if value.text == "4"))?;
    holds("a is baked", matches!(how("a"), Some(How::Baked { value }) if value.number == Some(5.0)))?;
    holds("x is a slice", matches!(how("x"), Some(How::Slice { .. })))?;
    let slot = Slot::new(0.25);
    let graph = device.record(k.saxpy(&slot, &x, &mut y))?;
    let arguments = &graph.inspect().nodes[0].arguments;
    holds("a is a slot", matches!(&arguments[1].how, How::Slot { value } if value.number == Some(0.25)))
}

/// More slots than fit in a short list, each in two nodes.
fn many(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let x = device.buffer(&[0.0; 2])?;
    let slots: Vec<Slot<f32>> = (0..40).map(|i| Slot::new(i as f32)).collect();
    let mut graph = device.record(|r: &mut Recorder<'_>| {
        let mut y = r.output::<f32>(160)?;
        for (slot, piece) in slots.iter().chain(&slots).zip(y.chunks_mut(2)) {
            r.run(k.add(&x, slot, piece))?;
        }
        Ok(y)
    })?;
    shape(&graph, 80, &[])?;
    let want = |f: &dyn Fn(usize) -> f32| (0..160).map(|i| f(i / 2 % 40)).collect::<Vec<f32>>();
    same("as recorded", stream.read(graph.launch_sync(&stream)?)?, want(&|i| i as f32))?;
    slots.iter().enumerate().filter(|(i, _)| i % 3 == 0).for_each(|(i, slot)| slot.set(-(i as f32)));
    let third = |i: usize| if i.is_multiple_of(3) { -(i as f32) } else { i as f32 };
    same("every third changed", stream.read(graph.launch_sync(&stream)?)?, want(&third))
}
