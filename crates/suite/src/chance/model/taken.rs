//! What a body records, as the model knows it: lines over memory, or the refusal that it ends with. Control flow around
//! them is taken down in `taken_flow.rs`.
//!
//! Nothing is changed here. A body that is no valid Rust, or whose kernels would read what nobody wrote, gives none.

use std::collections::BTreeMap;

use super::items::{Item, Sight, flat, has_flow};
use super::taken_flow::Scope;
use super::{Model, Object, Refusal};
use crate::chance::numbers::Type;
use crate::chance::program::{Body, Eager, End, Name, NamedMemory, Op, Part, Side, Value};

/// Memory as a line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// That of this number.
    Memory(usize),
    /// A temp of the recording.
    Temp(usize),
    /// An output of the recording, which has no memory yet.
    Own(usize),
    /// A stand-in.
    Hole(usize),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) at: At,
    pub(super) start: usize,
    pub(super) len: usize,
}

impl Range {
    pub(super) fn overlaps(&self, other: &Range) -> bool {
        self.at == other.at && self.start < other.start + other.len && other.start < self.start + self.len
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Baked(u32),
    Slot(usize),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    Copy,
    Fill(Number),
    Add,
    Mix,
    Scale,
    Sum,
    First(Number),
    Window(Number),
    Bump,
    Words(usize),
    /// A number, as two words.
    Bits(Sight),
}

/// One op that was recorded.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) work: Work,
    pub(super) reads: Vec<Range>,
    pub(super) write: Range,
}

/// How taking down ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Good,
    Refused(Refusal),
    Panicked,
}

/// A body that was taken down.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    pub(super) lines: Vec<Item>,
    /// Lengths.
    pub(super) temps: Vec<usize>,
    /// Lengths.
    pub(super) outputs: Vec<usize>,
    /// Each slot that was read, with what it was then; none if nobody can know.
    pub(super) readings: BTreeMap<usize, Option<u32>>,
    /// Slots that were set meanwhile.
    pub(super) sets: BTreeMap<usize, u32>,
    /// Pools of the graphs inside.
    pub(super) pools: Vec<usize>,
    pub(super) ended: Ended,
}

impl Taken {
    /// Whether memory is needed for temps.
    pub(super) fn has_temps(&self) -> bool {
        let touches = |range: &Range| matches!(range.at, At::Temp(_));
        let line = |line: &Line| touches(&line.write) || line.reads.iter().any(touches);
        // Control flow keeps its own state in one.
        has_flow(&self.lines) || self.lines.iter().any(|item| matches!(item, Item::Line(of) if line(of)))
    }
}

/// What a body may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Anything.
    Free,
    /// What threads may replay in any order: of what is not its own it reads buffers, and bumps scalars.
    Team,
    /// What gives the same whoever records it, however often it was replayed.
    Pure,
}

/// Around a body: its stand-ins, and the graph that it is recorded in place of.
#[derive(Clone, Copy, Default)]
pub(super) struct Around<'a> {
    pub(super) holes: Option<(&'a [u8; 2], &'a [u8; 2])>,
    pub(super) instead_of: Option<Name>,
}

/// A body while it is taken down.
pub(super) struct Taking<'m> {
    pub(super) model: &'m Model,
    around: Around<'m>,
    pub(super) style: Style,
    /// Its lines are those of the innermost body that is open.
    pub(super) taken: Taken,
    pub(super) temps: BTreeMap<u8, usize>,
    outputs: BTreeMap<u8, usize>,
    /// What loops left behind, and numbers of rounds: temps.
    pub(super) rounds: BTreeMap<u8, usize>,
    pub(super) round: BTreeMap<u8, usize>,
    /// Bodies that are open, from the outside in.
    pub(super) scopes: Vec<Scope>,
    /// Of each temp, and of each output, which elements were written.
    pub(super) temps_written: Vec<Vec<bool>>,
    pub(super) outputs_written: Vec<Vec<bool>>,
}

impl Model {
    /// Whether a body is valid here, and then whether it is taken down without a refusal.
    pub fn admits(
        &self,
        body: &Body,
        holes: Option<([u8; 2], [u8; 2])>,
        instead_of: Option<Name>,
        is_for_all: bool,
    ) -> Option<bool> {
        let style = match (self.style(), is_for_all) {
            (Style::Team, true) => Style::Pure,
            (style, _) => style,
        };
        let around = Around { holes: holes.as_ref().map(|(ins, outs)| (ins, outs)), instead_of };
        Some(self.take_down(body, around, style)?.ended == Ended::Good)
    }

