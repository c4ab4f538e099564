//! Options of a recording.

use std::panic::Location;
use std::sync::Arc;

use crate::arrange::{Edge, EdgeChoice, TempPlan, arranged};
use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::tuning::Tuning;
use crate::graph::{Asked, Graph, GraphInto, GraphOptions, Hole, Replayable, StandIns, WarmGraphBuilder};
use crate::inspect;
use crate::lower::{GUARDED, guard, report_of};
use crate::memory::{Allocation, Arena, Extent, Kind, Reads, Writes};
use crate::nesting::{Nested, refuse_in_recording};
use crate::plan::Shape;
use crate::pool::Pool;
use crate::record::{Op, Recorded, Recorder};

/// Options of a recording: [`Device::graph`] begins one, [`record`](GraphBuilder::record) ends it.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let mut y = device.zeros::<f32>(4)?;
/// let graph = device.graph().label("decode").record(dacapo::fill(&mut y, dacapo::baked(1.0)))?;
/// assert_eq!(graph.label(), "decode");
/// # Ok(()) }
/// ```
#[must_use = "options record nothing until `record` is called"]
#[derive(Clone)]
pub struct GraphBuilder<'d> {
    pub(crate) device: &'d Device,
    pub(crate) label: Option<String>,
    pub(crate) pool: Option<Pool>,
    pub(crate) arena: Option<Arena>,
    pub(crate) apart: bool,
    pub(crate) shape: Shape,
    pub(crate) edges: EdgeChoice,
    pub(crate) preload: bool,
    pub(crate) guarded: bool,
}

impl<'d> GraphBuilder<'d> {
    pub(crate) fn new(device: &'d Device) -> GraphBuilder<'d> {
        let (shape, edges, guarded) = (Shape::Data, EdgeChoice::Usual, GUARDED);
        GraphBuilder {
            device,
            label: None,
            pool: None,
            arena: None,
            apart: false,
            shape,
            edges,
            preload: false,
            guarded,
        }
    }

    /// Labels the graph. The label is the first part of its ops' labels.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Joins a pool: the graph keeps the pool alive, never overlaps the pool's other graphs, and shares their memory
    /// for temps.
    pub fn pool(mut self, pool: &Pool) -> Self {
        self.pool = Some(pool.clone());
        self
    }

    /// Places the graph's temps in this arena, even if the graph joins a pool. The graph never overlaps other work in
    /// the arena.
    ///
    /// What does not fit is refused by [`record`](GraphBuilder::record): [`ErrorKind::ArenaExhausted`], which names the op.
    pub fn arena(mut self, arena: &Arena) -> Self {
        self.arena = Some(arena.clone());
        self
    }

    /// Gives each temp an allocation of its own, whatever the pool or arena: for debugging kernels. The software device
    /// then sees every access outside a temp and every read of unwritten memory. When temps share an allocation, it
    /// sees only accesses outside all of them.
    pub fn apart(mut self) -> Self {
        self.apart = true;
        self
    }

    /// Runs the ops one after the other, as recorded, even if the data would let them overlap.
    pub fn straight_line(mut self) -> Self {
        self.shape = Shape::Line;
        self
    }

    /// Lets every op begin only when those before it are over.
    ///
    /// On GPUs of compute capability 9.0 and newer, kernels that follow each other are otherwise set up while the one before
    /// ends (docs/edges.md). Results are the same; this is for measuring what that gains, and for ruling it out when looking
    /// for a mistake.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// use dacapo::{baked, fill};
    /// # let device = dacapo::Device::software()?;
    /// let mut y = device.zeros::<u32>(2)?;
    /// let graph = device.graph().plain_edges().record(fill(&mut y, baked(7)))?;
    /// # Ok(()) }
    /// ```
    pub fn plain_edges(mut self) -> Self {
        self.edges = EdgeChoice::Plain;
        self
    }

    /// Uses the edges that [`Graph::tune`](crate::Graph::tune) has found to be the fastest, for the pairs of kernels that it knows. One
    /// that was measured on another GPU is not used.
    pub fn tuned(mut self, tuning: &Tuning) -> Self {
        self.edges = tuning.choice(self.device);
        self
    }

    /// Chooses the kind of each edge between two kernels, by the numbers of their ops, where there is a choice. For tests.
    #[doc(hidden)]
    pub fn edges_by(mut self, choose: impl Fn(usize, usize) -> Edge + Send + Sync + 'static) -> Self {
        self.edges = EdgeChoice::By(Arc::new(move |pair, _| choose(pair.numbers.0, pair.numbers.1)));
        self
    }

    /// Whether small branches become kernels that look at the flag themselves and return, in place of a conditional node. That
    /// is the default: around up to three small kernels it is faster (docs/control-flow.md). Results are the same.
    ///
    /// ```
    /// use dacapo::{Recorder, Slot, baked, fill, flow::nonzero, inspect::Kind};
    /// # fn main() -> dacapo::Result<()> {
    /// # let device = dacapo::Device::software()?;
    /// # let (flag, mut y) = (Slot::new(1u32), device.zeros::<u32>(4)?);
    /// let graph = device
    ///     .graph()
    ///     .guarded(false)
    ///     .record(|r: &mut Recorder<'_>| r.when(nonzero(&flag), |r| r.run(fill(&mut y, baked(1)))).map(drop))?;
    /// assert!(graph.inspect().nodes.iter().all(|node| node.kind != Kind::Guarded));
    /// # Ok(()) }
    /// ```
    pub fn guarded(mut self, guarded: bool) -> Self {
        self.guarded = guarded;
        self
    }

    /// Uploads the graph to the device at once, so that the first launch costs no more than the others. Refused inside
    /// another recording, because it takes effect immediately.
    pub fn preloaded(mut self) -> Self {
        self.preload = true;
        self
    }

    /// Runs the body eagerly `n` times before recording it, then restores every device buffer that those runs wrote.
    /// The body is called several times, so it must be `FnMut`.
    pub fn warmup(self, n: usize) -> WarmGraphBuilder<'d> {
        WarmGraphBuilder::new(self, n)
    }

