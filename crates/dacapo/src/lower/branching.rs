//! A recording with control flow, run eagerly: the host reads what each condition has decided, and goes on.
//!
//! - What stands between two decisions is one piece of work for the ledger. No lock is held while the host waits, so what
//!   others do with the same memory may come between two pieces, in the order that the ledger gives them.
//! - The same kernels decide as in a replay; they are given no handles, and leave their answer in memory.
//! - The temps have one piece of memory for all of it, given back behind the last work. It is never an arena: others may
//!   use that between two pieces.

use std::cell::Cell;
use std::ops::Range;

use dacapo_ledger::{Touch, Use};

use crate::arrange::TempPlan;
use crate::device::{Cuda, StreamInner};
use crate::error::{Error, ErrorKind, Result};
use crate::lower::params::AsAllocated;
use crate::lower::run::{Kept, expect_whole, launch_all, named_run, touched};
use crate::lower::stamps::{StampPlace, Stamps};
use crate::pool::{Pool, Space};
use crate::record::{Branch, BranchKind, Node, Recorded, Work, gates, lock_gates};
use crate::trace::event;

/// Runs all of it. Where there is no memory for the temps, `make_room` is asked for more, as often as it says that there is
/// some.
///
/// # Errors
///
/// - Any error from the driver, an op or the work: what was run before stays done.
pub(super) fn run(
    stream: &StreamInner,
    recorded: &Recorded,
    plan: &TempPlan,
    stamps: Option<&Stamps>,
    make_room: &mut dyn FnMut() -> bool,
) -> Result<Option<Use<Cuda>>> {
    let space = loop {
        match plan.settle(&stream.device, &recorded.nodes, None, None) {
            Err(error) if error.is_memory() && make_room() => {}
            outcome => break outcome?,
        }
    };
    let kept = Kept::new(stream, recorded);
    let mut running = Running { stream, recorded, plan, stamps, space, last: None };
    let outcome = running.stamp(StampPlace::firsts()).and_then(|()| running.range(0..recorded.nodes.len()));
    let last = running.last.take();
    drop((running, kept));
    outcome?;
    event!(trace, ops = recorded.nodes.len(), "ran eagerly, with control flow");
    Ok(last)
}

struct Running<'a> {
    stream: &'a StreamInner,
    recorded: &'a Recorded,
    plan: &'a TempPlan,
    stamps: Option<&'a Stamps>,
    /// What the temps lie in.
    space: Option<Space>,
    last: Option<Use<Cuda>>,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // Also when a closure of foreign work panics: nobody finds a temp where it is not any more.
        self.plan.take_back();
    }
}

impl Running<'_> {
    fn range(&mut self, range: Range<usize>) -> Result<()> {
        let nodes = &self.recorded.nodes;
        let (mut from, mut number) = (range.start, range.start);
        while number < range.end {
            let next = nodes[number].next(number);
            if let Work::Branch(branch) = &nodes[number].work {
                self.enqueue(from..number)?;
                self.stamp([StampPlace::Before(number)])?;
                self.branch(number, branch)?;
                self.stamp([StampPlace::Behind(number)])?;
                from = next;
            }
            number = next;
        }
        self.enqueue(from..range.end)
    }

    /// Puts nodes without a branch among them on the stream.
    fn enqueue(&mut self, range: Range<usize>) -> Result<()> {
        let (nodes, told): (&[Node], _) = (&self.recorded.nodes[range.clone()], &self.recorded.told[range.clone()]);
        if nodes.is_empty() {
            return Ok(());
        }
        let device = &self.stream.device;
        let mut touched = touched(nodes.iter());
        touched.extend(self.recorded.pools.iter().map(Pool::touched));
        touched.extend(self.space.iter().map(Space::touched));
        touched.extend(self.stamps.map(Stamps::touched));
        let stamps = self.stamps.map(|stamps| (stamps, range.start));
        let gates = gates(nodes.iter());
        let held = lock_gates(&gates);
        let (lane, touch) = (&self.stream.lane, Touch::Memory(&touched));
        let name = named_run(nodes);
        name.expect_partners()?;
        device.expect_untorn(lane)?;
        expect_whole(nodes.iter(), &AsAllocated)?;
        let submitted = device.ledger().submit::<_, Error>(&device.0.cuda, lane, touch, |raw| {
            let (noted, launched) = (name.noted_ahead(device, raw)?, Cell::new(0));
            let readings = &self.recorded.readings;
            let outcome = launch_all(self.stream, raw.raw.0, (nodes, told), readings, (stamps, &launched));
            name.noted_behind(raw, noted, outcome.is_ok(), launched.get() > 0);
            outcome
        });
        drop(held);
        let ((), used) = submitted.map_err(|error| device.noted(error))?;
        self.last = Some(used);
        Ok(())
    }

    /// Puts stamps on the stream, if they are asked for.
    fn stamp(&mut self, places: impl IntoIterator<Item = StampPlace>) -> Result<()> {
        let Some(stamps) = self.stamps else { return Ok(()) };
        let device = &self.stream.device;
        let (lane, touched) = (&self.stream.lane, [stamps.touched()]);
        let submitted = device.ledger().submit::<_, Error>(&device.0.cuda, lane, Touch::Memory(&touched), |raw| {
            places.into_iter().try_for_each(|place| stamps.launch(device, raw.raw.0, place))
        });
        let ((), used) = submitted.map_err(|error| device.noted(error))?;
        self.last = Some(used);
        Ok(())
    }

    fn branch(&mut self, number: usize, branch: &Branch) -> Result<()> {
        let rounds_max = self.stream.device.rounds_max();
        for rounds in 0u64.. {
            let value = self.decided(number, branch)?;
            if value != 0 && rounds_max == Some(rounds) {
                return Err(self.recorded.nodes[number].blame(Error::new(ErrorKind::Endless { rounds })));
            }
            let chosen = match branch.kind {
                BranchKind::If => usize::from(value == 0),
                BranchKind::While { .. } if value == 0 => return Ok(()),
                BranchKind::While { .. } => 0,
                BranchKind::Switch => value as usize,
            };
            if let Some((_, body)) = branch.bodies(number).nth(chosen) {
                self.range(body)?;
            }
            if !matches!(branch.kind, BranchKind::While { .. }) {
                break;
            }
        }
        Ok(())
    }

    /// What the condition of a branch has decided. Waits for it.
    fn decided(&self, number: usize, branch: &Branch) -> Result<u32> {
        let device = &self.stream.device;
        let node = &self.recorded.nodes[number];
        let Some(space) = &self.space else {
            return Err(node.blame(Error::new(ErrorKind::NoMemoryYet { call: "Stream::run" })));
        };
        let (memory, _) = space.touched();
        let (block, used) = self.stream.copy_to_block(branch.state.place.address(), memory, 4)?;
        if let Err(error) = device.wait_until(&used) {
            device.give_block(block, device.ledger().last_use(&self.stream.lane));
            return Err(device.noted(error));
        }
        // SAFETY: a block has at least the bytes that it was asked for, at an address that fits any number, and the copy
        // into it is over.
        let value = unsafe { block.pointer.cast::<u32>().read_unaligned() };
        device.give_block(block, None);
        Ok(value)
    }
}
