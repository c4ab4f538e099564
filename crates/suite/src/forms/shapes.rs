//! Few graphs for many sizes: caches, buckets, padding.

use dacapo::port::graphed;
use dacapo::shapes::{Bucketed, Buckets, GraphCache, Pad, rows};
use dacapo::{Buffer, Device, ErrorKind, Recorder, Scalar, Slice, baked, copy};

use super::check::{Outcome, refused, same};
use super::forms;
use super::kernels::{Kernels, churned, ramp};

forms!("shapes":
    cache_by_key, cache_evicts_what_is_in_flight, cache_over_the_cap_runs_eagerly, cache_prepares_largest_first,
    bucketed_every_size, bucketed_padding, bucketed_two_inputs, bucketed_larger, bucketed_on_two_streams,
    graphed_with_a_cap, memory_of_a_graph, budget,
);

/// One graph for each key, the one used longest ago goes.
fn cache_by_key(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut cache = GraphCache::new(device).max_graphs(2).label("cached");
    for (len, by) in [(3, 1), (4, 1), (3, 1), (5, 1), (3, 1), (4, 1), (4, 2)] {
        let x = device.buffer(&ramp(len))?;
        let body = |r: &mut Recorder<'_>| {
            let (mut t, mut y) = (r.alloc(len)?, r.output(len)?);
            r.run(k.add(&x, baked(by as f32), &mut t))?;
            r.run(k.add(&t, baked(0.5), &mut y))?;
            Ok(y)
        };
        let y = cache.run(&stream, &(len, by), body)?;
        let want: Vec<f32> = ramp(len).iter().map(|x| x + by as f32 + 0.5).collect();
        same("y", stream.read(y)?, want)?;
        same("graphs", cache.len() <= 2, true)?;
    }
    let counters = cache.counters();
    same("counters", (counters.hits, counters.missed, counters.evicted), (2, 5, 3))?;
    same("requests and graphs", (counters.requests(), counters.alive()), (7, cache.len() as u64))?;
    let graph = cache.get(&(4, 2)).ok_or(super::Failure::new("it is not there"))?;
    same("ops and name", (graph.len(), graph.label()), (2, "cached"))
}

/// A graph that is dropped while it runs ends its work first.
fn cache_evicts_what_is_in_flight(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut cache = GraphCache::new(device).max_graphs(1);
    let mut seen = Vec::new();
    for key in 0..6u32 {
        let y: &Buffer<u32> = cache.run(&stream, &key, |r| {
            let mut y = r.output::<u32>(64)?;
            r.run(dacapo::fill(&mut y, baked(key)))?;
            r.run(k.churn(baked(40), &mut y))?;
            Ok(y)
        })?;
        seen.push(y.share());
    }
    for (key, y) in seen.iter().enumerate() {
        same("y", stream.read(y)?, [churned(key as u32, 40); 64])?;
    }
    same("evicted", (cache.counters().evicted, cache.len()), (5, 1))
}

/// What no cap allows is run without a graph, and is right all the same.
fn cache_over_the_cap_runs_eagerly(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let x = device.buffer(&ramp(8))?;
    let body = |r: &mut Recorder<'_>| {
        let mut y = r.output(8)?;
        r.run(k.add(&x, baked(2.0), &mut y))?;
        Ok(y)
    };
    let want: Vec<f32> = ramp(8).iter().map(|x| x + 2.0).collect();
    for mut cache in [GraphCache::new(device).max_bytes(8), GraphCache::new(device).max_graphs(0)] {
        for _ in 0..3 {
            same("y", stream.read(cache.run(&stream, &(), body)?)?, &want[..])?;
        }
        same("eager", (cache.counters().eager, cache.len()), (3, 0))?;
        refused("what is over the cap", cache.get_or_record(&(), body), |kind| {
            matches!(kind, ErrorKind::OverCap { .. })
        })?;
        same("requests", (cache.counters().requests(), cache.counters().failed), (4, 1))?;
    }
    Ok(())
}

/// All keys before the first request, the largest first, and only as many as there is room for.
fn cache_prepares_largest_first(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut cache = GraphCache::new(device).max_graphs(3);
    let mut order = Vec::new();
    let made = cache.prepare([2usize, 16, 8, 16, 4], |r, &len| {
        order.push(len);
        let mut y = r.output::<f32>(len)?;
        r.run(k.add_stride(baked(1.0), &mut y))?;
        Ok(y)
    })?;
    same("made", (made, order[..3].to_vec()), (3, vec![16, 8, 4]))?;
    same("there", [2, 4, 8, 16].map(|len| cache.contains(&len)), [false, true, true, true])?;
    for round in 1..=2 {
        let y = cache.run(&stream, &8, |_| Err(dacapo::Error::msg("it is there")))?;
        same("y", stream.read(y)?, [round as f32; 8])?;
    }
    cache.clear();
    same("cleared", (cache.len(), cache.counters().evicted, cache.counters().hits), (0, 3, 2))
}

