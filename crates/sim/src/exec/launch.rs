//! What goes into running a kernel, and how a run can end.

use std::sync::Arc;

use super::lanes::dispatch::InstructionSet;
use super::{Image, KernelId};
use crate::detect::Detectors;
use crate::finding::Finding;

/// A kernel launch: everything the interpreter needs to know.
#[derive(Clone)]
pub struct Launch {
    /// The module, placed in memory.
    pub image: Arc<Image>,
    /// Which of its kernels.
    pub kernel: KernelId,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Bytes of shared memory beyond the static ones.
    pub dynamic_shared: u32,
    /// The parameter block, laid out as [`super::KernelInfo::params`] says.
    pub params: Vec<u8>,
    /// All blocks are resident at the same time.
    pub cooperative: bool,
    /// What `%gridid` reads.
    pub grid_id: u64,
    /// Name of the launch in reports.
    pub label: String,
}

/// What `%globaltimer` and `%clock64` read.
pub trait Clock {
    /// Nanoseconds.
    fn now_ns(&mut self) -> u64;
    /// Cycles.
    fn cycles(&mut self) -> u64;
}

/// How one call of [`super::Grid::run`] ended.
#[derive(Debug)]
pub enum Outcome {
    /// Every thread has exited.
    Done,
    /// The instructions of this call are used up; call again.
    Yield,
    /// All that can run polls host memory or the clock: let the host run, then call again.
    Waits,
    /// The kernel broke a rule; it is over.
    Fault(Fault, Finding),
    /// The kernel needs something that the interpreter does not know; it is over.
    Unsupported(Finding),
}

/// The kinds of faults, as a driver would report them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// An address in no allocation.
    IllegalAddress,
    /// An address that is not a multiple of the access's size.
    MisalignedAddress,
    /// `trap`.
    Trap,
    /// A device-side `assert`.
    Assert,
    /// An address of another state space than the instruction's.
    InvalidAddressSpace,
    /// Calls nested too deep.
    HardwareStack,
    /// A call to a place where no instruction can stand.
    InvalidPc,
    /// An instruction that no GPU would execute.
    IllegalInstruction,
    /// The instruction budget is used up, or nothing can run any more.
    Timeout,
}

/// Warp instructions from which several cores are worth it: somewhat under a millisecond of them, where threads and forks
/// of memory take some tens of microseconds.
pub(crate) const CORES_FROM: u64 = 1 << 15;

/// How kernels are run.
#[derive(Clone, Debug)]
pub struct ExecOptions {
    /// Decides the order of what may run in any order; 0 is the plain order.
    pub seed: u64,
    /// Warp instructions of a launch before it counts as an endless loop. Does not run while the kernel only polls
    /// host memory or the clock.
    pub budget: u64,
    /// What is looked for.
    pub detectors: Detectors,
    /// Warp instructions that one warp runs before the next one's turn.
    pub quantum: u32,
    /// Blocks that are in progress at the same time, at most, when one waits for another.
    pub resident_blocks: u32,
    /// Threads of the host that the blocks of a launch may run on at the same time, where nothing is looked for and the
    /// blocks do not tell each other anything.
    pub cores: usize,
    /// Warp instructions that a launch should have, by a rough guess, before more than one core is worth it.
    pub cores_from: u64,
    /// What of the processor's instruction sets may be used. Results do not depend on it.
    pub instructions: InstructionSet,
}

impl Default for ExecOptions {
    fn default() -> ExecOptions {
        ExecOptions {
            seed: 0,
            budget: 1 << 33,
            detectors: Detectors::default(),
            quantum: 4096,
            resident_blocks: 128,
            cores: 1,
            cores_from: CORES_FROM,
            instructions: InstructionSet::Avx512,
        }
    }
}
