//! The README's example: two ops, and everything that one can do with a page.

use serde_json::json;

use super::{chosen, click_op, has, in_other_windows, list_fits, looks_chosen, near, ready, rect, same, search};
use crate::pages::tab::Tab;

/// Uses the page.
pub fn script(tab: &mut Tab) -> Result<(), String> {
    ready(tab)?;
    same("the title", tab.eval("document.title")?, json!("saxpy"))?;
    same("ops", tab.count("#after [data-op]")?, 2)?;
    same("lines", tab.count("#after [data-line]")?, 1)?;
    same("labels to fold", tab.count_shown("#fold")?, 0)?;
    details(tab)?;
    by_key(tab)?;
    found(tab)?;
    moved(tab)?;
    memory(tab)?;
    in_other_windows(tab)
}

/// A click tells what is known of an op: its arguments, whom it waits for and why, what the driver was asked.
fn details(tab: &mut Tab) -> Result<(), String> {
    click_op(tab, 1)?;
    same("what was clicked", chosen(tab)?, "1 saxpy")?;
    tab.picture("saxpy")?;
    tab.check()?;
    let text = tab.text("#details")?;
    for part in [
        "Waits for",
        "0 copy",
        "bytes 0..12: it writes, this reads",
        "1 block of 32 threads",
        "cuGraphAddKernelNode_v2",
    ] {
        has("what is told", &text, part)?;
    }
    has("the source", &tab.text("#source")?, "crates/suite/src/scenes/recorded.rs:")?;
    has("the slot", &tab.text("#arguments")?, "0.5")?;
    has("the declaration", &tab.text("#declaration")?, "requires: x.len() == y.len();")?;
    tab.click("#details [data-go='0']")?;
    same("where the link leads", chosen(tab)?, "0 copy")?;
    tab.holds("document.querySelector('[data-op=\"0\"]').classList.contains('pick')")?;
    tab.holds("location.hash === '#op=0'")?;
    tab.click("#after [data-line]")?;
    same("the line", chosen(tab)?, "1 edge")
}

fn by_key(tab: &mut Tab) -> Result<(), String> {
    tab.key("Escape")?;
    same("nothing is chosen", chosen(tab)?, "saxpy")?;
    tab.key("ArrowDown")?;
    same("the first", chosen(tab)?, "0 copy")?;
    tab.key("ArrowDown")?;
    same("the one behind", chosen(tab)?, "1 saxpy")?;
    tab.key("ArrowUp")?;
    same("the one before", chosen(tab)?, "0 copy")?;
    tab.key("?")?;
    tab.holds("document.querySelector('#keys').open")?;
    tab.picture("keys")?;
    tab.check()?;
    tab.key("Escape")?;
    tab.holds("!document.querySelector('#keys').open")
}

fn found(tab: &mut Tab) -> Result<(), String> {
    search(tab, "kernel sax")?;
    same("how many are found", tab.text("#count")?, "1 of 2")?;
    same("hits in the drawing", tab.count("[data-op].hit")?, 1)?;
    tab.picture("found")?;
    tab.check()?;
    tab.key("Enter")?;
    same("what is found", chosen(tab)?, "1 saxpy")?;
    looks_chosen(tab, 1)?;
    search(tab, "no such op")?;
    same("nothing is found", tab.text("#count")?, "0 of 2")?;
    tab.key("Escape")?;
    same("no hits any more", tab.count("[data-op].hit")?, 0)?;
    list_fits(tab, "copy")?;
    search(tab, "copy")?;
    tab.click("#results li")?;
    same("what was clicked in the list", chosen(tab)?, "0 copy")?;
    tab.key("Escape")
}

/// The wheel zooms, and what is under the mouse stays there; a drag moves the drawing with the mouse.
fn moved(tab: &mut Tab) -> Result<(), String> {
    let op = "#after [data-op='1'] > rect";
    let before = rect(tab, op)?;
    let (x, y) = (before[0], before[1]);
    tab.wheel(x, y, -240.0)?;
    let larger = rect(tab, op)?;
    near("left of what is under the mouse", larger[0], x)?;
    near("top of what is under the mouse", larger[1], y)?;
    if larger[2] < before[2] * 1.2 {
        return Err(format!("the wheel does not zoom: {} to {}", before[2], larger[2]));
    }
    let [left, top, ..] = rect(tab, "#graph")?;
    tab.drag((left + 30.0, top + 60.0), (left + 130.0, top + 90.0))?;
    let moved = rect(tab, op)?;
    near("a drag to the right", moved[0], larger[0] + 100.0)?;
    near("a drag down", moved[1], larger[1] + 30.0)?;
    same("a drag chooses nothing", chosen(tab)?, "saxpy")?;
    tab.key("-")?;
    let smaller = rect(tab, op)?;
    near("a key makes it smaller", smaller[2], moved[2] * 0.8)?;
    tab.click("#fit")?;
    let fitted = rect(tab, op)?;
    tab.key("f")?;
    same("fit by button and by key", rect(tab, op)?, fitted)
}

fn memory(tab: &mut Tab) -> Result<(), String> {
    tab.click("#tab-memory")?;
    same("the map of memory", tab.count_shown("#memory")?, 1)?;
    tab.picture("memory")?;
    tab.check()?;
    tab.click("#memory svg [data-memory]")?;
    let text = tab.text("#details")?;
    for part in ["temp", "12 B", "Touched by", "0 copy", "writes 0..12", "1 saxpy", "reads 0..12"] {
        has("what is told of a temp", &text, part)?;
    }
    has("the books", &tab.text("#memory")?, "no budget")?;
    tab.click("#tab-memory")?;
    same("the map of memory", tab.count_shown("#memory")?, 0)
}
