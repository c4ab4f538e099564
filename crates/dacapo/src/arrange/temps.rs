//! Where the temps of a recording lie in one piece of memory.
//!
//! - A [`TempPlan`] is made of a recording and an order of its ops: [`layout`] places what some op touches; a temp without
//!   bytes, or that nothing touches, stays nowhere.
//! - It knows no address. Whoever has memory lends it to the temps, for as long as the ops that name them may be told.
//! - Asked whether it fits a number of bytes, it names the first op that would touch a temp that does not.

use std::sync::Arc;

use dacapo_driver::types::CUdeviceptr;

use crate::arrange::order;
use crate::arrange::{Arrangement, Level};
use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::{Allocation, Arena, Kind};
use crate::plan::layout::{TempUse, layout};
use crate::pool::{Pool, Space};
use crate::record::{Node, Recorded, Work};

/// Where the temps of a recording lie, counted from the beginning of whatever memory they get.
#[derive(Default)]
pub(crate) struct TempPlan {
    temps: Vec<Laid>,
    bytes: usize,
}

struct Laid {
    allocation: Arc<Allocation>,
    offset: u64,
    /// The op that touches it first.
    first: u32,
}

impl Laid {
    fn end(&self) -> u64 {
        self.offset + self.allocation.bytes() as u64
    }
}

impl TempPlan {
    /// Of the temps that the ops of a recording touch.
    ///
    /// Level by level, from the inside out: to those beside a branch, all temps of its bodies are one piece of memory that
    /// only the branch touches. Bodies of one branch share it, because at most one of them runs; so do the rounds of a loop.
    pub(crate) fn new(recorded: &Recorded, arrangement: &Arrangement) -> TempPlan {
        let count = recorded.temps().len();
        if count == 0 {
            return TempPlan::default();
        }
        let all = arrangement.levels().len();
        // From the last to the first, so that the bodies of a level come before it.
        let place = |scope: u32| all - 1 - arrangement.place(scope);
        let mut levels: Vec<LevelPlan> = Vec::with_capacity(all);
        for level in arrangement.levels().iter().rev() {
            let plan = LevelPlan::new(recorded, level, |scope| levels[place(scope)].bytes);
            levels.push(plan);
        }
        let mut laid: Vec<Laid> = Vec::with_capacity(count);
        while let Some(level) = levels.pop() {
            for (branch, offset) in level.branches {
                let Work::Branch(branch) = &recorded.nodes[branch as usize].work else { unreachable!("listed as one") };
                for body in &branch.bodies {
                    levels[place(body.scope)].base = level.base + offset;
                }
            }
            laid.extend(level.temps.into_iter().map(|temp| Laid { offset: temp.offset + level.base, ..temp }));
        }
        // Where the last one ends: nothing is kept for what would be laid out behind it.
        let bytes = laid.iter().map(Laid::end).max().unwrap_or(0);
        TempPlan { temps: laid, bytes: usize::try_from(bytes).unwrap_or(usize::MAX) }
    }

    /// Of an eager run: its ops come one after the other, so that least is alive at the same time.
    pub(crate) fn in_a_line(recorded: &Recorded) -> TempPlan {
        match recorded.temps().len() {
            0 => TempPlan::default(),
            _ => TempPlan::new(recorded, &order::in_a_line(&recorded.nodes)),
        }
    }

    /// How many bytes all of them take together.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Each temp that lies somewhere, and where.
    pub(crate) fn offsets(&self) -> impl Iterator<Item = (&Arc<Allocation>, u64)> {
        self.temps.iter().map(|temp| (&temp.allocation, temp.offset))
    }

    /// How many of these bytes are a library's workspace at some time.
    pub(crate) fn workspace_bytes(&self) -> usize {
        let mut ranges: Vec<(u64, u64)> =
            self.temps.iter().filter(|temp| temp.allocation.is_workspace()).map(|t| (t.offset, t.end())).collect();
        ranges.sort_unstable();
        let (mut sum, mut to) = (0, 0);
        for (start, end) in ranges {
            sum += end.max(to) - start.max(to);
            to = end.max(to);
        }
        sum as usize
    }

    /// Gives the temps their addresses in memory that begins here.
    pub(crate) fn lend(&self, base: CUdeviceptr) {
        for temp in &self.temps {
            temp.allocation.lend_address(base + temp.offset);
        }
    }

    /// The temps are nowhere again.
    pub(crate) fn take_back(&self) {
        for temp in &self.temps {
            temp.allocation.lend_address(0);
        }
    }

    /// Gets memory for the temps of a graph, which have their addresses from here on; none where there is nothing to place.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::ArenaExhausted`]: of the caller's arena.
    /// - As [`Space::own`]: of an own one, or of the pool's.
    pub(crate) fn settle(
        &self,
        device: &Device,
        nodes: &[Node],
        arena: Option<&Arena>,
        pool: Option<&Pool>,
    ) -> Result<Option<Space>> {
        if self.bytes == 0 {
            return Ok(None);
        }
        let workspace_bytes = self.workspace_bytes();
        let space = match (arena, pool) {
            (Some(arena), _) => {
                self.expect_fits(nodes, arena.bytes())?;
                Space::given(arena, self.bytes, workspace_bytes)
            }
            (None, Some(pool)) => Space::of_pool(device, pool, self.bytes, workspace_bytes)?,
            (None, None) => Space::own(device, self.bytes, workspace_bytes)?,
        };
        self.lend(space.base);
        Ok(Some(space))
    }

