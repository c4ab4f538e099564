//! Tells the detector of races between blocks what a warp is about to do, and reports what it finds.
//!
//! What an instruction means to other blocks (is it strong, does it acquire or release, is it a fence) is read from the
//! PTX once a launch. In a kernel that has nothing of the kind no block can ever know of another, and barriers are not
//! even counted.

use dacapo_ptx::ir::{Instruction, Opcode, Order, Scope};

use super::launch::Launch;
use super::machine::Machine;
use super::op::{At, Code, Op};
use super::program::Program;
use super::report::{self, who};
use super::warp::Warp;
use crate::detect::blocks::{self, BlocksWatch, Race};
use crate::finding::{Ending, Finding};

/// An instruction that touches global memory, by its number among its like.
#[derive(Clone, Copy)]
pub(super) enum By {
    LoadStore(u32),
    Atomic(u32),
    Copy(u32),
}

/// What an instruction does with memory.
#[derive(Clone, Copy)]
pub(super) struct Does {
    pub(super) reads: bool,
    pub(super) writes: bool,
}

/// What a record means to other blocks.
#[derive(Clone, Copy, Default)]
struct Meaning {
    /// An atomic, or a load or store with an order, of the device's scope or a wider one.
    strong: bool,
    acquires: bool,
    releases: bool,
    /// A fence of such a scope.
    fence: bool,
    /// An atomic or strong access of a narrower scope: for other blocks a plain one.
    narrow: bool,
}

impl Meaning {
    fn of(i: &Instruction) -> Meaning {
        let form = &i.form;
        let is_atomic = matches!(form.opcode, Opcode::Atom | Opcode::Red);
        let is_fence = matches!(form.opcode, Opcode::Fence | Opcode::Membar);
        let is_wide = !matches!(form.scope, Some(Scope::Cta | Scope::Cluster));
        let has_order = is_atomic || form.order.is_some_and(|order| order != Order::Weak);
        let has = |orders: &[Order]| is_wide && form.order.is_some_and(|order| orders.contains(&order));
        Meaning {
            strong: has_order && is_wide && !is_fence,
            acquires: has(&[Order::Acquire, Order::AcqRel, Order::Sc]) && !is_fence,
            releases: has(&[Order::Release, Order::AcqRel, Order::Sc]) && !is_fence,
            fence: is_fence && is_wide,
            narrow: has_order && !is_wide && !is_fence,
        }
    }
}

/// The blocks of a launch and what they have done.
pub(crate) struct KernelWatch {
    watch: BlocksWatch,
    meanings: Vec<Meaning>,
    /// Atomics and copies are numbered behind loads and stores.
    atomics_at: usize,
    copies_at: usize,
    /// There is something in the kernel that can order blocks.
    synchronises: bool,
}

impl KernelWatch {
    /// For a launch of a kernel with blocks of this shape.
    pub(super) fn new(program: &Program, code: &Code, block: [u32; 3]) -> KernelWatch {
        let meaning = |origin: &super::op::Origin| {
            let function = program.module.functions.get(origin.function as usize);
            function.and_then(|f| f.body.get(origin.instruction as usize)).map(Meaning::of).unwrap_or_default()
        };
        let meanings: Vec<Meaning> = code.origins.iter().map(meaning).collect();
        let may_be_global = |at: At| matches!(at, At::Global | At::Generic);
        let synchronises = code.ops.iter().zip(&meanings).any(|(op, meaning)| match op {
            Op::Load(index) | Op::Store(index) => {
                meaning.strong && may_be_global(code.accesses[*index as usize].address.at)
            }
            Op::Atomic(index) => meaning.strong && may_be_global(code.atomics[*index as usize].address.at),
            _ => false,
        });
        let warps = block.iter().map(|&n| n as usize).product::<usize>().div_ceil(32);
        let (atomics_at, copies_at) = (code.accesses.len(), code.accesses.len() + code.atomics.len());
        let watch = BlocksWatch::new(warps, copies_at + code.copies.len());
        KernelWatch { watch, meanings, atomics_at, copies_at, synchronises }
    }

    /// A block is over.
    pub(super) fn end(&mut self, launch: &Launch, index: [u32; 3]) {
        self.watch.parties.fences.end(number(launch, index));
    }

    fn meaning(&self, pc: u32) -> Meaning {
        self.meanings.get(pc as usize).copied().unwrap_or_default()
    }
}

