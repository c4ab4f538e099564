//! Nodes and launches that write down when they were reached.
//!
//! A stamp is a kernel of one thread that stores the device's timer. On an H200 that was compared with event-record nodes
//! (docs/timing.md): it disturbs a graph a third as much, does not serialise what may overlap, and reads a clock that moves
//! in steps of 32 ns.

use std::borrow::Cow;
use std::ffi::c_void;

use dacapo_driver::Call;
use dacapo_driver::types::{CUgraph, CUgraphNode, CUstream};
use dacapo_ledger::{MemoryId, Touching};

use crate::device::{Device, Stream};
use crate::error::Result;
use crate::held::Purpose;
use crate::kernel::{Function, Grid, ModuleSource};
use crate::lower::params;
use crate::memory::Buffer;

/// Stamps in a line in front of everything: the time from one to the next is what a stamp itself costs.
const FIRST: usize = 4;

/// Words of each op: when it began and ended last, how long all its runs took together, and how many there were. In a loop
/// an op runs in every round.
const WORDS: usize = 4;

/// Where the stamps of one replay or eager run go, and the kernels that write them.
pub(crate) struct Stamps {
    stamp: Function,
    end: Function,
    times: Buffer<u64>,
}

/// Where a stamp stands.
#[derive(Clone, Copy)]
pub(crate) enum StampPlace {
    /// One of the first.
    First(usize),
    /// In front of an op.
    Before(usize),
    /// Behind it.
    Behind(usize),
}

/// What was stamped of one op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpStamps {
    pub(crate) before: u64,
    pub(crate) behind: u64,
    /// Of all runs together.
    pub(crate) sum: u64,
    pub(crate) runs: u64,
}

impl StampPlace {
    /// The first ones, in order.
    pub(crate) fn firsts() -> impl Iterator<Item = StampPlace> {
        (0..FIRST).map(StampPlace::First)
    }
}

impl Stamps {
    /// Room for a graph of so many ops.
    ///
    /// # Errors
    ///
    /// - Any error from the driver.
    pub(crate) fn new(device: &Device, ops: usize) -> Result<Stamps> {
        let (module, text) = ModuleSource::load(device, include_str!("../../kernels/stamp.ptx"))?;
        let find = |name| Function::find(device, &module, &text, Cow::Borrowed(name));
        let times = device.allocate_elements(FIRST + WORDS * ops, true, Purpose::Buffers)?;
        Ok(Stamps { stamp: find("stamp")?, end: find("stamp_end")?, times })
    }

    /// The memory that they are written to, for the ledger.
    pub(crate) fn touched(&self) -> (MemoryId, Touching) {
        (self.times.allocation().memory().expect("a buffer is in the ledger"), Touching::Write)
    }

    /// What was written, once the replay is over: the first stamps, and those of the ops. Waits for it.
    ///
    /// # Errors
    ///
    /// - Any error from the driver or from the work.
    pub(crate) fn read(&self, stream: &Stream) -> Result<(Vec<u64>, Vec<OpStamps>)> {
        let words = stream.read(&self.times)?;
        let (first, ops) = words.split_at(FIRST);
        let of = |op: &[u64]| OpStamps { before: op[0], behind: op[1], sum: op[2], runs: op[3] };
        Ok((first.to_vec(), ops.chunks_exact(WORDS).map(of).collect()))
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
        place: StampPlace,
    ) -> Result<CUgraphNode> {
        let (function, mut at) = self.kernel(place);
        let mut pointers = [(&raw mut at).cast::<c_void>()];
        let raw =
            params::kernel_params(function.raw, Grid { blocks: [1; 3], threads: [1; 3], shared: 0 }, &mut pointers);
        let mut handle = CUgraphNode::NULL;
        // SAFETY: `handle` is valid for the write; the dependencies are nodes of this graph; the kernel has one parameter, an
        // address, and touches 8 bytes there, or the four words of an op, inside memory that the launch is entered with in the
        // ledger.
        let code =
            unsafe { device.driver().cuGraphAddKernelNode_v2(&mut handle, graph, after.as_ptr(), after.len(), &raw) };
        device.check(code, Call::cuGraphAddKernelNode_v2)?;
        Ok(handle)
    }

    /// Launches one on a stream.
    ///
    /// # Errors
    ///
    /// - Any error from the driver.
    pub(crate) fn launch(&self, device: &Device, stream: CUstream, place: StampPlace) -> Result<()> {
        let (function, mut at) = self.kernel(place);
        let mut pointers = [(&raw mut at).cast::<c_void>()];
        let (pointers, extra) = (pointers.as_mut_ptr(), std::ptr::null_mut());
        // SAFETY: the kernel has one parameter, an address, and touches 8 bytes there, or the four words of an op, inside memory
        // that this use of the stream is entered with in the ledger.
        let code =
            unsafe { device.driver().cuLaunchKernel(function.raw, 1, 1, 1, 1, 1, 1, 0, stream, pointers, extra) };
        device.check(code, Call::cuLaunchKernel)
    }

    /// The kernel of a stamp, and where it writes.
    fn kernel(&self, place: StampPlace) -> (&Function, u64) {
        let (function, word) = match place {
            StampPlace::First(number) => (&self.stamp, number),
            StampPlace::Before(op) => (&self.stamp, FIRST + WORDS * op),
            StampPlace::Behind(op) => (&self.end, FIRST + WORDS * op),
        };
        assert!(word < self.times.len(), "there is room for the stamps of each op");
        (function, self.times.allocation().address() + (word * size_of::<u64>()) as u64)
    }
}
