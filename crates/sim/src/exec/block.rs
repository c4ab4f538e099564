//! A block: its warps, its shared memory, its 16 barriers.
//!
//! Warps run in turn, each until it is blocked or its turn is over. A barrier lets everybody go when as many threads have
//! come as it expects; threads that have exited are not expected.

use super::lanes::lanes_where;
use super::launch::Fault;
use super::machine::{End, Machine, Parts, Stop};
use super::op::{BarrierKind, Code, NONE, Op, WarpKind};
use super::report;
use super::warp::{Fragment, State, Tid, Warp};
use crate::detect::shared::SharedWatch;
use crate::memory::region::Region;

/// Barriers that a block has.
const BARRIERS: usize = 16;

/// One of the barriers of a block.
#[derive(Clone, Copy)]
struct Barrier {
    /// Threads that have come, by `sync`, `red` or `arrive`.
    arrived: u32,
    /// Threads it waits for; `None`: all that have not exited.
    expected: Option<u32>,
    /// Conjunction, disjunction and count of the reduced predicates.
    all: bool,
    any: bool,
    count: u32,
}

const EMPTY: Barrier = Barrier { arrived: 0, expected: None, all: true, any: false, count: 0 };

/// How a warp's turn ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// More to do.
    Over,
    /// Only looks at host memory or the clock.
    Polls,
    /// Waits for others.
    Blocked,
    Exited,
}

/// How a block's turn ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockTurn {
    Done,
    Over,
    /// All that can run only looks at host memory or the clock.
    Polls,
}

/// A block in progress.
pub(super) struct Block {
    /// `%ctaid`.
    index: [u32; 3],
    warps: Vec<Warp>,
    /// `%tid` of each warp's lanes, for whoever runs one.
    tids: Vec<Tid>,
    shared: Region,
    barriers: [Barrier; BARRIERS],
    /// Who has touched shared memory, where that is asked for.
    races: Option<Box<SharedWatch>>,
    /// The warp whose turn is next.
    next: usize,
    /// Has executed `griddepcontrol.launch_dependents`.
    pub(super) triggered: bool,
}

impl Block {
    /// A block of the given shape; `None` where the host has no memory for its shared memory. Races in it are looked for
    /// in grains of `watch` bytes.
    pub(super) fn new(shape: [u32; 3], shared: usize, watch: Option<u8>) -> Option<Block> {
        let threads = shape.iter().fold(1u64, |all, &n| all.saturating_mul(u64::from(n)));
        let warps: Vec<Warp> = (0..threads.div_ceil(32) as u32).map(|index| Warp::new(index, shape)).collect();
        let races = watch.map(|grain| Box::new(SharedWatch::new(warps.len(), shared, grain)));
        Some(Block {
            index: [0; 3],
            tids: warps.iter().map(|warp| warp.tid).collect(),
            warps,
            shared: Region::new(shared)?,
            barriers: [EMPTY; BARRIERS],
            races,
            next: 0,
            triggered: false,
        })
    }

    /// `%ctaid`.
    pub(super) fn index(&self) -> [u32; 3] {
        self.index
    }

    /// A record that the block is at, and who runs it: something to say about a block that does not end.
    pub(super) fn position(&self) -> Option<(u32, String)> {
        let mut all = self.warps.iter().flat_map(|w| w.flow.fragments.iter().map(move |f| (w, f)));
        let ready = all.clone().find(|(_, f)| f.state == State::Ready);
        let (warp, fragment) = ready.or_else(|| all.next())?;
        let lane = fragment.mask.trailing_zeros() as usize & 31;
        Some((fragment.pc, report::who(self.index, &warp.tid, lane)))
    }

