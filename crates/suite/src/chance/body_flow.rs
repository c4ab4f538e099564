//! Taking control flow down with a recorder.

use dacapo::Element;
use dacapo::flow::{
    Condition, Operand, above, at_least, at_most, below, differs, equal, nonzero, unbounded, up_to, zero,
};
use dacapo::{Recorder, Result, Slice, Slot, baked};

use super::body::Env;
use super::numbers::{Bits, Type, With};
use super::program::{Asks, Compare, Name, NamedMemory, Op, Part, Side, Term};
use super::things::{Found, Local, Thing, Whole, lend};

/// One side of a comparison, as it is found.
enum Known<'e, T: Bits> {
    Element(&'e Element<T>),
    Slot(Slot<T>),
    Baked(T),
}

/// Names what is found on a side.
macro_rules! on {
    ($known:expr, |$x:ident| $do:expr) => {
        match $known {
            Known::Element($x) => $do,
            Known::Slot(slot) => {
                let $x = &slot;
                $do
            }
            Known::Baked(value) => {
                let $x = baked(value);
                $do
            }
        }
    };
}

impl Env<'_> {
    pub(super) fn flow<'r>(&mut self, r: &mut Recorder<'r>, op: &Op, local: &mut Local<'r, '_>) -> Result<()> {
        match op {
            Op::Loop(name, asks, ops) => {
                let rounds = self.rounds(r, asks, ops, local)?;
                local.rounds.push((*name, rounds));
                Ok(())
            }
            Op::When(term, then, otherwise) => {
                let condition = self.condition(term, local);
                let around = local.all();
                let when = r.when(condition, |r: &mut Recorder<'_>| self.lines(r, then, &mut Local::inside(around)))?;
                let Some(otherwise) = otherwise else { return Ok(()) };
                let around = local.all();
                when.otherwise(|r: &mut Recorder<'_>| self.lines(r, otherwise, &mut Local::inside(around)))
            }
            Op::Switch(index, cases) => self.switch(r, *index, cases, local),
            Op::Leave(term) => {
                let condition = self.condition(term, local);
                r.leave_if(condition)
            }
            Op::Round(name) => {
                local.round.push((*name, r.round()?));
                Ok(())
            }
            _ => unreachable!("not control flow: {op:?}"),
        }
    }

    fn rounds<'r>(
        &mut self,
        r: &mut Recorder<'r>,
        asks: &Asks,
        ops: &[Op],
        local: &mut Local<'r, '_>,
    ) -> Result<dacapo::flow::Rounds<'r>> {
        match asks {
            Asks::Behind(term, bound) => {
                let bound = self.bound(*bound, local);
                let around = local.all();
                r.repeat(bound, |r: &mut Recorder<'_>| {
                    let mut local = Local::inside(around);
                    self.lines(r, ops, &mut local)?;
                    Ok(self.condition(term, &mut local))
                })
            }
            Asks::Before(term, bound) => {
                let (condition, bound) = (self.condition(term, local), self.bound(*bound, local));
                let around = local.all();
                let body = |r: &mut Recorder<'_>| self.lines(r, ops, &mut Local::inside(around));
                r.repeat_while(condition, bound, body)
            }
            Asks::Times(side) => {
                let around = local.all();
                let held = self.hold(*side, &around);
                let outcome = on!(held.known(), |times| {
                    r.repeat_times(times, |r: &mut Recorder<'_>| self.lines(r, ops, &mut Local::inside(around)))
                });
                self.put_back(held);
                outcome
            }
        }
    }

    fn switch(
        &mut self,
        r: &mut Recorder<'_>,
        index: Side,
        cases: &[Vec<Op>],
        local: &mut Local<'_, '_>,
    ) -> Result<()> {
        let around = local.all();
        let held = self.hold(index, &around);
        let mut local = Local::inside(around);
        let outcome = on!(held.known(), |index| {
            r.switch(index, cases.len() as u32, |r, case| {
                self.lines(r, &cases[case as usize], &mut Local::inside(local.all()))
            })
        });
        self.put_back(held);
        outcome
    }

    /// What a count or an index is, apart from what the bodies may change.
    fn hold<'e>(&mut self, side: Side, around: &[Found<'e>]) -> Held<'e> {
        match side {
            Side::Baked(bits) => Held::Baked(bits as u32),
            Side::Slot(name) => Held::Slot(self.slot(name)),
            Side::At(NamedMemory::Buffer(name), at) => match self.see(name) {
                Thing::Buffer(buffer) => Held::Shared(buffer.share(), at.into()),
                _ => unreachable!("the model knows that it is a buffer"),
            },
            Side::At(NamedMemory::Scalar(name), _) => {
                // Nobody inside names it.
                Held::Scalar(name, Box::new(self.things.remove(&name).expect("the model knows that there is one")))
            }
            Side::At(place, at) => {
                let found = around.iter().find_map(|(known, first, whole)| match whole {
                    Whole::Read(slice) if *known == place && *first <= at && usize::from(at - first) < slice.len() => {
                        Some((*slice, at - first))
                    }
                    _ => None,
                });
                let (slice, at) = found.expect("the model knows that there is one");
                Held::Element(slice, at.into())
            }
            Side::Number(_) => unreachable!("the model knows that it is no count"),
        }
    }

    fn put_back(&mut self, held: Held<'_>) {
        if let Held::Scalar(name, thing) = held {
            self.things.insert(name, *thing);
        }
    }

    fn bound(&mut self, bound: Option<Side>, local: &mut Local<'_, '_>) -> dacapo::flow::Bound {
        let Some(side) = bound else { return unbounded() };
        let parts: Vec<Part> = part(side).into_iter().collect();
        let slot = self.slot_of::<u32>(side);
        let lent = lend(&mut self.things, self.shared, local, &parts, &[], None);
        on!(known(side, slot, lent.reads.first().copied()), |rounds| up_to(rounds))
    }

    pub(super) fn condition(&mut self, term: &Term, local: &mut Local<'_, '_>) -> Condition {
        match term {
            Term::Compare(how, of, left, right) => {
                of.with(Comparing { env: self, local, of: *of, how: *how, left: *left, right: *right })
            }
            Term::And(left, right) => self.condition(left, local) & self.condition(right, local),
            Term::Or(left, right) => self.condition(left, local) | self.condition(right, local),
            Term::Not(term) => !self.condition(term, local),
        }
    }

    /// The slot of this type that a side is, if it is one.
    fn slot_of<T: Bits>(&self, side: Side) -> Option<Slot<T>> {
        let Side::Slot(name) = side else { return None };
        match self.see(name) {
            // A slot of this type is one of `u32`.
            Thing::Slot(slot) => {
                let any = super::numbers::AnySlot::U32(slot.clone());
                Some(T::slot(&any).expect("the model knows its type").clone())
            }
            Thing::Dial(slot) => Some(T::slot(slot).expect("the model knows its type").clone()),
            _ => unreachable!("the model knows that it is a slot"),
        }
    }

    /// Records that a number gets a value.
    pub(super) fn set_number(&mut self, r: &mut Recorder<'_>, number: Name, side: Side) -> Result<()> {
        let Some(Thing::Number(mut scalar)) = self.things.remove(&number) else { unreachable!("a number") };
        let outcome = match side {
            Side::Baked(bits) => scalar.fill(r, bits),
            Side::Slot(name) => match self.see(name) {
                Thing::Dial(slot) => scalar.fill_by(r, slot),
                _ => unreachable!("the model knows that it is a slot"),
            },
            Side::At(..) | Side::Number(_) => unreachable!("the model knows what it is set to"),
        };
        self.things.insert(number, Thing::Number(scalar));
        outcome
    }
}