    /// Takes a body down; none if it is not valid.
    pub(super) fn take_down(&self, body: &Body, around: Around<'_>, style: Style) -> Option<Taken> {
        let taken = Taken {
            lines: Vec::new(),
            temps: Vec::new(),
            outputs: Vec::new(),
            readings: BTreeMap::new(),
            sets: BTreeMap::new(),
            pools: Vec::new(),
            ended: Ended::Good,
        };
        let mut taking = Taking {
            model: self,
            around,
            style,
            taken,
            temps: BTreeMap::new(),
            outputs: BTreeMap::new(),
            rounds: BTreeMap::new(),
            round: BTreeMap::new(),
            scopes: Vec::new(),
            temps_written: Vec::new(),
            outputs_written: Vec::new(),
        };
        for op in &body.ops {
            taking.op(op)?;
        }
        if style != Style::Free && body.end != End::Good {
            return None;
        }
        if taking.taken.ended == Ended::Good {
            taking.taken.ended = match body.end {
                End::Good => Ended::Good,
                End::Error => Ended::Refused("Msg"),
                End::Panic => Ended::Panicked,
            };
        }
        Some(taking.taken)
    }
}

impl Taking<'_> {
    pub(super) fn is_dead(&self) -> bool {
        self.taken.ended != Ended::Good
    }

    pub(super) fn refuse(&mut self, why: Refusal) {
        if !self.is_dead() {
            self.taken.ended = Ended::Refused(why);
        }
    }

    fn slot(&self, name: Name) -> Option<usize> {
        match self.model.see(name)? {
            Object::Slot(slot) => Some(*slot),
            _ => None,
        }
    }

    fn number(&self, value: Value) -> Option<Number> {
        match value {
            Value::Baked(value) => Some(Number::Baked(value)),
            Value::Slot(name) => self.slot(name).map(Number::Slot),
        }
    }

    /// What a slot is for this recording: read once.
    pub(super) fn read(&mut self, number: Number) -> Option<u32> {
        match number {
            Number::Baked(value) => Some(value),
            Number::Slot(slot) => {
                let now = self.taken.sets.get(&slot).map_or(self.model.slots[slot], |set| Some(*set));
                if self.is_dead() {
                    return now;
                }
                *self.taken.readings.entry(slot).or_insert(now)
            }
        }
    }

    /// A part that is valid here, and whether it may be written.
    pub(super) fn range(&self, part: Part) -> Option<(Range, bool)> {
        let (at, len, writable) = match part.place {
            NamedMemory::Temp(temp) => {
                let temp = *self.temps.get(&temp)?;
                (At::Temp(temp), self.taken.temps[temp], true)
            }
            NamedMemory::Output(output) => {
                let output = *self.outputs.get(&output)?;
                (At::Own(output), self.taken.outputs[output], true)
            }
            NamedMemory::In(hole) => {
                (At::Hole(hole.into()), (*self.around.holes?.0.get(usize::from(hole))?).into(), false)
            }
            NamedMemory::Out(hole) => {
                (At::Hole(2 + usize::from(hole)), (*self.around.holes?.1.get(usize::from(hole))?).into(), true)
            }
            NamedMemory::Rounds(name) => (At::Temp(*self.rounds.get(&name)?), 2, false),
            NamedMemory::Round(name) => (At::Temp(*self.round.get(&name)?), 1, false),
            NamedMemory::Result(graph, _) if self.around.instead_of == Some(graph) => return None,
            NamedMemory::Buffer(_) | NamedMemory::Scalar(_) | NamedMemory::Result(..) => {
                let (memory, writable) = self.model.memory_of(part.place)?;
                (At::Memory(memory), self.model.memory[memory].words.len(), writable)
            }
        };
        let (start, count) = (usize::from(part.start), usize::from(part.len));
        // The two numbers of a loop are two elements.
        let is_one = !matches!(part.place, NamedMemory::Rounds(_)) || count == 1;
        (is_one && count > 0 && start + count <= len).then_some((Range { at, start, len: count }, writable))
    }

    /// Which elements of a range were written by this recording; none where that does not matter.
    pub(super) fn written(&mut self, range: &Range) -> Option<&mut [bool]> {
        let flags = match range.at {
            At::Temp(temp) => &mut self.temps_written[temp],
            At::Own(output) if self.style == Style::Pure => &mut self.outputs_written[output],
            _ => return None,
        };
        Some(&mut flags[range.start..range.start + range.len])
    }

    pub(super) fn op(&mut self, op: &Op) -> Option<()> {
        match op {
            Op::Alloc(temp, len) => {
                if *len == 0 || self.temps.insert(*temp, self.taken.temps.len()).is_some() {
                    return None;
                }
                self.taken.temps.push((*len).into());
                self.temps_written.push(vec![false; (*len).into()]);
                Some(())
            }
            Op::Output(output, len) => {
                if *len == 0 || self.outputs.insert(*output, self.taken.outputs.len()).is_some() {
                    return None;
                }
                self.taken.outputs.push((*len).into());
                self.outputs_written.push(vec![false; (*len).into()]);
                Some(())
            }
            Op::Keep => Some(()),
            Op::SetSlot(slot, value) => {
                let number = self.slot(*slot)?;
                if self.style != Style::Free || !self.model.may_set(*slot) {
                    return None;
                }
                if !self.is_dead() {
                    self.taken.sets.insert(number, *value);
                }
                Some(())
            }
            Op::Eager(call, passed_on) => self.eager(*call, *passed_on),
            Op::Replay(graph) => self.replay(*graph),
            Op::Attempt(ops, end) => self.attempt(ops, *end),
            Op::Loop(..) | Op::When(..) | Op::Switch(..) | Op::Leave(_) | Op::Round(_) => self.flow(op),
            Op::SetNumber(number, of, side) => self.set_number(*number, *of, *side),
            _ => self.line(op),
        }
    }

    fn eager(&mut self, call: Eager, passed_on: bool) -> Option<()> {
        match call {
            Eager::Device => {}
            Eager::Stream(stream) => self.model.stream(stream)?,
            Eager::Read(stream, part) => {
                self.model.stream(stream)?;
                matches!(part.place, NamedMemory::Buffer(_)).then(|| self.range(part))??;
            }
            Eager::Host(host) => {
                matches!(self.model.own(host)?, Object::Host(_)).then_some(())?;
            }
        }
        if self.style != Style::Free && passed_on {
            return None;
        }
        if passed_on {
            self.refuse("EagerInRecording");
        }
        Some(())
    }

    fn replay(&mut self, name: Name) -> Option<()> {
        let Object::Graph(graph) = self.model.see(name)? else { return None };
        if self.style != Style::Free || self.around.instead_of == Some(name) {
            return None;
        }
        let Some(recording) = &graph.recording else {
            self.refuse("Reset");
            return Some(());
        };
        if self.is_dead() {
            return Some(());
        }
        let first = self.taken.temps.len();
        let mut items = recording.lines.clone();
        for item in &mut items {
            item.each_at(&mut |at| {
                if let At::Temp(temp) = at {
                    *temp += first;
                }
            });
        }
        for item in flat(&items) {
            for sight in item.sights() {
                match sight {
                    Sight::Slot(slot) => drop(self.read(Number::Slot(slot))),
                    Sight::Dial(slot) => [slot, slot + 1].into_iter().for_each(|slot| {
                        self.read(Number::Slot(slot));
                    }),
                    Sight::At(_) | Sight::Baked(_) => {}
                }
            }
            if let Item::Line(line) = item
                && !self.holds(line)?
            {
                self.refuse("Requires");
                return Some(());
            }
        }
        self.taken.lines.extend(items);
        self.taken.temps.extend(&recording.temps);
        self.temps_written.extend(recording.temps.iter().map(|len| vec![true; *len]));
        self.taken.pools.extend(&graph.pools);
        Some(())
    }

    fn attempt(&mut self, ops: &[Op], end: End) -> Option<()> {
        let simple = |op: &Op| !matches!(op, Op::Alloc(..) | Op::Output(..) | Op::Attempt(..));
        let names = (self.rounds.clone(), self.round.clone(), self.scopes.clone());
        if end == End::Good || !ops.iter().all(simple) {
            return None;
        }
        let was_dead = self.is_dead();
        let before = self.taken.clone();
        let written = (self.temps_written.clone(), self.outputs_written.clone());
        for op in ops {
            self.op(op)?;
        }
        if !was_dead {
            let (sets, readings) = (std::mem::take(&mut self.taken.sets), std::mem::take(&mut self.taken.readings));
            // Temps of graphs inside stay known and untouched; what was set or read stays so.
            self.taken = Taken { sets, readings, ..before };
            (self.temps_written, self.outputs_written) = written;
        }
        (self.rounds, self.round, self.scopes) = names;
        Some(())
    }

    /// Whether what a kernel asks for holds; none if nobody can know.
    fn holds(&mut self, line: &Line) -> Option<bool> {
        let len = line.write.len;
        match line.work {
            Work::First(count) => self.read(count).map(|count| count as usize <= len),
            Work::Window(offset) => self.read(offset).map(|offset| offset as usize + len <= line.reads[0].len),
            Work::Add => Some(line.reads.iter().all(|range| range.len == len)),
            Work::Mix => Some(line.reads[0].len == len),
            Work::Fill(number) => {
                self.read(number);
                Some(true)
            }
            Work::Bits(Sight::Dial(slot)) => {
                self.read(Number::Slot(slot));
                self.read(Number::Slot(slot + 1));
                Some(true)
            }
            _ => Some(true),
        }
    }

    fn line(&mut self, op: &Op) -> Option<()> {
        let (reads, write) = op.parts();
        let mut ranges = Vec::new();
        for part in &reads {
            if write.is_some_and(|write| write.overlaps(*part)) {
                return None;
            }
            ranges.push(self.range(*part)?.0);
        }
        let write = match (op, write) {
            (Op::Download(_, host), _) => {
                let Object::Host(memory) = *self.model.own(*host)? else { return None };
                Range { at: At::Memory(memory), start: 0, len: self.model.memory[memory].words.len() }
            }
            (_, Some(part)) => {
                let (range, writable) = self.range(part)?;
                writable.then_some(range)?
            }
            _ => return None,
        };
        if let Op::Upload(host, _) = op {
            let Object::Host(memory) = *self.model.own(*host)? else { return None };
            ranges.push(Range { at: At::Memory(memory), start: 0, len: self.model.memory[memory].words.len() });
        }
        let (work, changes) = match op {
            Op::Copy(..) | Op::Upload(..) | Op::Download(..) => (Work::Copy, false),
            Op::Fill(value, _) | Op::Put(value, _) => (Work::Fill(self.number(*value)?), false),
            Op::Add(..) => (Work::Add, false),
            Op::Mix(..) => (Work::Mix, true),
            Op::Scale(..) => (Work::Scale, true),
            Op::Sum(..) => (Work::Sum, false),
            Op::First(value, _) => (Work::First(self.number(*value)?), true),
            Op::Window(value, ..) => (Work::Window(self.number(*value)?), false),
            Op::Bump(..) => (Work::Bump, true),
            Op::Words(generator, _) => {
                let Object::Generator(generator) = *self.model.own(*generator)? else { return None };
                (Work::Words(generator), false)
            }
            _ => return None,
        };
        let is_one = match op {
            Op::Scale(by, _) => by.len == 1,
            Op::Sum(..) | Op::Bump(..) => write.len == 1,
            _ => true,
        };
        let line = Line { work, reads: ranges, write };
        if !is_one || !self.is_in_style(op, &line) {
            return None;
        }
        if self.is_dead() {
            return Some(());
        }
        if matches!(op, Op::Copy(..) | Op::Upload(..) | Op::Download(..)) && line.reads[0].len != write.len {
            self.refuse("Length");
            return Some(());
        }
        if !self.holds(&line)? {
            self.refuse("Requires");
            return Some(());
        }
        let mut unwritten = false;
        for range in &line.reads {
            if self.written(range).is_some_and(|flags| !flags.iter().all(|flag| *flag)) {
                // Of an output it is no refusal: it would be what an earlier replay has left.
                matches!(range.at, At::Temp(_)).then_some(())?;
                unwritten = true;
            }
        }
        // The library cannot tell `&mut` that is only written from one that is read: a kernel would read what nobody
        // wrote.
        if changes && self.written(&write).is_some_and(|flags| !flags.iter().all(|flag| *flag)) {
            return None;
        }
        if unwritten {
            self.refuse("UninitTemp");
            return Some(());
        }
        if let Some(flags) = self.written(&write) {
            flags.fill(true);
        }
        self.taken.lines.push(Item::Line(line));
        Some(())
    }

    fn set_number(&mut self, number: Name, of: Type, side: Side) -> Option<()> {
        let Object::Number(known, memory) = *self.model.own(number)? else { return None };
        let sight = self.side(side, of).filter(|sight| matches!(sight, Sight::Dial(_) | Sight::Baked(_)))?;
        if self.style != Style::Free || known != of {
            return None;
        }
        let write = Range { at: At::Memory(memory), start: 0, len: 2 };
        let line = Line { work: Work::Bits(sight), reads: Vec::new(), write };
        if !self.is_dead() {
            self.holds(&line);
            self.taken.lines.push(Item::Line(line));
        }
        Some(())
    }

    /// Whether threads may replay this in any order.
    fn is_in_style(&self, op: &Op, line: &Line) -> bool {
        if self.style == Style::Free {
            return true;
        }
        let is_own = |range: &Range| matches!(range.at, At::Temp(_) | At::Own(_));
        let reads_buffers = op.parts().0.iter().all(|part| {
            matches!(
                part.place,
                NamedMemory::Buffer(_)
                    | NamedMemory::Temp(_)
                    | NamedMemory::Output(_)
                    | NamedMemory::Rounds(_)
                    | NamedMemory::Round(_)
            )
        });
        let from_slot = |number: Number| matches!(number, Number::Slot(_));
        let fixed = match line.work {
            Work::First(number) | Work::Window(number) => !from_slot(number),
            Work::Words(_) => false,
            _ => !matches!(op, Op::Upload(..) | Op::Download(..)),
        };
        let bumps =
            matches!(op, Op::Bump(part) if matches!(part.place, NamedMemory::Scalar(_))) && self.style == Style::Team;
        fixed && reads_buffers && (is_own(&line.write) || bumps)
    }
}
