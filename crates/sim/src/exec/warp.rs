//! A warp: registers of 32 lanes, and the groups in which the lanes run.
//!
//! Lanes that run together are a [`Fragment`]. A branch that they do not agree on splits a fragment and sets up a
//! [`Join`] at the place where both sides meet; a fragment that gets there waits for the others, then they go on as
//! one. That is for speed only: no lane may depend on another one's waiting, so a fragment leaves its join alone as
//! soon as the others are blocked, or have used up their turn. Lanes that spin on a lock thus always let its owner run,
//! as GPUs do since Volta.

use super::local::Local;
use super::op::{AT_RETURN, Code, Const64};

/// Where the columns of a frame begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Base {
    pub(super) r32: u32,
    pub(super) r64: u32,
    pub(super) p: u32,
    /// First byte of the frame's local memory.
    pub(super) local: u32,
}

/// A caller, to return to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) function: u32,
    pub(super) base: Base,
    /// The call that has to be finished.
    pub(super) call: u32,
    pub(super) pc: u32,
}

/// What keeps a fragment from running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Ready,
    /// At the place of its innermost join.
    Joining,
    /// At a barrier of the block: the barrier's number.
    Barrier(u32),
    /// At an operation of the warp, with these members.
    Warp(u32),
}

/// Lanes that run together.
#[derive(Clone, Debug, Default)]
pub(super) struct Fragment {
    pub(super) pc: u32,
    pub(super) mask: u32,
    pub(super) function: u32,
    pub(super) base: Base,
    pub(super) frames: Vec<Frame>,
    /// Numbers of the joins ahead, the nearest last.
    pub(super) joins: Vec<u32>,
    pub(super) state: State,
}

impl Fragment {
    /// Would the two go on in the same way?
    fn same_path(&self, other: &Fragment) -> bool {
        self.pc == other.pc
            && self.function == other.function
            && self.base == other.base
            && self.frames == other.frames
            && self.joins == other.joins
    }
}

/// A place where lanes meet again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Join {
    pub(super) pc: u32,
    /// Depth of calls at which it counts.
    depth: u32,
    /// Lanes that have not arrived.
    pending: u32,
    used: bool,
}

/// The fragments and joins of a warp.
#[derive(Default)]
pub(super) struct Flow {
    /// In boxes: they go from here to whoever runs them and back, at every barrier.
    #[allow(clippy::vec_box, reason = "to move a fragment is to move its address")]
    pub(super) fragments: Vec<Box<Fragment>>,
    /// One that has exited, for the next block.
    spare: Option<Box<Fragment>>,
    joins: Vec<Join>,
    /// Lanes that have not exited.
    pub(super) live: u32,
    random: u64,
}

/// The registers of a warp.
#[derive(Default)]
pub(super) struct File {
    r32: Columns<u32>,
    r64: Columns<u64>,
    p: Vec<u32>,
}

impl File {
    /// Makes room for a frame of `function` at `base`, and fills in its constants.
    pub(super) fn enter(&mut self, code: &Code, function: u32, base: Base, constants64: &[Vec<u64>]) {
        let f = &code.functions[function as usize];
        self.r32.grow(base.r32 + f.columns32);
        self.r64.grow(base.r64 + f.columns64);
        self.p.resize(self.p.len().max((base.p + f.predicates) as usize), 0);
        let columns = self.r32.from(base.r32 + f.constants32_at);
        for (column, &value) in columns.iter_mut().zip(&f.constants32) {
            *column = [value; 32];
        }
        let columns = self.r64.from(base.r64 + f.constants64_at);
        for (column, &value) in columns.iter_mut().zip(&constants64[function as usize]) {
            *column = [value; 32];
        }
    }

    /// The columns from `base` on.
    pub(super) fn frame(&mut self, base: Base) -> super::lanes::Regs<'_> {
        super::lanes::Regs {
            r32: self.r32.from(base.r32),
            r64: self.r64.from(base.r64),
            p: &mut self.p[base.p as usize..],
        }
    }
}

/// Bytes of a line of the processor's caches. A vector that lies across two of them takes twice as long.
const LINE: usize = 64;

/// Columns that begin at a line.
#[derive(Default)]
struct Columns<T> {
    values: Vec<T>,
    /// Values in front of the first column.
    skip: usize,
}

