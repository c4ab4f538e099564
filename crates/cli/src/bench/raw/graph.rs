//! An executable graph made by hand, of kernels alone; [`repeat`](super::repeat) puts a loop into one.

use dacapo_driver::types::*;
use dacapo_driver::{Call, Check, Driver, DriverError};

use super::{KernelCall, KernelNode, RawStream};
use crate::complaint::Complaint;

/// How the kernels of a graph depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Each on the one before.
    Line,
    /// Not at all.
    Parallel,
}

/// An executable graph with the graph it was made from; destroyed when dropped.
pub struct RawGraph<'d> {
    pub(super) driver: &'d dyn Driver,
    pub(super) graph: CUgraph,
    exec: CUgraphExec,
    pub(super) nodes: Vec<CUgraphNode>,
}

impl<'d> RawGraph<'d> {
    /// Without a node, and not instantiated.
    pub(super) fn empty(driver: &'d dyn Driver) -> Result<Self, Complaint> {
        let mut made = RawGraph { driver, graph: CUgraph::NULL, exec: CUgraphExec::NULL, nodes: Vec::new() };
        // SAFETY: `graph` is valid for the write.
        unsafe { driver.cuGraphCreate(&mut made.graph, 0) }.check(Call::cuGraphCreate)?;
        Ok(made)
    }

    /// By explicit nodes.
    pub(super) fn build(driver: &'d dyn Driver, calls: &[KernelCall], shape: Shape) -> Result<Self, Complaint> {
        let mut made = RawGraph::empty(driver)?;
        for call in calls {
            let after = match shape {
                Shape::Line => &made.nodes[made.nodes.len().saturating_sub(1)..],
                Shape::Parallel => &[],
            };
            let node = call.add_to(driver, made.graph, after)?;
            made.nodes.push(node);
        }
        made.instantiated()
    }

    /// By explicit nodes and edges.
    pub(super) fn of_nodes(driver: &'d dyn Driver, nodes: &[KernelNode]) -> Result<Self, Complaint> {
        let mut made = RawGraph::empty(driver)?;
        made.nodes = KernelNode::add_all(nodes, driver, made.graph)?;
        made.instantiated()
    }

    /// By capturing a stream.
    pub(super) fn capture(
        driver: &'d dyn Driver,
        calls: &[KernelCall],
        stream: &RawStream<'d>,
    ) -> Result<Self, Complaint> {
        let mut made = RawGraph { driver, graph: CUgraph::NULL, exec: CUgraphExec::NULL, nodes: Vec::new() };
        // SAFETY: the stream is alive.
        unsafe { driver.cuStreamBeginCapture_v2(stream.handle(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) }
            .check(Call::cuStreamBeginCapture_v2)?;
        let launched = calls.iter().try_for_each(|call| call.launch(stream));
        // Ended even when a launch failed: a stream left capturing refuses the calls that follow.
        // SAFETY: the stream is alive and `graph` is valid for the write.
        let ended = unsafe { driver.cuStreamEndCapture(stream.handle(), &mut made.graph) };
        launched.and(ended.check(Call::cuStreamEndCapture))?;
        made.instantiated()
    }

    pub(super) fn instantiated(mut self) -> Result<Self, Complaint> {
        // SAFETY: the graph is ours and alive, and `exec` is valid for the write.
        unsafe { self.driver.cuGraphInstantiateWithFlags(&mut self.exec, self.graph, 0) }
            .check(Call::cuGraphInstantiateWithFlags)?;
        Ok(self)
    }

    /// Launches it.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    #[inline]
    pub fn launch(&self, stream: &RawStream<'_>) -> Result<(), DriverError> {
        // SAFETY: the executable graph lives until `self` is dropped; the measurement keeps what its kernels touch.
        unsafe { self.driver.cuGraphLaunch(self.exec, stream.handle()) }.check(Call::cuGraphLaunch)
    }

    /// Puts `call` in the place of its kernel number `at`, from the next launch on.
    ///
    /// # Errors
    ///
    /// - The driver refused.
    ///
    /// # Panics
    ///
    /// - The graph was captured, or has no such kernel.
    #[inline]
    pub fn set(&self, at: usize, call: &KernelCall) -> Result<(), DriverError> {
        call.set(self.driver, self.exec, self.nodes[at])
    }
}

impl Drop for RawGraph<'_> {
    fn drop(&mut self) {
        // What these answer is of no use: nothing of the graph is used again. A launch in flight keeps what it needs.
        if !self.exec.is_null() {
            // SAFETY: made by this driver, and destroyed only here.
            let _ = unsafe { self.driver.cuGraphExecDestroy(self.exec) };
        }
        if !self.graph.is_null() {
            // SAFETY: as above.
            let _ = unsafe { self.driver.cuGraphDestroy(self.graph) };
        }
    }
}
