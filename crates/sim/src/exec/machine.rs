//! Runs one fragment of a warp, record by record.
//!
//! The loop below is the interpreter: it knows where the lanes are and who runs; what a record does to values is in
//! `lanes`, `access` and `atomic`. A fragment is left when it comes to its join, to a barrier, to an operation of the
//! warp, to its end, or when its turn is over, which is looked at on backward branches only: straight code ends.

use std::collections::HashSet;

use dacapo_ptx::ir::Special;

use super::global_race::KernelWatch;
use super::lanes::dispatch::Isa;
use super::lanes::rare;
use super::lanes::steps::LANES_END;
use super::lanes::{LOW, Regs};
use super::launch::{Clock, ExecOptions, Fault, Launch};
use super::local::Local;
use super::op::{AT_RETURN, Code, Op, Target};
use super::printf;
use super::program::Program;
use super::warp::{Base, Fragment, Frame, Tid, Warp};
use super::window;
use crate::detect::Detectors;
use crate::detect::declared::{Declared, Window};
use crate::detect::shared::SharedWatch;
use crate::finding::Finding;
use crate::memory::Memory;
use crate::memory::region::Region;
use crate::memory::watch::Memo;

/// Frames of calls that a thread may have.
const DEPTH_MAX: usize = 256;
/// Local memory that a thread may have, in bytes.
pub(super) const LOCAL_MAX: u32 = 512 << 10;
/// Looks at host memory or the clock, without any effect in between, that count as waiting.
const POLLS: u32 = 16;

/// What ends a kernel early.
pub(super) enum Problem {
    Fault(Fault, Finding),
    Unsupported(Finding),
}

/// A step that may end the kernel.
pub(super) type Stop<T> = Result<T, Box<Problem>>;

/// Why a fragment was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It is where its nearest join is.
    Join,
    /// Its turn is over.
    Turn,
    /// It looks at host memory or the clock again and again.
    Polls,
    /// At a barrier of the block; index of the record's data.
    Barrier(u32),
    /// At an operation of the warp; index of the record's data.
    Warp(u32),
    /// Its lanes are done.
    Exit,
}

/// Where a load or store was last.
#[derive(Clone, Copy, Default)]
pub(super) struct Seen {
    /// The allocation's slot.
    pub(super) slot: u32,
    /// What of it the kernel may touch, where that was declared.
    pub(super) window: Window,
}

impl Seen {
    /// Nowhere yet.
    pub(super) const NOWHERE: Seen = Seen { slot: u32::MAX, window: Window { start: 0, bytes: 0 } };
}

/// What a launch has done so far.
#[derive(Default)]
pub(super) struct Progress {
    /// Where each load or store was last.
    pub(super) seen: Vec<Seen>,
    /// Last allocation seen by each atomic.
    pub(super) atomic_slots: Vec<u32>,
    /// What lanes alone may touch around where they last were, where that was declared; by reads and by writes.
    pub(super) lane_windows: [Window; 2],
    /// Last address and value that each load saw in host memory.
    host_seen: Vec<(u64, u64)>,
    /// The same for each atomic.
    host_seen_by_atomic: Vec<(u64, u64)>,
    /// Lane instructions.
    pub(super) executed: u64,
    /// Looks at host memory or the clock since the last effect.
    polls: u32,
    /// Stores, atomics, barriers: things that others can see.
    pub(super) effects: u64,
    effects_at_poll: u64,
    /// Whose polls are counted: block, warp, lanes.
    poller: ([u32; 3], u32, u32),
    pub(super) findings: Vec<Finding>,
    reported: HashSet<(u32, &'static str)>,
    /// Pairs of records that were reported as a race in shared memory, and in global memory.
    pub(super) races: HashSet<(u32, u32)>,
    pub(super) global_races: HashSet<(u32, u32)>,
    /// What the kernel has printed.
    pub(super) output: Vec<u8>,
    /// Who each access, each atomic and each copy is to those who watch memory.
    pub(super) touches: [Vec<Memo>; 3],
    /// The block that runs has executed `griddepcontrol.launch_dependents` in this turn.
    pub(super) triggered: bool,
    /// Kernels that this one may overlap with are not over: `griddepcontrol.wait` waits.
    pub(super) held: bool,
    /// Somebody stands at a `griddepcontrol.wait`.
    pub(super) at_wait: bool,
    /// Conditions that the kernel has set, in order.
    pub(super) conditionals: Vec<(u64, u32)>,
}

impl Progress {
    pub(super) fn new(code: &Code) -> Progress {
        Progress {
            seen: vec![Seen::default(); code.accesses.len()],
            atomic_slots: vec![0; code.atomics.len()],
            host_seen: vec![(0, 0); code.accesses.len()],
            host_seen_by_atomic: vec![(0, 0); code.atomics.len()],
            touches: [code.accesses.len(), code.atomics.len(), code.copies.len()].map(|n| vec![Memo::default(); n]),
            ..Progress::default()
        }
    }

