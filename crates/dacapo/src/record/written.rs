//! Which bytes of a recording's temps are written, and that nobody reads others.
//!
//! - A temp lies in memory that other graphs use too: a byte that this recording did not write is somebody else's.
//! - A kernel with an empty grid writes nothing and reads nothing. Slots and rebound slices can make a grid empty, or fill
//!   it again, so a launch asks again whenever one has: [`expect_written`].
//! - `&mut` may mean written only: a declaration cannot tell, so only plain reads are refused, and what is passed as
//!   `&mut` or `&out` counts as written.

use smallvec::SmallVec;

use crate::error::{Error, ErrorKind, Result};
use crate::memory::{Access, Kind, Mode};
use crate::record::{Branch, BranchKind, Node, Work};

/// The byte ranges of one temp that were written, in the order of the writes.
#[derive(Default)]
pub(crate) struct Written(SmallVec<[(usize, usize); 2]>);

impl Written {
    pub(crate) fn push(&mut self, access: &Access) {
        self.0.push(range(access));
    }

    /// The bytes of a range that were written once more.
    pub(super) fn push_range(&mut self, range: (usize, usize)) {
        self.0.push(range);
    }

    /// The last write.
    pub(super) fn last(&self) -> Option<(usize, usize)> {
        self.0.last().copied()
    }

    /// Takes the last write back.
    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    /// The first bytes of an access that nobody wrote.
    pub(crate) fn gap(&self, access: &Access) -> Option<(usize, usize)> {
        let (start, end) = range(access);
        if start == end || self.0.iter().any(|&(from, to)| from <= start && end <= to) {
            return None;
        }
        let overlapping = |&&(from, to): &&(usize, usize)| from < end && start < to;
        let mut ranges: Vec<(usize, usize)> = self.0.iter().filter(overlapping).copied().collect();
        ranges.sort_unstable();
        let mut covered = start;
        for (from, to) in ranges {
            if from > covered {
                return Some((covered, from.min(end)));
            }
            covered = covered.max(to);
        }
        (covered < end).then_some((covered, end))
    }
}

fn range(access: &Access) -> (usize, usize) {
    (access.place.start, access.place.start + access.place.bytes)
}

/// The temp of an access, by its number in the recording.
pub(crate) fn temp_of(access: &Access) -> Option<usize> {
    match access.place.allocation.kind() {
        Kind::Temp(_) => Some(access.place.allocation.index() as usize),
        _ => None,
    }
}

/// Whether whether a node does anything may change between launches, and bytes of a temp hang on it.
pub(crate) fn may_idle(node: &Node) -> bool {
    // A recipe sees its slots, and where its slices begin.
    let is_rebound = |access: &Access| matches!(access.place.allocation.kind(), Kind::StandIn(_));
    let may_change = !node.slots.is_empty() || node.access.iter().any(is_rebound);
    let is_kernel = matches!(node.work, Work::Kernel(_));
    is_kernel && may_change && node.access.iter().any(|access| temp_of(access).is_some())
}

/// Refuses a launch in which an op would read bytes of a temp that no op before it writes.
///
/// # Errors
///
/// - [`ErrorKind::UninitTemp`], naming the reader and the op that would have written.
pub(crate) fn expect_written(nodes: &[Node], is_idle: impl Fn(usize) -> bool) -> Result<()> {
    let temps = nodes.iter().flat_map(|node| &node.access).filter_map(temp_of).max().map_or(0, |last| last + 1);
    let written = std::iter::repeat_with(Written::default).take(temps).collect();
    Pass { nodes, is_idle: &is_idle, written, writes: Vec::new() }.over(0..nodes.len())
}

/// Bytes of temps, by number, that a body writes when it runs.
type Certain = Vec<(usize, (usize, usize))>;

/// One pass over the nodes of a launch, in recorded order.
struct Pass<'n> {
    nodes: &'n [Node],
    is_idle: &'n dyn Fn(usize) -> bool,
    /// Of each temp.
    written: Vec<Written>,
    /// Which temp each write was to, in order.
    writes: Vec<usize>,
}

