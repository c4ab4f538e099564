//! Which node of one report is which of another.
//!
//! Nodes are matched in order: the longest common subsequence of (kind, name, label). Of several equally long ones, that in
//! which most nodes are also equal otherwise, and of those the one in which nodes stay nearest to where they were.
//! Above [`PAIRS`] pairs that would take too long: then the nth of a kind, name and label is matched with the nth, as far
//! as the order allows.
//!
//! Memories are matched by the names that the program gave them, and else by what matched nodes do with them: their numbers
//! and what they are called by these change whenever one comes or goes.

use super::{How, Memory, MemoryKind, Report};
use std::collections::HashMap;

/// Up to so many pairs of nodes are compared with each other.
const PAIRS: usize = 1 << 20;

/// Pairs of indices `(first, second)`, ascending in both.
pub(super) fn matches(first: &Report, second: &Report) -> Vec<(usize, usize)> {
    let mut numbers = Numbers::default();
    let a: Vec<Key> = numbers.keys(first);
    let b: Vec<Key> = numbers.keys(second);
    // What is the same at both ends is matched without a look at the rest: usually, nearly everything.
    let shorter = a.len().min(b.len());
    let head = (0..shorter).take_while(|i| a[*i] == b[*i]).count();
    let tail = (1..=shorter - head).take_while(|i| a[a.len() - i] == b[b.len() - i]).count();
    let (inner_a, inner_b) = (&a[head..a.len() - tail], &b[head..b.len() - tail]);
    let is_small = inner_a.len().saturating_mul(inner_b.len()) <= PAIRS;
    let middle = if is_small { longest(inner_a, inner_b) } else { nth_with_nth(inner_a, inner_b) };
    let ends = (1..=tail).rev().map(|i| (a.len() - i, b.len() - i));
    (0..head).map(|i| (i, i)).chain(middle.into_iter().map(|(i, j)| (head + i, head + j))).chain(ends).collect()
}

/// For each memory of the first report, which of the second it is.
pub(super) fn matched_memories(first: &Report, second: &Report, pairs: &[(usize, usize)]) -> Vec<Option<usize>> {
    let mut found = Found { second_of: vec![None; first.memories.len()], is_taken: vec![false; second.memories.len()] };
    found.pair_by_name(first, second, is_named);
    for (i, j) in pairs {
        for (one, other) in first.nodes[*i].arguments.iter().zip(&second.nodes[*j].arguments) {
            let (How::Slice { memory: a, .. } | How::Scalar { memory: a, .. }) = one.how else { continue };
            let (How::Slice { memory: b, .. } | How::Scalar { memory: b, .. }) = other.how else { continue };
            let kind = |report: &Report, memory: usize| report.memories.get(memory).map(|memory| memory.kind);
            let is_one_name = |a: &Memory, b: &Memory| a.name == b.name || !(is_named(a) && is_named(b));
            let names = first.memories.get(a).zip(second.memories.get(b)).is_some_and(|(a, b)| is_one_name(a, b));
            if one.name == other.name && names && kind(first, a) == kind(second, b) {
                found.pair(a, b);
            }
        }
    }
    // Those that no op of both touches.
    found.pair_by_name(first, second, |_| true);
    found.second_of
}

/// Pairs of memories so far: who comes first has it.
struct Found {
    second_of: Vec<Option<usize>>,
    is_taken: Vec<bool>,
}

impl Found {
    /// The nth of a name and kind with the nth, among those that are asked for and have none yet.
    fn pair_by_name(&mut self, first: &Report, second: &Report, which: fn(&Memory) -> bool) {
        let mut named: HashMap<(&str, MemoryKind), Vec<usize>> = HashMap::new();
        for (at, memory) in second.memories.iter().enumerate().rev().filter(|(_, memory)| which(memory)) {
            if !self.is_taken[at] {
                named.entry((&memory.name, memory.kind)).or_default().push(at);
            }
        }
        for (at, memory) in first.memories.iter().enumerate().filter(|(_, memory)| which(memory)) {
            if self.second_of[at].is_none()
                && let Some(other) = named.get_mut(&(memory.name.as_str(), memory.kind)).and_then(Vec::pop)
            {
                self.pair(at, other);
            }
        }
    }

