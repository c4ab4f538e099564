//! The training step of a GRU, as the example leaves it.

use std::path::Path;

use super::{chosen, click_op, has, in_other_windows, left, looks_chosen, near, ready, rect, same, search};
use crate::pages::tab::Tab;

/// Lets the example write the page.
pub fn write(file: &Path) -> Result<(), String> {
    let pages = left::by_example("train", &["--device", "software", "--steps", "2"])?;
    let [page] = &pages[..] else { return Err(format!("{} graphs, and not one", pages.len())) };
    std::fs::copy(page, file).map(drop).map_err(|error| format!("{}: {error}", page.display()))
}

/// Uses the page.
pub fn script(tab: &mut Tab) -> Result<(), String> {
    ready(tab)?;
    same("ops", tab.count("#after [data-op]")?, 14)?;
    same("steps of the cell, forward", in_frame(tab, "forward", "gru_forward")?, 4)?;
    same("steps of the cell, backward", in_frame(tab, "backward", "gru_backward")?, 4)?;
    tab.click("#fit")?;
    tab.picture("fitted")?;
    tab.check()?;
    op(tab)?;
    found(tab)?;
    folded(tab)?;
    zoomed(tab)?;
    tab.click("#tab-memory")?;
    tab.picture("memory")?;
    tab.check()?;
    tab.click("#largest [data-memory]")?;
    has("what is told of a temp", &tab.text("#details")?, "Touched by")?;
    tab.click("#tab-memory")?;
    tab.key("Escape")?;
    in_other_windows(tab)?;
    on_a_telephone(tab)
}

/// The last op waits for three gradients, by name.
fn op(tab: &mut Tab) -> Result<(), String> {
    click_op(tab, 13)?;
    same("what was clicked", chosen(tab)?, "13 adam")?;
    looks_chosen(tab, 13)?;
    let text = tab.text("#details")?;
    for part in ["train/adam", "examples/train/src/", "6 weight_gradient", "11 weight_gradient", "12 weight_gradient"] {
        has("what is told", &text, part)?;
    }
    tab.picture("adam")?;
    tab.check()?;
    tab.click("#details [data-go='6']")?;
    same("where the link leads", chosen(tab)?, "6 weight_gradient")?;
    has("who waits for it", &tab.text("#details .later")?, "13 adam")
}

fn found(tab: &mut Tab) -> Result<(), String> {
    search(tab, "backward weight")?;
    same("how many are found", tab.text("#count")?, "3 of 14")?;
    tab.picture("found")?;
    tab.check()?;
    for wanted in ["6 weight_gradient", "11 weight_gradient"] {
        tab.key("ArrowDown")?;
        tab.key("Enter")?;
        same("what is found", chosen(tab)?, wanted)?;
    }
    tab.key("Escape")
}

/// A click on the name of a label folds it, and another unfolds it.
fn folded(tab: &mut Tab) -> Result<(), String> {
    let before = tab.count_shown("#after [data-op]")?;
    tab.click("#fold")?;
    tab.picture("folded")?;
    tab.check()?;
    // Those that are alone under their labels.
    same("ops that are left", tab.count_shown("#after [data-op]")?, 2)?;
    same("the loss and the optimiser", tab.count_shown("#after [data-op='5'], #after [data-op='13']")?, 2)?;
    let at = tab.eval(&format!("{FRAMES}.findIndex(frame => titleOf(frame) === 'forward')"))?;
    let frame = tab.eval(&format!("{FRAMES}[{at}].dataset.frame"))?;
    tab.click(&format!("#after [data-frame='{}'] > text", frame.as_str().unwrap_or_default()))?;
    let shown = tab.count_shown("#after [data-op]")?;
    if shown == 0 || shown >= before {
        return Err(format!("{shown} ops are shown when one label is unfolded"));
    }
    tab.check()?;
    tab.click("#fold")?;
    same("all are back", tab.count_shown("#after [data-op]")?, before)
}

/// The wheel zooms around the mouse.
fn zoomed(tab: &mut Tab) -> Result<(), String> {
    click_op(tab, 0)?;
    let op = "#after [data-op='0'] > rect";
    let [left, top, width, _] = rect(tab, op)?;
    tab.wheel(left, top, -120.0)?;
    let larger = rect(tab, op)?;
    near("what is under the mouse", larger[0], left)?;
    if larger[2] <= width { Err(format!("the wheel does not zoom: {width} to {}", larger[2])) } else { Ok(()) }?;
    tab.check()?;
    tab.key("f")?;
    tab.key("Escape")
}

/// Opened in a narrow window, the page begins where one can read it.
fn on_a_telephone(tab: &mut Tab) -> Result<(), String> {
    tab.size(480, 800)?;
    tab.reload()?;
    ready(tab)?;
    click_op(tab, 2)?;
    same("what was clicked", chosen(tab)?, "2 gru_forward")?;
    tab.holds("document.querySelector('#after [data-op=\"2\"] > text').getBoundingClientRect().height > 6")?;
    tab.picture("narrow")?;
    tab.check()
}

/// The frames of labels, and what stands on one without the number of its ops.
const FRAMES: &str = "(globalThis.titleOf = frame => \
     [...frame.children].find(e => e.matches('text')).textContent.split(' · ')[0], \
     [...document.querySelectorAll('#after [data-frame]')])";

/// How many ops of this name are below the label.
fn in_frame(tab: &mut Tab, label: &str, op: &str) -> Result<usize, String> {
    let count = tab.eval(&format!(
        "{FRAMES}.filter(frame => titleOf(frame) === '{label}').flatMap(frame => [...frame.querySelectorAll('[data-op]')]) \
         .filter(op => op.textContent.includes('{op}')).length"
    ))?;
    Ok(count.as_u64().unwrap_or_default() as usize)
}
