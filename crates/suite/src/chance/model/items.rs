//! What a recording consists of: lines, and control flow around lines.

use super::taken::{At, Line, Range};
use crate::chance::numbers::Type;
use crate::chance::program::Compare;

/// A line, or control flow.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Line(Line),
    Loop(Rounds),
    /// One of two lists.
    Choice(Test, Vec<Item>, Vec<Item>),
    /// The list of a number.
    Switch(Sight, Vec<Vec<Item>>),
    /// Ends the round that it stands in, and the loop.
    Leave(Test),
}

/// A loop.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    /// Whether the first round is run without a question.
    pub(super) once: bool,
    pub(super) test: Test,
    pub(super) bound: Option<Sight>,
    pub(super) body: Vec<Item>,
    /// Two words: how many rounds, and whether the bound ended it.
    pub(super) state: Range,
}

/// What is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sight {
    /// One word of memory, or two that are the bits of a number.
    At(Range),
    /// A slot of one word.
    Slot(usize),
    /// A slot of two words.
    Dial(usize),
    Baked(u64),
}

/// A condition.
#[derive(Clone, Debug)]
pub(super) enum Test {
    True,
    Compare(Compare, Type, Sight, Sight),
    And(Box<Test>, Box<Test>),
    Or(Box<Test>, Box<Test>),
    Not(Box<Test>),
}

impl Test {
    /// All that it looks at.
    pub(super) fn sights(&self) -> Vec<Sight> {
        match self {
            Test::True => Vec::new(),
            Test::Compare(_, _, left, right) => vec![*left, *right],
            Test::And(left, right) | Test::Or(left, right) => [left.sights(), right.sights()].concat(),
            Test::Not(test) => test.sights(),
        }
    }

    fn each_mut(&mut self, f: &mut dyn FnMut(&mut Sight)) {
        match self {
            Test::True => {}
            Test::Compare(_, _, left, right) => [left, right].into_iter().for_each(f),
            Test::And(left, right) | Test::Or(left, right) => {
                left.each_mut(f);
                right.each_mut(f);
            }
            Test::Not(test) => test.each_mut(f),
        }
    }
}

impl Item {
    /// What is looked at by it, without what is inside.
    pub(super) fn sights(&self) -> Vec<Sight> {
        match self {
            Item::Line(_) => Vec::new(),
            Item::Loop(rounds) => rounds.test.sights().into_iter().chain(rounds.bound).collect(),
            Item::Choice(test, ..) | Item::Leave(test) => test.sights(),
            Item::Switch(sight, _) => vec![*sight],
        }
    }

    fn lists(&self) -> Vec<&[Item]> {
        match self {
            Item::Line(_) | Item::Leave(_) => Vec::new(),
            Item::Loop(rounds) => vec![&rounds.body],
            Item::Choice(_, then, otherwise) => vec![then, otherwise],
            Item::Switch(_, cases) => cases.iter().map(Vec::as_slice).collect(),
        }
    }

    /// Changes where memory is, of all that is inside too.
    pub(super) fn each_at(&mut self, f: &mut dyn FnMut(&mut At)) {
        let mut seen = |sight: &mut Sight| {
            if let Sight::At(range) = sight {
                f(&mut range.at);
            }
        };
        match self {
            Item::Line(line) => {
                line.reads.iter_mut().chain([&mut line.write]).for_each(|range| f(&mut range.at));
                return;
            }
            Item::Loop(rounds) => {
                rounds.test.each_mut(&mut seen);
                rounds.bound.iter_mut().for_each(seen);
                f(&mut rounds.state.at);
            }
            Item::Choice(test, ..) | Item::Leave(test) => test.each_mut(&mut seen),
            Item::Switch(sight, _) => seen(sight),
        }
        let lists: Vec<&mut Vec<Item>> = match self {
            Item::Line(_) | Item::Leave(_) => Vec::new(),
            Item::Loop(rounds) => vec![&mut rounds.body],
            Item::Choice(_, then, otherwise) => vec![then, otherwise],
            Item::Switch(_, cases) => cases.iter_mut().collect(),
        };
        lists.into_iter().flatten().for_each(|item| item.each_at(f));
    }
}

/// All of it in recorded order, with what is inside behind what it is inside of.
pub(super) fn flat(items: &[Item]) -> Vec<&Item> {
    let mut all = Vec::new();
    for item in items {
        all.push(item);
        item.lists().into_iter().for_each(|list| all.extend(flat(list)));
    }
    all
}

/// All lines, wherever they are.
pub(super) fn lines(items: &[Item]) -> impl Iterator<Item = &Line> {
    flat(items).into_iter().filter_map(|item| match item {
        Item::Line(line) => Some(line),
        _ => None,
    })
}

/// Whether there is control flow.
pub(super) fn has_flow(items: &[Item]) -> bool {
    items.iter().any(|item| !matches!(item, Item::Line(_)))
}