    fn pair(&mut self, first: usize, second: usize) {
        if let (Some(None), Some(false)) = (self.second_of.get(first), self.is_taken.get(second)) {
            self.second_of[first] = Some(second);
            self.is_taken[second] = true;
        }
    }
}

/// Whether the program gave it its name. Others are called by their kind and number.
pub(super) fn is_named(memory: &Memory) -> bool {
    let number = memory.name.rsplit_once(' ').and_then(|(_, number)| number.parse().ok());
    number != Some(memory.index)
}

/// What nodes are matched by. Nodes with equal numbers are equal in that respect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    /// Kind, name and label.
    pub name: usize,
    /// These, geometry, and arguments in words.
    pub content: usize,
}

/// A number for each text, so that comparing is cheap.
#[derive(Default)]
struct Numbers {
    seen: HashMap<String, usize>,
}

impl Numbers {
    fn keys(&mut self, report: &Report) -> Vec<Key> {
        let key = |node: &super::Node| {
            let name = format!("{:?}", (node.kind, &node.name, &node.label));
            let arguments: Vec<_> = node.arguments.iter().map(|one| (&one.name, report.describe(one))).collect();
            let content = format!("{name}{:?}", (node.geometry, arguments));
            Key { name: self.number(name), content: self.number(content) }
        };
        report.nodes.iter().map(key).collect()
    }

    fn number(&mut self, text: String) -> usize {
        let next = self.seen.len();
        *self.seen.entry(text).or_insert(next)
    }
}

/// The best common subsequence.
fn longest(a: &[Key], b: &[Key]) -> Vec<(usize, usize)> {
    // What the best matching of all behind (i, j) is worth: matches, then equal ones, then nearness.
    type Worth = (u32, u32, i64);
    let (rows, columns) = (a.len(), b.len());
    let width = columns + 1;
    let mut worth: Vec<Worth> = vec![(0, 0, 0); (rows + 1) * width];
    let with = |i: usize, j: usize, worth: &[Worth]| {
        let (matched, equal, near) = worth[(i + 1) * width + j + 1];
        let is_equal = u32::from(a[i].content == b[j].content);
        (a[i].name == b[j].name).then(|| (matched + 1, equal + is_equal, near - i.abs_diff(j) as i64))
    };
    for i in (0..rows).rev() {
        for j in (0..columns).rev() {
            let without = worth[(i + 1) * width + j].max(worth[i * width + j + 1]);
            worth[i * width + j] = with(i, j, &worth).map_or(without, |with| with.max(without));
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < rows && j < columns {
        let here = worth[i * width + j];
        if with(i, j, &worth) == Some(here) {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if worth[(i + 1) * width + j] == here {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// The nth of each name with the nth, as far as the order allows.
pub(super) fn nth_with_nth(a: &[Key], b: &[Key]) -> Vec<(usize, usize)> {
    let mut places: HashMap<usize, Vec<usize>> = HashMap::new();
    for (j, key) in b.iter().enumerate().rev() {
        places.entry(key.name).or_default().push(j);
    }
    let nth = |(i, key): (usize, &Key)| Some((i, places.get_mut(&key.name)?.pop()?));
    let pairs: Vec<(usize, usize)> = a.iter().enumerate().filter_map(nth).collect();
    // The longest run of pairs that also ascends in the second index: by the smallest end of a run of each length.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (_, j)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *j);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() { ends.push(at) } else { ends[length] = at }
    }
    let mut run = Vec::new();
    let mut next = ends.last().copied();
    while let Some(at) = next {
        run.push(pairs[at]);
        next = before[at];
    }
    run.reverse();
    run
}
