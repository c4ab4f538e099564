//! Taking control flow down.
//!
//! What a body writes to a temp counts as written behind it only where the body is certain to run: that of a `repeat`
//! as far as its first way out, or both sides of a branch.

use std::collections::BTreeMap;

use super::Object;
use super::items::{Item, Rounds, Sight, Test};
use super::taken::{At, Number, Range, Style, Taking};
use crate::chance::numbers::Type;
use crate::chance::program::{Asks, NamedMemory, Op, Part, Side, Term};

/// Comparisons of a condition, and what combines them, at most; and elements, or values, of one.
const STEPS_MAX: usize = 15;
const SIDES_MAX: usize = 8;

/// Of each temp, and of each output, which elements were written.
pub(super) type Flags = (Vec<Vec<bool>>, Vec<Vec<bool>>);

/// A body that is being taken down.
#[derive(Clone)]
pub(super) struct Scope {
    /// The state of the loop that it is a round of.
    opt_loop: Option<usize>,
    /// What was written before the first way out.
    left: Option<Flags>,
}

/// What is put back when a body ends.
struct Outside {
    items: Vec<Item>,
    names: [BTreeMap<u8, usize>; 3],
}

impl Taking<'_> {
    pub(super) fn flow(&mut self, op: &Op) -> Option<()> {
        match op {
            Op::Loop(name, asks, ops) => self.rounds(*name, asks, ops),
            Op::When(term, then, otherwise) => self.choice(term, then, otherwise.as_deref()),
            Op::Switch(index, cases) => self.switch(*index, cases),
            Op::Leave(term) => self.leave(term),
            Op::Round(name) => self.round(*name),
            _ => None,
        }
    }

    fn flags(&self) -> Flags {
        (self.temps_written.clone(), self.outputs_written.clone())
    }

    /// Of what was there then, this is written now.
    fn set_flags(&mut self, flags: Flags) {
        for (now, then) in self.temps_written.iter_mut().zip(flags.0) {
            *now = then;
        }
        self.outputs_written = flags.1;
    }

    /// A word or two that the library keeps of a loop.
    fn state(&mut self) -> usize {
        self.taken.temps.push(2);
        self.temps_written.push(vec![true; 2]);
        self.taken.temps.len() - 1
    }

    fn open(&mut self, opt_loop: Option<usize>) -> Outside {
        self.scopes.push(Scope { opt_loop, left: None });
        let names = [self.temps.clone(), self.rounds.clone(), self.round.clone()];
        Outside { items: std::mem::take(&mut self.taken.lines), names }
    }

    fn close(&mut self, outside: Outside) -> (Vec<Item>, Scope) {
        [self.temps, self.rounds, self.round] = outside.names;
        let scope = self.scopes.pop().expect("opened before");
        (std::mem::replace(&mut self.taken.lines, outside.items), scope)
    }

    /// One body that may run; what is written when it has.
    fn body(&mut self, ops: &[Op]) -> Option<(Vec<Item>, Flags)> {
        let before = self.flags();
        let outside = self.open(None);
        for op in ops {
            self.op(op)?;
        }
        let (items, _) = self.close(outside);
        let after = self.flags();
        self.set_flags(before);
        Some((items, after))
    }

    fn rounds(&mut self, name: u8, asks: &Asks, ops: &[Op]) -> Option<()> {
        if self.rounds.contains_key(&name) {
            return None;
        }
        let (once, term, side) = match asks {
            Asks::Behind(term, bound) => (true, Some(term), *bound),
            Asks::Before(term, bound) => (false, Some(term), *bound),
            Asks::Times(side) => (false, None, Some(*side)),
        };
        if let (Asks::Times(side), true) = (asks, true) {
            self.is_held(*side, ops)?;
        }
        let state = self.state();
        if !once {
            self.question(term, side)?;
        }
        let before = self.flags();
        let outside = self.open(Some(state));
        for op in ops {
            self.op(op)?;
        }
        // What it looks at may be the body's own.
        let (test, bound) = self.question(term, side)?;
        let (body, scope) = self.close(outside);
        let after = self.flags();
        self.set_flags(match (once, scope.left) {
            (true, Some(left)) => left,
            (true, None) => after,
            (false, _) => before,
        });
        self.rounds.insert(name, state);
        if !self.is_dead() {
            let state = Range { at: At::Temp(state), start: 0, len: 2 };
            self.taken.lines.push(Item::Loop(Rounds { once, test, bound, body, state }));
        }
        Some(())
    }

    fn choice(&mut self, term: &Term, then: &[Op], otherwise: Option<&[Op]>) -> Option<()> {
        let (test, _) = self.question(Some(term), None)?;
        let (then, one) = self.body(then)?;
        let mut items = Vec::new();
        if let Some(otherwise) = otherwise {
            let (list, other) = self.body(otherwise)?;
            items = list;
            self.set_flags((both(one.0, other.0), both(one.1, other.1)));
        }
        if !self.is_dead() {
            self.taken.lines.push(Item::Choice(test, then, items));
        }
        Some(())
    }

    fn switch(&mut self, index: Side, cases: &[Vec<Op>]) -> Option<()> {
        self.is_held(index, cases.iter().flatten())?;
        let sight = self.side(index, Type::U32)?;
        if cases.is_empty() {
            return Some(());
        }
        self.look(&[sight])?;
        let mut lists = Vec::new();
        for ops in cases {
            lists.push(self.body(ops)?.0);
        }
        if !self.is_dead() {
            self.taken.lines.push(Item::Switch(sight, lists));
        }
        Some(())
    }

    fn leave(&mut self, term: &Term) -> Option<()> {
        let test = self.test(term)?;
        let flags = self.flags();
        match self.scopes.last_mut() {
            Some(scope @ Scope { opt_loop: Some(_), .. }) => {
                scope.left.get_or_insert(flags);
            }
            _ => {
                self.refuse("NoLoop");
                return Some(());
            }
        }
        self.ask(term, &test, None)?;
        if !self.is_dead() {
            self.taken.lines.push(Item::Leave(test));
        }
        Some(())
    }

    fn round(&mut self, name: u8) -> Option<()> {
        let state = match self.scopes.iter().rev().find_map(|scope| scope.opt_loop) {
            Some(state) => state,
            None => {
                self.refuse("NoLoop");
                self.state()
            }
        };
        self.round.insert(name, state).is_none().then_some(())
    }

    /// What decides, where it is looked at.
    fn question(&mut self, term: Option<&Term>, bound: Option<Side>) -> Option<(Test, Option<Sight>)> {
        let bound = match bound {
            Some(side) => Some(self.side(side, Type::U32)?),
            None => None,
        };
        let Some(term) = term else {
            self.look(&bound.into_iter().collect::<Vec<_>>())?;
            return Some((Test::True, bound));
        };
        let test = self.test(term)?;
        self.ask(term, &test, bound)?;
        Some((test, bound))
    }

    fn ask(&mut self, term: &Term, test: &Test, bound: Option<Sight>) -> Option<()> {
        let mut sights = test.sights();
        let (mut elements, mut values): (Vec<Range>, usize) = (Vec::new(), 0);
        for sight in &sights {
            match sight {
                Sight::At(range) if elements.iter().any(|known| (known.at, known.start) == (range.at, range.start)) => {
                }
                Sight::At(range) => elements.push(*range),
                _ => values += 1,
            }
        }
        if term.steps() > STEPS_MAX || elements.len() > SIDES_MAX || values > SIDES_MAX {
            self.refuse("Unsupported");
            return Some(());
        }
        sights.extend(bound);
        self.look(&sights)
    }

    /// The device will look there: slots are read, and elements must have been written.
    fn look(&mut self, sights: &[Sight]) -> Option<()> {
        if self.is_dead() {
            return Some(());
        }
        for sight in sights {
            match sight {
                Sight::Slot(slot) => drop(self.read(Number::Slot(*slot))),
                Sight::Dial(slot) => {
                    self.read(Number::Slot(*slot));
                    self.read(Number::Slot(slot + 1));
                }
                Sight::At(_) | Sight::Baked(_) => {}
            }
        }
        for sight in sights {
            if let Sight::At(range) = sight
                && self.written(range).is_some_and(|flags| !flags.iter().all(|flag| *flag))
            {
                matches!(range.at, At::Temp(_)).then_some(())?;
                self.refuse("UninitTemp");
            }
        }
        Some(())
    }

    fn test(&self, term: &Term) -> Option<Test> {
        Some(match term {
            Term::Compare(how, of, left, right) => {
                Test::Compare(*how, *of, self.side(*left, *of)?, self.side(*right, *of)?)
            }
            Term::And(left, right) => Test::And(Box::new(self.test(left)?), Box::new(self.test(right)?)),
            Term::Or(left, right) => Test::Or(Box::new(self.test(left)?), Box::new(self.test(right)?)),
            Term::Not(term) => Test::Not(Box::new(self.test(term)?)),
        })
    }

    pub(super) fn side(&self, side: Side, of: Type) -> Option<Sight> {
        let is_fixed = match side {
            Side::At(place, _) => matches!(
                place,
                NamedMemory::Buffer(_)
                    | NamedMemory::Temp(_)
                    | NamedMemory::Output(_)
                    | NamedMemory::Rounds(_)
                    | NamedMemory::Round(_)
            ),
            Side::Baked(_) => true,
            Side::Slot(_) | Side::Number(_) => false,
        };
        if self.style != Style::Free && !is_fixed {
            return None;
        }
        match side {
            Side::At(place, start) => {
                let (range, _) = self.range(Part { place, start, len: 1 })?;
                (of == Type::U32).then_some(Sight::At(range))
            }
            Side::Baked(bits) => of.fits(bits).then_some(Sight::Baked(bits)),
            Side::Number(name) => match *self.model.see(name)? {
                Object::Number(known, memory) if known == of => {
                    Some(Sight::At(Range { at: At::Memory(memory), start: 0, len: 2 }))
                }
                _ => None,
            },
            Side::Slot(name) => match *self.model.see(name)? {
                Object::Slot(slot) if of == Type::U32 => Some(Sight::Slot(slot)),
                Object::Dial(known, slot) if known == of => Some(Sight::Dial(slot)),
                _ => None,
            },
        }
    }

    /// Whether a count or an index stays borrowed while its bodies are recorded: what they change must not be it.
    fn is_held<'o>(&self, side: Side, inside: impl IntoIterator<Item = &'o Op>) -> Option<()> {
        match side {
            Side::Baked(_) | Side::Slot(_) => Some(()),
            // Through a handle of its own.
            Side::At(
                NamedMemory::Buffer(_) | NamedMemory::Rounds(_) | NamedMemory::Round(_) | NamedMemory::In(_),
                _,
            ) => Some(()),
            Side::At(place @ NamedMemory::Scalar(_), _) => inside.into_iter().all(|op| !op.names(place)).then_some(()),
            _ => None,
        }
    }
}

/// What is written by both.
fn both(one: Vec<Vec<bool>>, other: Vec<Vec<bool>>) -> Vec<Vec<bool>> {
    let pair = |(one, other): (Vec<bool>, Vec<bool>)| one.iter().zip(other).map(|(one, other)| *one && other).collect();
    one.into_iter().zip(other).map(pair).collect()
}
