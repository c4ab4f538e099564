//! Warm-up: eager runs before a recording, which leave no trace.
//!
//! The recorder knows every write. Before the first eager run that writes an allocation, its contents are copied aside;
//! after the last run they are copied back. Host buffers, and what foreign work does beyond its declared writes, are
//! not put back.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use crate::device::{Purpose, Stream};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::Graph;
use crate::lower;
use crate::memory::{Allocation, Buffer, Kind};
use crate::op::copy_bytes;
use crate::record::{Nested, Recorded, Recorder, Recording, refuse_in_recording};

/// The most that is saved, unless more is asked for.
const CAP_BYTES: usize = 1 << 30;

/// A recording that is run eagerly first: [`Recording::warmup`].
#[must_use = "options record nothing until `record` is called"]
pub struct WarmRecording<'d> {
    base: Recording<'d>,
    runs: usize,
    cap_bytes: usize,
    restore: bool,
}

impl<'d> WarmRecording<'d> {
    pub(crate) fn new(base: Recording<'d>, runs: usize) -> WarmRecording<'d> {
        WarmRecording { base, runs, cap_bytes: CAP_BYTES, restore: true }
    }

    pub(crate) fn unrestored(mut self) -> WarmRecording<'d> {
        self.restore = false;
        self
    }

    /// The most bytes that may be saved and put back; 1 GiB without this.
    pub fn warmup_cap(mut self, bytes: usize) -> WarmRecording<'d> {
        self.cap_bytes = bytes;
        self
    }

    /// Runs the body eagerly, puts back what it wrote, and records it.
    ///
    /// The eager runs happen on a stream of their own, and are waited for.
    ///
    /// # Errors
    ///
    /// - The first op that failed, or what the driver refused; what was written is put back also then, and when the body panics.
    /// - [`ErrorKind::WarmupTooLarge`]: more would have to be saved than the cap allows.
    #[track_caller]
    pub fn record<T>(self, mut body: impl for<'a, 'r> FnMut(&'a mut Recorder<'r>) -> Result<T>) -> Result<Graph<T>> {
        refuse_in_recording("WarmRecording::record")?;
        let device = self.base.device;
        let side = Stream::internal(device)?;
        let mut saved = BTreeMap::new();
        // A panic in the body goes on only after what the runs before it wrote has been put back.
        let run_all = AssertUnwindSafe(|| self.run_all(&side, &mut saved, &mut body));
        let warmed = std::panic::catch_unwind(run_all);
        // A refusal may pass; what the runs wrote would stay.
        let restored = restore(&side, &saved).or_else(|_| restore(&side, &saved));
        warmed.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        restored?;
        side.synchronize()?;
        self.base.record(|recorder: &mut Recorder<'_>| body(recorder))
    }

    fn run_all<T>(
        &self,
        side: &Stream,
        saved: &mut BTreeMap<u32, Saved>,
        body: &mut impl for<'a, 'r> FnMut(&'a mut Recorder<'r>) -> Result<T>,
    ) -> Result<()> {
        for _ in 0..self.runs {
            let mut recorder = Recorder::new(self.base.device, self.base.label.as_deref());
            {
                let _nested = Nested::enter();
                recorder.run(|r: &mut Recorder<'_>| body(r))?;
            }
            let recorded = recorder.into_recorded();
            if self.restore {
                save(side, &recorded, saved, self.cap_bytes)?;
            }
            lower::run(&side.0, recorded, self.base.arena.as_ref())?;
        }
        Ok(())
    }
}

/// An allocation and what was in it.
struct Saved {
    allocation: Arc<Allocation>,
    contents: Buffer<u8>,
}

/// Saves what a recording will write and is not saved yet.
fn save(side: &Stream, recorded: &Recorded, saved: &mut BTreeMap<u32, Saved>, cap: usize) -> Result<()> {
    let written = recorded.nodes.iter().flat_map(|node| &node.access).filter(|access| access.mode.writes());
    for access in written {
        let allocation = &access.place.allocation;
        let kept = matches!(allocation.kind(), Kind::Device | Kind::State) && allocation.bytes() > 0;
        // What this run itself made is nobody's yet.
        let fresh = recorded.outputs.iter().any(|output| Arc::ptr_eq(output, allocation));
        if !kept || fresh || saved.contains_key(&allocation.number()) {
            continue;
        }
        let bytes: usize = saved.values().map(|saved| saved.allocation.bytes()).sum::<usize>() + allocation.bytes();
        if bytes > cap {
            return Err(Error::new(ErrorKind::WarmupTooLarge { bytes, cap }));
        }
        let contents = side.device().allocate_elements::<u8>(allocation.bytes(), false, Purpose::Buffers)?;
        side.run(copy_bytes(allocation, contents.allocation()))?;
        saved.insert(allocation.number(), Saved { allocation: allocation.clone(), contents });
    }
    Ok(())
}

/// Puts everything back.
fn restore(side: &Stream, saved: &BTreeMap<u32, Saved>) -> Result<()> {
    for Saved { allocation, contents } in saved.values() {
        side.run(copy_bytes(contents.allocation(), allocation))?;
    }
    Ok(())
}
