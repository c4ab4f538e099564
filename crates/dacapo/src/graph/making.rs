//! From a recording to a graph.
//!
//! 1. The partners of its collectives are asked whether they have recorded the same ([`partners`]). The graph joins its pools ([`Members::join`]).
//! 2. Its ops are ordered ([`arranged`]), small branches become guarded kernels ([`guard`]), and its temps are laid out by that
//!    order ([`TempPlan::new`]).
//! 3. The executable is booked, then the temps get memory ([`TempPlan::settle`]). All this is a [`Drafted`].
//! 4. The driver's graph is built and instantiated ([`Built::new`]).
//! 5. Everything is put together, and what the nodes touch is entered into the ledger as one set
//!    ([`Replayable::assemble`]).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use crate::arrange::{Arrangement, EdgeChoice, TempPlan, arranged};
use crate::device::{Booking, Named, Needed, Stream};
use crate::error::Result;
use crate::graph::{Replayable, StandIns};
use crate::held::Purpose;
use crate::lower::{Built, CapturedGraph, Parts, executable_bytes, guard, touched};
use crate::memory::Arena;
use crate::plan::Shape;
use crate::pool::{Members, Pool, Space};
use crate::record::{JointOps, Node, Recorded, Work, gates, may_idle, partners};
use crate::trace::event;

/// What a graph was asked to be.
pub(crate) struct GraphOptions {
    pub(crate) label: String,
    pub(crate) pool: Option<Pool>,
    pub(crate) asked: Asked,
    pub(crate) preload: bool,
}

/// How a graph was asked to be planned: the same when it is recorded again.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) shape: Shape,
    pub(crate) edges: EdgeChoice,
    pub(crate) arena: Option<Arena>,
    /// Whether each temp has memory of its own.
    pub(crate) apart: bool,
    /// Whether small branches become guarded kernels.
    pub(crate) guarded: bool,
}

/// A recording that is planned, with memory for its temps, and not lowered.
pub(crate) struct Drafted {
    pub(super) recorded: Recorded,
    pub(super) pools: Members,
    pub(super) order: Arrangement,
    /// What its executable will take, in the books before anything was asked of the driver.
    pub(super) executable: Option<Booking>,
}

impl Drafted {
    /// Finds the entry points of kernels that signal, which the nodes of an executable graph already have: what is told to a
    /// node, such as its shared memory, is told to that one.
    ///
    /// # Errors
    ///
    /// - The driver had no memory for a module, or the context is lost.
    pub(super) fn find_signalling(&self) -> Result<()> {
        for level in self.order.levels() {
            for number in level.nodes().filter(|number| level.edges.signals(*number)) {
                if let Work::Kernel(kernel) = &self.recorded.nodes[number].work {
                    kernel.function.signalling(&self.recorded.device)?;
                }
            }
        }
        Ok(())
    }

    /// Joins the pools, and takes memory; books that of an executable before it, if one will be made.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::PoolSealed`], and as [`TempPlan::settle`].
    pub(super) fn new(mut recorded: Recorded, options: &GraphOptions, book: bool) -> Result<Drafted> {
        agree(&recorded.nodes)?;
        let pools = Members::join(options.pool.as_ref(), &recorded.pools)?;
        let order = arranged(&recorded.nodes, options.asked.shape);
        if options.asked.guarded {
            guard(&recorded.device, &mut recorded.nodes, &recorded.told)?;
        }
        let order = order.with_edges(&recorded.nodes, &recorded.told, &options.asked.edges);
        let plan = TempPlan::new(&recorded, &order);
        let executable = match book {
            true => Some(recorded.device.book(Purpose::Executables, executable_bytes(&recorded.nodes, &order))?),
            false => None,
        };
        match options.asked.apart {
            true => recorded.spaces = plan.settle_apart(&recorded.device)?,
            false => {
                let (device, arena) = (&recorded.device, options.asked.arena.as_ref());
                recorded.spaces.extend(plan.settle(device, &recorded.nodes, arena, pools.own())?);
            }
        }
        Ok(Drafted { recorded, pools, order, executable })
    }
}

/// The partners of all ranks are asked in the same order, whatever order a rank has recorded theirs in: two ranks that asked two of
/// them the other way round would wait for each other.
///
/// # Errors
///
/// - [`Partner::agree`](crate::device::Partner::agree)'s.
fn agree(nodes: &[Node]) -> Result<()> {
    let mut partners = partners(nodes);
    partners.sort_by(|left, right| left.with.id().cmp(right.with.id()));
    partners.iter().try_for_each(|joint| joint.with.agree(&joint.alike))
}

