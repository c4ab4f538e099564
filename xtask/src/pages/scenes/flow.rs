//! A loop with a branch inside: frames within frames.

use super::{chosen, click_op, has, in_other_windows, ready, same, search};
use crate::pages::tab::Tab;

/// Uses the page.
pub fn script(tab: &mut Tab) -> Result<(), String> {
    ready(tab)?;
    same("loops", tab.count("#after .op.loop")?, 1)?;
    same("branches in the loop", tab.count("#after .op.loop .op.branch")?, 1)?;
    same("what is in the branch", tab.count("#after .op.branch [data-op]")?, 2)?;
    inside_of_each_other(tab)?;
    search(tab, "fill")?;
    tab.key("Enter")?;
    has("what is found", &chosen(tab)?, "fill")?;
    let text = tab.text("#details")?;
    has("where it is", &text, "inside")?;
    has("which side it is on", &text, "body 1")?;
    tab.check()?;
    tab.picture("fill")?;
    tab.click("#details .facts .go")?;
    has("around it", &tab.text("#details")?, "branch")?;
    folded(tab)?;
    tab.key("Escape")?;
    in_other_windows(tab)
}

/// Every box lies within the one around it.
fn inside_of_each_other(tab: &mut Tab) -> Result<(), String> {
    tab.holds(
        "[...document.querySelectorAll('#after .op .op')].filter(e => e.getClientRects().length).every(inner => {
           const box = e => e.querySelector(':scope > rect, :scope > circle').getBoundingClientRect();
           const a = box(inner), b = box(inner.parentElement.closest('.op'));
           return a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
         })",
    )
    .map_err(|error| format!("a box leaves the one around it: {error}"))
}

/// The label around the step, folded and unfolded by a click on its name.
fn folded(tab: &mut Tab) -> Result<(), String> {
    let step = "#after [data-frame] > text";
    let ops = "#after [data-frame] [data-op]";
    tab.click(step)?;
    same("ops of the label", tab.count_shown(ops)?, 0)?;
    inside_of_each_other(tab)?;
    tab.check()?;
    tab.picture("folded")?;
    tab.click(step)?;
    same("ops of the label", tab.count_shown(ops)?, 2)?;
    inside_of_each_other(tab)?;
    let first = tab.eval(&format!("Number(document.querySelector('{ops}').dataset.op)"))?;
    click_op(tab, first.as_u64().unwrap_or_default() as usize)?;
    has("the step", &chosen(tab)?, "add_stride")
}
