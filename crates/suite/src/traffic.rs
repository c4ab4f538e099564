//! Many requests of Zipf-distributed sizes through caches that are too small for them.
//!
//! - Three services take the requests in turn: a [`Bucketed`] function with fewer graphs than buckets and sizes over the
//!   largest; a [`GraphCache`] by exact size with a cap in graphs; one with a cap in bytes that some graphs alone exceed.
//! - After each request: no more graphs than the cap, no more bytes than the cap, the counters add up.
//! - Every so often the result is read and compared.
//!
//! The sizes come from a seed: few of them are asked for often, most now and then, and which are popular has nothing to do
//! with how large they are.

use std::fmt;

use dacapo::shapes::{Bucketed, Buckets, CacheCounters, GraphCache, Pad, rows};
use dacapo::{Buffer, Device, Recorder, Slice, Software, baked};
use dacapo_sim::Detectors;

use crate::forms::Failure;
use crate::forms::kernels::{Kernels, ramp};

/// Sizes go up to this.
const SIZE_MAX: usize = 160;
/// The largest bucket; what is larger runs without a graph.
const BUCKET_MAX: usize = 128;
/// An output of the service that is capped in bytes has so many elements times the square of its size: large ones count.
const WIDE: usize = 4;
/// Of the sizes by rank, the n-th is asked for in proportion to 1 / n^1.1.
const EXPONENT: f64 = 1.1;

/// How many requests, from which seed, and how often a result is read.
#[derive(Clone, Copy, Debug)]
pub struct Traffic {
    /// How many.
    pub requests: usize,
    /// Decides the sizes and the software device's choices.
    pub seed: u64,
    /// One result in so many is compared.
    pub sample: usize,
}

/// What one service did.
pub struct Service {
    /// What it is.
    pub name: &'static str,
    /// Its cap in graphs and in bytes.
    pub caps: (usize, usize),
    /// The most graphs and bytes that there ever were after a request.
    pub most: (usize, usize),
    /// Its counters.
    pub counters: CacheCounters,
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; at most {} graphs", self.name, self.counters, self.most.0)?;
        if self.caps.0 != usize::MAX {
            write!(f, " (cap {})", self.caps.0)?;
        }
        write!(f, ", {} bytes", self.most.1)?;
        if self.caps.1 != usize::MAX {
            write!(f, " (cap {})", self.caps.1)?;
        }
        Ok(())
    }
}

/// What came of it.
pub struct Summary {
    /// What each service did.
    pub services: Vec<Service>,
    /// How many results were compared.
    pub compared: usize,
    /// How many different sizes were asked for.
    pub sizes: usize,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for service in &self.services {
            writeln!(f, "{service}")?;
        }
        let all: u64 = self.services.iter().map(|service| service.counters.requests()).sum();
        write!(f, "cache: {all} requests of {} sizes, {} results compared, 0 wrong, ", self.sizes, self.compared)?;
        write!(f, "0 over a cap, all counters add up")
    }
}

/// Sizes from 1 to [`SIZE_MAX`], the popular ones scattered among them.
struct Sizes {
    state: u64,
    /// By rank: the sum of the weights up to here, and the size.
    ranks: Vec<(f64, usize)>,
}

impl Sizes {
    fn new(seed: u64) -> Sizes {
        let mut sizes = Sizes { state: seed, ranks: Vec::new() };
        let mut left: Vec<usize> = (1..=SIZE_MAX).collect();
        let mut sum = 0.0;
        for rank in 1..=SIZE_MAX {
            sum += (rank as f64).powf(-EXPONENT);
            let size = left.swap_remove((sizes.next() % left.len() as u64) as usize);
            sizes.ranks.push((sum, size));
        }
        sizes
    }

    /// The step of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn draw(&mut self) -> usize {
        let total = self.ranks[SIZE_MAX - 1].0;
        let at = (self.next() >> 11) as f64 / (1u64 << 53) as f64 * total;
        self.ranks[self.ranks.partition_point(|(sum, _)| *sum <= at).min(SIZE_MAX - 1)].1
    }
}

