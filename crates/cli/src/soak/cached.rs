//! Graphs of a cache that holds fewer than are asked for: recorded, replayed, evicted, and recorded again.

use dacapo::memory::Shared;
use dacapo::shapes::GraphCache;
use dacapo::{Buffer, Device, Recorder, Slot, Stream};

use super::part::Part;
use crate::bench::library::Kernels;
use crate::complaint::Complaint;

/// Shapes that are asked for; the cache holds fewer.
const SHAPES: usize = 8;
const GRAPHS_MAX: usize = 3;

/// A cache, what its graphs add to, and what must be there by now.
pub struct Cached {
    cache: GraphCache<usize, ()>,
    kernels: Kernels,
    ones: Shared<f32>,
    slot: Slot<f32>,
    sum: Buffer<f32>,
    /// Elements of one shape more than the one before it.
    width: usize,
    /// What was added to the elements that only shapes from here on have.
    expected: [f32; SHAPES],
    replays: u32,
}

impl Cached {
    /// An empty cache over `elements` of `ones`.
    pub fn new(device: &Device, ones: &Shared<f32>, elements: usize) -> Result<Cached, Complaint> {
        Ok(Cached {
            cache: GraphCache::new(device).max_graphs(GRAPHS_MAX).label("soak"),
            kernels: Kernels::load(device)?,
            ones: ones.clone(),
            slot: Slot::new(0.0),
            sum: device.zeros(elements)?,
            width: elements / SHAPES,
            expected: [0.0; SHAPES],
            replays: 0,
        })
    }
}

impl Part for Cached {
    /// Adds twice `value` to the elements of the shape that it also names.
    fn replay(&mut self, stream: &Stream, value: usize) -> Result<(), Complaint> {
        let Cached { cache, kernels, ones, slot, sum, width, .. } = self;
        let (shape, elements) = (value % SHAPES, (value % SHAPES + 1) * *width);
        slot.set(value as f32);
        cache.run(stream, &shape, |r: &mut Recorder<'_>| {
            let mut two = r.alloc(elements)?;
            r.run(dacapo::copy(&ones[..elements], &mut two))?;
            r.run(kernels.bump(&mut two))?;
            r.run(kernels.axpy_slot(&*slot, &two, &mut sum[..elements]))
        })?;
        self.expected[shape] += 2.0 * value as f32;
        self.replays += 1;
        Ok(())
    }

    fn check(&self, stream: &Stream) -> Result<(), Complaint> {
        let counters = self.cache.counters();
        if self.cache.len() > GRAPHS_MAX || counters.recorded - counters.evicted != self.cache.len() as u64 {
            return Err(Complaint::new(format!("a cache of {GRAPHS_MAX} graphs does not add up: {:?}", self.cache))
                .help("this is a bug"));
        }
        let sum = stream.read(&self.sum)?;
        let whose = format!("after {} requests to a cache", self.replays);
        // A shape's elements are also those of every larger shape.
        sum.chunks(self.width).zip(0..SHAPES).try_for_each(|(elements, shape)| {
            crate::bench::raw::all_equal(&whose, elements, self.expected[shape..].iter().sum())
        })
    }

    fn replays(&self) -> u32 {
        self.replays
    }

    /// How many graphs there are depends on chance.
    fn settle(&mut self) {
        self.cache.clear();
    }
}
