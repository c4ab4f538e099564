//! The blocks of a launch on several threads, where they tell each other nothing: the fast mode.
//!
//! A launch is tried apart when all of this holds:
//!
//! - more than one core is allowed, nothing is looked for, the launch is not cooperative, and nothing that it may overlap with
//!   is still running;
//! - the kernel has no atomic that may be global, no strong or volatile access that may be global, no fence beyond the
//!   block, no clock, no `printf`, no conditional;
//! - there is enough to do, by a guess.
//!
//! Each thread has a range of blocks that follow each other, and a fork of the memory. When all have ended well, what they
//! wrote is merged in the order of the blocks. When one has not, for whatever reason (a fault, a finding, host memory, the
//! budget, too much to copy), everything is thrown away, and the launch runs in the usual way from its start: reports
//! are those of the usual way.
//!
//! **Promise:** a kernel whose blocks read nothing that other blocks of the launch write gives the same bits and the same
//! counts as in the usual way. One whose blocks do is a race; it gives one of its results, the same every time for a number
//! of cores. Threads share nothing that is written but one flag.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use dacapo_ptx::ir::{self, Opcode, Order, Scope, Special};

use super::block::{Block, BlockTurn};
use super::grid::block_of;
use super::lanes::dispatch::Isa;
use super::launch::{Clock, ExecOptions, Launch};
use super::machine::{Parts, Problem, Progress};
use super::op::{At, Code, Op, Target};
use crate::detect::Detectors;
use crate::finding::{Ending, Finding};
use crate::memory::Memory;

/// Attempts that may come to nothing before a kernel is not tried any more.
pub(super) const ATTEMPTS: u32 = 3;
/// Warp instructions between two looks at whether another thread has given up.
const TURN: u64 = 1 << 16;
/// Warp instructions of one block: who needs more may be waiting for something that no fork will ever see.
const BLOCK_MAX: u64 = 1 << 26;
/// Bytes that all forks together may copy, at most.
const COPIES_MAX: u64 = 256 << 20;
/// Bytes that may be copied for one warp instruction of the guess: about as long as the instruction takes.
const COPIES_PER_INSTRUCTION: u64 = 64;
/// Warp instructions of the guess that one allocation must have, for the time it takes to lend it.
const INSTRUCTIONS_PER_SLOT: u64 = 16;
/// How often a loop goes round, by guess.
const ROUNDS: u64 = 8;

/// A launch as all threads see it.
pub(super) struct Whole<'a> {
    pub(super) launch: &'a Launch,
    pub(super) options: &'a ExecOptions,
    pub(super) constants: &'a [Vec<u64>],
    pub(super) isa: Isa,
    pub(super) blocks: u64,
}

/// What blocks have done.
#[derive(Default)]
pub(super) struct Done {
    /// Lane instructions.
    pub(super) executed: u64,
    /// Warp instructions.
    pub(super) used: u64,
    pub(super) effects: u64,
    /// Threads that did it.
    pub(super) cores: usize,
}

/// Does the text of a kernel keep its blocks apart? What only shows when it runs is seen then.
pub(super) fn is_possible(module: &ir::Module, code: &Code) -> bool {
    let may_be_global = |at: At| matches!(at, At::Global | At::Generic);
    let instruction = |pc: usize| {
        let origin = code.origins.get(pc)?;
        module.functions.get(origin.function as usize)?.body.get(origin.instruction as usize)
    };
    code.unsupported.is_empty()
        && code.ops.iter().enumerate().all(|(pc, op)| match op {
            Op::Atomic(index) => !may_be_global(code.atomics[*index as usize].address.at),
            Op::Load(index) | Op::Store(index) => {
                let weak = instruction(pc).is_some_and(|i| i.form.order.is_none_or(|order| order == Order::Weak));
                weak || !may_be_global(code.accesses[*index as usize].address.at)
            }
            // Without a scope a fence is one for the whole system.
            Op::Nothing => instruction(pc).is_some_and(|i| {
                !matches!(i.form.opcode, Opcode::Fence | Opcode::Membar) || i.form.scope == Some(Scope::Cta)
            }),
            Op::Special { which, .. } => !matches!(
                which,
                Special::Clock
                    | Special::ClockHi
                    | Special::Clock64
                    | Special::GlobalTimer
                    | Special::GlobalTimerLo
                    | Special::GlobalTimerHi
            ),
            // An assertion that fails is a fault; one that holds does nothing.
            Op::Call(index) => !matches!(
                code.calls[*index as usize].target,
                Target::Printf | Target::SetConditional | Target::Malloc | Target::Free
            ),
            _ => true,
        })
}

