//! The next batch is copied on a second stream while a graph works on this one: the ledger's waits, against events by hand.
//!
//! Two buffers on the device, three batches in pinned memory: step `i` works on buffer `i % 2`, which holds batch `i % 3`, so
//! that a copy that came too early or too late shows in the sum. The graph reads its batch first and last, with enough
//! kernels between to take about as long as a copy. Without overlap, in one stream, as a reference.

use dacapo::{Buffer, Graph, HostBuffer, Recorder, Stream, baked, upload};

use super::blocks::{Contender, together};
use super::compare::{Bench, LIBRARY, RAW, Round, Row};
use super::library::Library;
use super::raw::{self, KernelCall, Raw, RawEvent, RawGraph, Shape};
use crate::complaint::Complaint;
use crate::session::DeviceBytes;

const NAME: &str = "overlap/step";

/// The values of the three batches.
const BATCHES: [f32; 3] = [1.0, 2.0, 4.0];

/// How large it is.
#[derive(Clone, Copy, Debug)]
struct Size {
    elements: u32,
    /// Kernels between the two that read the batch.
    between: u32,
    steps: u32,
}

/// Measures it, if that was asked for.
///
/// # Errors
///
/// - A refused call, or a number that is wrong.
pub fn measure(bench: &Bench<'_>) -> Result<Vec<Row>, Complaint> {
    if !bench.wants(NAME) {
        return Ok(Vec::new());
    }
    let size = match bench.small {
        true => Size { elements: 256, between: 3, steps: 4 },
        false => calibrated(&bench.raw, 1 << 20, 24)?,
    };
    // It has a second stream, which the others' device is not to have.
    let library = bench.library()?;
    Ok(vec![bench.rounds(NAME, |round| measure_one(round, &library, size))?])
}

fn measure_one(round: &Round<'_, '_>, library: &Library, size: Size) -> Result<Row, Complaint> {
    let (by_hand, in_line) = (ByHand::new(round.raw, size)?, ByHand::new(round.raw, size)?);
    let overlapping: Contender<'_> = Box::new(|| by_hand.block(Streams::Two));
    let waiting: Contender<'_> = Box::new(|| in_line.block(Streams::One));
    let mut recorded = LibraryPipeline::new(library, size)?;
    let replaying: Contender<'_> = Box::new(|| recorded.block());
    let contenders = vec![(RAW, overlapping), (LIBRARY, replaying), ("one stream", waiting)];
    let row = round.compare(size.steps, contenders)?;
    for (whose, side) in [("overlap by hand", &by_hand), ("one stream by hand", &in_line)] {
        raw::all_equal(whose, &raw::read_floats(&side.sum)?, expected(size, round.blocks + 1))?;
    }
    library.all_equal("replays", &recorded.sum, expected(size, round.blocks + 1))?;
    Ok(row)
}

/// What every element of the sum is after so many blocks.
fn expected(size: Size, blocks: u32) -> f32 {
    let block: f32 = (0..size.steps).map(|step| 2.0 * BATCHES[step as usize % 3] + size.between as f32).sum();
    block * blocks as f32
}

