//! This side of every comparison: the library, used as a program uses it.

use dacapo::graph::Tuning;
use dacapo::{Buffer, Device, Graph, Slice, Stream};

use super::raw::PTX;
use crate::complaint::Complaint;

dacapo::kernels! {
    /// The benchmark's kernels.
    ///
    /// Safe by: the first two compare their thread's number with `n`, the length of what they touch; the third touches
    /// one element, by one thread, and ends after a bounded number of looks at the clock.
    pub unsafe struct Kernels(PTX) {
        /// x ← x + 1.
        fn bump(x: &mut [f32], n: u32 = x.len()) {
            grid: linear(x.len(), 256);
        }
        /// y ← a x + y.
        fn axpy_slot(a: f32, x: &[f32], y: &mut [f32], n: u32 = y.len()) {
            requires: x.len() == y.len();
            grid: linear(y.len(), 256);
        }
        /// Waits for `cycles` of the multiprocessor's clock, then adds one to `out`.
        fn spin_cycles(out: &mut [u32], cycles: u64) {
            requires: out.len() == 1;
            grid: exact([1, 1, 1], [32, 1, 1]);
        }
    }
}

/// The edges of a graph.
#[derive(Clone, Copy, Debug)]
pub enum Edges<'t> {
    /// As they are if nothing is said.
    Usual,
    /// Full ones.
    Plain,
    /// As `tune` has chosen them.
    Tuned(&'t Tuning),
}

/// A device with the benchmark's kernels and one stream: as long as there is no other, launches need no events.
pub struct Library {
    /// The device.
    pub device: Device,
    /// Its kernels.
    pub kernels: Kernels,
    /// Its one stream.
    pub stream: Stream,
}

impl Library {
    /// Loads the kernels and makes the stream.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn open(device: &Device) -> Result<Library, Complaint> {
        Ok(Library { device: device.clone(), kernels: Kernels::load(device)?, stream: device.stream()? })
    }

    /// The same with a plain stream.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    pub fn open_plain(device: &Device) -> Result<Library, Complaint> {
        Ok(Library { device: device.clone(), kernels: Kernels::load(device)?, stream: device.plain_stream()? })
    }

    /// `length` times `bump` on all of `x`, in a line.
    ///
    /// # Errors
    ///
    /// - The recording failed.
    pub fn chain(&self, x: &mut Slice<f32>, length: u32) -> Result<Graph<()>, Complaint> {
        self.chain_with(x, length, Edges::Usual)
    }

    /// The same, with other edges.
    ///
    /// # Errors
    ///
    /// - The recording failed.
    pub fn chain_with(&self, x: &mut Slice<f32>, length: u32, edges: Edges<'_>) -> Result<Graph<()>, Complaint> {
        let recording = self.device.graph();
        let recording = match edges {
            Edges::Usual => recording,
            Edges::Plain => recording.plain_edges(),
            Edges::Tuned(tuning) => recording.tuned(tuning),
        };
        let graph = recording.record(|r: &mut dacapo::Recorder<'_>| {
            for _ in 0..length {
                r.run(self.kernels.bump(x))?;
            }
            Ok(())
        });
        Ok(graph?)
    }

    /// Waits for the stream.
    ///
    /// # Errors
    ///
    /// - What the work before failed with.
    pub fn wait(&self) -> Result<(), Complaint> {
        Ok(self.stream.synchronize()?)
    }

    /// Refuses when an element is not `want`.
    ///
    /// # Errors
    ///
    /// - The first element that differs.
    pub fn all_equal(&self, whose: &str, buffer: &Buffer<f32>, want: f32) -> Result<(), Complaint> {
        super::raw::all_equal(whose, &self.stream.read(buffer)?, want)
    }
}