/// A count or an index while its bodies are recorded.
enum Held<'e> {
    Baked(u32),
    Slot(Slot<u32>),
    Shared(dacapo::memory::Shared<u32>, usize),
    Scalar(Name, Box<Thing>),
    Element(&'e Slice<u32>, usize),
}

impl Held<'_> {
    fn known(&self) -> Known<'_, u32> {
        match self {
            Held::Baked(value) => Known::Baked(*value),
            Held::Slot(slot) => Known::Slot(slot.clone()),
            Held::Shared(buffer, at) => Known::Element(buffer.at(*at)),
            Held::Scalar(_, thing) => match &**thing {
                Thing::Scalar(scalar) => Known::Element(scalar),
                _ => unreachable!("the model knows that it is a scalar"),
            },
            Held::Element(slice, at) => Known::Element(slice.at(*at)),
        }
    }
}

/// The element that a side is, as a part.
fn part(side: Side) -> Option<Part> {
    match side {
        Side::At(place, start) => Some(Part { place, start, len: 1 }),
        _ => None,
    }
}

fn known(side: Side, slot: Option<Slot<u32>>, read: Option<&Slice<u32>>) -> Known<'_, u32> {
    match (side, slot, read) {
        (Side::Baked(bits), ..) => Known::Baked(bits as u32),
        (_, Some(slot), _) => Known::Slot(slot),
        (_, _, Some(slice)) => Known::Element(slice.at(0)),
        _ => unreachable!("looked up before"),
    }
}