    /// All threads at the kernel's first instruction. `fresh`: the block has not run in this launch before.
    pub(super) fn start(&mut self, index: [u32; 3], code: &Code, constants: &[Vec<u64>], fresh: bool, seed: u64) {
        self.index = index;
        self.shared.bits.clear();
        self.shared.data.fill(0);
        self.barriers = [EMPTY; BARRIERS];
        if let Some(races) = &mut self.races {
            races.start();
        }
        self.next = 0;
        self.triggered = false;
        for warp in &mut self.warps {
            let mixed = (seed ^ u64::from(warp.index + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            warp.start(code, constants, fresh, if seed == 0 { 0 } else { mixed });
        }
    }

    /// Runs the block for about `limit` warp instructions; gives how it stands and how many it ran.
    pub(super) fn run<'a>(&'a mut self, parts: Parts<'a>, limit: u64) -> Stop<(BlockTurn, u64)> {
        let Block { index, warps, tids, shared, barriers, races, next, .. } = self;
        let quantum = u64::from(parts.options.quantum.max(1));
        let mut machine = Machine::new(parts, *index, tids, shared, races.as_deref_mut());
        let (mut ran, mut idle, mut polled) = (0, 0, false);
        loop {
            let (turn, count) = warp_turn(&mut machine, warps, *next, barriers, quantum)?;
            ran += count;
            *next = if *next + 1 < warps.len() { *next + 1 } else { 0 };
            match turn {
                Turn::Exited if warps.iter().all(|w| w.flow.fragments.is_empty()) => return Ok((BlockTurn::Done, ran)),
                Turn::Polls => {
                    polled = true;
                    idle += 1;
                }
                _ if count > 0 => (idle, polled) = (0, false),
                _ => idle += 1,
            }
            if idle >= warps.len() {
                if polled {
                    return Ok((BlockTurn::Polls, ran));
                }
                return Err(machine.deadlock(warps));
            }
            if ran >= limit || machine.progress.triggered {
                return Ok((BlockTurn::Over, ran));
            }
        }
    }
}

/// One warp's turn.
fn warp_turn(
    machine: &mut Machine<'_>,
    warps: &mut [Warp],
    w: usize,
    barriers: &mut [Barrier; BARRIERS],
    quantum: u64,
) -> Stop<(Turn, u64)> {
    machine.enter_warp(&warps[w]);
    let (mut ran, mut polls) = (0, 0);
    loop {
        let warp = &mut warps[w];
        let flow = &mut warp.flow;
        let Some(ready) = flow.fragments.iter().rposition(|f| f.state == State::Ready) else {
            // Whoever is missing at a join is blocked: those who wait there must not wait for it.
            if flow.release_one() {
                continue;
            }
            let turn = if flow.fragments.is_empty() { Turn::Exited } else { Turn::Blocked };
            return Ok((turn, ran));
        };
        if ran >= quantum {
            return Ok((Turn::Over, ran));
        }
        let mut fragment = flow.take(ready);
        let left = quantum - ran;
        let share = if flow.fragments.is_empty() { left } else { left.min((quantum / 4).max(1)) };
        machine.progress.turn_of(machine.block, w as u32, fragment.mask);
        let (end, count) = machine.run(warp, &mut fragment, share)?;
        ran += count;
        let flow = &mut warp.flow;
        match end {
            End::Join => flow.arrive(fragment),
            End::Turn | End::Polls => {
                polls = if end == End::Polls { polls + 1 } else { 0 };
                let triggered = machine.progress.triggered;
                // To the back of the queue. Lanes at a join may hold what this one spins for.
                flow.fragments.insert(0, fragment);
                let others = flow.fragments.iter().filter(|f| f.state == State::Ready).count();
                let released = others == 1 && flow.release_one();
                if triggered {
                    return Ok((Turn::Over, ran));
                }
                if polls >= others && !released && end == End::Polls {
                    return Ok((Turn::Polls, ran));
                }
            }
            End::Exit => {
                flow.exit(fragment);
                machine.progress.effects += 1;
                machine.release_warp_ops(warp);
                for id in 0..BARRIERS {
                    if barriers[id].arrived > 0 {
                        machine.complete_barrier(warps, barriers, id);
                    }
                }
            }
            End::Barrier(index) => {
                let id = machine.come_to_barrier(warp, fragment, index, barriers)?;
                machine.complete_barrier(warps, barriers, id);
            }
            End::Warp(index) => {
                machine.come_to_warp_op(warp, fragment, index);
                machine.release_warp_ops(warp);
            }
        }
    }
}

impl Machine<'_> {
    /// `fragment` comes to a barrier; gives the barrier's number.
    fn come_to_barrier(
        &mut self,
        warp: &mut Warp,
        mut fragment: Box<Fragment>,
        index: u32,
        barriers: &mut [Barrier; BARRIERS],
    ) -> Stop<usize> {
        let op = self.code.barriers[index as usize];
        let regs = warp.file.frame(fragment.base);
        let mask = fragment.mask;
        let lane = mask.trailing_zeros() as usize & 31;
        // Beyond a frame's own columns lie those of calls: an operand that is absent must not be looked up.
        let ids = &regs.r32[op.id as usize];
        let counts = (op.count != NONE).then(|| &regs.r32[op.count as usize]);
        let (id, count) = (ids[lane], counts.map(|counts| counts[lane]));
        // Lanes that name another barrier, or another count, come to that one next.
        // One number for all is the rule.
        let all_are = |column: &[u32; 32], value: u32| column.iter().fold(0, |odd, x| odd | (x ^ value)) == 0;
        let mut others = 0;
        if !all_are(ids, id) {
            others |= lanes_where(|lane| ids[lane] != id);
        }
        if let (Some(counts), Some(count)) = (counts, count)
            && !all_are(counts, count)
        {
            others |= lanes_where(|lane| counts[lane] != count);
        }
        let others = others & mask;
        let mask = mask & !others;
        let held = (op.p != NONE).then(|| regs.p[op.p as usize] & mask);
        if others != 0 {
            let mut rest = fragment.clone();
            (rest.mask, rest.state) = (others, State::Ready);
            warp.flow.fragments.push(rest);
            fragment.mask = mask;
        }
        if id as usize >= BARRIERS {
            let what = format!("uses barrier {id}, and a block has {BARRIERS}");
            let help = "number barriers from 0 to 15";
            return Err(self.fault(Fault::IllegalInstruction, "barrier-number", fragment.pc, lane, &what, help));
        }
        self.check_count(&barriers[id as usize], id, count, fragment.pc, lane);
        if let Some(races) = &mut self.races {
            races.arrive(id as usize, self.warp);
        }
        let barrier = &mut barriers[id as usize];
        if let Some(held) = held {
            barrier.all &= held == mask;
            barrier.any |= held != 0;
            barrier.count += held.count_ones();
        }
        // Counts are multiples of the warp size (PTX ISA, `bar`): with its last live lane a warp counts as whole.
        let at_it = warp.flow.fragments.iter().filter(|f| f.state == State::Barrier(id));
        let come = at_it.fold(mask, |all, f| all | f.mask);
        barrier.arrived += mask.count_ones();
        if count.is_some() && come == warp.flow.live {
            barrier.arrived += 32 - warp.flow.live.count_ones();
        }
        barrier.expected = count.or(barrier.expected);
        self.progress.effects += 1;
        if op.kind == BarrierKind::Arrive {
            fragment.pc += 1;
            fragment.state = State::Ready;
        } else {
            fragment.state = State::Barrier(id);
        }
        warp.flow.fragments.push(fragment);
        Ok(id as usize)
    }