impl Pass<'_> {
    fn over(&mut self, range: std::ops::Range<usize>) -> Result<()> {
        let nodes = self.nodes;
        let (mut number, mut last_if) = (range.start, Certain::new());
        while number < range.end {
            let node = &nodes[number];
            match &node.work {
                Work::Branch(branch) => {
                    let certain = self.branch(number, branch)?;
                    if branch.is_else {
                        self.note(in_both(&last_if, &certain));
                    }
                    last_if = certain;
                }
                _ if (self.is_idle)(number) => {}
                _ => self.node(number, node)?,
            }
            number = node.next(number);
        }
        Ok(())
    }

    fn node(&mut self, number: usize, node: &Node) -> Result<()> {
        for access in &node.access {
            if let (Mode::Read, Some(temp)) = (access.mode, temp_of(access))
                && let Some(gap) = self.written[temp].gap(access)
            {
                return Err(node.blame(unwritten(access, gap, &self.nodes[..number], self.is_idle)));
            }
        }
        for access in node.access.iter().filter(|access| access.mode.writes()) {
            if let Some(temp) = temp_of(access) {
                self.written[temp].push(access);
                self.writes.push(temp);
            }
        }
        Ok(())
    }

    /// What is written behind a branch is what is certain to be: by a body that runs at least once, or by both of an
    /// `if` and its `else`. What its only body would write.
    fn branch(&mut self, number: usize, branch: &Branch) -> Result<Certain> {
        let before = self.writes.len();
        let mut bodies: Vec<Certain> = Vec::new();
        for (_, body) in branch.bodies(number) {
            self.over(body)?;
            if branch.kind != (BranchKind::While { once: true }) {
                bodies.push(self.take_back(before));
            }
        }
        match (branch.kind, &mut bodies[..]) {
            (BranchKind::If, [then, otherwise]) => self.note(in_both(then, otherwise)),
            (BranchKind::If, [then]) => return Ok(std::mem::take(then)),
            _ => {}
        }
        Ok(Certain::new())
    }

    /// Those bytes are written from here on.
    fn note(&mut self, certain: Certain) {
        for (temp, range) in certain {
            self.written[temp].push_range(range);
            self.writes.push(temp);
        }
    }

    /// Takes writes back, so that so many stay; which they were.
    fn take_back(&mut self, stay: usize) -> Certain {
        let mut taken = Vec::new();
        while self.writes.len() > stay {
            let temp = self.writes.pop().expect("longer than `stay`");
            let written = &mut self.written[temp];
            taken.extend(written.last().map(|range| (temp, range)));
            written.pop();
        }
        taken
    }
}

/// Bytes that both have written: ranges that do not touch each other, so no more of them than the two have together.
pub(crate) fn in_both<T: Copy + Ord>(
    one: &[(T, (usize, usize))],
    other: &[(T, (usize, usize))],
) -> Vec<(T, (usize, usize))> {
    let (one, other) = (united(one), united(other));
    let (mut both, mut left, mut right) = (Vec::new(), one.iter().peekable(), other.iter().peekable());
    while let (Some((temp, (from, to))), Some((other_temp, (other_from, other_to)))) = (left.peek(), right.peek()) {
        let shared = (*from.max(other_from), *to.min(other_to));
        if temp == other_temp && shared.0 < shared.1 {
            both.push((*temp, shared));
        }
        // The one that ends first has nothing more to share.
        match (temp, to) < (other_temp, other_to) {
            true => left.next(),
            false => right.next(),
        };
    }
    both
}

/// The same bytes as ranges that do not touch each other, in order.
fn united<T: Copy + Ord>(ranges: &[(T, (usize, usize))]) -> Vec<(T, (usize, usize))> {
    let mut sorted = ranges.to_vec();
    sorted.sort_unstable();
    let mut united: Vec<(T, (usize, usize))> = Vec::new();
    for (temp, (from, to)) in sorted {
        match united.last_mut() {
            Some((last_temp, (_, end))) if *last_temp == temp && from <= *end => *end = to.max(*end),
            _ => united.push((temp, (from, to))),
        }
    }
    united
}

