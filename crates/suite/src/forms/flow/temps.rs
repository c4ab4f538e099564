//! Memory and bodies: temps of rounds, temps that outlive them, outputs, arenas, host memory, random numbers.

use dacapo::flow::{above, below, nonzero, up_to};
use dacapo::random::Generator;
use dacapo::{Device, ErrorKind, Recorder, Result, Slot, baked, copy, download, fill, upload};

use super::{Bench, agree};
use crate::forms::check::{Outcome, holds, refused, same};
use crate::forms::forms;
use crate::forms::kernels::{Kernels, churned, ramp};

forms!("flow":
    temps_of_a_round, ping_pong, temp_carried_through_rounds, temp_around_a_loop, temps_of_neighbours,
    twenty_temps_take_one_round, outputs_of_bodies, eager_in_an_arena, graphs_in_an_arena, host_memory_in_a_round,
    random_numbers_in_rounds, random_walk, warmed_up,
);

/// Temps of a body, used within one round.
fn temps_of_a_round(device: &Device) -> Outcome {
    agree(
        device,
        &[(1.0f32, 3u32), (2.0, 0), (0.5, 1)],
        |(x, n), cells, words| {
            cells[0] = x;
            words[7] = n;
        },
        |b, r| {
            let times = b.words.share();
            r.repeat_times(times.at(7), |r| {
                let (mut s, mut t) = (r.alloc::<f32>(1)?, r.alloc::<f32>(1)?);
                r.run(b.k.add(&b.cells[0..1], baked(1.0), &mut s))?;
                r.run(b.k.multiply(&s, &b.cells[0..1], &mut t))?;
                r.run(copy(&t, &mut b.cells[0..1]))
            })
            .map(drop)
        },
        |(_, n), cells, _| (0..n).for_each(|_| cells[0] *= cells[0] + 1.0),
    )
}

/// Two temps from outside, each made of the other in turn: an even and an odd number of rounds, and none.
fn ping_pong(device: &Device) -> Outcome {
    let times = Slot::new(0u32);
    agree(
        device,
        &[0u32, 1, 2, 3, 4, 7, 8],
        |n, cells, _| {
            times.set(n);
            cells[0] = 1.0;
        },
        |b, r| {
            let (mut s, mut t) = (r.alloc::<f32>(1)?, r.alloc::<f32>(1)?);
            r.run(copy(&b.cells[0..1], &mut s))?;
            r.run(fill(&mut t, baked(100.0)))?;
            r.repeat_times(&times, |r| {
                let round = r.round()?;
                let mut odd = r.alloc::<u32>(1)?;
                // The parity, counted up by a loop of its own.
                r.run(fill(&mut odd, baked(0)))?;
                r.repeat_times(&*round, |r| {
                    r.when(nonzero(odd.at(0)), |r| r.run(fill(&mut odd, baked(0))))?
                        .otherwise(|r| r.run(fill(&mut odd, baked(1))))
                })?;
                r.when(nonzero(odd.at(0)), |r| r.run(b.k.add(&t, baked(2.0), &mut s)))?
                    .otherwise(|r| r.run(b.k.add(&s, baked(1.0), &mut t)))
            })?;
            r.run(copy(&s, &mut b.cells[1..2]))?;
            r.run(copy(&t, &mut b.cells[2..3]))
        },
        |n, cells, _| {
            let (mut s, mut t) = (1.0, 100.0);
            for round in 0..n {
                if round % 2 == 1 { s = t + 2.0 } else { t = s + 1.0 }
            }
            cells[1..3].copy_from_slice(&[s, t]);
        },
    )
}

/// A temp from outside that each round changes, first written by the first round itself.
fn temp_carried_through_rounds(device: &Device) -> Outcome {
    agree(
        device,
        &[1u32, 2, 9],
        |n, _, words| words[7] = n,
        |b, r| {
            let (mut sum, mut last) = (r.alloc::<f32>(3)?, r.alloc::<f32>(3)?);
            r.run(fill(&mut sum, baked(0.5)))?;
            r.repeat(up_to(b.words.at(7)), |r| {
                r.run(copy(&sum, &mut last))?;
                r.run(b.k.add_stride(baked(1.0), &mut sum))?;
                Ok(below(sum.at(0), baked(100.0)))
            })?;
            // A `repeat` runs at least once, so both are written.
            r.run(copy(&sum, &mut b.cells[..3]))?;
            r.run(copy(&last, &mut b.cells[3..6]))
        },
        |n, cells, _| {
            cells[..3].fill(0.5 + n as f32);
            cells[3..6].fill(n as f32 - 0.5);
        },
    )
}