    /// Is this the first report of `code` at this record?
    pub(super) fn first_time(&mut self, pc: u32, code: &'static str) -> bool {
        self.reported.insert((pc, code))
    }

    fn poll(&mut self) {
        if self.effects != self.effects_at_poll {
            self.effects_at_poll = self.effects;
            self.polls = 0;
        }
        self.polls += 1;
    }

    /// A load of host memory: the same place with the same contents is a poll.
    pub(super) fn saw_host(&mut self, access: u32, address: u64, value: u64) {
        let seen = &mut self.host_seen[access as usize];
        if *seen == (address, value) {
            self.poll();
        } else {
            *seen = (address, value);
            self.polls = 0;
        }
    }

    /// An atomic that left host memory as it was: likewise.
    pub(super) fn saw_host_by_atomic(&mut self, atomic: u32, address: u64, value: u64) {
        let seen = &mut self.host_seen_by_atomic[atomic as usize];
        if *seen == (address, value) {
            self.poll();
        } else {
            *seen = (address, value);
            self.polls = 0;
        }
    }

    fn polling(&self) -> bool {
        self.polls >= POLLS && self.effects == self.effects_at_poll
    }

    /// Another warp's turn: polls are counted anew. The same warp's next turn goes on counting, so that a loop that
    /// looks seldom is known for what it is.
    pub(super) fn turn_of(&mut self, block: [u32; 3], warp: u32, lanes: u32) {
        if self.poller != (block, warp, lanes) {
            self.poller = (block, warp, lanes);
            self.polls = 0;
        }
    }
}

/// What a launch lends to the block that runs.
pub(super) struct Parts<'a> {
    pub(super) code: &'a Code,
    pub(super) program: &'a Program,
    pub(super) launch: &'a Launch,
    pub(super) options: &'a ExecOptions,
    pub(super) constants: &'a [Vec<u64>],
    pub(super) isa: Isa,
    pub(super) memory: &'a mut Memory,
    pub(super) clock: &'a mut dyn Clock,
    pub(super) progress: &'a mut Progress,
    /// Address of the workspace of a cooperative launch.
    pub(super) workspace: u64,
    /// What the kernel may touch, where that was told and is asked for.
    pub(super) declared: Option<&'a Declared>,
    /// Which blocks have touched global memory, where that is asked for.
    pub(super) blocks: Option<&'a mut KernelWatch>,
}

/// All that a fragment can reach while it runs.
pub(super) struct Machine<'a> {
    pub(super) code: &'a Code,
    pub(super) program: &'a Program,
    pub(super) launch: &'a Launch,
    constants: &'a [Vec<u64>],
    pub(super) isa: Isa,
    pub(super) uninitialised: bool,
    pub(super) detectors: Detectors,
    /// Somebody wants to know of every access.
    pub(super) watched: bool,
    /// Somebody wants to know which task touches which memory.
    pub(super) watched_tasks: bool,
    /// Who has touched shared memory.
    pub(super) races: Option<&'a mut SharedWatch>,
    /// Which blocks have touched global memory.
    pub(super) blocks: Option<&'a mut KernelWatch>,
    pub(super) memory: &'a mut Memory,
    clock: &'a mut dyn Clock,
    pub(super) progress: &'a mut Progress,
    /// `%ctaid`.
    pub(super) block: [u32; 3],
    pub(super) shared: &'a mut Region,
    /// `%tid` of the lanes of every warp of the block, and of the one that runs.
    tids: &'a [Tid],
    pub(super) tid: &'a Tid,
    pub(super) warp: u32,
    /// Its lanes that have exited or never were. Their registers are nobody's: lane code writes to them too where that is
    /// simpler, which it is as soon as all lanes that are left run together. What it writes is the same on every processor,
    /// so that a kernel which reads a register before it writes one is so, too; loads leave them alone.
    pub(super) gone: u32,
    /// Address of the workspace of a cooperative launch.
    pub(super) workspace: u64,
    /// What the kernel may touch, where that was told and is asked for.
    pub(super) declared: Option<&'a Declared>,
}

