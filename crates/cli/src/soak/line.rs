//! A graph that adds to a sum, by itself or in a pool with others.

use dacapo::graph::Pool;
use dacapo::memory::Shared;
use dacapo::{Buffer, Device, Graph, Recorder, Slot, Stream};

use super::part::Part;
use crate::bench::library::Kernels;
use crate::complaint::Complaint;

/// A graph, what it adds to, and what must be there by now.
pub struct Line {
    graph: Graph<()>,
    slot: Slot<f32>,
    sum: Buffer<f32>,
    expected: f32,
    replays: u32,
}

impl Line {
    /// A graph over `elements` of `ones`, with two temps of that size: in the pool's memory if there is a pool.
    pub fn new(
        device: &Device,
        kernels: &Kernels,
        ones: &Shared<f32>,
        elements: usize,
        pool: Option<&Pool>,
    ) -> Result<Line, Complaint> {
        let (slot, mut sum) = (Slot::new(0.0), device.zeros(elements)?);
        let mut recording = device.graph();
        if let Some(pool) = pool {
            recording = recording.pool(pool);
        }
        let graph = recording.record(|r: &mut Recorder<'_>| {
            let (mut one, mut two) = (r.alloc(elements)?, r.alloc(elements)?);
            r.run(dacapo::copy(&ones[..elements], &mut one))?;
            r.run(dacapo::copy(&one, &mut two))?;
            r.run(kernels.bump(&mut two))?;
            r.run(kernels.axpy_slot(&slot, &two, &mut sum))
        })?;
        Ok(Line { graph, slot, sum, expected: 0.0, replays: 0 })
    }
}

impl Part for Line {
    /// Adds twice `value` to every element.
    fn replay(&mut self, stream: &Stream, value: usize) -> Result<(), Complaint> {
        self.slot.set(value as f32);
        drop(self.graph.launch(stream)?);
        self.expected += 2.0 * value as f32;
        self.replays += 1;
        Ok(())
    }

    fn check(&self, stream: &Stream) -> Result<(), Complaint> {
        let whose = format!("after {} replays of a graph", self.replays);
        crate::bench::raw::all_equal(&whose, &stream.read(&self.sum)?, self.expected)
    }

    fn replays(&self) -> u32 {
        self.replays
    }
}
