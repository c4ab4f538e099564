//! Where boxes and lines of a drawing are: a layered layout.
//!
//! Boxes stand in layers, from top to bottom, each below all that it waits for; so lines only ever go down. In four steps,
//! each in a file of its own and near-linear in boxes and lines:
//!
//! 1. [`layers`]: the layer of each box, as high as it can be, with at most so many in one layer;
//! 2. [`slots`]: a line across few layers gets a bend in each, which takes part in all that follows as a narrow box; one
//!    across many goes round the outside ([`lanes`]);
//! 3. [`order`]: who is left of whom in a layer, so that few lines cross;
//! 4. [`places`]: coordinates, as straight above each other as the order allows.
//!
//! What must hold of every layout, and does in tests over random graphs: no box overlaps another, and no line runs through a
//! box that it does not belong to. It does by construction: a line runs in the gaps between two layers, where no box is, and
//! within a layer only upright, in a slot of its own or within its own box.

mod lanes;
mod layers;
mod order;
mod places;
mod slots;
#[cfg(test)]
mod tests;

/// A width and a height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A place; y grows downwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// A box at its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rect {
    /// The upper left corner.
    pub(super) at: Point,
    pub(super) size: Size,
}

/// A drawing without its texts, from (0, 0) on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    /// Of each box.
    pub(super) boxes: Vec<Rect>,
    /// Of each line, from the lower side of one box to the upper side of the other.
    pub(super) lines: Vec<Vec<Point>>,
    pub(super) size: Size,
}

/// Between two boxes of a layer.
const BESIDE: f64 = 24.0;
/// Between two layers, beyond what lines that go round the outside need.
const BELOW: f64 = 34.0;
/// The width of a bend.
const BEND: f64 = 8.0;
/// Between two lines that go round the outside.
const LANE: f64 = 9.0;
/// Between two of them where they run across.
const TRACK: f64 = 5.0;

/// Lays out boxes and the lines between them. A line leads from a smaller number to a larger one; others are left out.
pub(super) fn lay_out(sizes: &[Size], lines: &[(usize, usize)]) -> Layout {
    let is_down = |(from, to): &&(usize, usize)| from < to && *to < sizes.len();
    debug_assert!(
        lines.iter().all(|line| is_down(&line)),
        "edges of a report lead from a smaller index to a larger one"
    );
    let layers = layers::of(sizes.len(), lines.iter().filter(is_down));
    let mut slots = slots::Slots::new(sizes, lines, &layers);
    order::settle(&mut slots);
    let centres = places::centres(&slots);
    lanes::drawn(sizes, lines, &slots, &centres)
}
