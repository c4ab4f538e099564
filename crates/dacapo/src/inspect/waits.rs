//! Who a node waits for, and why.

use std::collections::HashSet;

use crate::arrange::Edge;
use crate::inspect::{Access, Bytes, How, Kind, Node, Report};

/// A node lists no more than so many others, and no more reasons for each.
const WAITS_MAX: usize = 64;
const REASONS_MAX: usize = 16;
/// It looks through no more joins.
const JOINS_MAX: usize = 1024;

/// One node that another waits for, and which bytes are why: [`Report::waits`].
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, copy, fill, inspect::Wait};
/// # let device = dacapo::Device::software()?;
/// let (mut x, mut y) = (device.zeros::<f32>(4)?.named("x"), device.zeros::<f32>(4)?);
/// let report = device.graph().inspect(|r: &mut dacapo::Recorder<'_>| {
///     r.run(fill(&mut x, baked(1.0)))?;
///     r.run(copy(&x, &mut y))
/// })?;
/// let wait: &Wait = &report.waits(1)[0];
/// assert_eq!((wait.on, wait.reasons.len()), (0, 1)); // the copy reads what the fill writes
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait {
    /// The node it waits for: an index into [`Report::nodes`], never a join.
    pub on: usize,
    /// The kind of the edge.
    pub edge: Edge,
    /// Whether there are joins between the two.
    pub is_joined: bool,
    /// Bytes that both touch, and that at least one of them writes; empty where the order has another reason, such as
    /// `straight_line`. At most 16 are listed.
    pub reasons: Vec<Reason>,
}

/// Bytes that two nodes touch, of which one waits for the other.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::inspect::{Access, Bytes, Reason};
/// use dacapo::{baked, copy, fill};
/// # let device = dacapo::Device::software()?;
/// let (mut x, mut y) = (device.zeros::<f32>(4)?.named("x"), device.zeros::<f32>(2)?);
/// let report = device.graph().inspect(|r: &mut dacapo::Recorder<'_>| {
///     r.run(fill(&mut x, baked(1.0)))?;
///     r.run(copy(&x[..2], &mut y))
/// })?;
/// let reason: Reason = report.waits(1)[0].reasons[0];
/// assert_eq!((reason.bytes, reason.first, reason.second), (Bytes::new(0, 8), Access::Write, Access::Read));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reason {
    /// The memory: an index into [`Report::memories`].
    pub memory: usize,
    /// Which of its bytes.
    pub bytes: Bytes,
    /// What the node that is waited for does with them.
    pub first: Access,
    /// What the node that waits does with them.
    pub second: Access,
}

impl Report {
    /// Who a node waits for, and why; joins are looked through. At most 64 are listed. Empty for an index that is none.
    pub fn waits(&self, node: usize) -> Vec<Wait> {
        if node >= self.nodes.len() {
            return Vec::new();
        }
        self.waits_of(&self.edges_into(), node)
    }

    /// The edges into each node.
    pub(crate) fn edges_into(&self) -> Vec<Vec<(usize, Edge)>> {
        let mut into = vec![Vec::new(); self.nodes.len()];
        for (before, after, kind) in &self.edges {
            if *before < self.nodes.len()
                && let Some(into) = into.get_mut(*after)
            {
                into.push((*before, *kind));
            }
        }
        into
    }

    pub(crate) fn waits_of(&self, into: &[Vec<(usize, Edge)>], node: usize) -> Vec<Wait> {
        let mut waits: Vec<Wait> = Vec::new();
        let mut to_see: Vec<(usize, Edge, bool)> =
            into[node].iter().map(|(before, kind)| (*before, *kind, false)).collect();
        let mut joins = HashSet::new();
        while let Some((before, edge, is_joined)) = to_see.pop() {
            if self.nodes[before].kind == Kind::Join {
                if joins.len() < JOINS_MAX && joins.insert(before) {
                    to_see.extend(into[before].iter().map(|(earlier, kind)| (*earlier, *kind, true)));
                }
            } else if waits.iter().all(|wait| wait.on != before) {
                let reasons = self.reasons(&self.nodes[before], &self.nodes[node]);
                waits.push(Wait { on: before, edge, is_joined, reasons });
                if waits.len() == WAITS_MAX {
                    break;
                }
            }
        }
        waits.sort_by_key(|wait| wait.on);
        waits
    }

    fn reasons(&self, first: &Node, second: &Node) -> Vec<Reason> {
        let mut reasons = Vec::new();
        for (memory, one, first) in touched(first) {
            for (other, two, second) in touched(second) {
                let bytes = Bytes::new(one.start.max(two.start), one.end.min(two.end));
                let is_shared = memory == other && bytes.start < bytes.end;
                if is_shared && (first != Access::Read || second != Access::Read) && reasons.len() < REASONS_MAX {
                    reasons.push(Reason { memory, bytes, first, second });
                }
            }
        }
        reasons
    }
}

fn touched(node: &Node) -> impl Iterator<Item = (usize, Bytes, Access)> {
    node.arguments.iter().filter_map(|argument| match argument.how {
        How::Scalar { memory, bytes, access } | How::Slice { memory, bytes, access } => Some((memory, bytes, access)),
        _ => None,
    })
}