impl<T: Copy + Default> Columns<T> {
    /// Makes room for `columns`, with zeros in new ones.
    fn grow(&mut self, columns: u32) {
        let want = columns as usize * 32;
        let have = self.values.len().saturating_sub(self.skip);
        if want <= have {
            return;
        }
        let mut values: Vec<T> = Vec::with_capacity(want + LINE / size_of::<T>());
        let skip = values.as_ptr().align_offset(LINE).min(LINE / size_of::<T>());
        values.resize(skip, T::default());
        values.extend_from_slice(&self.values[self.skip..]);
        values.resize(skip + want, T::default());
        *self = Columns { values, skip };
    }

    /// The columns from number `first` on.
    #[inline]
    fn from(&mut self, first: u32) -> &mut [[T; 32]] {
        self.values[self.skip + first as usize * 32..].as_chunks_mut().0
    }
}

/// The values of the 64-bit constants of each function, with variables where they were placed.
pub(super) fn constants64(code: &Code, address: impl Fn(u32) -> u64) -> Vec<Vec<u64>> {
    let value = |c: &Const64| match *c {
        Const64::Value(value) => value,
        Const64::Variable(index, addend) => address(index).wrapping_add_signed(addend),
    };
    code.functions.iter().map(|f| f.constants64.iter().map(value).collect()).collect()
}

/// `%tid` of the lanes in x, y, z.
pub(super) type Tid = [[u32; 32]; 3];

/// A warp.
pub(super) struct Warp {
    pub(super) index: u32,
    pub(super) file: File,
    pub(super) local: Local,
    pub(super) flow: Flow,
    pub(super) tid: Tid,
    /// Lanes that exist.
    pub(super) lanes: u32,
}

impl Warp {
    /// Warp number `index` of a block of the given shape, without registers yet.
    pub(super) fn new(index: u32, block: [u32; 3]) -> Warp {
        let threads = u64::from(block[0]) * u64::from(block[1]) * u64::from(block[2]);
        let mut tid = [[0; 32]; 3];
        let mut lanes = 0;
        for lane in 0..32u32 {
            let thread = index * 32 + lane;
            if u64::from(thread) < threads {
                lanes |= 1 << lane;
                tid[0][lane as usize] = thread % block[0];
                tid[1][lane as usize] = thread / block[0] % block[1];
                tid[2][lane as usize] = thread / block[0] / block[1];
            }
        }
        Warp { index, file: File::default(), local: Local::default(), flow: Flow::default(), tid, lanes }
    }

    /// All lanes at the kernel's first instruction. `fresh` registers get their constants; those of an earlier block
    /// of the same launch have them.
    pub(super) fn start(&mut self, code: &Code, constants: &[Vec<u64>], fresh: bool, seed: u64) {
        if fresh {
            self.file.enter(code, 0, Base::default(), constants);
            self.local.reserve(code.functions[0].frame_bytes);
        }
        self.local.clear();
        self.flow.joins.clear();
        self.flow.fragments.clear();
        self.flow.live = self.lanes;
        self.flow.random = seed;
        let mut all = self.flow.spare.take().unwrap_or_default();
        (all.pc, all.mask, all.function) = (code.functions[0].entry, self.lanes, 0);
        (all.base, all.state) = (Base::default(), State::Ready);
        all.frames.clear();
        all.joins.clear();
        self.flow.fragments.push(all);
    }
}

impl Flow {
    /// Where `fragment` has to stop: the record of its nearest join, if that is in the frame it runs in.
    pub(super) fn stop(&self, fragment: &Fragment) -> Option<u32> {
        let &join = fragment.joins.last()?;
        let join = &self.joins[join as usize];
        (join.depth as usize == fragment.frames.len()).then_some(join.pc)
    }

    /// Splits `fragment`: the lanes in `taken` go to `target`, and wait as a new fragment; the others stay.
    pub(super) fn split(&mut self, fragment: &mut Fragment, taken: u32, target: u32, join: u32) {
        self.expect_join(fragment, join);
        let mut other = Box::new(fragment.clone());
        other.mask = taken;
        other.pc = target;
        fragment.mask &= !taken;
        if self.random != 0 {
            self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if self.random >> 63 == 1 {
                std::mem::swap(fragment, &mut *other);
            }
        }
        self.fragments.push(other);
    }