impl Replayable {
    /// Makes a graph of a recording; the steps are in the order of this file.
    pub(crate) fn make(recorded: Recorded, options: GraphOptions, mut stand_ins: StandIns) -> Result<Replayable> {
        let mut drafted = Drafted::new(recorded, &options, true)?;
        let Recorded { device, nodes, told, readings, .. } = &mut drafted.recorded;
        let booking = drafted.executable.take().expect("asked for above");
        let told = std::mem::take(told);
        let parts = Parts { nodes, told, arrangement: &drafted.order, readings, places: &stand_ins };
        let built = Built::new(device, parts, booking)?;
        stand_ins.unbind();
        Replayable::assemble(drafted, options, stand_ins, built)
    }

    /// Of a capture: what was recorded through the guard is held, the graph is the driver's.
    pub(crate) fn of_capture(
        recorded: Recorded,
        template: CapturedGraph<'_>,
        label: String,
        pool: Option<Pool>,
    ) -> Result<Replayable> {
        agree(&recorded.nodes)?;
        let pools = Members::join(pool.as_ref(), &recorded.pools)?;
        let order = arranged(&recorded.nodes, Shape::Line);
        let built = template.instantiate(recorded.nodes.len())?;
        let asked = Asked { arena: None, apart: false, shape: Shape::Line, edges: EdgeChoice::Plain, guarded: false };
        let options = GraphOptions { label, pool, asked, preload: false };
        let mut graph = Replayable::put_together(
            Drafted { recorded, pools, order, executable: None },
            options,
            StandIns::default(),
            built,
        );
        graph.captured = true;
        Ok(graph)
    }

    pub(super) fn assemble(
        drafted: Drafted,
        options: GraphOptions,
        stand_ins: StandIns,
        built: Built,
    ) -> Result<Replayable> {
        let preload = options.preload;
        let mut graph = Replayable::put_together(drafted, options, stand_ins, built);
        if preload {
            graph.preload_now()?;
        }
        Ok(graph)
    }

    /// All that a graph is. Nothing of it can fail: an executable graph is never without its owner.
    pub(super) fn put_together(
        drafted: Drafted,
        options: GraphOptions,
        stand_ins: StandIns,
        built: Built,
    ) -> Replayable {
        let Drafted { mut recorded, pools, order, .. } = drafted;
        let device = recorded.device.clone();
        // What the environment asks for is read before the program goes on.
        #[cfg(feature = "json")]
        drop(crate::page::Pages::of(&device));
        device.0.ops_last.store(recorded.nodes.len(), Ordering::Relaxed);
        let mut members = touched(recorded.nodes.iter());
        members.extend(pools.all().map(Pool::touched));
        members.extend(recorded.spaces.iter().map(Space::touched));
        members.sort_by_key(|(memory, _)| *memory);
        members.dedup_by_key(|(memory, _)| *memory);
        let set = device.ledger().add_set(&members);
        let (mut keeps, mut idles) = (recorded.keeps, false);
        for (number, node) in recorded.nodes.iter().enumerate() {
            for &slot in &node.slots {
                recorded.readings.read_by(slot, number as u32);
            }
            if let Work::Foreign(foreign) = &node.work {
                keeps.push(Arc::new(foreign.call.clone()));
            }
            idles |= may_idle(node);
        }
        let mut places = recorded.nodes.iter().flat_map(|node| &node.access).map(|access| &access.place.allocation);
        let is_across = places.any(|allocation| !allocation.device().is(&device));
        let at = recorded.nodes.first().map(|node| node.at);
        let partners: Vec<Needed> = partners(&recorded.nodes).iter().map(JointOps::needed).collect();
        let has_partners = !partners.is_empty();
        let name = Arc::new(Named { name: "graph".into(), label: options.label, at, partners });
        let mut graph = Replayable {
            exec: built.exec,
            has_slots: !recorded.readings.is_empty(),
            has_partners,
            is_quiet: false,
            gates: gates(recorded.nodes.iter()),
            may_idle: idles,
            is_across,
            device,
            nodes: recorded.nodes,
            order,
            readings: recorded.readings,
            built,
            set,
            dirty: SmallVec::new(),
            changes: Vec::new(),
            stand_ins,
            keeps,
            outputs: recorded.outputs,
            spaces: recorded.spaces,
            pools,
            name,
            replays: 0,
            preloaded: false,
            captured: false,
            asked: options.asked,
            earlier: Vec::new(),
            #[cfg(feature = "json")]
            profile: None,
        };
        graph.is_quiet = graph.looks_quiet();
        event!(info, label = %graph.name.label, ops = graph.nodes.len(), temp_bytes = graph.temp_bytes(), "recorded");
        graph
    }

    /// Brings it onto the device, on a stream of its own.
    pub(super) fn preload_now(&mut self) -> Result<()> {
        let side = Stream::internal(&self.device)?;
        self.preload(&side)
    }
}
