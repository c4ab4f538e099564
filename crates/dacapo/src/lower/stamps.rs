//! Nodes that write down when they were reached.
//!
//! A stamp is a kernel of one thread that stores the device's timer. On an H200 that was compared with event-record nodes
//! (docs/timing.md): it disturbs a graph a third as much, does not serialise what may overlap, and reads a clock that moves
//! in steps of 32 ns.

use std::borrow::Cow;
use std::ffi::c_void;

use dacapo_driver::Call;
use dacapo_driver::types::{CUgraph, CUgraphNode};
use dacapo_ledger::MemoryId;

use crate::device::{Device, Stream};
use crate::error::Result;
use crate::held::Purpose;
use crate::kernel::{Function, Grid, ModuleSource};
use crate::lower::params;
use crate::memory::Buffer;

/// Stamps in a line in front of everything: the time from one to the next is what a stamp itself costs.
pub(crate) const FIRST: usize = 4;

/// Where the stamps of one replay go, and the kernel that writes them.
pub(crate) struct Stamps {
    function: Function,
    times: Buffer<u64>,
}

impl Stamps {
    /// Room for a graph of so many ops.
    ///
    /// # Errors
    ///
    /// - Any error from the driver.
    pub(crate) fn new(device: &Device, ops: usize) -> Result<Stamps> {
        let (module, text) = ModuleSource::load(device, include_str!("../../kernels/stamp.ptx"))?;
        let function = Function::find(device, &module, &text, Cow::Borrowed("stamp"))?;
        Ok(Stamps { function, times: device.allocate_elements(FIRST + 2 * ops, true, Purpose::Buffers)? })
    }

    /// The number of the stamp in front of an op.
    pub(crate) fn before(op: usize) -> usize {
        FIRST + 2 * op
    }

    /// The number of the stamp behind an op.
    pub(crate) fn behind(op: usize) -> usize {
        Stamps::before(op) + 1
    }

    /// What the ledger calls the memory that they are written to.
    pub(crate) fn memory(&self) -> MemoryId {
        self.times.allocation().memory().expect("a buffer is in the ledger")
    }

    /// What was written, once the replay is over. Waits for it.
    ///
    /// # Errors
    ///
    /// - Any error from the driver or from the work.
    pub(crate) fn read(&self, stream: &Stream) -> Result<Vec<u64>> {
        stream.read(&self.times)
    }

    /// Adds one to a graph.
    ///
    /// # Errors
    ///
    /// - Any error from the driver.
    pub(crate) fn add(
        &self,
        device: &Device,
        graph: CUgraph,
        after: &[CUgraphNode],
        number: usize,
    ) -> Result<CUgraphNode> {
        assert!(number < self.times.len(), "there is room for two stamps an op");
        let mut at: u64 = self.times.allocation().address() + (number * size_of::<u64>()) as u64;
        let mut pointers = [(&raw mut at).cast::<c_void>()];
        let raw = params::kernel_params(
            self.function.raw,
            Grid { blocks: [1; 3], threads: [1; 3], shared: 0 },
            &mut pointers,
        );
        let mut handle = CUgraphNode::NULL;
        // SAFETY: `handle` is valid for the write; the dependencies are nodes of this graph; the kernel has one parameter, an
        // address, and writes 8 bytes there, inside memory that the launch is entered with in the ledger.
        let code =
            unsafe { device.driver().cuGraphAddKernelNode_v2(&mut handle, graph, after.as_ptr(), after.len(), &raw) };
        device.check(code, Call::cuGraphAddKernelNode_v2)?;
        Ok(handle)
    }
}
