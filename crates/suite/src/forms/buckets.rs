//! Eight bucketed graphs in one pool: one arena, as large as the largest needs, and right in every order of replays.
//!
//! - Each graph is a small network over a batch of 1 to 128 rows, with temps of all its layers and a batch and an output of
//!   its own: nothing but the pool's arena is shared.
//! - A replay order launches some of them on three streams, in an order that follows from its number, after new batches for
//!   all. After it each output must be what its graph makes of the batch of its last replay: outputs of graphs that were not
//!   launched are as they were.
//! - A temp has far more bytes than its layer uses, so that pieces of memory as the driver maps them do not hide how large
//!   the arena is.

use dacapo::graph::Pool;
use dacapo::{Buffer, Device, Graph, Recorder, Stream, baked};

use super::check::{Failure, holds, same};
use super::kernels::Kernels;

const ROWS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// Elements of a row that are computed.
const WIDTH: usize = 4;
/// Elements of a row that a temp has room for.
const ROOM: usize = 17_500;

/// In which order the graphs are recorded.
#[derive(Clone, Copy, Debug)]
pub enum RecordingOrder {
    /// Each needs more than all before it.
    SmallestFirst,
    /// None needs more than the first.
    LargestFirst,
    /// As a number says.
    Shuffled(u64),
}

/// What eight graphs in one pool came to.
#[derive(Clone, Copy, Debug)]
pub struct Shared {
    /// Bytes that the largest graph needs for its temps.
    pub largest: usize,
    /// Bytes that all graphs need, each with an arena of its own.
    pub apart: usize,
    /// Bytes that the pool's arena takes.
    pub arena: usize,
    /// Launches that were made.
    pub launches: u64,
}

struct Bucket {
    batch: Buffer<f32>,
    out: Buffer<f32>,
    graph: Graph<()>,
    /// What is in the batch, and what was when the graph was last replayed.
    value: u32,
    replayed: Option<u32>,
}

impl Bucket {
    fn new(device: &Device, k: &Kernels, pool: &Pool, rows: usize) -> dacapo::Result<Bucket> {
        let len = rows * WIDTH;
        let (batch, mut out) = (device.zeros(len)?, device.zeros(len)?);
        let graph = device.graph().pool(pool).record(|r: &mut Recorder<'_>| {
            let mut layer = || r.alloc::<f32>(rows * ROOM);
            let (mut a, mut b, mut c, mut d) = (layer()?, layer()?, layer()?, layer()?);
            r.run(k.add(&batch, baked(1.0), &mut a[..len]))?;
            r.run(k.multiply(&a[..len], &batch, &mut b[..len]))?;
            r.run(k.add(&b[..len], baked(2.0), &mut c[..len]))?;
            r.run(k.multiply(&c[..len], &a[..len], &mut d[..len]))?;
            r.run(k.add(&d[..len], baked(rows as f32), &mut out))
        })?;
        Ok(Bucket { batch, out, graph, value: 0, replayed: None })
    }

    /// What the graph makes of a batch of this number.
    fn made(&self, value: u32) -> Vec<f32> {
        let x = value as f32;
        let y = ((x + 1.0) * x + 2.0) * (x + 1.0) + (self.out.len() / WIDTH) as f32;
        vec![y; self.out.len()]
    }
}

/// Numbers that follow from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at + 1));
        }
    }
}

/// Records eight graphs in one pool and replays them in the orders of these numbers.
///
/// # Errors
///
/// - An output that is not right, an arena that is more than 1.05 times what the largest needs, or what was refused.
pub fn eight_in_one_pool(
    device: &Device,
    recorded: RecordingOrder,
    orders: std::ops::Range<u64>,
) -> Result<Shared, Failure> {
    let (k, pool) = (Kernels::load(device)?, device.pool());
    let streams = [device.stream()?, device.stream()?, device.stream()?];
    let mut rows = ROWS;
    match recorded {
        RecordingOrder::SmallestFirst => {}
        RecordingOrder::LargestFirst => rows.reverse(),
        RecordingOrder::Shuffled(seed) => Random(seed).shuffle(&mut rows),
    }
    let mut buckets = Vec::new();
    for rows in rows {
        buckets.push(Bucket::new(device, &k, &pool, rows)?);
    }
    let needs = |bucket: &Bucket| bucket.graph.memory().temps();
    let largest = buckets.iter().map(needs).max().unwrap_or(0);
    let mut shared = Shared { largest, apart: buckets.iter().map(needs).sum(), arena: pool.arena_bytes(), launches: 0 };
    holds("the arena holds the largest", shared.arena >= largest)?;
    holds("it is at most 1.05 times that", shared.arena as f64 <= 1.05 * largest as f64)?;
    same("graphs in the pool", pool.graphs(), 8)?;
    for order in orders {
        shared.launches += replay(&mut buckets, &streams, order)?;
    }
    same("the arena has not grown since", pool.arena_bytes(), shared.arena)?;
    Ok(shared)
}

/// One order: new batches, some launches on three streams, and a look at every output. How many launches there were.
fn replay(buckets: &mut [Bucket], streams: &[Stream; 3], order: u64) -> Result<u64, Failure> {
    let mut random = Random(order);
    for bucket in &mut *buckets {
        bucket.value = random.below(50) as u32;
        let elements = vec![bucket.value as f32; bucket.batch.len()];
        streams[random.below(3)].write(&mut bucket.batch, &elements)?;
    }
    let launches = 6 + random.below(7);
    for _ in 0..launches {
        let bucket = &mut buckets[random.below(ROWS.len())];
        bucket.graph.launch(&streams[random.below(3)])?;
        bucket.replayed = Some(bucket.value);
    }
    for bucket in &*buckets {
        let got = streams[random.below(3)].read(&bucket.out)?;
        let want = bucket.replayed.map_or_else(|| vec![0.0; got.len()], |value| bucket.made(value));
        same(&format!("order {order}, the output of {} rows", got.len() / WIDTH), got, want)?;
    }
    Ok(launches as u64)
}