/// A comparison whose type is not known yet.
struct Comparing<'a, 's, 'l, 'r, 'h> {
    env: &'a mut Env<'s>,
    local: &'l mut Local<'r, 'h>,
    of: Type,
    how: Compare,
    left: Side,
    right: Side,
}

impl With for Comparing<'_, '_, '_, '_, '_> {
    type Out = Condition;

    fn of<T: Bits>(self) -> Condition {
        let Comparing { env, local, of, how, left, right } = self;
        let slots = (env.slot_of::<T>(left), env.slot_of::<T>(right));
        if of == Type::U32 && [left, right].iter().any(|side| matches!(side, Side::At(..))) {
            return elements(env, local, how, left, right);
        }
        let side = |side: Side, slot: Option<Slot<T>>| match (side, slot) {
            (Side::Baked(bits), _) => Known::Baked(T::of_bits(bits)),
            (_, Some(slot)) => Known::Slot(slot),
            (Side::Number(name), _) => match env.see(name) {
                Thing::Number(scalar) => Known::Element(T::scalar(scalar).expect("the model knows its type")),
                _ => unreachable!("the model knows that it is a number"),
            },
            _ => unreachable!("the model knows its type"),
        };
        let (left, right) = (side(left, slots.0), side(right, slots.1));
        on!(left, |left| against(how, left, right))
    }
}

/// A comparison with an element of memory.
fn elements(env: &mut Env<'_>, local: &mut Local<'_, '_>, how: Compare, left: Side, right: Side) -> Condition {
    let slots = (env.slot_of::<u32>(left), env.slot_of::<u32>(right));
    let parts: Vec<Part> = [left, right].into_iter().filter_map(part).collect();
    let lent = lend(&mut env.things, env.shared, local, &parts, &[], None);
    let mut reads = lent.reads.into_iter();
    let mut side = |side: Side, slot: Option<Slot<u32>>| {
        known(side, slot, if matches!(side, Side::At(..)) { reads.next() } else { None })
    };
    let (left, right) = (side(left, slots.0), side(right, slots.1));
    on!(left, |left| against(how, left, right))
}

fn against<T: Bits>(how: Compare, left: impl Operand<T>, right: Known<'_, T>) -> Condition {
    match (how, &right) {
        (Compare::Differs, Known::Baked(value)) if value.bits() == 0 => nonzero(left),
        (Compare::Equal, Known::Baked(value)) if value.bits() == 0 => zero(left),
        _ => on!(right, |right| match how {
            Compare::Equal => equal(left, right),
            Compare::Differs => differs(left, right),
            Compare::Above => above(left, right),
            Compare::AtLeast => at_least(left, right),
            Compare::Below => below(left, right),
            Compare::AtMost => at_most(left, right),
        }),
    }
}