impl<'a> Machine<'a> {
    /// For a block with the given `%ctaid`, `%tid`s of its warps, and shared memory.
    pub(super) fn new(
        parts: Parts<'a>,
        block: [u32; 3],
        tids: &'a [Tid],
        shared: &'a mut Region,
        races: Option<&'a mut SharedWatch>,
    ) -> Machine<'a> {
        Machine {
            code: parts.code,
            program: parts.program,
            launch: parts.launch,
            constants: parts.constants,
            isa: parts.isa,
            uninitialised: parts.options.detectors.uninitialised,
            detectors: parts.options.detectors,
            watched: races.is_some() || parts.blocks.is_some() || parts.memory.is_watched(),
            watched_tasks: parts.memory.is_watched(),
            races,
            blocks: parts.blocks,
            memory: parts.memory,
            clock: parts.clock,
            progress: parts.progress,
            block,
            shared,
            tids,
            tid: &tids[0],
            warp: 0,
            gone: 0,
            workspace: parts.workspace,
            declared: parts.declared,
        }
    }
}

impl Machine<'_> {
    /// The warp that runs from now on.
    pub(super) fn enter_warp(&mut self, warp: &Warp) {
        self.warp_runs(warp.index);
    }

    /// The same by its number.
    pub(super) fn warp_runs(&mut self, warp: u32) {
        self.tid = &self.tids[warp as usize];
        self.warp = warp;
    }

    /// Runs `fragment` of `warp` for about `limit` instructions; gives why it stopped and how many it ran.
    pub(super) fn run(&mut self, warp: &mut Warp, fragment: &mut Fragment, limit: u64) -> Stop<(End, u64)> {
        let mut count = 0;
        let end = self.run_counted(warp, fragment, limit, &mut count);
        end.map(|end| (end, count))
    }

    fn run_counted(&mut self, warp: &mut Warp, fragment: &mut Fragment, limit: u64, count: &mut u64) -> Stop<End> {
        let code = self.code;
        // Instructions since the mask last changed: lanes are counted when it does.
        let mut run = 0u64;
        macro_rules! settle {
            () => {
                self.progress.executed += run * u64::from(fragment.mask.count_ones());
                *count += run;
                run = 0;
            };
        }
        'frame: loop {
            let flow = &mut warp.flow;
            self.gone = !flow.live;
            let mut regs = warp.file.frame(fragment.base);
            let mut stop = flow.stop(fragment).unwrap_or(AT_RETURN - 1);
            let mut mask = fragment.mask;
            let mut pc = fragment.pc;
            // Leaves the loop with the fragment where it is.
            macro_rules! leave {
                ($end:expr) => {{
                    fragment.pc = pc;
                    settle!();
                    let _ = run;
                    return Ok($end);
                }};
            }
            macro_rules! try_at {
                ($result:expr) => {
                    if let Err(problem) = $result {
                        fragment.pc = pc;
                        settle!();
                        let _ = run;
                        return Err(problem);
                    }
                };
            }
            // A branch has gone back: is the turn over?
            macro_rules! went_back {
                () => {
                    if *count + run >= limit {
                        leave!(End::Turn);
                    }
                    if self.progress.polling() {
                        leave!(End::Polls);
                    }
                };
            }
            loop {
                if pc == stop {
                    leave!(End::Join);
                }
                let straight = u32::from(code.plans[pc as usize].straight);
                if straight > 0 {
                    let before = pc;
                    let done = self.straight(&mut pc, straight, &mut regs, &mut warp.local, fragment, mask);
                    run += u64::from(pc - before);
                    if let Err(problem) = done {
                        // The one that failed counts.
                        run += 1;
                        try_at!(Stop::<()>::Err(problem));
                    }
                    continue;
                }
                run += 1;
                match &code.ops[pc as usize] {
                    Op::Jump { target } => {
                        let back = *target <= pc;
                        pc = *target;
                        if back {
                            went_back!();
                        }
                    }
                    Op::Branch { p, negated, target, join } => {
                        let p = regs.p[*p as usize];
                        let taken = if *negated { !p } else { p } & mask;
                        if taken == 0 {
                            pc += 1;
                        } else if taken == mask {
                            let back = *target <= pc;
                            pc = *target;
                            if back {
                                went_back!();
                            }
                        } else {
                            settle!();
                            fragment.pc = pc + 1;
                            flow.split(fragment, taken, *target, *join);
                            let back = fragment.pc <= pc;
                            (pc, mask) = (fragment.pc, fragment.mask);
                            stop = flow.stop(fragment).unwrap_or(AT_RETURN - 1);
                            if back && pc != stop {
                                went_back!();
                            }
                        }
                    }
                    Op::Guard { p, negated } => {
                        let p = regs.p[*p as usize];
                        let active = if *negated { !p } else { p } & mask;
                        if active != 0 {
                            fragment.pc = pc + 1;
                            try_at!(self.simple(pc + 1, &mut regs, &mut warp.local, fragment, active));
                        }
                        pc += 2;
                    }
                    Op::Switch { index, table, join } => {
                        let index = regs.r32[*index as usize];
                        let targets = &code.tables[*table as usize];
                        let first = index[mask.trailing_zeros() as usize & 31];
                        let Some(&target) = targets.get(first as usize) else {
                            fragment.pc = pc;
                            let lane = mask.trailing_zeros() as usize;
                            let what = format!("branches by index {first}, and there are {} targets", targets.len());
                            let help = "compare the index with the number of targets first";
                            try_at!(Stop::<()>::Err(self.fault(
                                Fault::IllegalInstruction,
                                "branch-index",
                                pc,
                                lane,
                                &what,
                                help
                            )));
                            unreachable!("the line above leaves");
                        };
                        let together = super::lanes::lanes_where(|lane| index[lane] == first) & mask;
                        if together == mask {
                            let back = target <= pc;
                            pc = target;
                            if back {
                                went_back!();
                            }
                        } else {
                            // The others stay at this record and choose again.
                            settle!();
                            fragment.pc = pc;
                            flow.split(fragment, together, target, *join);
                            (pc, mask) = (fragment.pc, fragment.mask);
                            stop = flow.stop(fragment).unwrap_or(AT_RETURN - 1);
                        }
                    }
                    Op::Call(index) => {
                        fragment.pc = pc;
                        match code.calls[*index as usize].target {
                            Target::SetConditional => {
                                self.set_conditional(*index, &warp.local, fragment);
                                pc += 1;
                                continue;
                            }
                            Target::Printf => {
                                self.print(*index, &mut warp.local, fragment);
                                pc += 1;
                                continue;
                            }
                            Target::Malloc => {
                                self.allocate(*index, &mut warp.local, fragment);
                                pc += 1;
                                continue;
                            }
                            Target::Free => {
                                self.release(*index, &warp.local, fragment);
                                pc += 1;
                                continue;
                            }
                            _ => {}
                        }
                        settle!();
                        self.call(*index, warp, fragment)?;
                        if *count + run >= limit {
                            return Ok(End::Turn);
                        }
                        continue 'frame;
                    }
                    Op::Return => {
                        fragment.pc = pc;
                        if stop == AT_RETURN {
                            leave!(End::Join);
                        }
                        if fragment.frames.is_empty() {
                            leave!(End::Exit);
                        }
                        settle!();
                        self.give_back(warp, fragment);
                        continue 'frame;
                    }
                    Op::Exit => leave!(End::Exit),
                    Op::Barrier(index) => leave!(End::Barrier(*index)),
                    Op::Warp(index) => {
                        let members = regs.r32[code.warp_ops[*index as usize].members as usize];
                        let first = members[mask.trailing_zeros() as usize & 31];
                        // All members that still run are here: no need to leave.
                        let uniform = super::lanes::lanes_where(|lane| members[lane] == first) & mask == mask;
                        if uniform && first & flow.live & !mask == 0 && mask & !first == 0 {
                            fragment.pc = pc;
                            self.warp_op(*index, &mut regs, fragment.pc, mask, flow.live);
                            pc += 1;
                        } else {
                            leave!(End::Warp(*index));
                        }
                    }
                    Op::ActiveMask { d } => {
                        regs.put32(*d, &[mask; 32], mask);
                        pc += 1;
                    }
                    Op::Trap => {
                        let lane = mask.trailing_zeros() as usize;
                        let help = "look at what leads to the `trap` in the source: often an unreachable branch";
                        try_at!(Stop::<()>::Err(self.fault(Fault::Trap, "trap", pc, lane, "executes `trap`", help)));
                    }
                    Op::LaunchDependents => {
                        pc += 1;
                        self.progress.triggered = true;
                        // Others may begin from here on, and so may other blocks: nobody is promised to have come further.
                        leave!(End::Turn);
                    }
                    Op::GridWait if self.progress.held => {
                        self.progress.at_wait = true;
                        leave!(End::Polls);
                    }
                    Op::GridWait => pc += 1,
                    Op::Unsupported(index) => {
                        try_at!(Stop::<()>::Err(Box::new(Problem::Unsupported(
                            code.unsupported[*index as usize].clone()
                        ))));
                    }
                    // What `Op::is_simple` does not know goes straight on all the same.
                    _ => {
                        fragment.pc = pc;
                        try_at!(self.simple(pc, &mut regs, &mut warp.local, fragment, mask));
                        pc += 1;
                    }
                }
            }
        }
    }

    /// Runs `count` records that go straight on; `pc` is the first, and then the one that failed or the one behind them.
    #[allow(
        clippy::too_many_arguments,
        reason = "the parts of a fragment that runs; a struct would be taken apart again"
    )]
    #[inline(always)]
    fn straight(
        &mut self,
        pc: &mut u32,
        count: u32,
        regs: &mut Regs<'_>,
        local: &mut Local,
        fragment: &mut Fragment,
        mask: u32,
    ) -> Stop<()> {
        let (code, isa, first, reach) = (self.code, self.isa, *pc as usize, self.reach(mask));
        let records = first..first + count as usize;
        for (op, plan) in code.ops[records.clone()].iter().zip(&code.plans[records]) {
            if plan.step < LANES_END {
                let zeros = isa.step(plan.step, regs, op, reach);
                if zeros & mask != 0 {
                    self.divided_by_zero(*pc, zeros & mask);
                }
            } else {
                fragment.pc = *pc;
                match op {
                    Op::Load(index) => self.load(*index, regs, local, fragment, mask)?,
                    Op::Store(index) => self.store(*index, regs, local, fragment, mask)?,
                    op => self.other(op, regs, local, fragment, mask)?,
                }
            }
            *pc += 1;
        }
        Ok(())
    }

    /// The lanes that lane code may write to where those of `mask` run: as many more as make it simple.
    #[inline(always)]
    fn reach(&self, mask: u32) -> u32 {
        let reach = mask | self.gone;
        if reach == u32::MAX && mask & !LOW == 0 { LOW } else { reach }
    }

    /// A record that does nothing but compute, load or store.
    fn simple(&mut self, pc: u32, regs: &mut Regs<'_>, local: &mut Local, fragment: &Fragment, mask: u32) -> Stop<()> {
        let (op, plan) = (&self.code.ops[pc as usize], self.code.plans[pc as usize]);
        if plan.step == LANES_END {
            return self.other(op, regs, local, fragment, mask);
        }
        let zeros = self.isa.step(plan.step, regs, op, self.reach(mask)) & mask;
        if zeros != 0 {
            self.divided_by_zero(pc, zeros);
        }
        Ok(())
    }

    #[cold]
    fn divided_by_zero(&mut self, pc: u32, lanes: u32) {
        let help = "compare the divisor with zero first; a GPU gives all ones and says nothing";
        self.note("division-by-zero", pc, lanes.trailing_zeros() as usize, "divides an integer by zero", help);
    }

    /// A simple record that is no lane code.
    #[inline(never)]
    fn other(&mut self, op: &Op, regs: &mut Regs<'_>, local: &mut Local, fragment: &Fragment, mask: u32) -> Stop<()> {
        match op {
            Op::Load(index) => return self.load(*index, regs, local, fragment, mask),
            Op::Aligned(index) => return self.aligned(*index, regs, fragment, mask),
            Op::Peek(index) => self.peek(*index, regs, local, fragment, mask),
            Op::Store(index) => return self.store(*index, regs, local, fragment, mask),
            Op::Atomic(index) => return self.atomic(*index, regs, fragment, mask),
            Op::CopyAsync(index) => return self.copy_async(*index, regs, fragment, mask),
            Op::Texel(index) => return self.texel(*index, regs, fragment, mask),
            Op::Rare(index) => rare::run(regs, &self.code.rare[*index as usize], mask),
            Op::Special { d, which } => self.special(regs, *d, *which, mask),
            Op::FrameAddress { d, offset, wide } => {
                let address = fragment.base.local.wrapping_add(*offset);
                if *wide {
                    regs.put64(*d, &[address.into(); 32], mask);
                } else {
                    regs.put32(*d, &[address; 32], mask);
                }
            }
            Op::Nothing => {
                if self.watched {
                    self.watch_fence(fragment.pc);
                }
            }
            other => unreachable!("{other:?} is run by the loop"),
        }
        Ok(())
    }

    fn special(&mut self, regs: &mut Regs<'_>, d: u16, which: Special, mask: u32) {
        let launch = self.launch;
        let axis = |axis: u8| usize::from(axis.min(2));
        let warps = || launch.block.iter().map(|&n| u64::from(n)).product::<u64>().div_ceil(32) as u32;
        let uniform = match which {
            Special::Tid(a) if a < 3 => return regs.put32(d, &self.tid[axis(a)], mask),
            Special::Tid(_) => 0,
            Special::LaneId => return regs.put32(d, &std::array::from_fn(|lane| lane as u32), mask),
            Special::LaneMaskEq => return regs.put32(d, &std::array::from_fn(|lane| 1 << lane), mask),
            Special::LaneMaskLt => return regs.put32(d, &std::array::from_fn(|lane| (1 << lane) - 1), mask),
            Special::LaneMaskLe => return regs.put32(d, &std::array::from_fn(|lane| u32::MAX >> (31 - lane)), mask),
            Special::LaneMaskGe => return regs.put32(d, &std::array::from_fn(|lane| u32::MAX << lane), mask),
            Special::LaneMaskGt => return regs.put32(d, &std::array::from_fn(|lane| (u32::MAX << lane) << 1), mask),
            Special::Clock64 => {
                self.progress.poll();
                return regs.put64(d, &[self.clock.cycles(); 32], mask);
            }
            Special::GlobalTimer => {
                self.progress.poll();
                return regs.put64(d, &[self.clock.now_ns(); 32], mask);
            }
            Special::GridId => return regs.put64(d, &[launch.grid_id; 32], mask),
            Special::Clock | Special::ClockHi => {
                self.progress.poll();
                let cycles = self.clock.cycles();
                if which == Special::Clock { cycles as u32 } else { (cycles >> 32) as u32 }
            }
            Special::GlobalTimerLo | Special::GlobalTimerHi => {
                self.progress.poll();
                let now = self.clock.now_ns();
                if which == Special::GlobalTimerLo { now as u32 } else { (now >> 32) as u32 }
            }
            Special::Ntid(a) if a < 3 => launch.block[axis(a)],
            Special::Ctaid(a) if a < 3 => self.block[axis(a)],
            Special::Nctaid(a) if a < 3 => launch.grid[axis(a)],
            Special::Ntid(_) | Special::Ctaid(_) | Special::Nctaid(_) => 0,
            Special::WarpId => self.warp,
            Special::NwarpId => warps(),
            // One multiprocessor runs everything.
            Special::SmId => 0,
            Special::NsmId => 1,
            Special::DynamicSmemSize => launch.dynamic_shared,
            Special::TotalSmemSize | Special::AggrSmemSize => self.shared.len() as u32,
            // The two halves of the address of a cooperative launch's workspace.
            Special::EnvReg(1) => (self.workspace >> 32) as u32,
            Special::EnvReg(2) => self.workspace as u32,
            Special::EnvReg(_) => 0,
            // Without clusters every block is one of its own.
            Special::ClusterId(a) => self.block[axis(a)],
            Special::NclusterId(a) => launch.grid[axis(a)],
            Special::ClusterCtaid(_) | Special::ClusterCtaRank | Special::IsExplicitCluster => 0,
            Special::ClusterNctaid(_) | Special::ClusterNctaRank => 1,
            Special::WarpSize => 32,
        };
        regs.put32(d, &[uniform; 32], mask);
    }

    fn set_conditional(&mut self, call: u32, local: &Local, fragment: &Fragment) {
        let call = &self.code.calls[call as usize];
        if let [(handle, 8), (value, 4)] = call.args[..] {
            for lane in super::access::lanes(fragment.mask) {
                let (handle, _) = local.load(lane, fragment.base.local + handle, 8);
                let (value, _) = local.load(lane, fragment.base.local + value, 4);
                self.progress.conditionals.push((handle, value as u32));
            }
        }
        self.progress.effects += 1;
    }

    /// `vprintf(format, arguments)` for each lane in order; gives the number of arguments.
    fn print(&mut self, call: u32, local: &mut Local, fragment: &Fragment) {
        let call = &self.code.calls[call as usize];
        let base = fragment.base.local;
        let &[(format, 8), (arguments, 8)] = &call.args[..] else { return };
        for lane in super::access::lanes(fragment.mask) {
            let format = self.text(local.load(lane, base + format, 8).0).into_bytes();
            let start = local.load(lane, base + arguments, 8).0;
            let top = self.local_top(fragment.function, fragment.base);
            let mut buffer = PrintBuffer { machine: self, local, lane, start, top };
            let (text, count) = printf::format(&format, &mut buffer);
            self.progress.output.extend_from_slice(&text);
            if let &[(result, 4)] = &call.returns[..] {
                local.store(lane, base + result, 4, count.into());
            }
        }
        self.progress.effects += 1;
    }

    /// Enters a function; lanes that call something else are split off.
    fn call(&mut self, index: u32, warp: &mut Warp, fragment: &mut Fragment) -> Stop<()> {
        let call = &self.code.calls[index as usize];
        let lane = fragment.mask.trailing_zeros() as usize;
        let target = match call.target {
            Target::Function(target) => target,
            Target::AssertFail => return Err(self.assert_failed(index, warp, fragment)),
            Target::SetConditional | Target::Printf | Target::Malloc | Target::Free => return Ok(()),
            Target::Indirect(column) => {
                let addresses = warp.file.frame(fragment.base).r64[column as usize];
                let address = addresses[lane];
                let together = super::lanes::lanes_where(|lane| addresses[lane] == address) & fragment.mask;
                if together != fragment.mask {
                    // The others stay at the call and choose again.
                    let rest = fragment.mask & !together;
                    warp.flow.split(fragment, rest, fragment.pc, call.join);
                    if fragment.mask != together {
                        return Ok(());
                    }
                }
                let known = (0..self.code.functions.len())
                    .find(|&f| super::function_address(self.code.functions[f].source) == address && f != 0);
                let fits = known.filter(|&f| {
                    let f = &self.code.functions[f];
                    f.params.len() == call.args.len() && f.returns.len() == call.returns.len()
                });
                match fits {
                    Some(target) => target as u32,
                    None => {
                        let what = format!("calls {address:#x}, which is not a function of this kind");
                        let help = "pass a pointer to a `__device__` function of the same module and type";
                        // Instructions are 16 bytes each; what an H200 answered to either.
                        let fault = if address.is_multiple_of(16) { Fault::IllegalAddress } else { Fault::InvalidPc };
                        return Err(self.fault(fault, "bad-call", fragment.pc, lane, &what, help));
                    }
                }
            }
        };
        let caller = &self.code.functions[fragment.function as usize];
        let callee = &self.code.functions[target as usize];
        let old = fragment.base;
        let base = Base {
            r32: old.r32 + caller.columns32,
            r64: old.r64 + caller.columns64,
            p: old.p + caller.predicates,
            local: old.local + caller.frame_bytes,
        };
        if fragment.frames.len() >= DEPTH_MAX || base.local + callee.frame_bytes > LOCAL_MAX {
            let what = format!("calls functions {} deep", fragment.frames.len() + 1);
            let help = "end the recursion earlier, or write it as a loop";
            // Frames that do not fit local memory were seen to end so.
            let fault = if fragment.frames.len() < DEPTH_MAX { Fault::IllegalAddress } else { Fault::HardwareStack };
            return Err(self.fault(fault, "stack-overflow", fragment.pc, lane, &what, help));
        }
        warp.file.enter(self.code, target, base, self.constants);
        warp.local.reserve(base.local + callee.frame_bytes);
        warp.local.forget(base.local, callee.frame_bytes, fragment.mask);
        for (&(from, bytes), &(to, room)) in call.args.iter().zip(&callee.params) {
            warp.local.copy(old.local + from, base.local + to, bytes.min(room), fragment.mask);
        }
        fragment.frames.push(Frame { function: fragment.function, base: old, call: index, pc: fragment.pc + 1 });
        fragment.function = target;
        fragment.base = base;
        fragment.pc = callee.entry;
        Ok(())
    }

    /// Returns to the caller.
    fn give_back(&mut self, warp: &mut Warp, fragment: &mut Fragment) {
        let Some(frame) = fragment.frames.pop() else { return };
        let callee = &self.code.functions[fragment.function as usize];
        let call = &self.code.calls[frame.call as usize];
        for (&(from, bytes), &(to, room)) in callee.returns.iter().zip(&call.returns) {
            warp.local.copy(fragment.base.local + from, frame.base.local + to, bytes.min(room), fragment.mask);
        }
        fragment.function = frame.function;
        fragment.base = frame.base;
        fragment.pc = frame.pc;
        while warp.flow.joins_below(fragment, fragment.frames.len()) {
            warp.flow.abandon_nearest(fragment);
        }
    }

    fn assert_failed(&mut self, index: u32, warp: &Warp, fragment: &Fragment) -> Box<Problem> {
        let lane = fragment.mask.trailing_zeros() as usize;
        let call = &self.code.calls[index as usize];
        // (message, file, line, function, size of a character)
        let arg = |n: usize| {
            let &(at, bytes) = call.args.get(n)?;
            matches!(bytes, 4 | 8).then(|| warp.local.load(lane, fragment.base.local + at, bytes).0)
        };
        let text = |n: usize| arg(n).map(|address| self.text(address)).unwrap_or_default();
        let line = arg(2).unwrap_or(0);
        let what = format!("fails an assertion: `{}` ({}:{line}, in `{}`)", text(0), text(1), text(3));
        let help = "the condition in the source does not hold for this thread";
        self.fault(Fault::Assert, "assert", fragment.pc, lane, &what, help)
    }

    /// A string of the kernel's, up to its zero byte.
    fn text(&self, address: u64) -> String {
        let mut bytes = Vec::new();
        let mut byte = [0];
        while (bytes.len() as u64) < TEXT_MAX
            && self.memory.read(address.wrapping_add(bytes.len() as u64), &mut byte).is_ok()
            && byte[0] != 0
        {
            bytes.push(byte[0]);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// How much of a string is printed.
const TEXT_MAX: u64 = 4096;

/// The arguments that one lane hands to `printf`; they lie in its local memory nearly always.
struct PrintBuffer<'m, 'a> {
    machine: &'m Machine<'a>,
    local: &'m Local,
    lane: usize,
    start: u64,
    /// End of the lane's local memory.
    top: u64,
}

impl printf::Arguments for PrintBuffer<'_, '_> {
    fn value(&mut self, offset: u64, bytes: u32) -> u64 {
        let address = self.start.wrapping_add(offset);
        let inside = address.wrapping_sub(window::LOCAL);
        if inside < window::SPAN {
            let aligned = inside.is_multiple_of(bytes.into());
            let fits = aligned && inside.checked_add(bytes.into()).is_some_and(|end| end <= self.top);
            return if fits { self.local.load(self.lane, inside as u32, bytes).0 } else { 0 };
        }
        let mut raw = [0; 8];
        // An unreadable argument prints as zero: the kernel's own access to it would have been reported.
        let _ = self.machine.memory.read(address, &mut raw[..bytes as usize]);
        u64::from_le_bytes(raw)
    }

    fn text(&mut self, address: u64) -> Vec<u8> {
        let (local, shared) = (address.wrapping_sub(window::LOCAL), address.wrapping_sub(window::SHARED));
        let up_to_zero = |byte: &u8| *byte != 0;
        if local < window::SPAN {
            let bytes = (local..self.top.min(local.saturating_add(TEXT_MAX)))
                .map(|at| self.local.load(self.lane, at as u32, 1).0 as u8);
            return bytes.take_while(up_to_zero).collect();
        }
        if shared < window::SPAN {
            let end = (self.machine.shared.len() as u64).min(shared.saturating_add(TEXT_MAX));
            let bytes = (shared..end).map(|at| self.machine.shared.load(at as usize, 1) as u8);
            return bytes.take_while(up_to_zero).collect();
        }
        self.machine.text(address).into_bytes()
    }
}