/// A temp that is written before a loop and read behind it is not touched by the temps of the rounds.
fn temp_around_a_loop(device: &Device) -> Outcome {
    agree(
        device,
        &[0u32, 5],
        |n, _, words| words[7] = n,
        |b, r| {
            let mut kept = r.alloc::<u32>(512)?;
            r.run(fill(&mut kept, baked(77)))?;
            let times = b.words.share();
            r.repeat_times(times.at(7), |r| {
                let mut wide = r.alloc::<u32>(700)?;
                r.run(fill(&mut wide, baked(1)))?;
                r.when(nonzero(b.words.at(7)), |r| {
                    let mut wider = r.alloc::<u32>(900)?;
                    r.run(fill(&mut wider, baked(2)))?;
                    r.run(copy(&wider[899..], &mut b.words[0..1]))
                })?;
                r.run(copy(&wide[699..], &mut b.words[1..2]))
            })?;
            r.run(copy(&kept[510..], &mut b.words[2..4]))
        },
        |n, _, words| {
            if n > 0 {
                words[..2].copy_from_slice(&[2, 1]);
            }
            words[2..4].fill(77);
        },
    )
}

/// Two loops that may overlap have temps of their own; each is right.
fn temps_of_neighbours(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut outs = [device.zeros::<u32>(32)?, device.zeros::<u32>(32)?, device.zeros::<u32>(32)?];
    let times = Slot::new(4u32);
    let mut graph = device.record(|r: &mut Recorder<'_>| {
        for (number, out) in outs.iter_mut().enumerate() {
            r.repeat_times(&times, |r: &mut Recorder<'_>| {
                let mut t = r.alloc::<u32>(32)?;
                r.run(copy(&*out, &mut t))?;
                r.run(k.churn(baked(10 + number as u32), &mut t))?;
                r.run(copy(&t, out))
            })?;
        }
        Ok(())
    })?;
    let mut done = 0;
    for n in [4, 0, 3] {
        times.set(n);
        graph.launch(&stream)?;
        done += n;
        for (number, out) in outs.iter().enumerate() {
            same("out", stream.read(out)?, [churned(0, done * (10 + number as u32)); 32])?;
        }
    }
    Ok(())
}

/// Twenty temps in a chain take the bytes of two, and no more for more rounds.
fn twenty_temps_take_one_round(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut bytes = Vec::new();
    for rounds in [1u32, 2, 500] {
        let mut y = device.zeros::<f32>(1024)?;
        let before = device.counters().allocations;
        let mut graph = device.record(|r| {
            r.repeat_times(baked(rounds), |r| {
                let mut last = r.alloc::<f32>(1024)?;
                r.run(copy(&y, &mut last))?;
                for _ in 0..20 {
                    let mut next = r.alloc::<f32>(1024)?;
                    r.run(k.add(&last, baked(1.0), &mut next))?;
                    last = next;
                }
                r.run(copy(&last, &mut y))
            })
            .map(drop)
        })?;
        same("one allocation", device.counters().allocations, before + 1)?;
        bytes.push(graph.memory().temps());
        if rounds < 500 {
            graph.launch(&stream)?;
            same("y", stream.read(&y)?, [20.0 * rounds as f32; 1024])?;
        }
    }
    same("bytes do not depend on the rounds", &bytes[1..], [bytes[0]; 2])?;
    holds("two temps and the loop's state", (2 * 4096..=2 * 4096 + 256).contains(&bytes[0]))
}