    fn expect_join(&mut self, fragment: &mut Fragment, pc: u32) {
        let depth = fragment.frames.len() as u32;
        if pc == AT_RETURN && depth == 0 {
            return;
        }
        if let Some(&nearest) = fragment.joins.last() {
            let join = &self.joins[nearest as usize];
            // A loop that lanes leave one by one has one join, not one for each turn.
            if join.pc == pc && join.depth == depth {
                return;
            }
        }
        let join = Join { pc, depth, pending: fragment.mask, used: true };
        let index = match self.joins.iter().position(|j| !j.used) {
            Some(free) => {
                self.joins[free] = join;
                free
            }
            None => {
                self.joins.push(join);
                self.joins.len() - 1
            }
        };
        fragment.joins.push(index as u32);
    }

    /// `fragment` is where its nearest join is.
    pub(super) fn arrive(&mut self, mut fragment: Box<Fragment>) {
        let Some(&join) = fragment.joins.last() else {
            fragment.state = State::Ready;
            self.fragments.push(fragment);
            return;
        };
        self.joins[join as usize].pending &= !fragment.mask;
        fragment.state = State::Joining;
        self.fragments.push(fragment);
        self.complete(join);
    }

    /// Lets the fragments at `join` go on as one, if nobody is missing.
    fn complete(&mut self, join: u32) {
        if self.joins[join as usize].pending != 0 {
            return;
        }
        self.joins[join as usize].used = false;
        let here = |f: &Fragment| f.state == State::Joining && f.joins.last() == Some(&join);
        let mut merged: Option<Box<Fragment>> = None;
        let mut i = 0;
        while i < self.fragments.len() {
            if here(&self.fragments[i]) {
                let arrived = self.fragments.remove(i);
                match &mut merged {
                    Some(all) => all.mask |= arrived.mask,
                    None => merged = Some(arrived),
                }
            } else {
                i += 1;
            }
        }
        if let Some(mut all) = merged {
            all.joins.pop();
            all.state = State::Ready;
            self.fragments.push(all);
        }
    }

    /// The lanes of `fragment` will not come to its nearest join any more.
    pub(super) fn abandon_nearest(&mut self, fragment: &mut Fragment) {
        if let Some(join) = fragment.joins.pop() {
            self.joins[join as usize].pending &= !fragment.mask;
            self.complete(join);
        }
    }

    /// Is the nearest join deeper than `depth` calls?
    pub(super) fn joins_below(&self, fragment: &Fragment, depth: usize) -> bool {
        fragment.joins.last().is_some_and(|&j| self.joins[j as usize].depth as usize > depth)
    }

    /// The lanes of `fragment` are done.
    pub(super) fn exit(&mut self, mut fragment: Box<Fragment>) {
        self.live &= !fragment.mask;
        while !fragment.joins.is_empty() {
            self.abandon_nearest(&mut fragment);
        }
        self.spare = Some(fragment);
    }

    /// Lets one fragment that waits at a join go on alone. Gives false where none waits.
    pub(super) fn release_one(&mut self) -> bool {
        let Some(i) = self.fragments.iter().position(|f| f.state == State::Joining) else { return false };
        let mut fragment = self.fragments.remove(i);
        fragment.state = State::Ready;
        fragment.joins.pop();
        self.fragments.push(fragment);
        true
    }

    /// Takes out fragment number `at`.
    #[inline]
    pub(super) fn take(&mut self, at: usize) -> Box<Fragment> {
        match self.fragments.pop() {
            // The last one nearly always, and the only one.
            Some(last) if at == self.fragments.len() => last,
            Some(last) => {
                self.fragments.push(last);
                self.fragments.remove(at)
            }
            None => unreachable!("whoever takes a fragment has seen it"),
        }
    }

    /// Makes one of fragments that would go on in the same way.
    pub(super) fn merge_ready(&mut self) {
        if self.fragments.len() < 2 {
            return;
        }
        let mut i = 0;
        while i < self.fragments.len() {
            let mut j = i + 1;
            while j < self.fragments.len() {
                let (a, b) = (&self.fragments[i], &self.fragments[j]);
                if a.state == State::Ready && b.state == State::Ready && a.same_path(b) {
                    let other = self.fragments.remove(j);
                    self.fragments[i].mask |= other.mask;
                } else {
                    j += 1;
                }
            }
            i += 1;
        }
    }
}