    /// Do those who come to a barrier agree on how many it waits for?
    fn check_count(&mut self, barrier: &Barrier, id: u32, count: Option<u32>, pc: u32, lane: usize) {
        let threads = |count: Option<u32>| count.map_or("all threads".to_string(), |n| format!("{n} threads"));
        if let Some(n) = count.filter(|n| *n == 0 || n % 32 != 0) {
            let what = format!("comes to barrier {id} for {n} threads, and counts are multiples of 32");
            let help = "give the number of whole warps that come to the barrier, times 32";
            self.note("barrier-count", pc, lane, &what, help);
        } else if barrier.arrived > 0 && barrier.expected != count {
            let what = format!(
                "comes to barrier {id} for {}, where others wait for {}",
                threads(count),
                threads(barrier.expected)
            );
            let help = "give the same number of threads wherever the barrier is used";
            self.note("barrier-count", pc, lane, &what, help);
        }
    }

    /// Lets the threads at barrier `id` go, if all that it expects have come.
    fn complete_barrier(&mut self, warps: &mut [Warp], barriers: &mut [Barrier; BARRIERS], id: usize) {
        let barrier = barriers[id];
        if let Some(expected) = barrier.expected
            && barrier.arrived < expected
        {
            return;
        }
        // Most come when others are still missing: that is seen at the first ones that are.
        let mut left = i64::from(barrier.arrived);
        let comes_short = |warp: &Warp| {
            left -= i64::from(warp.flow.live.count_ones());
            left < 0
        };
        if barrier.expected.is_none() && warps.iter().any(comes_short) {
            return;
        }
        barriers[id] = EMPTY;
        let runs = self.warp;
        for warp in warps.iter_mut() {
            if barrier.expected.is_some()
                && let Some(races) = &mut self.races
            {
                let at_it = warp.flow.fragments.iter().filter(|f| f.state == State::Barrier(id as u32));
                let leaves = at_it.fold(0, |all, f| all | f.mask);
                if leaves != 0 {
                    races.leave(id, warp.index, leaves, warp.flow.live);
                }
            }
            let mut first: Option<u32> = None;
            let mut divided = None;
            for fragment in warp.flow.fragments.iter_mut().filter(|f| f.state == State::Barrier(id as u32)) {
                let Op::Barrier(index) = self.code.ops[fragment.pc as usize] else { continue };
                let op = self.code.barriers[index as usize];
                if !matches!(op.kind, BarrierKind::Sync | BarrierKind::Arrive) {
                    let mut regs = warp.file.frame(fragment.base);
                    match op.kind {
                        BarrierKind::RedAnd => regs.put_p(op.d, if barrier.all { !0 } else { 0 }, fragment.mask),
                        BarrierKind::RedOr => regs.put_p(op.d, if barrier.any { !0 } else { 0 }, fragment.mask),
                        _ => regs.put32(op.d, &[barrier.count; 32], fragment.mask),
                    }
                }
                if op.aligned && *first.get_or_insert(fragment.pc) != fragment.pc {
                    divided = Some((fragment.pc, fragment.mask.trailing_zeros() as usize));
                }
                fragment.state = State::Ready;
                fragment.pc += 1;
            }
            if let Some((pc, lane)) = divided {
                self.enter_warp(warp);
                let what = "has threads of one warp at different barrier instructions at the same time";
                let help =
                    "move `__syncthreads()` out of the branch, so that all threads of a block execute the same one";
                self.note("barrier-divergence", pc, lane, what, help);
            }
            warp.flow.merge_ready();
        }
        self.warp_runs(runs);
        self.watch_meeting();
        if let Some(races) = &mut self.races {
            // Without a count, those who have exited are not waited for, and count as having come.
            if barrier.expected.is_none() {
                races.meet_all();
            }
            races.empty(id);
        }
    }

