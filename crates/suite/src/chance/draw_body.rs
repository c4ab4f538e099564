//! Bodies of recordings, op by op: each is kept if the model takes the body with it.

use super::draw::Drawer;
use super::model::Kind;
use super::program::{Body, Eager, End, Name, NamedMemory, Op, Part};

/// How deep bodies lie in each other: mostly, and now and then.
pub(super) const DEEP: [usize; 2] = [4, 8];

/// The lengths of stand-ins: those that are read, those that are written.
type Holes = Option<([u8; 2], [u8; 2])>;

/// A body that is being drawn.
pub(super) struct Bodies<'d> {
    pub(super) drawer: &'d mut Drawer,
    pub(super) holes: Holes,
    pub(super) instead_of: Option<Name>,
    /// Those that can be named here, with their lengths.
    pub(super) temps: Vec<(u8, u8)>,
    outputs: Vec<u8>,
    /// What can be read of loops here: what they left behind, and which round runs.
    pub(super) loops: Vec<NamedMemory>,
    /// The next name of a temp, a loop or a round.
    pub(super) next: u8,
    /// Where in the body lines are drawn: line by line inwards, and which body of it.
    pub(super) path: Vec<(usize, usize)>,
    /// How deep bodies may lie in each other.
    pub(super) deepest: usize,
    /// How many lines there may be.
    pub(super) room: usize,
}