/// Outputs that bodies write: zero until a branch is taken, and kept from the launch that wrote them.
fn outputs_of_bodies(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (flag, x) = (Slot::new(0u32), device.buffer(&ramp(4))?);
    let body = |r: &mut Recorder<'_>| {
        let (mut taken, mut summed) = (r.output::<f32>(4)?, r.output::<f32>(4)?);
        r.when(nonzero(&flag), |r: &mut Recorder<'_>| r.run(k.add(&x, baked(1.0), &mut taken)))?;
        r.run(fill(&mut summed, baked(0.0)))?;
        r.repeat_times(&flag, |r: &mut Recorder<'_>| r.run(k.saxpy(baked(1.0), &x, &mut summed)))?;
        Ok((taken, summed))
    };
    let mut graph = device.record(body)?;
    let plus: Vec<f32> = ramp(4).iter().map(|x| x + 1.0).collect();
    let sum = |n: u32| ramp(4).iter().map(|x| n as f32 * x).collect::<Vec<_>>();
    for (n, want) in [(0, vec![0.0; 4]), (3, plus.clone()), (0, plus.clone())] {
        flag.set(n);
        let (taken, summed) = graph.launch_sync(&stream)?;
        same("replayed", (stream.read(taken)?, stream.read(summed)?), (want, sum(n)))?;
    }
    flag.set(2);
    let (taken, summed) = stream.run(body)?;
    same("eagerly", (stream.read(&taken)?, stream.read(&summed)?), (plus, sum(2)))
}

/// Each element by a loop with temps, as often as a word says.
fn through_temps(b: &mut Bench, r: &mut Recorder<'_>, times: &Slot<u32>) -> Result<()> {
    r.repeat_times(times, |r: &mut Recorder<'_>| {
        let mut t = r.alloc::<f32>(8)?;
        r.run(b.k.add(&b.cells, baked(1.0), &mut t))?;
        r.when(above(t.at(0), baked(2.0)), |r: &mut Recorder<'_>| {
            let mut u = r.alloc::<f32>(8)?;
            r.run(b.k.multiply(&t, &t, &mut u))?;
            r.run(copy(&u, &mut b.cells))
        })?
        .otherwise(|r: &mut Recorder<'_>| r.run(copy(&t, &mut b.cells)))
    })
    .map(drop)
}

fn through_temps_here(mut x: f32, times: u32) -> f32 {
    for _ in 0..times {
        let t = x + 1.0;
        x = if t > 2.0 { t * t } else { t };
    }
    x
}