/// Any number of rows, exactly those come back, and nothing beyond the caller's rows is read.
fn bucketed_every_size(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let buckets = Buckets::new([1, 2, 4, 8])?;
    let mut plus = Bucketed::new(device, buckets, rows(3, Pad::Value(1e9)), |r, n, x: &Slice<f32>| {
        let (mut t, mut y) = (r.alloc(n * 3)?, r.output(n * 3)?);
        r.run(k.add(x, baked(1.0), &mut t))?;
        r.run(k.add(&t, baked(1.0), &mut y))?;
        Ok(y)
    })?;
    for n in [5, 1, 8, 3, 2, 7, 4, 6, 8, 1] {
        // No element more than the call is about.
        let x = device.buffer(&ramp(n * 3))?;
        let want: Vec<f32> = ramp(n * 3).iter().map(|x| x + 2.0).collect();
        same("y", stream.read(plus.call(&stream, n, &x)?)?, want)?;
    }
    let counters = plus.counters();
    same("hits and misses", (counters.hits, counters.missed, counters.eager), (6, 4, 0))?;
    same("padded", counters.padded, 4)?;
    same("inputs", plus.input_bytes(), 8 * 3 * 4)
}

/// A recording that looks at every row sees the padding that was asked for.
fn bucketed_padding(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let total = |pad: Pad<f32>, n: usize, before: &[f32]| -> Result<f32, super::Failure> {
        let mut sum = Bucketed::new(device, Buckets::new([8])?, rows(2, pad), |r, _, x: &Slice<f32>| {
            let mut total = r.output_scalar::<f32>()?;
            r.run(k.sum(x, &mut total))?;
            Ok(total)
        })?;
        if !before.is_empty() {
            sum.call(&stream, before.len() / 2, &device.buffer(before)?)?;
        }
        let x: Vec<f32> = (0..2 * n).map(|i| (i + 1) as f32).collect();
        let total: &Scalar<f32> = sum.call(&stream, n, &device.buffer(&x)?)?;
        Ok(total.get(&stream)?)
    };
    for n in 1..=8 {
        let (real, rest) = ((n * (2 * n + 1)) as f32, (8 - n) as f32);
        same("zero", total(Pad::Zero, n, &[9.0; 16])?, real)?;
        same("value", total(Pad::Value(0.5), n, &[9.0; 16])?, real + rest)?;
        same("last", total(Pad::RepeatLast, n, &[9.0; 16])?, real + rest * (4 * n - 1) as f32)?;
        same("kept", total(Pad::Keep, n, &[9.0; 16])?, real + rest * 18.0)?;
        same("kept zeros", total(Pad::Keep, n, &[])?, real)?;
    }
    Ok(())
}

/// Inputs of several types and row lengths, each with its own padding; several outputs.
fn bucketed_two_inputs(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let inputs = (rows(2, Pad::Zero), rows(1, Pad::Value(7u32)));
    let mut both =
        Bucketed::new(device, Buckets::powers_of_two(4)?, inputs, |r, n, (x, i): (&Slice<f32>, &Slice<u32>)| {
            let (mut y, mut j) = (r.output(2 * n)?, r.output(n)?);
            r.run(k.add(x, baked(1.0), &mut y))?;
            r.run(copy(i, &mut j))?;
            r.run(k.increment_first(baked(n as u32), &mut j))?;
            Ok((y, j))
        })?;
    same("prepared", both.prepare()?, 3)?;
    for n in [3, 1, 4, 2] {
        let (x, i) = (device.buffer(&ramp(2 * n))?, device.buffer(&vec![n as u32; n])?);
        let (y, j) = both.call(&stream, n, (&x, &i))?;
        let want: Vec<f32> = ramp(2 * n).iter().map(|x| x + 1.0).collect();
        same("y and j", (stream.read(y)?, stream.read(j)?), (want, vec![n as u32 + 1; n]))?;
    }
    same("counters", (both.counters().hits, both.counters().missed), (4, 0))?;
    let (x, i) = (device.buffer(&ramp(5))?, device.buffer(&[1u32, 2])?);
    refused("five elements as two rows of two", both.call(&stream, 2, (&x, &i)), |kind| {
        *kind == ErrorKind::NotRows { len: 5, rows: 2, row: 2 }
    })?;
    Ok(())
}

/// Over the largest bucket: at the real size without a graph, or refused.
fn bucketed_larger(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let f = |r: &mut Recorder<'_>, n: usize, x: &Slice<f32>| {
        let mut y = r.output(n)?;
        r.run(k.add(x, baked(1.0), &mut y))?;
        Ok(y)
    };
    let mut plus = Bucketed::new(device, Buckets::new([2, 4])?, rows(1, Pad::Zero), f)?;
    for n in [4, 9, 3, 9] {
        let x = device.buffer(&ramp(n))?;
        let want: Vec<f32> = ramp(n).iter().map(|x| x + 1.0).collect();
        same("y", stream.read(plus.call(&stream, n, &x)?)?, want)?;
    }
    let counters = plus.counters();
    same("counters", (counters.hits, counters.missed, counters.eager, counters.padded), (1, 1, 2, 1))?;
    let mut plus = plus.refuse_larger();
    let x = device.buffer(&ramp(5))?;
    for rows in [5, 0] {
        refused("a size without a bucket", plus.call(&stream, rows, &x[..rows]), |kind| {
            *kind == ErrorKind::NoBucket { rows, largest: 4 }
        })?;
    }
    Ok(())
}

