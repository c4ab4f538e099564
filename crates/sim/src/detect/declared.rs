//! Whose work it is that a thread hands over, and what the kernels of a launch may touch, as it was told.
//!
//! - A thread says it before it hands work over; the task or node then carries it, through instantiation, updates and
//!   clones of graphs. What nobody has said anything about is not looked at.
//! - Whose it is is known of kernels, copies, sets and conditional nodes, whichever detectors are on: findings name it.
//! - A range that may be written may be read. Ranges that touch each other are one: which of them an access belongs to is
//!   asked by reports alone.

use std::sync::Arc;

use dacapo_driver::types::{CUgraphExec, CUgraphNode};
use dacapo_driver::{DeclaredMode, DeclaredOf, DeclaredSlice};

use crate::finding::FindingOp;
use crate::machine::{Machine, State, this_thread};
use crate::model::executable::ExecKind;
use crate::model::table::Lookup;

/// A range of addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) start: u64,
    pub(crate) bytes: u64,
}

impl Window {
    /// Does an access lie inside?
    #[inline(always)]
    pub(crate) fn holds(&self, address: u64, bytes: u64) -> bool {
        let offset = address.wrapping_sub(self.start);
        offset < self.bytes && bytes <= self.bytes - offset
    }

    /// What it has in common with another one.
    pub(crate) fn within(self, other: Window) -> Window {
        let start = self.start.max(other.start);
        Window { start, bytes: self.end().min(other.end()).saturating_sub(start) }
    }

    /// Whether the two have a byte in common.
    pub(crate) fn meets(self, other: Window) -> bool {
        self.within(other).bytes > 0
    }

    fn end(&self) -> u64 {
        self.start + self.bytes
    }
}

/// A slice that an op was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) name: String,
    pub(crate) window: Window,
    pub(crate) mode: DeclaredMode,
}

/// What is known of work before it is handed over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Announced {
    /// Whose it is.
    pub(crate) by: Option<Arc<FindingOp>>,
    /// What its kernels may touch, where they are held against that.
    pub(crate) declared: Option<Arc<Declared>>,
}

impl Announced {
    pub(crate) fn new(told: &dacapo_driver::Declared<'_>) -> Announced {
        let declared = told.slices.map(|slices| Arc::new(Declared::new(slices)));
        Announced { by: Some(Arc::new(FindingOp::new(told))), declared }
    }
}

/// What a kernel may touch.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) given: Vec<Given>,
    /// In the order of their addresses, apart from each other.
    readable: Vec<Window>,
    writable: Vec<Window>,
    /// What it may touch before its own wait, if that is less.
    pub(crate) before_wait: Option<Box<Declared>>,
    /// Whether this is about the time before its own wait.
    pub(crate) is_before_wait: bool,
}