/// As many kernels between as take the time of a copy.
fn calibrated(raw: &Raw<'_>, elements: u32, steps: u32) -> Result<Size, Complaint> {
    let batch = vec![1.0; elements as usize];
    let (pinned, target, stream) = (raw.pinned(&batch)?, raw.floats(&batch)?, raw.stream()?);
    let mut microseconds = [0.0; 2];
    let bumps = raw.graph(&vec![raw.bump(&target, elements); 20], Shape::Line)?;
    // The second round counts.
    for _ in 0..2 {
        let wait = || Ok(stream.synchronize()?);
        microseconds[0] = together(20, || Ok(stream.upload(&pinned, &target)?), wait)?;
        microseconds[1] = together(5, || Ok(bumps.launch(&stream)?), wait)? / 20.0;
    }
    let between = (microseconds[0] / microseconds[1]).round().clamp(4.0, 200.0) as u32;
    Ok(Size { elements, between, steps })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Streams {
    One,
    Two,
}

/// The pipeline by hand.
struct ByHand<'d> {
    size: Size,
    batches: Vec<raw::Pinned<'d>>,
    buffers: [DeviceBytes<'d>; 2],
    sum: DeviceBytes<'d>,
    work: [RawGraph<'d>; 2],
    /// A buffer has been filled; a buffer has been read for the last time.
    filled: [RawEvent<'d>; 2],
    free: [RawEvent<'d>; 2],
    compute: raw::RawStream<'d>,
    copy: raw::RawStream<'d>,
}

impl<'d> ByHand<'d> {
    fn new(raw: &Raw<'d>, size: Size) -> Result<ByHand<'d>, Complaint> {
        let zeros = vec![0.0; size.elements as usize];
        let batch = |value: &f32| raw.pinned(&vec![*value; size.elements as usize]);
        let buffers = [raw.floats(&zeros)?, raw.floats(&zeros)?];
        let sum = raw.floats(&zeros)?;
        let work = |buffer| {
            let read = raw.axpy(1.0, buffer, &sum, size.elements);
            let between: Vec<KernelCall> = vec![raw.bump(&sum, size.elements); size.between as usize];
            raw.graph(&[&[read][..], &between[..], &[read][..]].concat(), Shape::Line)
        };
        Ok(ByHand {
            size,
            batches: BATCHES.iter().map(batch).collect::<Result<_, _>>()?,
            work: [work(&buffers[0])?, work(&buffers[1])?],
            buffers,
            sum,
            filled: [raw.event(false)?, raw.event(false)?],
            free: [raw.event(false)?, raw.event(false)?],
            compute: raw.stream()?,
            copy: raw.another_stream()?,
        })
    }

    /// All steps, waited for at the end: microseconds a step.
    fn block(&self, streams: Streams) -> Result<f64, Complaint> {
        let mut step = 0;
        let launch = || {
            let (buffer, batch) = (step % 2, step % 3);
            step += 1;
            if streams == Streams::One {
                self.compute.upload(&self.batches[batch], &self.buffers[buffer])?;
                return Ok(self.work[buffer].launch(&self.compute)?);
            }
            // An event that was never recorded counts as happened.
            self.copy.wait_for(&self.free[buffer])?;
            self.copy.upload(&self.batches[batch], &self.buffers[buffer])?;
            self.copy.record(&self.filled[buffer])?;
            self.compute.wait_for(&self.filled[buffer])?;
            self.work[buffer].launch(&self.compute)?;
            Ok(self.compute.record(&self.free[buffer])?)
        };
        let wait = || {
            self.copy.synchronize()?;
            Ok(self.compute.synchronize()?)
        };
        together(self.size.steps, launch, wait)
    }
}

/// The pipeline with the library: no event is named, the waits follow from what is read and written.
struct LibraryPipeline<'b> {
    library: &'b Library,
    size: Size,
    batches: Vec<HostBuffer<f32>>,
    buffers: [Buffer<f32>; 2],
    sum: Buffer<f32>,
    work: [Graph<()>; 2],
    copy: Stream,
}

impl<'b> LibraryPipeline<'b> {
    fn new(library: &'b Library, size: Size) -> Result<LibraryPipeline<'b>, Complaint> {
        let (device, k, elements) = (&library.device, &library.kernels, size.elements as usize);
        let buffers = [device.zeros(elements)?, device.zeros(elements)?];
        let mut sum = device.zeros(elements)?;
        let mut work = |buffer: &Buffer<f32>| {
            device.record(|r: &mut Recorder<'_>| {
                r.run(k.axpy_slot(baked(1.0), buffer, &mut sum))?;
                for _ in 0..size.between {
                    r.run(k.bump(&mut sum))?;
                }
                r.run(k.axpy_slot(baked(1.0), buffer, &mut sum))
            })
        };
        let work = [work(&buffers[0])?, work(&buffers[1])?];
        let batches = BATCHES.iter().map(|value| device.host(&vec![*value; elements])).collect::<Result<_, _>>()?;
        Ok(LibraryPipeline { library, size, batches, buffers, sum, work, copy: device.stream()? })
    }

    /// All steps, waited for at the end: microseconds a step.
    fn block(&mut self) -> Result<f64, Complaint> {
        let LibraryPipeline { library, size, batches, buffers, work, copy, .. } = self;
        let mut step = 0;
        let launch = || {
            let (buffer, batch) = (step % 2, step % 3);
            step += 1;
            copy.run(upload(&batches[batch], &mut buffers[buffer]))?;
            drop(work[buffer].launch(&library.stream)?);
            Ok(())
        };
        let wait = || {
            copy.synchronize()?;
            library.wait()
        };
        together(size.steps, launch, wait)
    }
}