/// A read of bytes that nobody wrote; `before` are the nodes before it, and `is_idle` says which of them have empty grids.
pub(crate) fn unwritten(
    access: &Access,
    (from, to): (usize, usize),
    before: &[Node],
    is_idle: impl Fn(usize) -> bool,
) -> Error {
    let temp = access.place.allocation.number();
    let would_write = |node: &Node| {
        let of_it = |other: &&Access| other.place.allocation.number() == temp && other.mode.writes();
        node.access.iter().filter(of_it).any(|other| range(other).0 < to && from < range(other).1)
    };
    let last = |is_it: &dyn Fn(usize) -> bool| {
        let found = (0..before.len()).rev().find(|&number| is_it(number) && would_write(&before[number]))?;
        Some(format!("`{}` at {}", before[found].name, before[found].at))
    };
    let idle = last(&|number| is_idle(number));
    // One that is being recorded has no accesses of its body yet.
    let branch = last(&|number| matches!(before[number].work, Work::Branch(_)));
    Error::new(ErrorKind::UninitTemp { argument: access.describe(), missing: from..to, idle, branch })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_have_written_is_no_more_than_either_has() {
        let one = [(1, (0, 10)), (0, (5, 6)), (1, (8, 20)), (1, (30, 40))];
        let other = [(1, (15, 35)), (1, (4, 9)), (2, (0, 9)), (0, (0, 5))];
        assert_eq!(in_both(&one, &other), [(1, (4, 9)), (1, (15, 20)), (1, (30, 35))]);
        assert_eq!(in_both(&other, &one), in_both(&one, &other));
        assert_eq!(in_both(&one, &one), [(0, (5, 6)), (1, (0, 20)), (1, (30, 40))]);
        assert_eq!(in_both(&one, &[]), []);
        // By every byte.
        let mut state = 1u32;
        let mut next = move |end: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % end
        };
        for _ in 0..500 {
            let mut some = || -> Vec<(u32, (usize, usize))> {
                let range = |start: u32, bytes: u32| (start as usize, (start + bytes) as usize);
                (0..next(8)).map(|_| (next(3), range(next(20), next(6)))).collect()
            };
            let (one, other) = (some(), some());
            let has = |of: &[(u32, (usize, usize))], temp: u32, byte: usize| {
                of.iter().any(|&(of, (from, to))| of == temp && from <= byte && byte < to)
            };
            let both = in_both(&one, &other);
            for (temp, byte) in (0..3).flat_map(|temp| (0..30).map(move |byte| (temp, byte))) {
                assert_eq!(
                    has(&both, temp, byte),
                    has(&one, temp, byte) && has(&other, temp, byte),
                    "{one:?} {other:?}"
                );
            }
        }
    }

    #[test]
    fn a_gap_is_found_wherever_it_is() {
        let device = crate::Device::software().unwrap();
        let buffer = device.zeros::<u8>(100).unwrap();
        let access = |from: usize, to: usize| Access::read("x", &buffer[from..to]);
        let mut written = Written::default();
        assert_eq!(written.gap(&access(10, 20)), Some((10, 20)));
        assert_eq!(written.gap(&access(10, 10)), None, "nothing is asked for");
        for (from, to) in [(30, 40), (0, 10), (15, 32), (5, 12)] {
            written.push(&access(from, to));
        }
        assert_eq!(written.gap(&access(0, 12)), None, "of two that overlap");
        assert_eq!(written.gap(&access(15, 40)), None, "of two, given the other way round");
        assert_eq!(written.gap(&access(0, 40)), Some((12, 15)));
        assert_eq!(written.gap(&access(0, 14)), Some((12, 14)));
        assert_eq!(written.gap(&access(20, 41)), Some((40, 41)));
        assert_eq!(written.gap(&access(50, 60)), Some((50, 60)));
        written.pop();
        assert_eq!(written.gap(&access(0, 12)), Some((10, 12)));
    }
}
