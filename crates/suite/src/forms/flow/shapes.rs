//! Loops in what keeps many graphs: stand-ins, caches, buckets, pools, and graphs inside graphs.

use dacapo::flow::{above, below, nonzero, up_to};
use dacapo::shapes::{Bucketed, Buckets, GraphCache, Pad, rows};
use dacapo::{Buffer, Device, Recorder, Slice, Slot, baked, copy, fill};

use crate::forms::check::{Outcome, holds, same};
use crate::forms::forms;
use crate::forms::kernels::{Kernels, churned, ramp};

forms!("flow":
    stand_ins_in_bodies, stand_ins_in_conditions, stand_ins_by_turns, in_a_cache, in_buckets, in_a_pool,
    embedded_in_a_loop, embedded_in_branches, embedded_with_a_slot,
);

/// Bodies read and write memory that each launch binds.
fn stand_ins_in_bodies(device: &Device) -> Outcome {
    let (stream, k, times) = (device.stream()?, Kernels::load(device)?, Slot::new(2u32));
    let (x, mut y) = (device.zeros::<f32>(5)?, device.zeros::<f32>(5)?);
    let mut graph = device.graph().record_into(&x[..], &mut y[..], |r, x, y| {
        r.run(fill(&mut *y, baked(0.0)))?;
        r.repeat_times(&times, |r| {
            let mut t = r.alloc(5)?;
            r.run(k.add(x, baked(1.0), &mut t))?;
            r.run(k.saxpy(baked(1.0), &t, y))
        })
        .map(drop)
    })?;
    let mut results = Vec::new();
    for (value, n) in [(1.0f32, 2u32), (2.0, 0), (3.0, 5), (4.0, 2)] {
        let (x, mut y) = (device.buffer(&[value; 5])?, device.buffer(&[99.0; 5])?);
        times.set(n);
        graph.launch(&stream, &x, &mut y)?;
        // The input is dropped while the launch may be running.
        results.push(((value + 1.0) * n as f32, y));
    }
    for (want, y) in &results {
        same("y", stream.read(y)?, [*want; 5])?;
    }
    same("what it was recorded with", (stream.read(&x)?, stream.read(&y)?), (vec![0.0; 5], vec![0.0; 5]))
}

/// Conditions, bounds and numbers of cases that look at bound memory: of parts of one buffer, at other offsets each
/// time.
fn stand_ins_in_conditions(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let numbers = device.buffer(&[3u32, 0, 9, 2, 1, 2, 4, 0])?;
    let mut y = device.zeros::<u32>(3)?;
    let mut graph = device.graph().record_into(&numbers[..2], &mut y[..], |r, x, y: &mut Slice<u32>| {
        r.run(fill(&mut *y, baked(0)))?;
        r.repeat_times(x.at(0), |r| r.run(k.increment_first(baked(1), y)))?;
        r.switch(x.at(1), 3, |r, case| r.run(fill(&mut y[1..2], baked(10 + case))))?;
        r.when(above(x.at(0), x.at(1)), |r| r.run(fill(&mut y[2..], baked(1))))?
            .otherwise(|r| r.run(fill(&mut y[2..], baked(2))))
    })?;
    for (at, want) in [(0, [3, 10, 1]), (1, [0, 0, 2]), (2, [9, 12, 1]), (4, [1, 12, 2]), (6, [4, 10, 1])] {
        let mut y = device.zeros::<u32>(3)?;
        graph.launch(&stream, &numbers[at..at + 2], &mut y)?;
        same(&format!("from {at}"), stream.read(&y)?, want)?;
    }
    Ok(())
}

/// A condition that looks at what its body writes, in bound memory; launched there and back on two streams.
fn stand_ins_by_turns(device: &Device) -> Outcome {
    let (one, two, k) = (device.stream()?, device.stream()?, Kernels::load(device)?);
    let (mut a, mut b) = (device.buffer(&[1.0f32; 4])?, device.buffer(&[0.0f32; 4])?);
    let mut graph = device.graph().record_into(&a[..], &mut b[..], |r, x, y| {
        r.run(copy(x, y))?;
        r.repeat(up_to(baked(100)), |r| {
            r.run(k.add_stride(baked(1.0), y))?;
            Ok(below(y.at(0), baked(5.0)))
        })
        .map(drop)
    })?;
    let mut want = 1.0f32;
    for _ in 0..3 {
        graph.launch(&one, &a, &mut b)?;
        graph.launch(&two, &b, &mut a)?;
        for _ in 0..2 {
            want = if want < 5.0 { 5.0 } else { want + 1.0 };
        }
    }
    same("a", one.read(&a)?, [want; 4])
}