    /// `fragment` comes to an operation of the warp, and not all members are there.
    fn come_to_warp_op(&mut self, warp: &mut Warp, mut fragment: Box<Fragment>, index: u32) {
        let op = self.code.warp_ops[index as usize];
        let members = warp.file.frame(fragment.base).r32[op.members as usize];
        let lane = fragment.mask.trailing_zeros() as usize & 31;
        let mine = members[lane];
        let same = lanes_where(|l| members[l] == mine) & fragment.mask;
        if same != fragment.mask {
            let mut rest = fragment.clone();
            rest.mask &= !same;
            warp.flow.fragments.push(rest);
            fragment.mask = same;
        }
        if same & !mine != 0 {
            let lane = (same & !mine).trailing_zeros() as usize;
            let what =
                format!("runs a warp operation in lane {lane} with mask {mine:#010x}, which leaves that lane out");
            let help = "pass a mask that holds every lane that executes the operation";
            self.note("warp-mask-without-self", fragment.pc, lane, &what, help);
        }
        fragment.state = State::Warp(mine | same);
        warp.flow.fragments.push(fragment);
    }

    /// Runs the operations of the warp whose members are all there.
    fn release_warp_ops(&mut self, warp: &mut Warp) {
        let mut i = 0;
        while i < warp.flow.fragments.len() {
            let (pc, base, state) = {
                let f = &warp.flow.fragments[i];
                (f.pc, f.base, f.state)
            };
            i += 1;
            let State::Warp(members) = state else { continue };
            // `bar.warp.sync` joins lanes by their mask alone, wherever in the program they have come to it (PTX ISA,
            // `bar.warp.sync`); what exchanges values is one instruction for all of them.
            let code = self.code;
            let is_sync = |pc: u32| matches!(code.ops[pc as usize], Op::Warp(index) if code.warp_ops[index as usize].kind == WarpKind::Sync);
            let joins = is_sync(pc);
            let here = |f: &&mut Box<Fragment>| {
                f.state == state && if joins { is_sync(f.pc) } else { f.pc == pc && f.base == base }
            };
            let mask = warp.flow.fragments.iter_mut().filter(here).fold(0, |mask, f| mask | f.mask);
            if members & warp.flow.live & !mask != 0 {
                continue;
            }
            let Op::Warp(index) = self.code.ops[pc as usize] else { continue };
            let live = warp.flow.live;
            self.warp_op(index, &mut warp.file.frame(base), pc, mask, live);
            self.progress.effects += 1;
            for fragment in warp.flow.fragments.iter_mut().filter(here) {
                fragment.state = State::Ready;
                fragment.pc += 1;
            }
            warp.flow.merge_ready();
            i = 0;
        }
    }
}
