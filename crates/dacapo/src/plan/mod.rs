//! Edges between ops from what they read and write.
//!
//! What one can rely on:
//!
//! - two ops that touch overlapping bytes of one memory, one of them writing, have a path between them, in recorded order;
//! - nothing else is ordered: every path between two ops is made of such conflicts, so what may overlap does;
//! - an edge that a path already implies is left out, where the work runs in at most eight lines side by side; elsewhere
//!   where a path of length two implies it. The effort for each op and edge is bounded, so wide recordings are not fully
//!   reduced;
//! - where many ops meet many (more than 8 x 8 pairs), an empty step, a *join*, stands between, so that the number of
//!   edges stays near-linear in the number of touches, and so does the time;
//! - the same touches give the same order, always.
//!
//! A plan is data. What a touch means (which allocation, whether it is still alive) is left to the caller; `layout` lays
//! out temps by the same order.
//!
//! How, in reading order: `cells` cuts each memory where some touch begins or ends, so that a touch is a range of cells;
//! `state` knows the last writer and the readers since for each cell; `readers` are the sets it shares between cells;
//! `draft` takes down steps with more joins than needed, and drops those that do not pay; `lines` knows which edges are
//! implied. `few` orders a few ops by looking at each pair.

mod cells;
mod draft;
mod few;
pub(crate) mod layout;
mod lines;
mod readers;
mod state;
#[cfg(test)]
mod tests;

use cells::{CellRange, Cells};
use draft::Draft;
use state::State;

/// One access: bytes of one memory. An empty range is no access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TouchedBytes {
    /// Which memory; any number, the same for the same allocation.
    pub memory: u32,
    /// First byte.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
    /// Whether the bytes may be written (they may be read too).
    pub write: bool,
}

/// Where edges come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Shape {
    /// From what ops read and write.
    #[default]
    Data,
    /// Each op after the one before it: a straight line, because it was asked for.
    Line,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// The op of this number.
    Op(u32),
    /// Nothing: it stands between many and many.
    Join,
}

/// One step of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    /// What it does.
    pub what: What,
    /// Where its dependencies end in `Order::after`; they begin where those of the step before end.
    end: u32,
}

/// Steps in a topological order: each op once, as recorded, with joins in between.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Order {
    steps: Vec<Step>,
    after: Vec<u32>,
}

/// Orders ops by what they touch. `ops` are in recorded order.
pub(crate) fn order<'a>(ops: impl ExactSizeIterator<Item = &'a [TouchedBytes]> + Clone, shape: Shape) -> Order {
    match shape {
        // One op waits for nothing. It is what an eager call plans, so it costs next to nothing.
        Shape::Data if ops.len() > few::FEW => by_data(ops),
        Shape::Data if ops.len() > 1 => {
            let mut list = [&[][..]; few::FEW];
            let count = ops.len();
            list.iter_mut().zip(ops).for_each(|(place, op)| *place = op);
            few::order(&list[..count])
        }
        Shape::Data | Shape::Line => in_a_line(ops.len()),
    }
}

impl Order {
    /// All steps; a step's number is its index here.
    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The steps that must end before `step` begins: earlier ones, ascending, none twice.
    pub(crate) fn after(&self, step: usize) -> &[u32] {
        &self.after[self.edges_into(step)]
    }

    /// The numbers of the edges into a step: one for each of those that it comes after, in the same order. All edges of an order
    /// are counted from 0.
    pub(crate) fn edges_into(&self, step: usize) -> std::ops::Range<usize> {
        let begin = if step == 0 { 0 } else { self.steps[step - 1].end as usize };
        begin..self.steps[step].end as usize
    }

    /// How many edges there are.
    pub(crate) fn edges(&self) -> usize {
        self.after.len()
    }

    /// Edges between ops as `(before, after)`, sorted, as if each join were replaced by the edges it stands for.
    pub(crate) fn op_edges(&self) -> Vec<(usize, usize)> {
        let mut edges = Vec::with_capacity(self.after.len());
        let mut before = Vec::new();
        for (index, step) in self.steps.iter().enumerate() {
            let What::Op(op) = step.what else { continue };
            before.clear();
            before.extend_from_slice(self.after(index));
            while let Some(one) = before.pop() {
                match self.steps[one as usize].what {
                    What::Op(source) => edges.push((source as usize, op as usize)),
                    What::Join => before.extend_from_slice(self.after(one as usize)),
                }
            }
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// The steps that no step comes after, ascending.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = u32> {
        let mut is_leaf = vec![true; self.steps.len()];
        self.after.iter().for_each(|before| is_leaf[*before as usize] = false);
        is_leaf.into_iter().enumerate().filter(|(_, is_leaf)| *is_leaf).map(|(step, _)| number(step))
    }

    fn push(&mut self, what: What, after: &[u32]) {
        // One by one: most steps have one edge, and a call that copies a list costs more.
        after.iter().for_each(|&step| self.after.push(step));
        self.steps.push(Step { what, end: number(self.after.len()) });
    }
}

fn by_data<'a>(ops: impl ExactSizeIterator<Item = &'a [TouchedBytes]> + Clone) -> Order {
    let cells = Cells::new(ops.clone());
    // Two ways through the same code: what is known of whole memories is known when it is compiled.
    match cells.are_whole() {
        true => by_places(ops, cells.nodes(), |touch| cells.whole(touch)),
        false => by_places(ops, cells.nodes(), |touch| cells.range(touch)),
    }
}

/// `place` is where the touch of this number lies, counted over all ops; none for an empty one.
fn by_places<'a>(
    ops: impl ExactSizeIterator<Item = &'a [TouchedBytes]>,
    nodes: usize,
    place: impl Fn(usize) -> Option<CellRange>,
) -> Order {
    let mut state = State::new(nodes);
    let mut draft = Draft::with_capacity(ops.len());
    let mut first = 0;
    for op in ops {
        // First all questions, then all answers: an op that touches the same bytes twice does not wait for itself.
        for (number, touch) in op.iter().enumerate() {
            match (place(first + number), touch.write) {
                (Some(place), true) => state.before_write(place, &mut draft),
                (Some(place), false) => state.before_read(place, &mut draft),
                (None, _) => {}
            }
        }
        let step = draft.op();
        // Reads before writes: what it also writes, others then find written by it, and nothing more.
        for (number, _) in op.iter().enumerate().filter(|(_, touch)| !touch.write) {
            place(first + number).into_iter().for_each(|place| state.read(place, step));
        }
        for (number, _) in op.iter().enumerate().filter(|(_, touch)| touch.write) {
            place(first + number).into_iter().for_each(|place| state.write(place, step));
        }
        first += op.len();
    }
    draft.finish()
}

/// Each op after the one before it.
pub(crate) fn in_a_line(ops: usize) -> Order {
    let mut order = Order::default();
    for op in 0..number(ops) {
        let before = op.checked_sub(1);
        order.push(What::Op(op), before.as_slice());
    }
    order
}

/// Steps, touches and edges are counted in 32 bits.
fn number(count: usize) -> u32 {
    u32::try_from(count).expect("a recording has fewer than 2^32 touches, and near-linear in them many edges")
}

/// "None" where a number of a step, a set or a node is expected.
const NONE: u32 = u32::MAX;
