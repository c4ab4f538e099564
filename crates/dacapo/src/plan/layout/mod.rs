//! Where each temp lies in the one allocation that a graph or a run takes for all of them.
//!
//! What one can rely on:
//!
//! - two temps share bytes only if every op of one comes before every op of the other, by edges of the order: what may
//!   overlap in time never overlaps in memory. No edge is added for memory's sake;
//! - every offset is a multiple of [`ALIGNMENT`]; `bytes` is where the last temp ends, rounded up to it;
//! - a temp of no bytes, or that no op touches, takes no room: its offset is 0;
//! - the same order and temps give the same layout, always.
//!
//! How, in reading order: `reach` knows which steps come before which, `place` puts temps into gaps.

mod place;
mod reach;

use super::Order;
use reach::Reach;

/// What every offset is a multiple of, as every address that the driver allocates.
pub(crate) const ALIGNMENT: u64 = 256;

/// A temp as the layout sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TempUse<'a> {
    /// How many it has.
    pub bytes: u64,
    /// The ops that touch it, ascending.
    pub ops: &'a [u32],
}

/// An offset for each temp.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Layout {
    /// In the order of the temps.
    pub offsets: Vec<u64>,
    /// What all of them need together.
    pub bytes: u64,
}

/// Lays temps out.
pub(crate) fn layout(order: &Order, temps: &[TempUse<'_>]) -> Layout {
    let mut layout = Layout { offsets: vec![0; temps.len()], bytes: 0 };
    let mut placed: Vec<usize> =
        (0..temps.len()).filter(|t| temps[*t].bytes > 0 && !temps[*t].ops.is_empty()).collect();
    if let [only] = placed[..] {
        layout.bytes = rounded(temps[only].bytes);
        return layout;
    }
    let reach = Reach::new(order);
    placed.sort_by_key(|t| (std::cmp::Reverse(temps[*t].bytes), *t));
    place::place(&reach, temps, &placed, &mut layout);
    layout
}

/// Up to the next multiple of the alignment.
fn rounded(bytes: u64) -> u64 {
    bytes.next_multiple_of(ALIGNMENT)
}