impl<'d> Bodies<'d> {
    /// For a body with these stand-ins, in place of that graph's.
    pub(super) fn of(drawer: &'d mut Drawer, holes: Holes, instead_of: Option<Name>) -> Bodies<'d> {
        let deepest = match (drawer.flows, drawer.dice.chance(4)) {
            (false, _) => 0,
            (true, is_rare) => DEEP[usize::from(is_rare)],
        };
        Bodies {
            drawer,
            holes,
            instead_of,
            temps: Vec::new(),
            outputs: Vec::new(),
            loops: Vec::new(),
            next: 0,
            path: Vec::new(),
            deepest,
            room: 30,
        }
    }

    /// A body.
    pub(super) fn body(mut self) -> Body {
        let count = 1 + self.drawer.dice.below(7);
        let mut body = Body { ops: Vec::new(), end: self.drawer.end() };
        if self.drawer.model.admits(&body, self.holes, self.instead_of, false).is_none() {
            body.end = End::Good;
        }
        for _ in 0..count * 3 {
            if body.ops.len() as u64 >= count {
                break;
            }
            self.more(&mut body, false);
        }
        body
    }

    /// A body that a cache records, with an output at least.
    pub(super) fn for_cache(mut self) -> Body {
        let mut body = Body { ops: Vec::new(), end: End::Good };
        let len = self.drawer.dice.between(1, 5);
        self.outputs.push(len);
        body.ops.push(Op::Output(0, len));
        let value = self.drawer.value(false);
        let first = match self.drawer.dice.chance(50) {
            true => Op::Put(value, whole(NamedMemory::Output(0), len)),
            false => Op::Fill(value, whole(NamedMemory::Output(0), len)),
        };
        self.try_op(&mut body, first, true);
        let count = self.drawer.dice.below(5);
        for _ in 0..count {
            self.more(&mut body, true);
        }
        body
    }

    /// Ops over memory of its own and buffers that are read.
    pub(super) fn team_ops(mut self) -> Vec<Op> {
        let mut body = Body { ops: Vec::new(), end: End::Good };
        let count = self.drawer.dice.below(5);
        for _ in 0..count {
            self.more(&mut body, true);
        }
        body.ops
    }

    pub(super) fn more(&mut self, body: &mut Body, pure: bool) {
        let (temps, outputs, loops) = (self.temps.len(), self.outputs.len(), self.loops.len());
        let Some(op) = self.op() else { return };
        let has_bodies = matches!(op, Op::Loop(..) | Op::When(..) | Op::Switch(..));
        let is_new_temp = matches!(op, Op::Alloc(..));
        let fresh = if has_bodies && self.drawer.dice.chance(35) { self.fresh(body, pure) } else { None };
        let temps = temps + usize::from(fresh.is_some());
        if !self.try_op(body, op, pure) {
            self.temps.truncate(temps);
            self.outputs.truncate(outputs);
            self.loops.truncate(loops);
            return;
        }
        if has_bodies {
            self.inside(body, pure, fresh);
            let to = fresh.and_then(|fresh| self.part(true, Some(fresh.len)));
            if let (Some(fresh), Some(to)) = (fresh, to) {
                self.try_op(body, Op::Copy(fresh, to), pure);
            }
        }
        if is_new_temp && self.drawer.dice.chance(88) {
            let (number, len) = self.temps[temps];
            let to = whole(NamedMemory::Temp(number), len);
            let value = self.drawer.value(false);
            let source = self.part(false, Some(len));
            let op = match (self.drawer.dice.below(3), source) {
                (0, Some(source)) if source.place != to.place => Op::Copy(source, to),
                (1, _) => Op::Fill(value, to),
                _ => Op::Put(value, to),
            };
            self.try_op(body, op, pure);
        }
    }

    /// A temp that nobody has written yet.
    fn fresh(&mut self, body: &mut Body, pure: bool) -> Option<Part> {
        let (name, len) = (self.name(), self.drawer.dice.between(1, 4));
        let is_kept = self.try_op(body, Op::Alloc(name, len), pure);
        is_kept.then(|| {
            self.temps.push((name, len));
            whole(NamedMemory::Temp(name), len)
        })
    }

    /// The lines that are drawn now.
    pub(super) fn lines<'b>(&self, body: &'b mut Body) -> &'b mut Vec<Op> {
        let mut lines = &mut body.ops;
        for (line, which) in &self.path {
            lines = lines[*line].bodies_mut().swap_remove(*which);
        }
        lines
    }

    /// Whether the body is valid, and then whether it is taken down without a refusal.
    pub(super) fn admits(&self, body: &Body, pure: bool) -> Option<bool> {
        self.drawer.model.admits(body, self.holes, self.instead_of, pure)
    }

    /// Keeps an op if the body with it is valid, and, mostly, if it is not refused.
    pub(super) fn try_op(&mut self, body: &mut Body, op: Op, pure: bool) -> bool {
        if self.room == 0 {
            return false;
        }
        let was_good = self.admits(body, pure) != Some(false);
        self.lines(body).push(op);
        let is_kept = match self.admits(body, pure) {
            None => false,
            Some(true) => true,
            Some(false) => !was_good || body.end != End::Good || self.drawer.dice.chance(8),
        };
        match is_kept {
            true => self.room -= 1,
            false => drop(self.lines(body).pop()),
        }
        is_kept
    }

    /// A place with its length.
    pub(super) fn place(&mut self, writable: bool) -> Option<(NamedMemory, u8)> {
        let mut all = Vec::new();
        let (temps, outputs) = (self.temps.iter(), self.outputs.iter().enumerate());
        // Twice: what a recording makes is what it is about.
        for _ in 0..2 {
            all.extend(temps.clone().map(|(number, len)| (NamedMemory::Temp(*number), *len)));
            all.extend(outputs.clone().map(|(number, len)| (NamedMemory::Output(number as u8), *len)));
        }
        if !writable {
            all.extend(self.loops.iter().map(|place| (*place, 1)));
        }
        if let Some((ins, outs)) = self.holes {
            for _ in 0..3 {
                all.extend(outs.iter().enumerate().map(|(number, len)| (NamedMemory::Out(number as u8), *len)));
                if !writable {
                    all.extend(ins.iter().enumerate().map(|(number, len)| (NamedMemory::In(number as u8), *len)));
                }
            }
        }
        for (name, kind, may_change) in self.drawer.model.names() {
            match kind {
                Kind::Buffer(len) if may_change || !writable => all.push((NamedMemory::Buffer(name), len)),
                Kind::Scalar if may_change || !writable => all.push((NamedMemory::Scalar(name), 1)),
                Kind::Graph(outputs) if !writable && self.instead_of != Some(name) => {
                    for output in 0..outputs {
                        let len = self.drawer.model.output_len(name, output);
                        all.extend(len.map(|len| (NamedMemory::Result(name, output), len)));
                    }
                }
                _ => {}
            }
        }
        self.drawer.dice.pick(&all)
    }

    pub(super) fn part(&mut self, writable: bool, wanted: Option<u8>) -> Option<Part> {
        for _ in 0..6 {
            let (place, len) = self.place(writable)?;
            if let (NamedMemory::Rounds(_), None | Some(1)) = (place, wanted) {
                return Some(Part { place, start: self.drawer.dice.between(0, 1), len: 1 });
            }
            match wanted {
                None => {
                    let start = if self.drawer.dice.chance(50) { 0 } else { self.drawer.dice.between(0, len - 1) };
                    let most = len - start;
                    let len = if self.drawer.dice.chance(40) { most } else { self.drawer.dice.between(1, most) };
                    return Some(Part { place, start, len });
                }
                Some(wanted) if len >= wanted => {
                    return Some(Part { place, start: self.drawer.dice.between(0, len - wanted), len: wanted });
                }
                Some(_) => {}
            }
        }
        None
    }

    /// What is read and what is written, of one length; often two parts of one place.
    fn pair(&mut self) -> Option<(Part, Part)> {
        let y = self.part(true, None)?;
        if self.drawer.dice.chance(25) {
            let (place, len) = self.place(true)?;
            if len >= 2 {
                let mid = self.drawer.dice.between(1, len - 1);
                let count = self.drawer.dice.between(1, mid.min(len - mid));
                let low = Part { place, start: self.drawer.dice.between(0, mid - count), len: count };
                let high = Part { place, start: self.drawer.dice.between(mid, len - count), len: count };
                return Some(if self.drawer.dice.chance(50) { (low, high) } else { (high, low) });
            }
        }
        let wrong = u8::from(self.drawer.dice.chance(2));
        Some((self.part(false, Some(y.len + wrong))?, y))
    }

    /// A name that nothing else of the body has.
    pub(super) fn name(&mut self) -> u8 {
        self.next += 1;
        self.next - 1
    }

    fn op(&mut self) -> Option<Op> {
        let flow = if self.path.len() < self.deepest { 14 } else { 0 };
        // A way out, and the number of a round, are mostly drawn where there is a loop.
        let of_loop = if self.deepest == 0 {
            0
        } else if self.path.is_empty() {
            1
        } else {
            8
        };
        let weights = [9, 7, 9, 7, 4, 4, 10, 14, 6, 5, 9, 7, 7, 6, 4, 5, 1, 1, 1, 3, flow, of_loop];
        Some(match self.drawer.dice.weighted(weights) {
            0 if self.temps.len() < 4 + self.path.len() => {
                let len = self.drawer.dice.between(1, 6);
                let name = self.name();
                self.temps.push((name, len));
                Op::Alloc(name, len)
            }
            1 if self.outputs.len() < 3 && self.path.is_empty() => {
                let len = self.drawer.dice.between(1, 6);
                self.outputs.push(len);
                Op::Output(self.outputs.len() as u8 - 1, len)
            }
            19 => {
                let count = self.drawer.dice.between(1, 2);
                let mut ops: Vec<Op> = (0..count).filter_map(|_| self.simple()).collect();
                if self.deepest > 0 && self.drawer.dice.chance(30) {
                    ops.extend(self.small_flow());
                }
                Op::Attempt(ops, if self.drawer.dice.chance(50) { End::Panic } else { End::Error })
            }
            15 => Op::Replay(self.drawer.graph()?),
            20 => self.flow()?,
            21 => self.of_loop()?,
            _ => self.simple()?,
        })
    }

    /// An op that makes no memory.
    pub(super) fn simple(&mut self) -> Option<Op> {
        let numbers = if self.deepest == 0 { 0 } else { 3 };
        let weights = [9, 7, 4, 4, 10, 14, 6, 5, 9, 7, 7, 6, 4, 1, 1, 1, numbers];
        Some(match self.drawer.dice.weighted(weights) {
            0 => {
                let (x, y) = self.pair()?;
                Op::Copy(x, y)
            }
            1 => Op::Fill(self.drawer.value(false), self.part(true, None)?),
            way @ (2 | 3) => {
                let (host, Kind::Host(len)) = self.drawer.pick(|kind| matches!(kind, Kind::Host(_)))? else {
                    return None;
                };
                let wanted = if self.drawer.dice.chance(3) { len + 1 } else { len };
                match way {
                    2 => Op::Upload(host, self.part(true, Some(wanted))?),
                    _ => Op::Download(self.part(false, Some(wanted))?, host),
                }
            }
            4 => {
                let (a, y) = self.pair()?;
                // Reads of one op may overlap.
                let b = if self.drawer.dice.chance(25) { a } else { self.part(false, Some(y.len))? };
                Op::Add(a, b, y)
            }
            5 => {
                let (x, y) = self.pair()?;
                Op::Mix(x, y)
            }
            6 => Op::Scale(self.part(false, Some(1))?, self.part(true, None)?),
            7 => Op::Sum(self.part(false, None)?, self.part(true, Some(1))?),
            8 => Op::First(self.drawer.value(true), self.part(true, None)?),
            9 => {
                let (x, value) = (self.part(false, None)?, self.drawer.value(true));
                let len = self.drawer.dice.between(1, x.len);
                Op::Window(value, x, self.part(true, Some(len))?)
            }
            10 => Op::Put(self.drawer.value(false), self.part(true, None)?),
            11 => Op::Bump(self.part(true, Some(1))?),
            12 => Op::Words(self.drawer.generator()?, self.part(true, None)?),
            13 => Op::SetSlot(self.drawer.pick(|kind| kind == Kind::Slot)?.0, self.drawer.small()),
            14 => Op::Keep,
            16 => self.set_number()?,
            _ => {
                let call = match self.drawer.dice.below(4) {
                    0 => Eager::Device,
                    1 => Eager::Stream(self.drawer.stream()?),
                    2 => {
                        let (name, Kind::Buffer(len)) = self.drawer.pick(|kind| matches!(kind, Kind::Buffer(_)))?
                        else {
                            return None;
                        };
                        Eager::Read(self.drawer.stream()?, whole(NamedMemory::Buffer(name), len))
                    }
                    _ => Eager::Host(self.drawer.pick(|kind| matches!(kind, Kind::Host(_)))?.0),
                };
                Op::Eager(call, self.drawer.dice.chance(50))
            }
        })
    }
}

pub(super) fn whole(place: NamedMemory, len: u8) -> Part {
    Part { place, start: 0, len }
}
