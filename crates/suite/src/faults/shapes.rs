//! Few graphs for many sizes.

use dacapo::port::graphed;
use dacapo::shapes::{Bucketed, Buckets, GraphCache, Pad, rows};
use dacapo::{Buffer, Recorder, Result, Slice, baked, copy, fill};

use super::{Bench, right, scenarios};
use crate::forms::kernels::{churned, ramp};

scenarios!("shapes": cached, prepared, bucketed, bucketed_larger, graphed_with_a_cap, budget);

/// More keys than the cap allows: graphs come and go, some in flight.
fn cached(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut cache = GraphCache::new(device).max_graphs(2);
    for key in [3usize, 4, 3, 5, 4] {
        let y: Result<&Buffer<u32>> = cache.run(stream, &key, |r| {
            let (mut t, mut y) = (r.alloc::<u32>(key)?, r.output::<u32>(key)?);
            r.run(fill(&mut t, baked(key as u32)))?;
            r.run(copy(&t, &mut y))?;
            r.run(k.churn(baked(3), &mut y))?;
            Ok(y)
        });
        let y = y.map(|y| stream.read(y));
        let counters = cache.counters();
        right("graphs", (cache.len() <= 2, counters.alive()), (true, cache.len() as u64))?;
        right("y", y??, vec![churned(key as u32, 3); key])?;
    }
    right("requests", cache.counters().requests(), 5)
}

/// All keys before the first request.
fn prepared(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut cache = GraphCache::new(device);
    cache.prepare([2usize, 6, 4], |r: &mut Recorder<'_>, &len| {
        let mut y = r.output::<f32>(len)?;
        r.run(k.add_stride(baked(1.0), &mut y))?;
        Ok(y)
    })?;
    for round in 1..=2 {
        for len in [4, 2, 6] {
            let y = cache.run(stream, &len, |_| Err(dacapo::Error::msg("WRONG: it is there")))?;
            right("y", stream.read(y)?, vec![round as f32; len])?;
        }
    }
    Ok(())
}

/// Copies in, pads, replays; two inputs, two streams.
fn bucketed(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let other = device.stream()?;
    let inputs = (rows(2, Pad::RepeatLast), rows(1, Pad::Value(9u32)));
    let mut both = Bucketed::new(device, Buckets::new([2, 4])?, inputs, |r, n, (x, i): (&Slice<f32>, &Slice<u32>)| {
        let (mut y, mut j) = (r.output(2 * n)?, r.output(n)?);
        r.run(k.add(x, baked(1.0), &mut y))?;
        r.run(copy(i, &mut j))?;
        Ok((y, j))
    })?;
    for (n, on) in [(3, stream), (1, &other), (4, stream)] {
        let (x, i) = (device.buffer(&ramp(2 * n))?, device.buffer(&vec![n as u32; n])?);
        let (y, j) = both.call(on, n, (&x, &i))?;
        let want: Vec<f32> = ramp(2 * n).iter().map(|x| x + 1.0).collect();
        right("y and j", (stream.read(y)?, stream.read(j)?), (want, vec![n as u32; n]))?;
    }
    Ok(())
}

/// More rows than the largest bucket has, between calls that fit.
fn bucketed_larger(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut plus = Bucketed::new(device, Buckets::new([2])?, rows(1, Pad::Zero), |r, n, x: &Slice<f32>| {
        let (mut t, mut y) = (r.alloc(n)?, r.output(n)?);
        r.run(k.add(x, baked(1.0), &mut t))?;
        r.run(k.add(&t, baked(1.0), &mut y))?;
        Ok(y)
    })?;
    for n in [2, 5, 1] {
        let x = device.buffer(&ramp(n))?;
        let want: Vec<f32> = ramp(n).iter().map(|x| x + 2.0).collect();
        right("y", stream.read(plus.call(stream, n, &x)?)?, want)?;
    }
    Ok(())
}

/// A budget with room for one graph at a time: the cache drops what it must.
fn budget(bench: &Bench) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let done = within_budget(bench, &mut GraphCache::new(device));
    // The device is used again.
    device.set_memory_budget(None);
    done?;
    stream.synchronize()
}

fn within_budget(bench: &Bench, cache: &mut GraphCache<usize, Buffer<u32>>) -> Result<()> {
    let Bench { device, stream, .. } = bench;
    let len = 1 << 20;
    for key in 0..3usize {
        let y = cache.run(stream, &key, |r| {
            let (mut t, mut y) = (r.alloc::<u32>(len)?, r.output::<u32>(len)?);
            r.run(fill(&mut t, baked(key as u32)))?;
            r.run(copy(&t, &mut y))?;
            Ok(y)
        })?;
        right("y", stream.read(&y[..4])?, [key as u32; 4])?;
        if key == 0 {
            device.set_memory_budget(Some(device.held().total() + len));
        }
    }
    right("graphs", (cache.len(), cache.counters().evicted), (1, 2))
}

/// One graph for each shape, of which one is dropped.
fn graphed_with_a_cap(bench: &Bench) -> Result<()> {
    let Bench { device, stream, k, .. } = bench;
    let mut plus = graphed(device, |r: &mut Recorder<'_>, x: &Buffer<f32>| {
        let mut y = r.output(x.len())?;
        r.run(k.add(x, baked(1.0), &mut y))?;
        Ok(y)
    })
    .max_graphs(1);
    for len in [3, 2] {
        let x = device.buffer(&ramp(len))?;
        let want: Vec<f32> = ramp(len).iter().map(|x| x + 1.0).collect();
        right("y", stream.read(plus.call(stream, &x)?)?, want)?;
    }
    Ok(())
}