/// One graph for each key, each with a loop of its own length.
fn in_a_cache(device: &Device) -> Outcome {
    let (stream, k, extra) = (device.stream()?, Kernels::load(device)?, Slot::new(0u32));
    let mut cache = GraphCache::new(device).max_graphs(2);
    for (len, more) in [(3usize, 0u32), (4, 1), (3, 2), (5, 0), (3, 1), (4, 0)] {
        extra.set(more);
        let body = |r: &mut Recorder<'_>| {
            let mut y = r.output::<u32>(len)?;
            r.run(fill(&mut y, baked(0)))?;
            r.repeat_times(baked(len as u32), |r: &mut Recorder<'_>| r.run(k.churn(baked(1), &mut y)))?;
            r.repeat_times(&extra, |r: &mut Recorder<'_>| r.run(k.churn(baked(1), &mut y)))?;
            Ok(y)
        };
        let y: &Buffer<u32> = cache.run(&stream, &len, body)?;
        same("y", stream.read(y)?, vec![churned(0, len as u32 + more); len])?;
    }
    holds("some were kept", cache.counters().hits >= 1 && cache.len() == 2)
}

/// Rows in buckets: each row count has a graph with a loop over padded rows.
fn in_buckets(device: &Device) -> Outcome {
    let (stream, k, times) = (device.stream()?, Kernels::load(device)?, Slot::new(3u32));
    let mut summed = Bucketed::new(device, Buckets::new([2, 4])?, rows(2, Pad::Zero), |r, n, x: &Slice<f32>| {
        let mut y = r.output::<f32>(n * 2)?;
        r.run(fill(&mut y, baked(0.0)))?;
        r.repeat_times(&times, |r: &mut Recorder<'_>| {
            let mut t = r.alloc(n * 2)?;
            r.run(k.add(x, baked(1.0), &mut t))?;
            r.run(k.saxpy(baked(1.0), &t, &mut y))
        })?;
        Ok(y)
    })?;
    // 5 rows have no bucket: they are run eagerly.
    for (n, repeats) in [(1usize, 3u32), (2, 0), (4, 2), (3, 1), (5, 2), (1, 5)] {
        times.set(repeats);
        let x = device.buffer(&ramp(2 * n))?;
        let want: Vec<f32> = ramp(2 * n).iter().map(|x| repeats as f32 * (x + 1.0)).collect();
        same("y", stream.read(summed.call(&stream, n, &x)?)?, want)?;
    }
    same("graphs and eager runs", (summed.counters().missed, summed.counters().eager), (2, 1))
}

/// Graphs with loops in one pool: one arena, and right on three streams.
fn in_a_pool(device: &Device) -> Outcome {
    let (k, pool) = (Kernels::load(device)?, device.pool());
    let streams = [device.stream()?, device.stream()?, device.stream()?];
    let mut outs = [device.zeros::<u32>(16)?, device.zeros::<u32>(200)?, device.zeros::<u32>(64)?];
    let mut graphs = Vec::new();
    for (number, out) in outs.iter_mut().enumerate() {
        let graph = device.graph().pool(&pool).record(|r: &mut Recorder<'_>| {
            r.repeat_times(baked(2 + number as u32), |r: &mut Recorder<'_>| {
                let mut t = r.alloc::<u32>(out.len())?;
                r.run(copy(&*out, &mut t))?;
                r.run(k.churn(baked(50), &mut t))?;
                r.run(copy(&t, out))
            })
            .map(drop)
        })?;
        graphs.push(graph);
    }
    same("graphs", pool.graphs(), 3)?;
    for round in 0..4 {
        for (graph, stream) in graphs.iter_mut().zip(streams.iter().cycle().skip(round)) {
            graph.launch(stream)?;
        }
    }
    for (number, out) in outs.iter().enumerate() {
        same("out", streams[0].read(out)?, vec![churned(0, 4 * 50 * (2 + number as u32)); out.len()])?;
    }
    Ok(())
}

