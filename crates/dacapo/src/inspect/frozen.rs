//! Values that a recording froze, and that were others when the same closure was recorded again.
//!
//! A closure runs once for each recording. What it computes from the state of the program and passes as `baked` stays in
//! the graph as it was; if a second recording computes another value, the graph replays an old one.
//!
//! Found: `baked` arguments of nodes that both recordings have. Not found: what foreign work froze for itself, and a value
//! that happens to be the same both times. That the recordings have different nodes is for [`diff`](super::diff) to say.

use super::diff::NodeOf;
use super::matching::matches;
use super::{How, Place, Report};
use std::fmt;

/// A baked value that differed between two recordings of one closure. `Display` says what, where, and what to do.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, fill, inspect::Frozen};
/// # let device = dacapo::Device::software()?;
/// let (mut step, mut y) = (0u32, device.zeros::<u32>(1)?);
/// let frozen: Vec<Frozen> = device.graph().verify(|r| {
///     step += 1;
///     r.run(fill(&mut y, baked(step))) // should be a slot
/// })?;
/// assert_eq!((frozen[0].name.as_str(), frozen[0].argument.as_str()), ("fill", "value"));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frozen {
    /// The node, in the first recording.
    pub node: usize,
    /// The kernel's name, or the op's.
    pub name: String,
    /// The labels around the node; empty if there are none.
    pub label: String,
    /// The parameter's name.
    pub argument: String,
    /// The value that was recorded first.
    pub first: String,
    /// The value that was recorded second.
    pub second: String,
    /// Where the program made the op.
    pub location: Option<Place>,
}

/// The baked values on which two recordings of one closure disagree.
/// [`GraphBuilder::verify`](crate::graph::GraphBuilder::verify) does both recordings for you.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, fill, inspect::frozen_changes};
/// # let device = dacapo::Device::software()?;
/// let mut y = device.zeros::<u32>(1)?;
/// let mut at = |step| device.graph().inspect(fill(&mut y, baked(step)));
/// assert_eq!(frozen_changes(&at(1)?, &at(2)?).len(), 1);
/// assert!(frozen_changes(&at(3)?, &at(3)?).is_empty());
/// # Ok(()) }
/// ```
pub fn frozen_changes(first: &Report, second: &Report) -> Vec<Frozen> {
    let mut found = Vec::new();
    for (i, j) in matches(first, second) {
        let (a, b) = (&first.nodes[i], &second.nodes[j]);
        for (x, y) in a.arguments.iter().zip(&b.arguments) {
            let (How::Baked { value: was }, How::Baked { value: is }) = (&x.how, &y.how) else { continue };
            if x.name == y.name && was != is {
                found.push(Frozen {
                    node: i,
                    name: a.name.clone(),
                    label: a.label.clone(),
                    argument: x.name.clone(),
                    first: was.text.clone(),
                    second: is.text.clone(),
                    location: a.location.clone(),
                });
            }
        }
    }
    found
}

impl fmt::Display for Frozen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Frozen { node, name, label, argument, first, second, location } = self;
        writeln!(
            f,
            "error[frozen]: `{argument}` of `{name}` is frozen as {first}, and was {second} when the same closure ran again"
        )?;
        let node = NodeOf { index: *node, name: name.clone(), label: label.clone() };
        match location {
            Some(place) => writeln!(f, "  --> {place}      {node}")?,
            None => writeln!(f, "  --> {node}")?,
        }
        write!(
            f,
            "help: pass a slot: `let {argument} = Slot::new({first});`, then `&{argument}` instead of `baked(..)`, "
        )?;
        write!(f, "and `{argument}.set(..)` before a launch")
    }
}