/// The number of a block. Blocks beyond the last number share it, and are not told apart.
fn number(launch: &Launch, [x, y, z]: [u32; 3]) -> u32 {
    let [gx, gy, _] = launch.grid.map(u64::from);
    let n = u64::from(x) + gx * (u64::from(y) + gy * u64::from(z));
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// `%ctaid` of a block by its number.
fn index(launch: &Launch, number: u32) -> [u32; 3] {
    let ([gx, gy, _], n) = (launch.grid.map(u64::from), u64::from(number));
    [(n % gx) as u32, (n / gx % gy) as u32, (n / gx / gy) as u32]
}

impl Machine<'_> {
    /// The lanes in `mask` are about to touch `total` bytes each of global memory.
    #[inline]
    pub(super) fn watch_blocks(&mut self, by: By, pc: u32, addresses: &[u64; 32], mask: u32, total: u32, does: Does) {
        let Some(blocks) = self.blocks.as_deref_mut() else { return };
        let (block, warp) = (number(self.launch, self.block), self.warp as u16);
        let meaning = blocks.meaning(pc);
        let instruction = match by {
            By::LoadStore(index) => index as usize,
            By::Atomic(index) => blocks.atomics_at + index as usize,
            By::Copy(index) => blocks.copies_at + index as usize,
        };
        if meaning.strong && does.reads {
            each(addresses, mask, |address| blocks.watch.parties.fences.read(block, warp, address, meaning.acquires));
        }
        let me = blocks::By { block, warp, place: pc, strong: meaning.strong, writes: does.writes };
        let race = blocks.watch.touch(self.memory, me, instruction, addresses, mask, total);
        if meaning.strong && does.writes {
            each(addresses, mask, |address| blocks.watch.parties.fences.wrote(block, warp, address, meaning.releases));
        }
        if let Some(race) = race {
            self.global_race(pc, total, does, race);
        }
    }

    /// A warp comes to a record that does nothing to values: a fence, perhaps.
    #[inline(never)]
    pub(super) fn watch_fence(&mut self, pc: u32) {
        let Some(blocks) = self.blocks.as_deref_mut() else { return };
        if blocks.synchronises && blocks.meaning(pc).fence {
            blocks.watch.parties.fences.fence(number(self.launch, self.block), self.warp as u16);
        }
    }

    /// Warps of the block have met at a barrier.
    pub(super) fn watch_meeting(&mut self) {
        let Some(blocks) = self.blocks.as_deref_mut() else { return };
        if blocks.synchronises {
            blocks.watch.parties.fences.meet(number(self.launch, self.block));
        }
    }

    /// An atomic or a strong access in shared memory: warps of the block may tell each other something by it.
    pub(super) fn watch_shared_strong(&mut self, pc: u32) {
        let Some(blocks) = self.blocks.as_deref_mut() else { return };
        let meaning = blocks.meaning(pc);
        if blocks.synchronises && (meaning.strong || meaning.narrow) {
            blocks.watch.parties.fences.meet(number(self.launch, self.block));
        }
    }

    /// Reports two blocks that nothing orders; once for each pair of instructions of a launch.
    #[inline(never)]
    fn global_race(&mut self, pc: u32, total: u32, does: Does, race: Race) {
        let Race { address, lane, other } = race;
        let pair = (pc.min(other.site.place), pc.max(other.site.place));
        if !self.progress.global_races.insert(pair) {
            return;
        }
        let Some(blocks) = self.blocks.as_deref() else { return };
        let (mine, its) = (blocks.meaning(pc), blocks.meaning(other.site.place));
        let verb = |meaning: Meaning, place: u32, writes: bool| {
            let is_atomic = matches!(self.code.ops.get(place as usize), Some(Op::Atomic(_)));
            match (is_atomic && (meaning.strong || meaning.narrow), writes) {
                (true, _) => "updates",
                (_, true) => "writes",
                _ => "reads",
            }
        };
        let (i_do, it_does) = (verb(mine, pc, does.writes), verb(its, other.site.place, other.writes));
        let place = self.memory.describe(address);
        let kernel = self.kernel();
        let what = match i_do == it_does {
            true => format!("`{kernel}` {i_do} {place} in two blocks, and nothing orders them"),
            false => {
                format!(
                    "`{kernel}` {i_do} {place} in one block and {it_does} it in another, and nothing orders the two"
                )
            }
        };
        let finding = Finding::new("global-race", Ending::YourProgram, what);
        let me = format!("{} {i_do} {total} bytes", who(self.block, self.tid, lane as usize));
        let finding = report::placed(self.program, self.code, finding, pc, Some(me));
        let there = index(self.launch, other.site.block);
        let warp = Warp::new(other.site.warp.into(), self.launch.block);
        let it = format!("{} {it_does} them, before", who(there, &warp.tid, other.lane as usize));
        let mut finding = report::placed(self.program, self.code, finding, other.site.place, Some(it));
        if mine.narrow || its.narrow {
            finding = finding.note(
                "an atomic of the scope `.cta` (`atomicAdd_block` and its kin) is one for its own block: to another block \
                 it is a plain access",
            );
        }
        let (note, help) = match (mine.strong || its.strong, does.writes && other.writes) {
            (true, _) => (
                "one of the two is an atomic or a volatile access and the other is not: that one may be torn or overtaken",
                "use atomics for both, or order them: a flag with `__threadfence()` on both sides, or another kernel",
            ),
            (_, true) => (
                "which of the two writes stays is decided by which block comes last; that they are equal is no excuse",
                "give each block elements of its own, or use an atomic",
            ),
            _ => (
                "blocks run in any order and at the same time: it may be read before it is written, or behind it",
                "read it in another kernel, or behind a grid barrier of a cooperative launch; or let the writer \
                 `__threadfence()` and then set a flag by an atomic, and the reader look at it by an atomic and then \
                 `__threadfence()`",
            ),
        };
        finding = finding.note(note).help(help);
        self.progress.findings.push(finding);
    }
}

/// Each address of the lanes in `mask`, neighbours that agree once.
fn each(addresses: &[u64; 32], mask: u32, mut call: impl FnMut(u64)) {
    let mut before = None;
    for lane in super::access::lanes(mask) {
        if before != Some(addresses[lane]) {
            before = Some(addresses[lane]);
            call(addresses[lane]);
        }
    }
}