/// Calls from two streams in turn: the fixed inputs are not overwritten under a graph that still reads them.
fn bucketed_on_two_streams(device: &Device) -> Outcome {
    let (streams, k) = ([device.stream()?, device.stream()?], Kernels::load(device)?);
    let buckets = Buckets::new([16, 64])?;
    let mut slow = Bucketed::new(device, buckets, rows(1, Pad::Value(0u32)), |r, n, x: &Slice<u32>| {
        let mut y = r.output(n)?;
        r.run(copy(x, &mut y))?;
        r.run(k.churn(baked(12), &mut y))?;
        Ok(y)
    })?;
    for call in 0..6usize {
        let (n, stream) = (10 + 9 * call, &streams[call % 2]);
        let x = device.buffer(&vec![call as u32; n])?;
        let y = slow.call(stream, n, &x)?;
        // Read on the other stream: in order all the same.
        same("y", streams[(call + 1) % 2].read(y)?, vec![churned(call as u32, 12); n])?;
    }
    Ok(())
}

/// Shapes come and go; never more graphs than the cap.
fn graphed_with_a_cap(device: &Device) -> Outcome {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let mut plus = graphed(device, |r: &mut Recorder<'_>, x: &Buffer<f32>| {
        let mut y = r.output(x.len())?;
        r.run(k.add(x, baked(1.0), &mut y))?;
        Ok(y)
    })
    .max_graphs(2);
    for len in [1, 2, 3, 2, 1, 3, 3] {
        let x = device.buffer(&ramp(len))?;
        let want: Vec<f32> = ramp(len).iter().map(|x| x + 1.0).collect();
        same("y", stream.read(plus.call(&stream, &x)?)?, want)?;
        same("graphs", plus.recordings() <= 2, true)?;
    }
    let counters = plus.counters();
    same("counters", (counters.hits, counters.missed, counters.evicted), (2, 5, 3))
}

/// What a graph takes, by what it is for, and what the device says of it.
fn memory_of_a_graph(device: &Device) -> Outcome {
    let k = Kernels::load(device)?;
    let x = device.buffer(&ramp(1000))?;
    let before = device.held();
    let graph = device.record(|r: &mut Recorder<'_>| {
        let (mut t, mut y) = (r.alloc(1000)?, r.output(1000)?);
        r.run(k.add(&x, baked(1.0), &mut t))?;
        r.run(k.add(&t, baked(1.0), &mut y))?;
        Ok(y)
    })?;
    let memory = graph.memory();
    same("arena and outputs", (memory.arena, memory.arena_shared, memory.outputs), (4000, 0, 4000))?;
    same("together", memory.total(), 8000 + memory.executable)?;
    let report = device.memory_report()?;
    same("arenas", report.held.arenas - before.arenas, 4000)?;
    same("outputs", report.held.outputs - before.outputs, 4000)?;
    same("the device's", report.free < report.total, true)?;
    drop(graph);
    device.synchronize()?;
    same("given back", (device.held().arenas, device.held().outputs), (before.arenas, before.outputs))
}

/// A budget: predicted, kept by a cache that drops graphs, refused when none is left.
fn budget(device: &Device) -> Outcome {
    let stream = device.stream()?;
    let mut cache = GraphCache::new(device);
    let outcome = within_budget(device, &stream, &mut cache);
    device.set_memory_budget(None);
    outcome
}

fn within_budget(device: &Device, stream: &dacapo::Stream, cache: &mut GraphCache<u32, Buffer<u32>>) -> Outcome {
    let body = |key: u32, len: usize| {
        move |r: &mut Recorder<'_>| {
            let mut y = r.output::<u32>(len)?;
            r.run(dacapo::fill(&mut y, baked(key)))?;
            Ok(y)
        }
    };
    for key in 0..6 {
        let y = cache.run(stream, &key, body(key, 1 << 16))?;
        same("y", stream.read(&y[..4])?, [key; 4])?;
        if key == 2 {
            device.synchronize()?;
            device.set_memory_budget(Some(device.held().total() + 1000));
        }
        same("graphs", cache.len() <= 3, true)?;
    }
    same("evicted", (cache.counters().evicted, cache.len()), (3, 3))?;
    let over = |kind: &ErrorKind| matches!(kind, ErrorKind::OverBudget { .. });
    refused("a buffer", device.zeros::<u8>(8 << 20), over)?;
    refused("a graph", cache.run(stream, &9, body(9, 2 << 20)), over)?;
    same("none was left", cache.len(), 0)
}
