//! What a register may hold, as far as addresses go.
//!
//! A value is a set of alternatives. Each is a sum of origins, every one taken once, taken away once, or mixed in by
//! other arithmetic, plus a constant where it is known. So `x + 4 * i` is "`x` once", `t + (y - x)` with `t = x` is
//! "`y` once", and `p ? x : y` is two alternatives. What is added to the origins is known to be a multiple of a power
//! of two.
//!
//! Values are numbers into a table, because most of the thousands in a kernel are equal.

use std::collections::HashMap;

/// Something that an address can come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Origin {
    /// The bytes of a parameter of the kernel, from this one on; [`ANYWHERE`] where it is not known which.
    Param(u32, u32),
    /// The address of a parameter of the kernel.
    Block(u32),
    /// A variable of the module in global or constant memory.
    Global(u32),
    /// A local variable, or a parameter of a device function, in one of its calls.
    Object(u32),
    /// Shared memory.
    Shared,
    /// What was loaded from memory: through this parameter, or [`ANYWHERE`].
    Memory(u32),
    /// What cannot be followed.
    Unknown,
}

/// Where that is not known.
pub(super) const ANYWHERE: u32 = u32::MAX;

/// How often an origin counts in a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Factor {
    Once,
    Minus,
    /// Some other number of times, or by arithmetic that is no sum.
    Mixed,
}

/// One alternative.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Term {
    /// By origin, each once.
    pub(super) parts: Vec<(Origin, Factor)>,
    pub(super) constant: Option<i64>,
    /// All but the origins that count once is a multiple of two to this.
    pub(super) align: u8,
    /// Stands for so many that they were merged; whatever it meets is merged too, so that merging ends.
    wide: bool,
}

impl Term {
    /// Whose memory it points into, and where there, if it is a variable's.
    pub(super) fn target(&self) -> Target {
        let mut targets =
            self.parts.iter().filter(|(origin, _)| matches!(origin, Origin::Object(_) | Origin::Block(_)));
        match (targets.next(), targets.next()) {
            (None, _) => Target::Elsewhere,
            (Some(&(origin, Factor::Once)), None) => {
                Target::Of(origin, if self.parts.len() == 1 { self.constant } else { None })
            }
            _ => Target::Several,
        }
    }

    /// The parameter that leads to the memory it points into; [`ANYWHERE`] where none does, or several do.
    pub(super) fn leads_through(&self) -> u32 {
        let mut through = self.parts.iter().filter_map(|part| match *part {
            (Origin::Param(index, _) | Origin::Memory(index), Factor::Once) => Some(index),
            _ => None,
        });
        match (through.next(), through.next()) {
            (Some(index), None) => index,
            _ => ANYWHERE,
        }
    }

    /// What decides which alternatives stay apart.
    fn key(&self) -> impl Iterator<Item = &(Origin, Factor)> {
        self.parts.iter().filter(|(_, factor)| *factor != Factor::Mixed)
    }

    fn absorb(&mut self, other: &Term) {
        for &(origin, factor) in &other.parts {
            match self.parts.binary_search_by_key(&origin, |part| part.0) {
                Ok(at) if self.parts[at].1 != factor => self.parts[at].1 = Factor::Mixed,
                Ok(_) => {}
                Err(at) => self.parts.insert(at, (origin, Factor::Mixed)),
            }
        }
        for part in &mut self.parts {
            if other.parts.binary_search_by_key(&part.0, |other| other.0).is_err() {
                part.1 = Factor::Mixed;
            }
        }
        if self.constant != other.constant {
            self.constant = None;
        }
        self.align = self.align.min(other.align);
    }

    fn plus(&self, other: &Term) -> Term {
        let mut sum = self.clone();
        for &(origin, factor) in &other.parts {
            match sum.parts.binary_search_by_key(&origin, |part| part.0) {
                Err(at) => sum.parts.insert(at, (origin, factor)),
                Ok(at) => match (sum.parts[at].1, factor) {
                    // Many values come out of memory: one of them stays one, whatever else is added.
                    (Factor::Once, _) | (_, Factor::Once) if matches!(origin, Origin::Memory(_) | Origin::Unknown) => {
                        sum.parts[at].1 = Factor::Once;
                    }
                    // Of two fields that are not known, one may be another.
                    (Factor::Once, Factor::Minus) | (Factor::Minus, Factor::Once)
                        if !matches!(origin, Origin::Param(_, ANYWHERE)) =>
                    {
                        sum.parts.remove(at);
                    }
                    _ => (sum.parts[at].1, sum.align) = (Factor::Mixed, 0),
                },
            }
        }
        sum.constant = self.constant.zip(other.constant).map(|(a, b)| a.wrapping_add(b));
        sum.wide |= other.wide;
        sum.align = sum.align.min(other.align);
        sum
    }
}