/// A graph with a loop inside a loop of another, twice, and behind it.
fn embedded_in_a_loop(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (mut y, inner_times, outer_times) = (device.zeros::<u32>(4)?, Slot::new(3u32), Slot::new(2u32));
    let mut inner = device.record(|r| {
        r.repeat_times(&inner_times, |r| {
            let mut t = r.alloc::<u32>(4)?;
            r.run(copy(&y, &mut t))?;
            r.run(k.churn(baked(1), &mut t))?;
            r.run(copy(&t, &mut y))
        })
        .map(drop)
    })?;
    let mut outer = device.record(|r| {
        r.repeat_times(&outer_times, |r| {
            r.run(inner.as_op())?;
            r.run(inner.as_op())
        })?;
        r.run(inner.as_op())
    })?;
    let mut steps = 0;
    for (i, o) in [(3, 2), (0, 4), (1, 0), (2, 3)] {
        inner_times.set(i);
        outer_times.set(o);
        outer.launch(&stream)?;
        steps += i * (2 * o + 1);
        same("y", stream.read(&y)?, [churned(0, steps); 4])?;
        inner.launch(&stream)?;
        steps += i;
    }
    same("y at last", stream.read(&y)?, [churned(0, steps); 4])?;
    let mut eager = 0;
    stream.write(&mut y, &[0; 4])?;
    for _ in 0..2 {
        stream.run(outer.as_op())?;
        eager += 2 * 7;
    }
    same("eagerly", stream.read(&y)?, [churned(0, eager); 4])
}

/// One graph in both sides of a branch and in cases of a switch; its outputs behind them.
fn embedded_in_branches(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let (flag, case) = (Slot::new(0u32), Slot::new(0u32));
    let (mut y, mut z) = (device.zeros::<u32>(2)?, device.zeros::<u32>(2)?);
    let inner = device.record(|r| {
        let mut out = r.output::<u32>(2)?;
        r.when(nonzero(&flag), |r| r.run(k.churn(baked(2), &mut y)))?
            .otherwise(|r| r.run(k.churn(baked(1), &mut y)))?;
        r.run(copy(&y, &mut out))?;
        Ok(out)
    })?;
    let mut outer = device.record(|r| {
        r.when(nonzero(&flag), |r| r.run(inner.as_op()).map(drop))?.otherwise(|r| {
            r.run(inner.as_op())?;
            r.run(inner.as_op()).map(drop)
        })?;
        r.switch(&case, 2, |r, times| (0..=times).try_for_each(|_| r.run(inner.as_op()).map(drop)))?;
        r.run(copy(inner.outputs(), &mut z))
    })?;
    let mut steps = 0;
    for (f, c) in [(0, 0), (1, 1), (0, 7), (1, 0)] {
        flag.set(f);
        case.set(c);
        outer.launch(&stream)?;
        let inners = if f == 0 { 2 } else { 1 } + if c < 2 { c + 1 } else { 0 };
        steps += inners * (1 + f);
        same("z", stream.read(&z)?, [churned(0, steps); 2])?;
    }
    Ok(())
}

/// A slot of an embedded graph has one value in all rounds of the outer one.
fn embedded_with_a_slot(device: &Device) -> Outcome {
    let (stream, k, by) = (device.stream()?, Kernels::load(device)?, Slot::new(1.0f32));
    let mut y = device.zeros::<f32>(4)?;
    let inner = device.record(k.add_stride(&by, &mut y))?;
    let mut outer = device.record(|r| r.repeat_times(baked(3), |r| r.run(inner.as_op())).map(drop))?;
    drop(inner);
    outer.launch(&stream)?;
    by.set(10.0);
    outer.launch(&stream)?;
    by.set(1000.0);
    same("y", stream.read(&y)?, [33.0; 4])
}
