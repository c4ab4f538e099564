//! Bodies: recordings inside a recording.
//!
//! - The nodes of a body stand behind their branch, in the one list of the recording. So whatever looks at all nodes (what
//!   is touched, which slots are read, what is kept) looks at those of bodies too.
//! - A body is closed before anything is recorded behind its branch. Then the branch gets the accesses of its nodes: what it
//!   waits for, and what waits for it, follow from them as for any other node.
//! - A temp belongs to the body that asked for it, and is no concern of anyone outside. A temp from outside is touched by the
//!   branch, and so lives as long as it.
//! - What a body writes counts as written behind its branch only where the body is certain to run.
//! - A way out of a round (`leave_if`) puts the rest of the body into a branch of its own, which ends where the body does.

use std::collections::HashMap;
use std::panic::Location;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::error::{Error, ErrorKind, Result};
use crate::memory::{Access, Accesses, Allocation, Kind, Mode};
use crate::record::{Body, Branch, BranchKind, Node, Recorder, Work};

/// The most bodies inside each other. Whoever walks over bodies goes down into them, and a stack has an end; so have drivers
/// (the one in software takes 64 graphs inside each other).
const DEPTH_MAX: usize = 60;

/// A body that is being recorded.
pub(crate) struct Scope {
    id: u32,
    /// The number of its branch.
    branch: usize,
    /// How many writes to temps there were before it.
    writes: usize,
    /// What the body is, for those that are recorded inside it.
    pub(crate) what: ScopeKind,
}

/// What a body belongs to.
#[derive(Clone)]
pub(crate) enum ScopeKind {
    /// One of several that may run.
    Choice,
    /// A round of a loop: the loop's state, its condition, and whether it has a bound.
    Round { state: Arc<Allocation>, condition: u32, is_bounded: bool },
    /// What follows a way out of a round.
    Rest,
}

/// Bytes of temps that a body is certain to write when it runs, as temps and ranges.
pub(crate) type Certain = Vec<(u32, (usize, usize))>;

impl<'r> Recorder<'r> {
    /// The body that is recorded now; 0 is the recording itself.
    pub(crate) fn scope(&self) -> u32 {
        self.scopes.last().map_or(0, |scope| scope.id)
    }

    /// What the innermost body that is not the rest of a round belongs to.
    pub(crate) fn innermost(&self) -> Option<&ScopeKind> {
        self.scopes.iter().rev().map(|scope| &scope.what).find(|what| !matches!(what, ScopeKind::Rest))
    }

    /// The innermost loop, wherever in its body this is.
    pub(crate) fn innermost_loop(&self) -> Option<&ScopeKind> {
        self.scopes.iter().rev().map(|scope| &scope.what).find(|what| matches!(what, ScopeKind::Round { .. }))
    }

    /// One more condition: its number.
    pub(crate) fn new_condition(&mut self) -> u32 {
        self.core.conditions += 1;
        self.core.conditions - 1
    }

    /// Takes in a branch without bodies, which reads what its condition wrote: its number.
    pub(crate) fn open_branch(
        &mut self,
        name: &'static str,
        at: &'static Location<'static>,
        (kind, condition): (BranchKind, u32),
        state: Access,
    ) -> Result<usize> {
        let branch = Branch {
            kind,
            condition,
            state: state.clone(),
            is_else: false,
            is_guarded: false,
            bodies: SmallVec::new(),
        };
        let access: Accesses = std::iter::once(state).collect();
        self.push(Node::new(name.into(), at, access, Work::Branch(Box::new(branch))), &[])?;
        Ok(self.len() - 1)
    }

    /// A branch runs where the `if` before it does not.
    pub(crate) fn note_else(&mut self, branch: usize) {
        if let Work::Branch(branch) = &mut self.core.nodes[branch].work {
            branch.is_else = true;
        }
    }

    /// Begins a body of a branch, of which nothing is recorded behind its last body.
    ///
    /// # Errors
    ///
    /// - It would be too deep inside others.
    pub(crate) fn open_body(&mut self, branch: usize, kind: ScopeKind) -> Result<()> {
        if self.scopes.len() == DEPTH_MAX {
            let what = format!(
                "control flow more than {DEPTH_MAX} deep (each `leave_if` puts the rest of its round one deeper)"
            );
            let needs = "conditions that are combined, as in `a | b`, or a kernel that decides more".to_string();
            let node = &self.core.nodes[branch];
            // The branch behind a way out is no call of the user's.
            let name = if matches!(kind, ScopeKind::Rest) { "leave_if" } else { &*node.name };
            return Err(Error::new(ErrorKind::Unsupported { what, needs }).of(name, &node.label, node.at));
        }
        self.core.bodies += 1;
        let scope = Scope { id: self.core.bodies, branch, writes: self.core.writes.len(), what: kind };
        self.scopes.push(scope);
        Ok(())
    }

