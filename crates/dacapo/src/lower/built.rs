//! An executable graph made of a plan, node by node.
//!
//! Explicit nodes: nothing beside it can invalidate it, and a node is cheaper than a captured launch. Foreign work is
//! captured into the same graph ([`foreign`](super::foreign)); a capture that is broken from outside destroys the graph
//! being built, and then everything is built again, a few times. [`building`](super::building) adds the nodes.

use dacapo_driver::Call;
use dacapo_driver::types::*;

use crate::device::{Booking, Device, Garbage};
use crate::error::{Error, ErrorKind, Result};
use crate::held::Purpose;
use crate::kernel::{PointerRoom, check_grid};
use crate::lower::building::{Building, Parts, Unfinished};
use crate::lower::declared::{declare_kept, declared, named};
use crate::lower::estimate::{asked_for, executable_of};
use crate::lower::params::{self, Resolve};
use crate::lower::stamps::Stamps;
use crate::record::{Node, NodeParams, Told, Work, expect_written};
use crate::trace::event;
use crate::value::{Readings, Snapshot};

/// How often a graph is built again after a capture of foreign work was broken from outside.
const ATTEMPTS: usize = 4;

/// An executable graph and its nodes.
#[repr(C)] // what a launch touches comes first
pub(crate) struct Built {
    pub(crate) exec: CUgraphExec,
    /// Kept: its nodes name those of the executable graph.
    pub(crate) template: CUgraph,
    /// Of each op.
    told: Vec<Told>,
    /// Of each condition, by its number.
    handles: Vec<u64>,
    /// The executable's estimated bytes, in the device's books.
    pub(crate) booking: Option<Booking>,
}

/// What came of the attempt to bring changed slots into a node's parameters where they are.
pub(crate) enum Rewritten {
    /// They are as the node was told.
    Same,
    /// The node must be told; whether it was enabled.
    Other { was_enabled: bool },
    /// What the node was told is not known, or is not of a kind that is rewritten.
    Elsewhere,
}

// SAFETY: the handles are tokens; the driver wants calls on one graph to be made one at a time, which the owner's `&mut`
// gives.
unsafe impl Send for Built {}
// SAFETY: as above; nothing is called through `&Built`.
unsafe impl Sync for Built {}

impl Built {
    /// Builds and instantiates.
    ///
    /// # Errors
    ///
    /// - Any error from the driver, naming the op; a capture of foreign work that was broken every time.
    pub(crate) fn new(device: &Device, parts: Parts<'_>, booking: Booking) -> Result<Built> {
        Built::stamped(device, parts, None, booking)
    }