impl Declared {
    fn new(slices: &[DeclaredSlice<'_>]) -> Declared {
        let mut whole = Declared::of(slices);
        if slices.iter().any(|slice| !slice.early) {
            let early: Vec<_> = slices.iter().filter(|slice| slice.early).copied().collect();
            // All are known by name, so that a report can say which one it was.
            let (given, writable) = (whole.given.clone(), Vec::new());
            whole.before_wait =
                Some(Box::new(Declared { given, writable, is_before_wait: true, ..Declared::of(&early) }));
        }
        whole
    }

    fn of(slices: &[DeclaredSlice<'_>]) -> Declared {
        let given: Vec<Given> = slices
            .iter()
            .filter(|slice| slice.bytes > 0 && slice.address.checked_add(slice.bytes).is_some())
            .map(|slice| Given {
                name: slice.name.to_string(),
                window: Window { start: slice.address, bytes: slice.bytes },
                mode: slice.mode,
            })
            .collect();
        let windows = |wanted: fn(DeclaredMode) -> bool| {
            merged(given.iter().filter(|given| wanted(given.mode)).map(|given| given.window).collect())
        };
        Declared {
            readable: windows(|_| true),
            writable: windows(DeclaredMode::writes),
            given,
            before_wait: None,
            is_before_wait: false,
        }
    }

    /// The range around `address` that may be read, or written.
    pub(crate) fn window(&self, address: u64, writes: bool) -> Option<Window> {
        let windows = if writes { &self.writable } else { &self.readable };
        let at = windows.partition_point(|window| window.start <= address).checked_sub(1)?;
        Some(windows[at]).filter(|window| window.holds(address, 1))
    }

    /// The slice nearest to `address`, and how far it is: 0 inside it.
    pub(crate) fn nearest(&self, address: u64) -> Option<(&Given, u64)> {
        let distance = |given: &Given| match given.window {
            window if window.holds(address, 1) => 0,
            window if address < window.start => window.start - address,
            window => address - window.end() + 1,
        };
        self.given.iter().map(|given| (given, distance(given))).min_by_key(|(_, distance)| *distance)
    }
}

/// Ranges in order, with those that touch made one.
fn merged(mut windows: Vec<Window>) -> Vec<Window> {
    windows.sort_by_key(|window| window.start);
    let mut all: Vec<Window> = Vec::with_capacity(windows.len());
    for window in windows {
        match all.last_mut() {
            Some(last) if window.start <= last.end() => last.bytes = last.end().max(window.end()) - last.start,
            _ => all.push(window),
        }
    }
    all
}

impl Machine {
    /// Whose some work is, and what its kernels may touch. No driver call: nothing moves, and no time goes by.
    pub(crate) fn take_declared(&self, of: DeclaredOf, told: Option<&dacapo_driver::Declared<'_>>) {
        let announced = told.map(Announced::new).unwrap_or_default();
        let mut state = self.lock();
        let looks = state.options.detectors.undeclared;
        let given = announced.declared.iter().filter(|_| looks).flat_map(|declared| &declared.given);
        for given in given.filter(|given| given.mode.writes()) {
            state.memory.mark_written_state(given.window.start);
        }
        match of {
            DeclaredOf::Next => state.thread_of(this_thread()).announced = announced,
            DeclaredOf::Node(exec, node) => state.announce_node(exec, node, announced),
        }
    }
}

impl State {
    fn announce_node(&mut self, exec: CUgraphExec, node: CUgraphNode, announced: Announced) {
        let (Lookup::Live(exec), Lookup::Live(node)) =
            (self.executables.look_up(exec.bits()), self.graphs.nodes.look_up(node.bits()))
        else {
            return;
        };
        let Some(node) = self.executables.get_mut(exec).and_then(|exec| exec.body.find(node)) else { return };
        let Announced { by, declared } = announced;
        match &mut node.kind {
            ExecKind::Kernel(work) => {
                let work = Arc::make_mut(work);
                (work.by, work.declared) = (by, declared);
            }
            ExecKind::Copy(work) => Arc::make_mut(work).by = by,
            ExecKind::Set(work) => Arc::make_mut(work).by = by,
            ExecKind::Collective(work) => Arc::make_mut(work).set_by(by.as_ref()),
            ExecKind::Conditional(..) => node.by = by,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(slices: &[(&'static str, u64, u64, DeclaredMode)]) -> Declared {
        let slices: Vec<DeclaredSlice<'_>> = slices
            .iter()
            .map(|&(name, address, bytes, mode)| DeclaredSlice { name, address, bytes, mode, early: true })
            .collect();
        Declared::new(&slices)
    }

    #[test]
    fn what_may_be_written_may_be_read_and_not_the_other_way() {
        let d = declared(&[("x", 100, 8, DeclaredMode::Read), ("y", 200, 8, DeclaredMode::Write)]);
        assert_eq!(d.window(100, false), Some(Window { start: 100, bytes: 8 }));
        assert_eq!(d.window(100, true), None);
        assert_eq!(d.window(207, true), Some(Window { start: 200, bytes: 8 }));
        assert_eq!(d.window(207, false), Some(Window { start: 200, bytes: 8 }));
        assert_eq!((d.window(99, false), d.window(108, false), d.window(208, true)), (None, None, None));
    }

    #[test]
    fn neighbours_are_one_range_and_keep_their_names() {
        let d = declared(&[("b", 104, 4, DeclaredMode::Read), ("a", 100, 4, DeclaredMode::Out)]);
        assert_eq!(d.window(102, false), Some(Window { start: 100, bytes: 8 }));
        assert_eq!(d.window(102, true), Some(Window { start: 100, bytes: 4 }));
        assert_eq!(d.nearest(105).map(|(given, distance)| (given.name.as_str(), distance)), Some(("b", 0)));
        assert_eq!(d.nearest(108).map(|(given, distance)| (given.name.as_str(), distance)), Some(("b", 1)));
        assert_eq!(d.nearest(98).map(|(given, distance)| (given.name.as_str(), distance)), Some(("a", 2)));
    }

    #[test]
    fn an_access_lies_inside_as_a_whole() {
        let window = Window { start: 100, bytes: 8 };
        assert!(window.holds(100, 8) && window.holds(104, 4));
        assert!(!window.holds(104, 8) && !window.holds(96, 4) && !window.holds(108, 1));
        assert!(!Window::default().holds(0, 1));
    }
}
