//! What the software device has found, as data: what it is, and at which ops it happened.

use std::fmt;

use super::{Node, Place};
use crate::device::Device;
#[cfg(feature = "json")]
use serde::{Deserialize, Serialize};

/// Something that the software device has found: [`Device::found`](crate::Device::found). `Display` prints the whole report.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::inspect::{Finding, FoundAt};
/// use dacapo::{Op, baked, copy, fill};
/// # let device = dacapo::Device::software()?;
/// let (x, mut y, mut z) = (device.zeros::<f32>(4)?, device.zeros::<f32>(4)?, device.zeros::<f32>(4)?);
/// let report = device.record(fill(&mut z, baked(1.0)).then(copy(&x, &mut y)).label("init"))?.inspect();
/// let op = FoundAt::new("copy", "init", report.nodes[1].location.clone());
/// let finding = Finding::new("unordered", "two ops touch `y`", "error[unordered]: two ops touch `y`", vec![op]);
/// assert_eq!([0, 1].map(|node| finding.is_at(&report.nodes[node])), [false, true]);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Finding {
    /// The word in brackets: `out-of-bounds`, `unordered`.
    pub code: String,
    /// What happened, in one line.
    pub what: String,
    /// The whole report, as [`Device::findings`](crate::Device::findings) has it.
    pub report: String,
    /// The ops at which it happened, the one to edit first first. Empty where no op is known: in what another library has
    /// launched by itself.
    pub ops: Vec<FoundAt>,
}

/// An op at which something was found.
///
/// ```
/// use dacapo::inspect::{FoundAt, Place};
/// let op = FoundAt::new("saxpy", "layer0", Some(Place::new("src/main.rs", 12, 9)));
/// assert_eq!(op.to_string(), "op `saxpy`, labelled `layer0`, at src/main.rs:12:9");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct FoundAt {
    /// The kernel's name, or the op's, as [`Node::name`].
    pub name: String,
    /// The labels around it, as [`Node::label`].
    pub label: String,
    /// Where the program made the op.
    pub location: Option<Place>,
}

impl Finding {
    /// A finding of these parts.
    pub fn new(
        code: impl Into<String>,
        what: impl Into<String>,
        report: impl Into<String>,
        ops: Vec<FoundAt>,
    ) -> Finding {
        Finding { code: code.into(), what: what.into(), report: report.into(), ops }
    }

    /// Whether it happened at this node of a graph: one of its ops has the node's name, label and place.
    ///
    /// Ops that the same line makes under the same labels cannot be told from each other.
    pub fn is_at(&self, node: &Node) -> bool {
        let is_it = |op: &FoundAt| op.name == node.name && op.label == node.label && op.location == node.location;
        self.ops.iter().any(is_it)
    }

    #[cfg(feature = "software")]
    pub(crate) fn of(found: &dacapo_sim::Finding) -> Finding {
        let op = |op: &dacapo_sim::FindingOp| {
            FoundAt::new(op.op.as_str(), op.label.as_str(), Some(Place::new(op.file.as_str(), op.line, op.column)))
        };
        Finding::new(found.code, found.what.as_str(), found.to_string(), found.ops.iter().map(op).collect())
    }
}

impl Device {
    /// What the software device has found wrong so far, as data: with the ops at which it happened. Empty on a GPU.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// use dacapo::{baked, fill};
    /// # let device = dacapo::Device::software()?;
    /// # let stream = device.stream()?;
    /// let mut y = device.zeros::<f32>(4)?;
    /// let mut graph = device.record(fill(&mut y, baked(1.0)))?;
    /// graph.launch(&stream)?;
    /// device.synchronize()?;
    /// for node in &graph.inspect().nodes {
    ///     let found: Vec<_> = device.found().into_iter().filter(|finding| finding.is_at(node)).collect();
    ///     assert!(found.is_empty(), "{} at {}", found[0], node.name);
    /// }
    /// # Ok(()) }
    /// ```
    pub fn found(&self) -> Vec<Finding> {
        #[cfg(feature = "software")]
        if let Some(machine) = self.machine() {
            return machine.findings().iter().map(Finding::of).collect();
        }
        Vec::new()
    }
}

impl FoundAt {
    /// An op of this name and label, made there.
    pub fn new(name: impl Into<String>, label: impl Into<String>, location: Option<Place>) -> FoundAt {
        FoundAt { name: name.into(), label: label.into(), location }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report)
    }
}

impl fmt::Display for FoundAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "op `{}`", self.name)?;
        if !self.label.is_empty() {
            write!(f, ", labelled `{}`", self.label)?;
        }
        self.location.as_ref().map_or(Ok(()), |place| write!(f, ", at {place}"))
    }
}