/// What a term points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A local variable or a parameter, at an offset where that is known.
    Of(Origin, Option<i64>),
    /// One of those, and it is not known which.
    Several,
    /// None of them.
    Elsewhere,
}

/// A number of a value in [`Values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Value(u32);

/// No alternative: nothing has come here yet.
pub(super) const NOTHING: Value = Value(0);
/// A number that no address comes from, and of which nothing is known.
pub(super) const NUMBER: Value = Value(1);

/// Zero is a multiple of everything; nobody asks for more than this.
const ALIGN_MAX: u8 = 12;

/// More alternatives than this are merged.
const ALTERNATIVES_MAX: usize = 16;

/// The table of values.
pub(super) struct Values {
    list: Vec<Vec<Term>>,
    ids: HashMap<Vec<Term>, Value>,
    joins: HashMap<(Value, Value), Value>,
    sums: HashMap<(Value, Value), Value>,
    mixes: HashMap<Value, Value>,
}

impl Values {
    pub(super) fn new() -> Values {
        let (list, ids) = (Vec::new(), HashMap::new());
        let (joins, sums, mixes) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut values = Values { list, ids, joins, sums, mixes };
        let (nothing, number) = (values.intern(Vec::new()), values.intern(vec![Term::default()]));
        debug_assert_eq!((nothing, number), (NOTHING, NUMBER));
        values
    }

    fn intern(&mut self, terms: Vec<Term>) -> Value {
        if let Some(&known) = self.ids.get(&terms) {
            return known;
        }
        let value = Value(self.list.len() as u32);
        self.list.push(terms.clone());
        self.ids.insert(terms, value);
        value
    }

    pub(super) fn terms(&self, value: Value) -> &[Term] {
        &self.list[value.0 as usize]
    }

    pub(super) fn constant(&mut self, constant: i64) -> Value {
        let align = (constant.trailing_zeros() as u8).min(ALIGN_MAX);
        self.intern(vec![Term { constant: Some(constant), align, ..Term::default() }])
    }

    pub(super) fn of(&mut self, origin: Origin, factor: Factor, constant: Option<i64>) -> Value {
        let align = match (factor, constant) {
            (Factor::Once, Some(constant)) => (constant.trailing_zeros() as u8).min(ALIGN_MAX),
            _ => 0,
        };
        self.intern(vec![Term { parts: vec![(origin, factor)], constant, align, wide: false }])
    }

    /// The constant that a value is, if it is one.
    pub(super) fn known(&self, value: Value) -> Option<i64> {
        match self.terms(value) {
            [term] if term.parts.is_empty() => term.constant,
            _ => None,
        }
    }

    /// Whether no address can come from it.
    pub(super) fn is_number(&self, value: Value) -> bool {
        self.terms(value).iter().all(|term| term.parts.is_empty())
    }

    /// The parameter whose bits it has, unchanged.
    pub(super) fn exact(&self, value: Value) -> Option<u32> {
        match self.terms(value) {
            [Term { parts, constant: Some(0), .. }] => match parts[..] {
                [(Origin::Param(index, 0), Factor::Once)] => Some(index),
                _ => None,
            },
            _ => None,
        }
    }

    fn merged(&mut self, mut terms: Vec<Term>) -> Value {
        terms.sort();
        let mut kept: Vec<Term> = Vec::with_capacity(terms.len());
        for term in terms {
            match kept.iter_mut().find(|known| known.key().eq(term.key())) {
                Some(known) => {
                    known.absorb(&term);
                    known.wide |= term.wide;
                }
                None => kept.push(term),
            }
        }
        if kept.len() > ALTERNATIVES_MAX || (kept.len() > 1 && kept.iter().any(|term| term.wide)) {
            let mut all = kept.swap_remove(0);
            kept.iter().for_each(|term| all.absorb(term));
            (all.constant, all.wide) = (None, true);
            kept = vec![all];
        }
        kept.sort();
        self.intern(kept)
    }

    /// Either of the two.
    pub(super) fn join(&mut self, a: Value, b: Value) -> Value {
        if a == b || b == NOTHING {
            return a;
        }
        if a == NOTHING {
            return b;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&known) = self.joins.get(&key) {
            return known;
        }
        let terms = self.terms(a).iter().chain(self.terms(b)).cloned().collect();
        let joined = self.merged(terms);
        self.joins.insert(key, joined);
        joined
    }

    /// The sum of the two.
    pub(super) fn sum(&mut self, a: Value, b: Value) -> Value {
        if (a, b) == (NUMBER, NUMBER) {
            return NUMBER;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&known) = self.sums.get(&key) {
            return known;
        }
        let mut terms = Vec::with_capacity(self.terms(a).len() * self.terms(b).len());
        for one in self.terms(a) {
            terms.extend(self.terms(b).iter().map(|other| one.plus(other)));
        }
        let sum = self.merged(terms);
        self.sums.insert(key, sum);
        sum
    }