/// Runs the whole launch, or nothing of it: then memory is as it was.
pub(super) fn run(whole: &Whole<'_>, memory: &mut Memory) -> Option<Done> {
    let Whole { launch, options, .. } = whole;
    let program = launch.image.program();
    let cores = options.cores.min(usize::try_from(whole.blocks).unwrap_or(usize::MAX));
    if cores < 2
        || launch.cooperative
        || options.detectors != Detectors::none()
        || memory.is_watched()
        || !program.may_run_apart(launch.kernel)
    {
        return None;
    }
    let guess = guess(program.code(launch.kernel), launch, whole.blocks);
    let lending = INSTRUCTIONS_PER_SLOT.saturating_mul(memory.slots_count() as u64);
    // Tests set the bound to 0 to have everything tried.
    if options.cores_from > 0 && guess < options.cores_from.max(lending) {
        return None;
    }
    let copies = if options.cores_from > 0 { guess.saturating_mul(COPIES_PER_INSTRUCTION) } else { COPIES_MAX };
    let copies = copies.min(COPIES_MAX) as usize / cores;
    let done = memory.with_forks(cores, copies, |forks| on_threads(whole, forks));
    if done.is_none() {
        program.gave_up_apart(launch.kernel);
    }
    done
}

/// Warp instructions that a launch may have: each record once, more often where there is a loop.
fn guess(code: &Code, launch: &Launch, blocks: u64) -> u64 {
    let goes_back = |(pc, op): (usize, &Op)| match op {
        Op::Jump { target } | Op::Branch { target, .. } => *target as usize <= pc,
        _ => false,
    };
    let rounds = if code.ops.iter().enumerate().any(goes_back) { ROUNDS } else { 1 };
    let threads = launch.block.iter().fold(1u64, |all, &n| all.saturating_mul(n.into()));
    blocks.saturating_mul(threads.div_ceil(32)).saturating_mul(code.ops.len() as u64).saturating_mul(rounds)
}

/// One thread for each fork; `None` when one of them has given up.
fn on_threads(whole: &Whole<'_>, forks: &mut [Memory]) -> Option<Done> {
    let cores = forks.len() as u64;
    let given_up = AtomicBool::new(false);
    let parts: Vec<Option<Done>> = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (at, memory) in (0..cores).zip(forks) {
            let (flag, share) =
                (&given_up, |n: u64| (u128::from(whole.blocks) * u128::from(n) / u128::from(cores)) as u64);
            let range = share(at)..share(at + 1);
            let started = std::thread::Builder::new().spawn_scoped(scope, move || {
                let done = in_order(whole, memory, range, flag);
                if done.is_none() {
                    flag.store(true, Ordering::Relaxed);
                }
                done
            });
            match started {
                Ok(thread) => threads.push(thread),
                Err(_) => {
                    given_up.store(true, Ordering::Relaxed);
                    break;
                }
            }
        }
        // A panic is another reason to run in the usual way, where it will come again and be dealt with.
        threads.into_iter().map(|thread| thread.join().ok().flatten()).collect()
    });
    let mut all = Done { cores: parts.len(), ..Done::default() };
    for part in parts {
        let part = part?;
        all.executed += part.executed;
        all.used += part.used;
        all.effects += part.effects;
    }
    (all.cores as u64 == cores && all.used <= whole.options.budget).then_some(all)
}

/// Runs some blocks, one after the other.
fn in_order(whole: &Whole<'_>, memory: &mut Memory, blocks: Range<u64>, given_up: &AtomicBool) -> Option<Done> {
    let Whole { launch, options, constants, isa, .. } = *whole;
    let program = launch.image.program();
    let code = program.code(launch.kernel);
    let mut progress = Progress::new(code);
    let mut block = Block::new(launch.block, code.dynamic_shared_at as usize + launch.dynamic_shared as usize, None)?;
    let mut used = 0;
    let mut fresh = true;
    for n in blocks {
        let (index, seed) = block_of(launch, options, n);
        block.start(index, code, constants, std::mem::take(&mut fresh), seed);
        let before = used;
        loop {
            if given_up.load(Ordering::Relaxed) || used > options.budget || used - before > BLOCK_MAX {
                return None;
            }
            let parts = Parts {
                code,
                program,
                launch,
                options,
                constants,
                isa,
                memory,
                clock: &mut NoClock,
                progress: &mut progress,
                workspace: 0,
                declared: None,
                blocks: None,
            };
            let (turn, ran) = block.run(parts, TURN).ok()?;
            used += ran;
            match turn {
                BlockTurn::Done => break,
                BlockTurn::Over => {}
                BlockTurn::Polls => return None,
            }
        }
        if !progress.findings.is_empty() {
            return None;
        }
    }
    Some(Done { executed: progress.executed, used, effects: progress.effects, cores: 1 })
}

/// What ends a block that may not go on apart. Nobody reads it: the launch is run again in the usual way.
pub(super) fn refused() -> Box<Problem> {
    let what = "a block that runs apart from the others may not do this";
    Box::new(Problem::Unsupported(Finding::new("unsupported", Ending::OurBug, what)))
}

/// Kernels that look at the clock do not run apart.
struct NoClock;

impl Clock for NoClock {
    fn now_ns(&mut self) -> u64 {
        0
    }

    fn cycles(&mut self) -> u64 {
        0
    }
}