    /// As [`warmup`](GraphBuilder::warmup), without restoring what the runs wrote.
    pub fn warmup_unrestored(self, n: usize) -> WarmGraphBuilder<'d> {
        WarmGraphBuilder::new(self, n).unrestored()
    }

    /// Records an op.
    ///
    /// # Errors
    ///
    /// - The error of the first op that failed, or any error from the driver.
    /// - [`ErrorKind::EagerInRecording`]: [`preloaded`](GraphBuilder::preloaded) was used inside another recording.
    #[track_caller]
    pub fn record<O: Op>(self, op: O) -> Result<Graph<O::Out>> {
        self.refuse_preload()?;
        let at = Location::caller();
        self.refuse_unfit().map_err(|error| error.on_line(at))?;
        let (recorded, out) = self.take_down(op)?;
        let made = Replayable::make(recorded, self.graph_options(), StandIns::default());
        Ok(Graph::new(made.map_err(|error| error.on_line(at))?, out))
    }

    /// Records the body twice and reports every baked value that changed: values that a graph would freeze by mistake.
    ///
    /// # Errors
    ///
    /// - The error of the first op that failed.
    pub fn verify<T>(self, mut body: impl FnMut(&mut Recorder<'_>) -> Result<T>) -> Result<Vec<inspect::Frozen>> {
        let mut reports = Vec::new();
        for _ in 0..2 {
            let (recorded, _) = self.take_down(|recorder: &mut Recorder<'_>| body(recorder))?;
            reports.push(report_of(&recorded, &self.graph_options().wanted()));
        }
        Ok(inspect::frozen_changes(&reports[0], &reports[1]))
    }

    /// Reports what a recording consists of, without building a graph.
    ///
    /// # Errors
    ///
    /// - The error of the first op that failed.
    pub fn inspect<O: Op>(self, op: O) -> Result<inspect::Report> {
        let (mut recorded, _) = self.take_down(op)?;
        if self.guarded {
            guard(&recorded.device, &mut recorded.nodes, &recorded.told)?;
        }
        Ok(report_of(&recorded, &self.graph_options().wanted()))
    }

    /// Records and plans without building a graph, and returns the number of steps. For benchmarks.
    #[doc(hidden)]
    pub fn plan_only<O: Op>(self, op: O) -> Result<usize> {
        let (recorded, _) = self.take_down(op)?;
        let order = arranged(&recorded.nodes, self.shape);
        std::hint::black_box(TempPlan::new(&recorded, &order).bytes());
        Ok(order.levels().iter().map(|level| level.order.steps().len()).sum())
    }

    /// Records a graph as a function of memory: with stand-ins for these slices, to be launched on any slices of the
    /// same lengths.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NoMemoryYet`], [`ErrorKind::WrongDevice`]: a slice that no launch could take.
    /// - The error of the first op that failed, or any error from the driver.
    /// - [`ErrorKind::EagerInRecording`]: as for [`record`](GraphBuilder::record).
    #[track_caller]
    pub fn record_into<I: Reads, O: Writes>(
        self,
        inputs: I,
        mut outputs: O,
        body: impl for<'r, 'a> FnOnce(&mut Recorder<'r>, I::At<'a>, O::At<'a>) -> Result<()>,
    ) -> Result<GraphInto<I::At<'static>, O::At<'static>>> {
        Ok(GraphInto::new(self.make_into::<I, O>(inputs.at(), outputs.at(), body)?))
    }

    /// What [`record_into`](GraphBuilder::record_into) makes a graph of.
    #[track_caller]
    pub(crate) fn make_into<I: Reads, O: Writes>(
        &self,
        inputs: I::At<'_>,
        mut outputs: O::At<'_>,
        body: impl for<'r, 'a> FnOnce(&mut Recorder<'r>, I::At<'a>, O::At<'a>) -> Result<()>,
    ) -> Result<Replayable> {
        self.refuse_preload()?;
        self.refuse_unfit()?;
        self.device.enter()?;
        let mut given = Vec::new();
        I::access_at(&inputs, &mut given);
        O::access_at(&mut outputs, &mut given);
        let given: Vec<Extent> = given.into_iter().map(|access| access.place).collect();
        for place in &given {
            self.device.expect_memory(place, "GraphBuilder::record_into")?;
        }
        let mut recorder = Recorder::new(self.device, self.label.as_deref());
        let (device, id) = (self.device, recorder.id());
        let mut holes: Vec<Hole> = Vec::new();
        let mut new = |bytes: usize| {
            let allocation = Allocation::unplaced(device, Kind::StandIn(id), bytes)?;
            let address = crate::memory::stand_in_address(&allocation);
            holes.push(Hole { allocation });
            Ok(address)
        };
        // SAFETY: `holes` holds every stand-in until the closure has returned; the lifetimes in the closure's type are
        // quantified, so none of its references can outlive it.
        let ins = unsafe { I::stand_in(&inputs, &mut new) }?;
        // SAFETY: as above, and each stand-in is an allocation of its own.
        let outs = unsafe { O::stand_in(&outputs, &mut new) }?;
        {
            let _nested = Nested::enter();
            body(&mut recorder, ins, outs)?;
        }
        Replayable::make(recorder.complete()?, self.graph_options(), StandIns::new(holes, given))
    }

    /// Runs the op with a recorder, and gives what it recorded.
    pub(crate) fn take_down<O: Op>(&self, op: O) -> Result<(Recorded, O::Out)> {
        self.refuse_unfit()?;
        self.device.enter()?;
        let mut recorder = Recorder::new(self.device, self.label.as_deref());
        let _nested = Nested::enter();
        let out = recorder.run(op)?;
        Ok((recorder.complete()?, out))
    }

    /// Bringing a graph onto the device acts now.
    #[track_caller]
    pub(crate) fn refuse_preload(&self) -> Result<()> {
        if self.preload { refuse_in_recording("GraphBuilder::preloaded") } else { Ok(()) }
    }

    fn refuse_unfit(&self) -> Result<()> {
        if let Some(arena) = &self.arena {
            arena.expect_of(self.device)?;
        }
        match &self.pool {
            Some(pool) if !pool.is_of(self.device) => Err(self.device.stranger("the pool", pool.device())),
            Some(pool) if pool.is_sealed() => Err(Error::new(ErrorKind::PoolSealed)),
            _ => Ok(()),
        }
    }

    pub(crate) fn graph_options(&self) -> GraphOptions {
        GraphOptions {
            label: self.label.clone().unwrap_or_default(),
            pool: self.pool.clone(),
            asked: Asked {
                shape: self.shape,
                edges: self.edges.clone(),
                arena: self.arena.clone(),
                apart: self.apart,
                guarded: self.guarded,
            },
            preload: self.preload,
        }
    }
}

impl Device {
    /// Records an op once, to be replayed many times: [`graph`](Device::graph) without options.
    ///
    /// # Errors
    ///
    /// - The error of the first op that failed, or any error from the driver.
    #[doc(alias = "cudaGraph")]
    #[doc(alias = "cudaGraphInstantiate")]
    #[doc(alias = "stream capture")]
    #[track_caller]
    pub fn record<O: Op>(&self, op: O) -> Result<Graph<O::Out>> {
        self.graph().record(op)
    }

    /// Options of a recording.
    pub fn graph(&self) -> GraphBuilder<'_> {
        GraphBuilder::new(self)
    }
}
