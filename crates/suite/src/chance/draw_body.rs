//! Bodies of recordings, op by op: each is kept if the model takes the body with it.

use super::draw::Drawer;
use super::model::Kind;
use super::program::{Body, Eager, End, Name, NamedMemory, Op, Part};

/// The lengths of stand-ins: those that are read, those that are written.
type Holes = Option<([u8; 2], [u8; 2])>;

/// A body that is being drawn.
pub(super) struct Bodies<'d> {
    drawer: &'d mut Drawer,
    holes: Holes,
    instead_of: Option<Name>,
    temps: Vec<u8>,
    outputs: Vec<u8>,
}

impl<'d> Bodies<'d> {
    /// For a body with these stand-ins, in place of that graph's.
    pub(super) fn of(drawer: &'d mut Drawer, holes: Holes, instead_of: Option<Name>) -> Bodies<'d> {
        Bodies { drawer, holes, instead_of, temps: Vec::new(), outputs: Vec::new() }
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

    fn more(&mut self, body: &mut Body, pure: bool) {
        let (temps, outputs) = (self.temps.len(), self.outputs.len());
        let Some(op) = self.op() else { return };
        let is_new_temp = matches!(op, Op::Alloc(..));
        if !self.try_op(body, op, pure) {
            self.temps.truncate(temps);
            self.outputs.truncate(outputs);
            return;
        }
        if is_new_temp && self.drawer.dice.chance(88) {
            let (number, len) = (temps as u8, self.temps[temps]);
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

    /// Keeps an op if the body with it is valid, and, mostly, if it is not refused.
    fn try_op(&mut self, body: &mut Body, op: Op, pure: bool) -> bool {
        let was_good = self.drawer.model.admits(body, self.holes, self.instead_of, pure) != Some(false);
        body.ops.push(op);
        let is_kept = match self.drawer.model.admits(body, self.holes, self.instead_of, pure) {
            None => false,
            Some(true) => true,
            Some(false) => !was_good || body.end != End::Good || self.drawer.dice.chance(8),
        };
        if !is_kept {
            body.ops.pop();
        }
        is_kept
    }

    /// A place with its length.
    fn place(&mut self, writable: bool) -> Option<(NamedMemory, u8)> {
        let mut all = Vec::new();
        let (temps, outputs) = (self.temps.iter().enumerate(), self.outputs.iter().enumerate());
        // Twice: what a recording makes is what it is about.
        for _ in 0..2 {
            all.extend(temps.clone().map(|(number, len)| (NamedMemory::Temp(number as u8), *len)));
            all.extend(outputs.clone().map(|(number, len)| (NamedMemory::Output(number as u8), *len)));
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

    fn part(&mut self, writable: bool, wanted: Option<u8>) -> Option<Part> {
        for _ in 0..6 {
            let (place, len) = self.place(writable)?;
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

    fn op(&mut self) -> Option<Op> {
        let weights = [9, 7, 9, 7, 4, 4, 10, 14, 6, 5, 9, 7, 7, 6, 4, 5, 1, 1, 1, 3];
        Some(match self.drawer.dice.weighted(weights) {
            0 if self.temps.len() < 4 => {
                let len = self.drawer.dice.between(1, 6);
                self.temps.push(len);
                Op::Alloc(self.temps.len() as u8 - 1, len)
            }
            1 if self.outputs.len() < 3 => {
                let len = self.drawer.dice.between(1, 6);
                self.outputs.push(len);
                Op::Output(self.outputs.len() as u8 - 1, len)
            }
            19 => {
                let count = self.drawer.dice.between(1, 2);
                let ops = (0..count).filter_map(|_| self.simple()).collect();
                Op::Attempt(ops, if self.drawer.dice.chance(50) { End::Panic } else { End::Error })
            }
            15 => Op::Replay(self.drawer.graph()?),
            _ => self.simple()?,
        })
    }

    /// An op that makes no memory.
    fn simple(&mut self) -> Option<Op> {
        let weights = [9, 7, 4, 4, 10, 14, 6, 5, 9, 7, 7, 6, 4, 1, 1, 1];
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

fn whole(place: NamedMemory, len: u8) -> Part {
    Part { place, start: 0, len }
}