    /// Taken away rather than added.
    pub(super) fn negated(&mut self, a: Value) -> Value {
        let flip = |&(origin, factor): &(Origin, Factor)| match factor {
            Factor::Once => (origin, Factor::Minus),
            Factor::Minus => (origin, Factor::Once),
            Factor::Mixed => (origin, Factor::Mixed),
        };
        let terms = self.terms(a).iter().map(|term| Term {
            parts: term.parts.iter().map(flip).collect(),
            constant: term.constant.map(i64::wrapping_neg),
            align: term.align,
            wide: term.wide,
        });
        let terms = terms.collect();
        self.merged(terms)
    }

    /// The same origins, and an offset that is not known.
    pub(super) fn moved(&mut self, a: Value) -> Value {
        self.sum(a, NUMBER)
    }

    /// The same origins with the same alignment, and a constant that is not known.
    pub(super) fn shifted(&mut self, a: Value) -> Value {
        let terms = self.terms(a).iter().map(|term| Term { constant: None, ..term.clone() }).collect();
        self.merged(terms)
    }

    /// Something computed from it that is no sum.
    pub(super) fn mixed(&mut self, a: Value) -> Value {
        if let Some(&known) = self.mixes.get(&a) {
            return known;
        }
        let terms = self.terms(a).iter().map(|term| Term {
            parts: term.parts.iter().map(|part| (part.0, Factor::Mixed)).collect(),
            constant: None,
            align: if term.key().next().is_none() { term.align } else { 0 },
            wide: false,
        });
        let terms = terms.collect();
        let mixed = self.merged(terms);
        self.mixes.insert(a, mixed);
        mixed
    }

    /// Something computed from it that is no sum, and a multiple of two to `align` times what it was a multiple of.
    pub(super) fn scaled(&mut self, a: Value, align: u8) -> Value {
        let mixed = self.mixed(a);
        let terms = self.terms(mixed).iter().cloned();
        let terms = terms.map(|term| Term { align: term.align.saturating_add(align).min(ALIGN_MAX), ..term }).collect();
        self.merged(terms)
    }

    /// The same, where a parameter's 32 bits became 64: no longer the parameter itself, and an address least of all.
    pub(super) fn widened(&mut self, a: Value) -> Value {
        let widen = |&(origin, factor): &(Origin, Factor)| match origin {
            Origin::Param(..) | Origin::Memory(_) | Origin::Unknown => (origin, Factor::Mixed),
            _ => (origin, factor),
        };
        let terms = self.terms(a).iter().map(|term| Term {
            parts: term.parts.iter().map(widen).collect(),
            constant: term.constant,
            align: if term.key().any(|part| widen(part).1 == Factor::Mixed) { 0 } else { term.align },
            wide: term.wide,
        });
        let terms = terms.collect();
        self.merged(terms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Origin = Origin::Param(0, 0);
    const Y: Origin = Origin::Param(1, 0);

    #[test]
    fn a_difference_of_two_pointers_added_to_the_first_is_the_second() {
        let mut values = Values::new();
        let (x, y) = (values.of(X, Factor::Once, Some(0)), values.of(Y, Factor::Once, Some(0)));
        let minus = values.negated(x);
        let difference = values.sum(y, minus);
        let walked = values.moved(x);
        let sum = values.sum(walked, difference);
        assert_eq!(values.terms(sum)[0].parts, [(Y, Factor::Once)]);
    }

    #[test]
    fn alternatives_stay_apart_and_numbers_added_to_them_do_not() {
        let mut values = Values::new();
        let (x, y) = (values.of(X, Factor::Once, Some(0)), values.of(Y, Factor::Once, Some(0)));
        let either = values.join(x, y);
        assert_eq!(values.terms(either).len(), 2);
        let four = values.constant(4);
        let next = values.sum(x, four);
        let walked = values.join(x, next);
        let parts = vec![(X, Factor::Once)];
        assert_eq!(values.terms(walked), [Term { parts, constant: None, align: 2, wide: false }]);
    }

    #[test]
    fn merging_many_ends() {
        let mut values = Values::new();
        let mut all = NOTHING;
        for round in 0..3 {
            for index in 0..40 {
                let one = values.of(Origin::Param(index, 0), Factor::Once, Some(0));
                all = values.join(all, one);
            }
            let again = values.sum(all, all);
            all = values.join(all, again);
            assert_eq!(values.terms(all).len(), 1, "round {round}");
        }
        let before = all;
        let again = values.sum(all, all);
        all = values.join(all, again);
        assert_eq!(all, before);
    }
}
