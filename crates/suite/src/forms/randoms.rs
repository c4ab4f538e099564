//! Random numbers: every replay draws what the eager run would have drawn next.

use dacapo::Device;
use dacapo::random::Generator;

use super::check::{Outcome, holds, same, shape};
use super::forms;

forms!("random": each_replay_draws_next, a_thousand_steps, saved_and_restored, two_generators, every_distribution);

/// Replays and eager runs share one sequence, which the host knows too.
fn each_replay_draws_next(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let mut random = Generator::new(device, 42)?;
    let mut state = random.save(&stream)?;
    let mut y = device.zeros::<u32>(10)?;
    let mut graph = device.record(random.words(&mut y))?;
    shape(&graph, 2, &[(0, 1)])?;
    for _ in 0..3 {
        graph.launch(&stream)?;
        same("a replay", stream.read(&y)?, state.next_words(10))?;
        state = state.advanced(10);
        let mut z = device.zeros::<u32>(3)?;
        stream.run(random.words(&mut z))?;
        same("an eager draw", stream.read(&z)?, state.next_words(3))?;
        state = state.advanced(3);
    }
    same("where it stands", random.save(&stream)?, state)
}

/// A thousand replays equal a thousand eager steps, bit for bit, and what the host computes: words and normal numbers.
fn a_thousand_steps(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let (mut inside, mut eager) = (Generator::new(device, 2024)?, Generator::new(device, 2024)?);
    let mut state = inside.save(&stream)?;
    let (mut a, mut b) = (device.zeros::<u32>(5)?, device.zeros::<f32>(7)?);
    let (mut c, mut d) = (device.zeros::<u32>(5)?, device.zeros::<f32>(7)?);
    let mut graph = device.record(|r| {
        r.run(inside.words(&mut a))?;
        r.run(inside.normal(&mut b))
    })?;
    shape(&graph, 4, &[(0, 1), (1, 2), (2, 3)])?;
    for _ in 0..1000 {
        graph.launch(&stream)?;
        stream.run(eager.words(&mut c))?;
        stream.run(eager.normal(&mut d))?;
        let words = state.next_words(5);
        state = state.advanced(5);
        let normal: Vec<u32> = state.next_normal(7).iter().map(|x| x.to_bits()).collect();
        state = state.advanced(7);
        same("words, replayed", stream.read(&a)?, &words[..])?;
        same("words, eager", stream.read(&c)?, words)?;
        let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<u32>>();
        same("normal, replayed", bits(stream.read(&b)?), &normal[..])?;
        same("normal, eager", bits(stream.read(&d)?), normal)?;
    }
    same("where the replays stand", inside.save(&stream)?, state)?;
    same("where the eager run stands", eager.save(&stream)?, state)
}

/// A saved state gives the same numbers again.
fn saved_and_restored(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let mut random = Generator::new(device, 7)?;
    let mut y = device.zeros::<f32>(6)?;
    let mut graph = device.record(random.uniform(&mut y))?;
    shape(&graph, 2, &[(0, 1)])?;
    graph.launch(&stream)?;
    let saved = random.save(&stream)?;
    graph.launch(&stream)?;
    let second = stream.read(&y)?;
    graph.launch(&stream)?;
    holds("the third differs", stream.read(&y)? != second)?;
    random.restore(&stream, &saved)?;
    graph.launch(&stream)?;
    same("restored", stream.read(&y)?, &second[..])?;
    random.seed(&stream, 7)?;
    graph.launch(&stream)?;
    graph.launch(&stream)?;
    same("from the seed", stream.read(&y)?, second)?;
    same("the same place", random.save(&stream)?, saved.advanced(6))
}

/// Two generators draw in parallel; one alone draws in order.
fn two_generators(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let (mut one, mut two) = (Generator::new(device, 1)?, Generator::new(device, 2)?);
    let (first, second) = (one.save(&stream)?, two.save(&stream)?);
    let (mut x, mut y) = (device.zeros::<u32>(4)?, device.zeros::<u32>(4)?);
    let mut graph = device.record(|r| {
        r.run(one.words(&mut x))?;
        r.run(two.words(&mut y))
    })?;
    shape(&graph, 4, &[(0, 1), (2, 3)])?;
    graph.launch(&stream)?;
    same("one", stream.read(&x)?, first.next_words(4))?;
    same("two", stream.read(&y)?, second.next_words(4))
}

/// Words, even numbers and normal numbers in one graph, in order.
fn every_distribution(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let mut random = Generator::new(device, u64::MAX)?;
    let mut state = random.save(&stream)?;
    let (mut w, mut u, mut n) = (device.zeros::<u32>(9)?, device.zeros::<f32>(9)?, device.zeros::<f32>(9)?);
    let mut graph = device.record(|r| {
        r.run(random.words(&mut w))?;
        r.run(random.uniform(&mut u))?;
        r.run(random.normal(&mut n))
    })?;
    same("ops", graph.len(), 6)?;
    for _ in 0..2 {
        graph.launch(&stream)?;
        same("words", stream.read(&w)?, state.next_words(9))?;
        state = state.advanced(9);
        same("uniform", stream.read(&u)?, state.next_uniform(9))?;
        state = state.advanced(9);
        let bits = |n: Vec<f32>| n.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        same("normal", bits(stream.read(&n)?), bits(state.next_normal(9)))?;
        state = state.advanced(9);
    }
    Ok(())
}