    /// The same with a stamp before and behind each op.
    ///
    /// # Errors
    ///
    /// - As [`new`](Built::new).
    pub(crate) fn stamped<'p>(
        device: &Device,
        mut parts: Parts<'p>,
        stamps: Option<&'p Stamps>,
        booking: Booking,
    ) -> Result<Built> {
        let _relaxed = device.relaxed()?;
        let mut attempt = 1;
        let bytes = booking.bytes();
        let built = loop {
            let drafted = Building::new(device, &mut parts, stamps).and_then(Building::filled);
            match drafted.and_then(|draft| Built::instantiated(draft, bytes)) {
                Err(error) if matches!(error.kind(), ErrorKind::CaptureBroken { .. }) && attempt < ATTEMPTS => {
                    attempt += 1;
                }
                outcome => break outcome,
            }
        };
        let mut built = built?;
        built.booking = Some(booking.taken());
        Ok(built)
    }

    /// The executable graph of a draft in which all nodes are; ops that have nothing to do are switched off in it.
    fn instantiated(draft: Building<'_, '_>, bytes: usize) -> Result<Built> {
        let (mut graph, nodes, told, handles) = draft.into_parts();
        let device = graph.device;
        // Recipes may have run again for this, and call functions that answer otherwise by now.
        if told.iter().any(Told::is_idle) {
            expect_written(nodes, |op| told[op].is_idle())?;
        }
        let mut exec = CUgraphExec::NULL;
        // SAFETY: `exec` is valid for the write, and the graph is ours.
        let code = unsafe { device.driver().cuGraphInstantiateWithFlags(&mut exec, graph.raw, 0) };
        device.check_memory(code, Call::cuGraphInstantiateWithFlags, asked_for(bytes))?;
        device.live().graphs.add(1);
        let template = std::mem::replace(&mut graph.raw, CUgraph::NULL);
        let built = Built { exec, template, told, handles, booking: None };
        for (number, told) in built.told.iter().enumerate() {
            if told.is_idle()
                && let Err(error) = told.enable(device, exec, false)
            {
                device.put(Garbage::Graph(exec, template), Vec::new());
                return Err(nodes[number].blame(error));
            }
        }
        Ok(built)
    }

    /// Brings changed slots into the parameters of a node, where they are. For a graph without stand-ins: its addresses
    /// are as they were. The node is not told yet.
    ///
    /// # Errors
    ///
    /// - A condition or a limit that does not hold (any more). The node must be told before the next launch.
    #[inline]
    pub(crate) fn rewrite(
        &mut self,
        device: &Device,
        number: usize,
        node: &Node,
        readings: &Readings,
    ) -> Result<Rewritten> {
        let told = &mut self.told[number];
        let snapshot = Snapshot::new(readings, &node.access);
        match (&node.work, &mut told.params) {
            (Work::Kernel(kernel), Some(NodeParams::Kernel { prepared })) => {
                let was_enabled = !prepared.grid.is_empty();
                let grid = kernel.grid(&snapshot, &mut prepared.args).map_err(|error| node.blame(error))?;
                if grid != prepared.grid {
                    if let Err(error) = check_grid(device.properties(), &kernel.function, &grid) {
                        // The arguments are already others than the node was told.
                        told.params = None;
                        return Err(node.blame(error));
                    }
                    prepared.grid = grid;
                } else if !prepared.args.changed() {
                    return Ok(Rewritten::Same);
                }
                Ok(Rewritten::Other { was_enabled })
            }
            (Work::Fill(recipe), Some(NodeParams::Fill { value, .. })) => {
                let (now, _) = params::fill_value(recipe, &snapshot);
                let before = std::mem::replace(value, now);
                Ok(if before == now { Rewritten::Same } else { Rewritten::Other { was_enabled: true } })
            }
            (_, Some(NodeParams::Nothing)) => Ok(Rewritten::Same),
            _ => Ok(Rewritten::Elsewhere),
        }
    }

    /// No graph: what is left where one was handed over.
    pub(crate) fn none() -> Built {
        Built { exec: CUgraphExec::NULL, template: CUgraph::NULL, told: Vec::new(), handles: Vec::new(), booking: None }
    }

    /// The handles of the conditions, by their numbers.
    pub(crate) fn handles(&self) -> &[u64] {
        &self.handles
    }

    /// What a node was told last; none if that is not known, and for foreign work.
    pub(crate) fn told(&self, number: usize) -> Option<&NodeParams> {
        self.told.get(number).and_then(|told| told.params.as_ref())
    }

    /// Whether a node does something, as far as is known.
    pub(crate) fn is_enabled(&self, number: usize) -> bool {
        self.told(number).is_none_or(NodeParams::is_enabled)
    }

    /// What a node was told counts as not known: it must be told before the next launch.
    pub(crate) fn forget(&mut self, number: usize) {
        self.told[number].params = None;
    }

    /// A node has the same parameters under another recording, in which its op may have been given other memory.
    pub(crate) fn keep(&self, device: &Device, number: usize, node: &Node) {
        let told = &self.told[number];
        declare_kept(device, self.exec, told.handle, node, told.prepared().map(|prepared| &prepared.args));
    }

    /// Tells one node other parameters, if they are others.
    ///
    /// # Errors
    ///
    /// - As [`tell`](Built::tell).
    pub(crate) fn patch(&mut self, device: &Device, number: usize, node: &Node, params: NodeParams) -> Result<()> {
        let told = &mut self.told[number];
        if told.params.as_ref() == Some(&params) {
            return Ok(());
        }
        let was_enabled = told.params.as_ref().map(NodeParams::is_enabled);
        told.params = Some(params);
        self.tell(device, number, node, was_enabled)
    }

    /// Tells one node its parameters. `was_enabled`: none if what it was told before is not known.
    ///
    /// # Errors
    ///
    /// - Any error from the driver. The node must be told again before the next launch.
    #[inline]
    pub(crate) fn tell(
        &mut self,
        device: &Device,
        number: usize,
        node: &Node,
        was_enabled: Option<bool>,
    ) -> Result<()> {
        let told = &mut self.told[number];
        let outcome = told.tell(device, self.exec, node, was_enabled);
        if outcome.is_err() {
            told.params = None;
        }
        outcome
    }
}

impl Told {
    #[inline]
    fn tell(&mut self, device: &Device, exec: CUgraphExec, node: &Node, was_enabled: Option<bool>) -> Result<()> {
        let (driver, handle) = (device.driver(), self.handle);
        match &mut self.params {
            Some(NodeParams::Kernel { prepared }) => {
                let Work::Kernel(kernel) = &node.work else { unreachable!("parameters of a kernel") };
                let enabled = !prepared.grid.is_empty();
                if prepared.grid.shared > 0 {
                    kernel.function.of_handle(self.function).want_shared(device, prepared.grid.shared)?;
                }
                let (grid, function) = (prepared.grid, self.function);
                let code = declared(device, node, &mut prepared.args, |args| {
                    let mut room = PointerRoom::new();
                    let raw = params::kernel_params(function, grid, args.pointers(&mut room));
                    // SAFETY: the node is one of the template's; there is a pointer for each parameter, to as many bytes
                    // as it has, in place until the call returns; addresses are of memory that the graph holds, or that
                    // this launch has bound.
                    unsafe { driver.cuGraphExecKernelNodeSetParams_v2(exec, handle, &raw) }
                });
                device.check(code, Call::cuGraphExecKernelNodeSetParams_v2)?;
                if was_enabled != Some(enabled) {
                    self.enable(device, exec, enabled)?;
                }
            }
            _ => self.tell_other(device, exec, node)?,
        }
        event!(debug, op = %node.name, label = %node.label, "patched");
        Ok(())
    }

