//! A hundred recorded ops under labels, with temps that share memory.

use super::{chosen, has, in_other_windows, ready, same, search};
use crate::pages::tab::Tab;

/// Uses the page.
pub fn script(tab: &mut Tab) -> Result<(), String> {
    ready(tab)?;
    same("ops", tab.count("#after .op:not(.join)")?, 102)?;
    same("labels", tab.count("#after [data-frame]")?, 50)?;
    tab.click("#fit")?;
    tab.check()?;
    tab.click("#fold")?;
    tab.picture("folded")?;
    tab.check()?;
    same("ops that are left", visible(tab)?, 2)?;
    no_boxes_overlap(tab)?;
    search(tab, "layer7/mlp")?;
    same("how many are found", tab.text("#count")?, "1 of 102")?;
    tab.key("Enter")?;
    has("what is found", &chosen(tab)?, "add_stride")?;
    same("its layer is unfolded", visible(tab)?, 6)?;
    no_boxes_overlap(tab)?;
    tab.picture("one-unfolded")?;
    tab.check()?;
    tab.key("Escape")?;
    tab.click("#fold")?;
    same("all are back", visible(tab)?, 102)?;
    no_boxes_overlap(tab)?;
    tab.click("#tab-memory")?;
    tab.picture("memory")?;
    tab.check()?;
    tab.click("#largest [data-memory]")?;
    has("what is told of a temp", &tab.text("#details")?, "Shares bytes with")?;
    tab.click("#tab-memory")?;
    tab.key("Escape")?;
    in_other_windows(tab)
}

/// Ops that are drawn.
fn visible(tab: &mut Tab) -> Result<usize, String> {
    tab.count_shown("#after .op:not(.join)")
}

/// Boxes beside each other do not touch.
fn no_boxes_overlap(tab: &mut Tab) -> Result<(), String> {
    tab.holds(
        "[...document.querySelectorAll('#after .in')].filter(e => e.getClientRects().length).every(inner => {
           const boxes = [...inner.children].filter(e => e.matches('[data-op], [data-frame]'))
             .map(e => e.querySelector(':scope > rect, :scope > circle').getBoundingClientRect());
           return boxes.every((a, at) => boxes.slice(at + 1).every(b =>
             a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top));
         })",
    )
    .map_err(|error| format!("boxes overlap: {error}"))
}
