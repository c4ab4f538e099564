//! Control flow: loops that mostly end soon, branches, and conditions over whatever there is.

use super::draw_body::Bodies;
use super::model::Kind;
use super::numbers::Type;
use super::program::{Asks, Body, Compare, Name, NamedMemory, Op, Part, Side, Term};

impl Bodies<'_> {
    /// A loop or a branch, without lines inside.
    pub(super) fn flow(&mut self) -> Option<Op> {
        Some(match self.drawer.dice.below(12) {
            0..3 => {
                let asks = Asks::Behind(self.term()?, self.bound());
                self.a_loop(asks)
            }
            3..5 => {
                let asks = Asks::Before(self.term()?, self.bound());
                self.a_loop(asks)
            }
            5..8 => {
                let asks = Asks::Times(self.count()?);
                self.a_loop(asks)
            }
            8..11 => {
                let otherwise = self.drawer.dice.chance(60).then(Vec::new);
                Op::When(self.term()?, Vec::new(), otherwise)
            }
            _ => {
                let cases = if self.drawer.dice.chance(5) { 0 } else { self.drawer.dice.between(1, 4) };
                Op::Switch(self.count()?, vec![Vec::new(); cases.into()])
            }
        })
    }

    /// The same with a line or two inside.
    pub(super) fn small_flow(&mut self) -> Option<Op> {
        let mut op = self.flow()?;
        for body in op.bodies_mut() {
            let count = self.drawer.dice.below(3);
            body.extend((0..count).filter_map(|_| self.simple()));
        }
        Some(op)
    }

    fn a_loop(&mut self, asks: Asks) -> Op {
        Op::Loop(self.name(), asks, Vec::new())
    }

    /// A way out of a loop, or the number of its round.
    pub(super) fn of_loop(&mut self) -> Option<Op> {
        if self.drawer.dice.chance(60) {
            return Some(Op::Leave(self.term()?));
        }
        let name = self.name();
        self.loops.push(NamedMemory::Round(name));
        Some(Op::Round(name))
    }

    /// A number gets a value.
    pub(super) fn set_number(&mut self) -> Option<Op> {
        let (number, Kind::Number(of)) = self.drawer.pick(|kind| matches!(kind, Kind::Number(_)))? else {
            return None;
        };
        let slot = self.dial(of).filter(|_| self.drawer.dice.chance(30));
        Some(Op::SetNumber(number, of, slot.map_or_else(|| Side::Baked(of.draw(&mut self.drawer.dice)), Side::Slot)))
    }

    fn dial(&mut self, of: Type) -> Option<Name> {
        Some(self.drawer.pick(|kind| kind == Kind::Dial(of))?.0)
    }

    /// Draws the lines inside the last one; most of its bodies write a temp from outside that nobody has written yet.
    pub(super) fn inside(&mut self, body: &mut Body, pure: bool, fresh: Option<Part>) {
        let line = self.lines(body).len() - 1;
        let count = self.lines(body)[line].bodies().len();
        for which in 0..count {
            let (temps, loops) = (self.temps.len(), self.loops.len());
            self.path.push((line, which));
            if let Some(fresh) = fresh.filter(|_| self.drawer.dice.chance(80)) {
                let value = self.drawer.value(false);
                let op = if self.drawer.dice.chance(50) { Op::Fill(value, fresh) } else { Op::Put(value, fresh) };
                self.try_op(body, op, pure);
            }
            let lines = self.drawer.dice.below(4) + u64::from(self.path.len() < self.deepest && self.deepest > 4);
            for _ in 0..lines {
                self.more(body, pure);
            }
            // So that there is a nest as deep as it may be, now and then.
            if self.deepest > 4 && self.path.len() < self.deepest && self.drawer.dice.chance(80) {
                let deeper = self.flow();
                if deeper.is_some_and(|op| self.try_op(body, op, pure)) {
                    self.inside(body, pure, None);
                }
            }
            self.path.pop();
            if which == 0 {
                self.ask_inside(body, line, pure);
            }
            self.temps.truncate(temps);
            self.loops.truncate(loops);
        }
        if let Op::Loop(name, ..) = self.lines(body)[line] {
            self.loops.push(NamedMemory::Rounds(name));
        }
    }

    /// A loop asks about something that its body changes.
    fn ask_inside(&mut self, body: &mut Body, line: usize, pure: bool) {
        let Op::Loop(_, asks, ops) = &self.lines(body)[line] else { return };
        let (before, wrote) = (asks.clone(), ops.iter().filter_map(|op| op.parts().1).next_back());
        let term = match wrote {
            Some(part) if self.drawer.dice.chance(50) => self.counted(part),
            _ if self.drawer.dice.chance(40) => self.term(),
            _ => None,
        };
        let (asks, counted) = match (before.clone(), term) {
            (Asks::Behind(_, bound), Some(term)) => (Asks::Behind(term, bound), wrote),
            (Asks::Before(_, bound), Some(term)) => (Asks::Before(term, bound), wrote),
            _ => return,
        };
        self.set_asks(body, line, asks);
        if self.admits(body, pure) != Some(true) {
            self.set_asks(body, line, before);
            return;
        }
        // Then it ends by itself, mostly.
        if let Some(part) = counted {
            self.path.push((line, 0));
            self.try_op(body, Op::Bump(Part { len: 1, ..part }), pure);
            self.path.pop();
        }
    }

    fn set_asks(&self, body: &mut Body, line: usize, new: Asks) {
        if let Op::Loop(_, asks, _) = &mut self.lines(body)[line] {
            *asks = new;
        }
    }

    /// Whether the first word of a part is below some number.
    fn counted(&mut self, part: Part) -> Option<Term> {
        let most = Side::Baked(self.drawer.small().into());
        let how = self.drawer.dice.pick(&[Compare::Below, Compare::AtMost])?;
        Some(Term::Compare(how, Type::U32, Side::At(part.place, part.start), most))
    }

    fn bound(&mut self) -> Option<Side> {
        match self.drawer.dice.below(100) {
            0..12 => None,
            12..70 => Some(Side::Baked(self.drawer.dice.below(4))),
            70..85 => Some(Side::Slot(self.drawer.pick(|kind| kind == Kind::Slot)?.0)),
            _ => self.element(),
        }
    }

    /// How many rounds, or which case.
    fn count(&mut self) -> Option<Side> {
        match self.drawer.dice.below(100) {
            0..40 => Some(Side::Baked(self.drawer.dice.below(4))),
            40..65 => Some(Side::Slot(self.drawer.pick(|kind| kind == Kind::Slot)?.0)),
            _ => self.element(),
        }
    }

    fn element(&mut self) -> Option<Side> {
        let part = self.part(false, Some(1))?;
        Some(Side::At(part.place, part.start))
    }

    /// A condition: one comparison, several, or now and then too many.
    fn term(&mut self) -> Option<Term> {
        let steps = match self.drawer.dice.below(100) {
            0..60 => 1,
            60..97 => self.drawer.dice.between(2, 5),
            _ => self.drawer.dice.between(6, 10),
        };
        let mut term = self.compare()?;
        for _ in 1..steps {
            let other = Box::new(self.compare()?);
            term = match self.drawer.dice.below(3) {
                0 => Term::And(Box::new(term), other),
                1 => Term::Or(other, Box::new(term)),
                _ => Term::Not(Box::new(term)),
            };
        }
        Some(term)
    }

    fn compare(&mut self) -> Option<Term> {
        let all = [Compare::Equal, Compare::Differs, Compare::Above, Compare::AtLeast, Compare::Below, Compare::AtMost];
        let how = self.drawer.dice.pick(&all)?;
        let known = self.drawer.pick(|kind| matches!(kind, Kind::Number(_) | Kind::Dial(_)));
        let of = match known {
            Some((_, Kind::Number(of) | Kind::Dial(of))) if self.drawer.dice.chance(45) => of,
            _ => Type::U32,
        };
        let (left, right) = (self.side(of)?, self.side(of)?);
        Some(Term::Compare(how, of, left, right))
    }

    fn side(&mut self, of: Type) -> Option<Side> {
        let which = self.drawer.dice.below(100);
        if of != Type::U32 {
            let number = self.drawer.pick(|kind| kind == Kind::Number(of));
            let slot = self.dial(of);
            return Some(match (which, number, slot) {
                (0..55, Some((name, _)), _) => Side::Number(name),
                (55..80, _, Some(name)) => Side::Slot(name),
                _ => Side::Baked(of.draw(&mut self.drawer.dice)),
            });
        }
        match (which, self.drawer.pick(|kind| kind == Kind::Slot)) {
            (0..25, _) => Some(Side::Baked(self.drawer.number().into())),
            (25..40, Some((name, _))) => Some(Side::Slot(name)),
            _ => self.element(),
        }
    }
}