    /// What is no kernel, out of the way of what is.
    #[inline(never)]
    fn tell_other(&self, device: &Device, exec: CUgraphExec, node: &Node) -> Result<()> {
        let (driver, handle) = (device.driver(), self.handle);
        match &self.params {
            Some(NodeParams::Copy { source, target, bytes }) => {
                let raw = params::copy_params(*source, *target, *bytes);
                let code = named(device, node, || {
                    // SAFETY: the node is one of the template's; both places are inside memory that the graph holds or this
                    // launch has bound.
                    unsafe { driver.cuGraphExecMemcpyNodeSetParams(exec, handle, &raw, device.context()) }
                });
                device.check(code, Call::cuGraphExecMemcpyNodeSetParams)?;
            }
            Some(NodeParams::Fill { target, value, size, count }) => {
                let raw = params::fill_params(*target, *value, *size, *count);
                // SAFETY: as above.
                let code = named(device, node, || unsafe {
                    driver.cuGraphExecMemsetNodeSetParams(exec, handle, &raw, device.context())
                });
                device.check(code, Call::cuGraphExecMemsetNodeSetParams)?;
            }
            Some(NodeParams::Kernel { .. } | NodeParams::Nothing) | None => {}
        }
        Ok(())
    }

    /// Switches a kernel's node on or off.
    #[cold]
    fn enable(&self, device: &Device, exec: CUgraphExec, enabled: bool) -> Result<()> {
        // SAFETY: the node is one of the template's, and the executable graph is ours.
        let code = unsafe { device.driver().cuGraphNodeSetEnabled(exec, self.handle, u32::from(enabled)) };
        device.check(code, Call::cuGraphNodeSetEnabled)
    }
}

/// A graph that came of a capture, destroyed if nothing is made of it.
pub(crate) struct CapturedGraph<'d>(Unfinished<'d>);

impl<'d> CapturedGraph<'d> {
    pub(crate) fn new(device: &'d Device, raw: CUgraph) -> CapturedGraph<'d> {
        CapturedGraph(Unfinished { device, raw })
    }

    /// How many nodes it has.
    pub(crate) fn nodes(&self) -> Result<usize> {
        let mut count = 0;
        // SAFETY: without a buffer the call only counts.
        let code = unsafe { self.0.device.driver().cuGraphGetNodes(self.0.raw, std::ptr::null_mut(), &mut count) };
        self.0.device.check(code, Call::cuGraphGetNodes)?;
        Ok(count)
    }

    /// Makes it executable. None of its nodes can be changed by us.
    pub(crate) fn instantiate(mut self, ops: usize) -> Result<Built> {
        let (device, mut exec) = (self.0.device, CUgraphExec::NULL);
        let bytes = executable_of(self.nodes()?, 0, 0, 0);
        let booking = device.book(Purpose::Executables, bytes)?;
        // Memory nodes that nobody frees would forbid the second launch.
        let flags = u64::from(CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
        // SAFETY: `exec` is valid for the write, and the graph is ours.
        let code = unsafe { device.driver().cuGraphInstantiateWithFlags(&mut exec, self.0.raw, flags) };
        device.check_memory(code, Call::cuGraphInstantiateWithFlags, asked_for(bytes))?;
        let booking = booking.taken();
        device.live().graphs.add(1);
        let template = std::mem::replace(&mut self.0.raw, CUgraph::NULL);
        let told = std::iter::repeat_with(Told::nothing).take(ops).collect();
        Ok(Built { exec, template, told, handles: Vec::new(), booking: Some(booking) })
    }
}

/// For a launch that has bound stand-ins: all parameters again.
pub(crate) fn params_of(
    device: &Device,
    node: &Node,
    readings: &Readings,
    places: &dyn Resolve,
    handles: &[u64],
) -> Result<Option<NodeParams>> {
    NodeParams::of(device, node, readings, places, handles, None)
}

/// A graph that cannot be launched because some of its nodes have old values.
#[cold]
pub(crate) fn unpatched(nodes: usize, cause: Error) -> Error {
    Error::new(ErrorKind::Unpatched { nodes }).with_source(cause)
}