/// An eager run with bodies in an arena of the caller's.
fn eager_in_an_arena(device: &Device) -> Outcome {
    let (mut b, arena, times) = (Bench::new(device)?, device.arena(1 << 11)?, Slot::new(0u32));
    let stream = b.stream.clone();
    for n in [3, 0, 1, 2, 4] {
        times.set(n);
        stream.write(&mut b.cells, &[0.5; 8])?;
        stream.run_in(&arena, |r: &mut Recorder<'_>| through_temps(&mut b, r, &times))?;
        same("cells", stream.read(&b.cells)?, [through_temps_here(0.5, n); 8])?;
    }
    holds("it was used", arena.used() > 0)
}

/// Two graphs with loops in one arena, on two streams, beside eager runs in it.
fn graphs_in_an_arena(device: &Device) -> Outcome {
    let (mut b, mut c) = (Bench::new(device)?, Bench::new(device)?);
    let (arena, times) = (device.arena(1 << 11)?, Slot::new(2u32));
    let recording = device.graph().arena(&arena);
    let mut first = recording.clone().record(|r: &mut Recorder<'_>| through_temps(&mut b, r, &times))?;
    let mut second = recording.record(|r: &mut Recorder<'_>| through_temps(&mut c, r, &times))?;
    let mut want = (0.0, 0.0);
    for n in [2, 1, 0, 1] {
        times.set(n);
        first.launch(&b.stream)?;
        second.launch(&c.stream)?;
        first.launch(&c.stream)?;
        want = (through_temps_here(want.0, 2 * n), through_temps_here(want.1, n));
    }
    same("the first", c.stream.read(&b.cells)?, [want.0; 8])?;
    same("the second", b.stream.read(&c.cells)?, [want.1; 8])
}

/// Host memory is read and written in each round, as it is when the round runs.
fn host_memory_in_a_round(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (mut step, mut result) = (device.host(&[0.0f32; 4])?, device.host(&[0.0f32; 4])?);
    let mut sum = device.zeros::<f32>(4)?;
    let times = Slot::new(0u32);
    let mut op = |r: &mut Recorder<'_>| {
        r.repeat_times(&times, |r: &mut Recorder<'_>| {
            let mut x = r.alloc::<f32>(4)?;
            r.run(upload(&step, &mut x))?;
            r.run(k.saxpy(baked(1.0), &x, &mut sum))?;
            r.run(download(&sum, &mut result))
        })
        .map(drop)
    };
    let mut graph = device.record(&mut op)?;
    times.set(2);
    stream.run(&mut op)?;
    let mut want = 0.0;
    for (by, n) in [(1.0f32, 3u32), (10.0, 0), (100.0, 1)] {
        step.set(&[by; 4])?;
        times.set(n);
        graph.launch(&stream)?;
        want += by * n as f32;
        same("on the host", result.to_vec()?, [want; 4])?;
    }
    Ok(())
}

/// Random numbers are drawn anew in each round: those that as many eager draws give.
fn random_numbers_in_rounds(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let mut random = Generator::new(device, 42)?;
    let mut state = random.save(&stream)?;
    let (mut last, mut all, times) = (device.zeros::<u32>(3)?, device.zeros::<u32>(12)?, Slot::new(0u32));
    let seen = all.share();
    let mut op = |r: &mut Recorder<'_>| {
        r.repeat_times(&times, |r: &mut Recorder<'_>| {
            let round = r.round()?;
            r.run(random.words(&mut last))?;
            r.switch(&*round, 4, |r, case| r.run(copy(&last, &mut all[3 * case as usize..][..3])))
        })
        .map(drop)
    };
    let mut graph = device.record(&mut op)?;
    for (n, eagerly) in [(4u32, false), (4, true), (2, false), (0, false), (3, true), (4, false)] {
        times.set(n);
        match eagerly {
            true => stream.run(&mut op)?,
            false => graph.launch(&stream).map(drop)?,
        }
        for round in 0..n as usize {
            same("a round's", stream.read(&seen)?[3 * round..][..3].to_vec(), state.next_words(3))?;
            state = state.advanced(3);
        }
    }
    drop(graph);
    same("where it stands", random.save(&stream)?, state)
}

/// As long as a random number says: draws until one is large enough, or enough were drawn.
fn random_walk(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let mut random = Generator::new(device, 7)?;
    let mut state = random.save(&stream)?;
    let mut seen = device.zeros::<u32>(1)?;
    let mut graph = device.record(|r| {
        let rounds = r.repeat(up_to(baked(50)), |r| {
            let mut x = r.alloc::<f32>(1)?;
            r.run(random.uniform(&mut x))?;
            Ok(below(x.at(0), baked(0.8)))
        })?;
        r.run(copy(rounds.count().as_slice(), &mut seen))
    })?;
    for _ in 0..10 {
        graph.launch(&stream)?;
        let mut rounds = 0;
        loop {
            let x = state.next_uniform(1)[0];
            state = state.advanced(1);
            rounds += 1;
            if x >= 0.8 || rounds == 50 {
                break;
            }
        }
        same("rounds", stream.read(&seen)?, [rounds])?;
    }
    Ok(())
}

/// A warm-up runs the bodies; one that would put back what they wrote is refused, and has written nothing.
fn warmed_up(device: &Device) -> Outcome {
    let (mut b, times) = (Bench::new(device)?, Slot::new(3u32));
    let stream = b.stream.clone();
    stream.write(&mut b.cells, &[0.5; 8])?;
    let restored = device.graph().warmup(2).record(|r: &mut Recorder<'_>| through_temps(&mut b, r, &times));
    refused("a restored warm-up", restored, |kind| matches!(kind, ErrorKind::Unsupported { .. }))?;
    same("no trace", stream.read(&b.cells)?, [0.5; 8])?;
    times.set(1);
    let recording = device.graph().warmup_unrestored(2);
    let mut graph = recording.record(|r: &mut Recorder<'_>| through_temps(&mut b, r, &times))?;
    graph.launch(&stream)?;
    same("two runs and a replay", stream.read(&b.cells)?, [through_temps_here(0.5, 3); 8])
}