    /// Ends the innermost body, with the rests inside it. What it is certain to have written; nothing of it counts as
    /// written any more, unless the body runs at least once.
    pub(crate) fn close_body(&mut self) -> Certain {
        while matches!(self.scopes.last(), Some(Scope { what: ScopeKind::Rest, .. })) {
            self.close_innermost();
        }
        self.close_innermost()
    }

    fn close_innermost(&mut self) -> Certain {
        let scope = self.scopes.pop().expect("a body is open");
        let end = self.len();
        let start = self.core.nodes[scope.branch].next(scope.branch);
        let mut touched = self.touched_inside(start..end, scope.id);
        let Node { work: Work::Branch(branch), access, .. } = &mut self.core.nodes[scope.branch] else {
            unreachable!("bodies belong to branches")
        };
        branch.bodies.push(Body { scope: scope.id, end: end as u32 });
        touched.extend(access.drain(..));
        *access = merged(touched);
        let certain = self.core.certain_since(scope.writes);
        if self.core.nodes[scope.branch].runs_once() {
            return certain;
        }
        self.core.unwrite(scope.writes);
        certain
    }

    /// Those bytes are written from here on.
    pub(crate) fn note_written(&mut self, certain: &Certain) {
        for (temp, range) in certain {
            self.core.temps[*temp as usize].written.push_range(*range);
            self.core.writes.push(*temp);
        }
    }

    /// What the nodes of a body touch, without temps of its own.
    fn touched_inside(&self, nodes: std::ops::Range<usize>, scope: u32) -> Vec<Access> {
        let mut touched = Vec::new();
        let mut number = nodes.start;
        while number < nodes.end {
            let node = &self.core.nodes[number];
            let is_own = |access: &&Access| {
                matches!(access.place.allocation.kind(), Kind::Temp(_)) && access.place.allocation.home() == scope
            };
            touched.extend(node.access.iter().filter(|access| !is_own(access)).cloned());
            number = node.next(number);
        }
        touched
    }
}

impl Node {
    /// Whether it is a loop whose body is certain to run.
    pub(crate) fn runs_once(&self) -> bool {
        matches!(&self.work, Work::Branch(branch) if branch.kind == (BranchKind::While { once: true }))
    }
}

impl crate::record::Recorded {
    /// The writes to temps behind the first so many, as temps and ranges.
    fn certain_since(&mut self, writes: usize) -> Certain {
        let mut taken: Certain = Vec::with_capacity(self.writes.len() - writes);
        while self.writes.len() > writes {
            let temp = self.writes.pop().expect("longer than `writes`");
            let written = &mut self.temps[temp as usize].written;
            taken.push((temp, written.last().expect("one for each write")));
            written.pop();
        }
        taken.reverse();
        for (temp, range) in &taken {
            self.temps[*temp as usize].written.push_range(*range);
            self.writes.push(*temp);
        }
        taken
    }
}

/// Whether this body is one of those that are being recorded.
pub(super) fn is_open(scopes: &[Scope], scope: u32) -> bool {
    scope == 0 || scopes.iter().any(|open| open.id == scope)
}

/// The same bytes as fewer accesses: those of one memory and one kind that touch each other are one. What is written may not
/// be, where its body does not run: it counts as read too.
fn merged(mut touched: Vec<Access>) -> Accesses {
    touched.retain(|access| access.place.bytes > 0);
    // By where each memory comes first: numbers are given again, and a body recorded twice should look the same twice.
    let mut first: HashMap<u32, usize> = HashMap::new();
    for access in &touched {
        let next = first.len();
        first.entry(access.place.allocation.number()).or_insert(next);
    }
    touched.sort_by_key(|access| (first[&access.place.allocation.number()], access.mode.writes(), access.place.start));
    let mut merged: Accesses = SmallVec::new();
    for mut access in touched {
        if access.mode.writes() {
            access.mode = Mode::Write;
        }
        match merged.last_mut() {
            Some(last)
                if last.place.allocation.number() == access.place.allocation.number()
                    && last.mode == access.mode
                    && access.place.start <= last.place.start + last.place.bytes =>
            {
                let end = (access.place.start + access.place.bytes).max(last.place.start + last.place.bytes);
                last.place.bytes = end - last.place.start;
            }
            _ => merged.push(access),
        }
    }
    merged
}