/// Sends the traffic through the three services.
///
/// # Errors
///
/// - A request that failed, a wrong result, a cap that was exceeded, counters that do not add up: the first, in words.
pub fn run(device: &Device, traffic: Traffic) -> Result<Summary, Failure> {
    let (stream, k) = (device.stream()?, Kernels::load(device)?);
    let x: Buffer<f32> = device.buffer(&ramp(SIZE_MAX))?;
    let record = |r: &mut Recorder<'_>, n: usize, x: &Slice<f32>| {
        let (mut t, mut y) = (r.alloc(n)?, r.output(n)?);
        r.run(k.add(x, baked(1.0), &mut t))?;
        r.run(k.add(&t, baked(0.5), &mut y))?;
        Ok(y)
    };
    let mut bucketed = Bucketed::new(device, Buckets::powers_of_two(BUCKET_MAX)?, rows(1, Pad::Zero), record)?;
    bucketed = bucketed.max_graphs(5);
    let mut by_graphs: GraphCache<usize, Buffer<f32>> = GraphCache::new(device).max_graphs(12);
    // Outputs are large beside executables: several small graphs fit, and one of the largest sizes alone does not.
    let wide = |r: &mut Recorder<'_>, n: usize| {
        let (mut t, mut y) = (r.alloc(n)?, r.output(n * n * WIDE)?);
        r.run(k.add(&x[..n], baked(1.0), &mut t))?;
        r.run(k.add(&t, baked(0.5), &mut y[..n]))?;
        Ok(y)
    };
    let cap = cap_in_bytes(device, |r| wide(r, SIZE_MAX * 9 / 10))?;
    let mut by_bytes: GraphCache<usize, Buffer<f32>> = GraphCache::new(device).max_graphs(usize::MAX).max_bytes(cap);
    let names = ["bucketed", "by size, capped in graphs", "by size, capped in bytes"];
    let caps = [(5, usize::MAX), (12, usize::MAX), (usize::MAX, cap)];
    let (mut most, mut sent) = ([(0, 0); 3], [0u64; 3]);
    let (mut sizes, mut seen, mut compared) = (Sizes::new(traffic.seed), vec![false; SIZE_MAX + 1], 0);
    for request in 0..traffic.requests {
        let (n, which) = (sizes.draw(), request % 3);
        seen[n] = true;
        let y: &Slice<f32> = match which {
            0 => bucketed.call(&stream, n, &x[..n])?,
            1 => by_graphs.run(&stream, &n, |r| record(r, n, &x[..n]))?,
            _ => &by_bytes.run(&stream, &n, |r| wide(r, n))?[..n],
        };
        if request % traffic.sample == 0 {
            let want: Vec<f32> = ramp(n).iter().map(|x| x + 1.5).collect();
            let got = stream.read(y)?;
            if got != want {
                return Err(Failure(format!("request {request}, {n} rows of {}: {got:?}", names[which])));
            }
            compared += 1;
        }
        let (graphs, bytes, counters) = match which {
            0 => (bucketed.cache().len(), bucketed.cache().bytes(), bucketed.counters()),
            1 => (by_graphs.len(), by_graphs.bytes(), by_graphs.counters()),
            _ => (by_bytes.len(), by_bytes.bytes(), by_bytes.counters()),
        };
        sent[which] += 1;
        most[which] = (most[which].0.max(graphs), most[which].1.max(bytes));
        let adds_up = counters.requests() == sent[which] && counters.alive() == graphs as u64 && counters.failed == 0;
        if graphs > caps[which].0 || bytes > caps[which].1 || !adds_up {
            let name = names[which];
            return Err(Failure(format!(
                "after request {request}, {name}: {graphs} graphs, {bytes} bytes, {counters}"
            )));
        }
    }
    let counters = [bucketed.counters(), by_graphs.counters(), by_bytes.counters()];
    let services = (0..3).map(|which| Service {
        name: names[which],
        caps: caps[which],
        most: most[which],
        counters: counters[which],
    });
    Ok(Summary { services: services.collect(), compared, sizes: seen.iter().filter(|seen| **seen).count() })
}

/// The same on a fresh software device, with every detector on.
///
/// # Errors
///
/// - As [`run`]; or what a detector found.
pub fn on_software(traffic: Traffic) -> Result<Summary, String> {
    let software = Software::new().seed(traffic.seed).options(|options| options.detectors = Detectors::all());
    let device = software.open().map_err(|error| format!("{error:?}"))?;
    let summary = run(&device, traffic).map_err(|failure| failure.0)?;
    match device.findings().first() {
        Some(first) => Err(format!("{} findings, the first: {first}", device.findings().len())),
        None => Ok(summary),
    }
}

/// A little more than a graph of this holds.
fn cap_in_bytes(
    device: &Device,
    body: impl for<'a, 'r> FnMut(&'a mut Recorder<'r>) -> dacapo::Result<Buffer<f32>>,
) -> Result<usize, Failure> {
    let mut alone = GraphCache::new(device);
    alone.get_or_record(&(), body)?;
    Ok(alone.bytes() + 64)
}