    /// Memory of its own for each temp.
    ///
    /// # Errors
    ///
    /// - As [`Space::own`].
    pub(crate) fn settle_apart(&self, device: &Device) -> Result<Vec<Space>> {
        let own = |temp: &Laid| {
            let bytes = temp.allocation.bytes();
            let space = Space::own(device, bytes, if temp.allocation.is_workspace() { bytes } else { 0 })?;
            temp.allocation.lend_address(space.base);
            Ok(space)
        };
        self.temps.iter().map(own).collect()
    }

    /// Where other temps lie already, which come before these, if that is enough. Whether it is.
    pub(crate) fn settle_in(&self, space: &mut Space) -> bool {
        let fits = self.bytes <= space.bytes;
        if fits {
            self.lend(space.base);
            space.workspace_bytes = space.workspace_bytes.max(self.workspace_bytes());
        }
        fits
    }

    /// Refuses a piece of memory that is too small.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::ArenaExhausted`], with the op that touches the first temp that does not fit.
    pub(crate) fn expect_fits(&self, nodes: &[Node], bytes: usize) -> Result<()> {
        if self.bytes <= bytes {
            return Ok(());
        }
        let beyond = self.temps.iter().filter(|temp| temp.end() > bytes as u64);
        let Some(temp) = beyond.min_by_key(|temp| (temp.first, temp.offset)) else { return Ok(()) };
        let wanted = temp.allocation.bytes();
        let left = bytes.saturating_sub(temp.offset as usize);
        let error = Error::new(ErrorKind::ArenaExhausted { wanted, left, bytes, needed: self.bytes });
        Err(nodes[temp.first as usize].blame(error))
    }
}

/// The temps of one level, counted from where its memory will begin.
struct LevelPlan {
    base: u64,
    temps: Vec<Laid>,
    /// The branches whose bodies need memory, as nodes, and where it begins.
    branches: Vec<(u32, u64)>,
    bytes: u64,
}

impl LevelPlan {
    /// `inner` says how many bytes the temps of a body inside it need.
    fn new(recorded: &Recorded, level: &Level, inner: impl Fn(u32) -> u64) -> LevelPlan {
        let nodes: Vec<usize> = level.nodes().collect();
        let touches = Touches::of(&recorded.nodes, &nodes, level.scope);
        let (mut temps, mut branches, mut uses) = (Vec::new(), Vec::new(), Vec::new());
        for (number, ops) in touches.each() {
            let allocation = recorded.temp(number);
            if allocation.bytes() > 0 {
                temps.push(Laid { allocation: allocation.clone(), offset: 0, first: nodes[ops[0] as usize] as u32 });
                uses.push(TempUse { bytes: allocation.bytes() as u64, ops });
            }
        }
        let ops: Vec<u32> = (0..nodes.len() as u32).collect();
        for (op, &node) in nodes.iter().enumerate() {
            let Work::Branch(branch) = &recorded.nodes[node].work else { continue };
            let bytes = branch.bodies.iter().map(|body| inner(body.scope)).max().unwrap_or(0);
            if bytes > 0 {
                branches.push((node as u32, 0));
                uses.push(TempUse { bytes, ops: &ops[op..=op] });
            }
        }
        let mut plan = LevelPlan { base: 0, temps, branches, bytes: 0 };
        if !uses.is_empty() {
            let layout = layout(&level.order, &uses);
            let (of_temps, of_branches) = layout.offsets.split_at(plan.temps.len());
            plan.temps.iter_mut().zip(of_temps).for_each(|(temp, offset)| temp.offset = *offset);
            plan.branches.iter_mut().zip(of_branches).for_each(|(branch, offset)| branch.1 = *offset);
            plan.bytes = layout.bytes;
        }
        plan
    }
}

/// Which ops of a level touch which of its own temps. As large as the level, however many temps the recording has: it may
/// have as many levels.
struct Touches {
    /// The temps that are touched, ascending, and where each one's ops end in `ops`; they begin where those of the temp
    /// before end.
    ends: Vec<(u32, u32)>,
    ops: Vec<u32>,
}

impl Touches {
    fn of(nodes: &[Node], level: &[usize], scope: u32) -> Touches {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (op, &node) in level.iter().enumerate() {
            for access in &nodes[node].access {
                let allocation = &access.place.allocation;
                if let Kind::Temp(_) = allocation.kind()
                    && allocation.home() == scope
                {
                    pairs.push((allocation.index(), op as u32));
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut ends: Vec<(u32, u32)> = Vec::new();
        for (at, &(temp, _)) in pairs.iter().enumerate() {
            let end = at as u32 + 1;
            match ends.last_mut() {
                Some(last) if last.0 == temp => last.1 = end,
                _ => ends.push((temp, end)),
            }
        }
        Touches { ends, ops: pairs.into_iter().map(|(_, op)| op).collect() }
    }

    /// Each temp and the ops that touch it, ascending, at least one.
    fn each(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let mut begin = 0;
        self.ends.iter().map(move |&(temp, end)| {
            let ops = &self.ops[std::mem::replace(&mut begin, end) as usize..end as usize];
            (temp as usize, ops)
        })
    }
}
