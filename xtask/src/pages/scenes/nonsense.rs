//! What nobody does with a page on purpose, and pages that nobody makes.

use super::{chosen, has, ready, same, search};
use crate::pages::tab::Tab;

/// A page without an op: every key does nothing.
pub fn empty(tab: &mut Tab) -> Result<(), String> {
    ready(tab)?;
    every_key(tab)?;
    search(tab, "anything #0 #99999999999999999999")?;
    tab.key("ArrowDown")?;
    tab.key("Enter")?;
    same("what is chosen", chosen(tab)?, "graph")?;
    in_small_windows(tab)
}

/// Texts without end: each is broken or cut.
pub fn endless(tab: &mut Tab) -> Result<(), String> {
    ready(tab)?;
    tab.key("f")?;
    tab.check().map_err(|error| format!("fitted: {error}"))?;
    tab.key("ArrowDown")?;
    tab.picture("chosen")?;
    tab.check().map_err(|error| format!("chosen: {error}"))?;
    for what in ["#tab-findings", "#tab-difference", "#tab-time", "#tab-memory"] {
        if tab.eval(&format!("document.querySelector('{what}').getAttribute('aria-selected')"))? != "true" {
            tab.click(what)?;
        }
        tab.picture(&what[1..])?;
        tab.check().map_err(|error| format!("{what}: {error}"))?;
    }
    tab.click("#largest [data-memory]")?;
    tab.check().map_err(|error| format!("a memory: {error}"))?;
    tab.key("Escape")?;
    search(tab, "endless")?;
    tab.check().map_err(|error| format!("found: {error}"))?;
    every_key(tab)?;
    in_small_windows(tab)
}

/// Shapes that nobody draws: folding leaves no line without its boxes.
pub fn shapes(tab: &mut Tab) -> Result<(), String> {
    ready(tab)?;
    tab.key("f")?;
    tab.picture("fitted")?;
    tab.check().map_err(|error| format!("fitted: {error}"))?;
    lines_end_at_boxes(tab).map_err(|error| format!("at first: {error}"))?;
    let frames = tab.count("#after [data-frame]")?;
    same("the frame of the star, and one in each body", frames, 1 + 13)?;
    for number in 0..frames {
        for how in ["folded", "unfolded"] {
            tab.eval(&format!(
                "document.querySelectorAll('#after [data-frame]')[{number}].dispatchEvent(new MouseEvent('click', {{ bubbles: true }}))"
            ))?;
            lines_end_at_boxes(tab).map_err(|error| format!("frame {number} {how}: {error}"))?;
        }
    }
    tab.click("#fold")?;
    tab.picture("folded")?;
    lines_end_at_boxes(tab).map_err(|error| format!("all folded: {error}"))?;
    tab.check()?;
    every_key(tab)?;
    in_small_windows(tab)
}

/// Addresses that lead nowhere: the page is as it is without.
pub fn places(tab: &mut Tab) -> Result<(), String> {
    ready(tab)?;
    let nothing = chosen(tab)?;
    for place in [
        "#op=99999999",
        "#op=-1",
        "#op=",
        "#op=1e3",
        "#op=99999999999999999999999",
        "#op=0&before",
        "#keys",
        "#%",
        "#op=0x0",
    ] {
        tab.eval(&format!("location.hash = '{place}'"))?;
        tab.reload()?;
        ready(tab).map_err(|error| format!("{place}: {error}"))?;
        tab.check().map_err(|error| format!("{place}: {error}"))?;
        // There is no first recording: the op is looked for in the only one.
        let is_op = place == "#op=0&before";
        same(place, chosen(tab)? == nothing, !is_op)?;
    }
    tab.eval("location.hash = ''")?;
    tab.reload()?;
    ready(tab)?;
    in_small_windows(tab)
}

/// Keys where the focus is somewhere else than in the drawing, and two drawings.
pub fn keys(tab: &mut Tab) -> Result<(), String> {
    ready(tab)?;
    // In the search they are letters.
    tab.key("/")?;
    tab.type_text("bef?+-/")?;
    same("what was typed", tab.eval("document.querySelector('#search').value")?, "bef?+-/")?;
    same("the second recording", (tab.count_shown("#before")?, tab.count_shown("#after")?), (0, 1))?;
    same("no dialog", tab.eval("document.querySelector('#keys').open")?, false)?;
    tab.key("Escape")?;
    same("nothing is typed", tab.eval("document.querySelector('#search').value")?, "")?;
    // In the dialog they do nothing to what is behind it.
    tab.key("?")?;
    same("a dialog", tab.eval("document.querySelector('#keys').open")?, true)?;
    for key in ["b", "/", "e", "ArrowDown", "f", "?"] {
        tab.key(key)?;
    }
    same("behind the dialog", (tab.count_shown("#before")?, chosen(tab)?), (0, "layers".to_string()))?;
    tab.check()?;
    tab.key("Escape")?;
    same("no dialog", tab.eval("document.querySelector('#keys').open")?, false)?;
    // In the panels arrows move what is in them, and not the choice.
    tab.key("ArrowDown")?;
    let first = chosen(tab)?;
    tab.eval("document.querySelector('#difference').focus()")?;
    tab.key("ArrowDown")?;
    tab.eval("document.querySelector('#details').focus()")?;
    tab.key("ArrowDown")?;
    same("what is chosen", chosen(tab)?, first)?;
    both_fold(tab)?;
    memories_are_of_the_second(tab)?;
    every_key(tab)?;
    in_small_windows(tab)
}

/// What the button says is true of either drawing.
fn both_fold(tab: &mut Tab) -> Result<(), String> {
    tab.key("Escape")?;
    tab.click("#fold")?;
    let folded = "[...document.querySelectorAll('.drawing:not([hidden]) .label')].filter(e => !e.parentNode.closest('.label')).every(e => e.classList.contains('folded'))";
    tab.holds(folded)?;
    tab.key("b")?;
    tab.holds(folded).map_err(|error| format!("the button says `{}`: {error}", "Unfold labels"))?;
    tab.check()?;
    tab.click("#fold")?;
    tab.holds("!document.querySelector('.drawing .folded')")?;
    tab.key("b")
}

/// The map of memory is of the second recording, whichever drawing one looks at.
fn memories_are_of_the_second(tab: &mut Tab) -> Result<(), String> {
    tab.key("b")?;
    same("the first recording", tab.count_shown("#before")?, 1)?;
    tab.click("#tab-memory")?;
    let last = "[...document.querySelectorAll('#memories [data-memory]')].at(-1)";
    let name = tab.eval(&format!("{last}.textContent"))?;
    tab.eval(&format!("{last}.click()"))?;
    same("the memory that was clicked", chosen(tab)?, name.as_str().unwrap_or_default())?;
    same("the second recording", tab.count_shown("#after")?, 1)?;
    tab.click("#tab-memory")?;
    tab.key("Escape")
}

/// Every key, with nothing chosen and with something: nothing is thrown.
fn every_key(tab: &mut Tab) -> Result<(), String> {
    for round in 0..3 {
        for key in [
            "Escape",
            "e",
            "e",
            "b",
            "b",
            "f",
            "+",
            "=",
            "-",
            "ArrowLeft",
            "ArrowUp",
            "ArrowDown",
            "ArrowRight",
            "Shift+ArrowUp",
            "Tab",
            "Shift+Tab",
            "e",
            "b",
            "ArrowDown",
            "b",
        ] {
            tab.key(key)?;
        }
        tab.check().map_err(|error| format!("round {round} of the keys: {error}"))?;
    }
    tab.key("Escape")
}

/// On a phone, at 200 %, on paper.
fn in_small_windows(tab: &mut Tab) -> Result<(), String> {
    for (width, height) in [(320, 480), (640, 400), (480, 320)] {
        tab.size(width, height)?;
        tab.picture(&format!("{width}x{height}"))?;
        tab.check().map_err(|error| format!("in a window of {width} x {height}: {error}"))?;
        tab.holds("document.documentElement.scrollWidth <= innerWidth")?;
        tab.holds("document.querySelector('#graph').clientHeight >= 60")
            .map_err(|error| format!("no graph in a window of {width} x {height}: {error}"))?;
    }
    tab.size(1280, 800)?;
    tab.print(true)?;
    tab.picture("printed")?;
    tab.check().map_err(|error| format!("printed: {error}"))?;
    tab.holds("document.querySelector('#graph').clientHeight > 300")?;
    tab.print(false)?;
    has("the page is back", &tab.text("header")?, "Fit")
}

/// Every line that is drawn begins and ends at the edge of a box that is drawn.
fn lines_end_at_boxes(tab: &mut Tab) -> Result<(), String> {
    tab.holds(
        "[...document.querySelectorAll('#after .edge')].filter(e => e.getClientRects().length).every(line => {
           const [from, to] = line.dataset.line.split(' ');
           const box = name => {
             const e = [...line.parentNode.children].find(e => name[0] === 'f' ? e.dataset.frame === name.slice(1) : e.dataset.op === name);
             const s = [...e.children].find(e => e.matches('rect, circle'));
             const t = e.transform.baseVal.consolidate().matrix, b = s.getBBox();
             return { left: t.e + b.x, top: t.f + b.y, right: t.e + b.x + b.width, bottom: t.f + b.y + b.height };
           };
           const a = box(from), b = box(to);
           const start = line.getPointAtLength(0), end = line.getPointAtLength(line.getTotalLength());
           const at = (p, r) => p.x >= r.left - 2 && p.x <= r.right + 2 && p.y >= r.top - 2 && p.y <= r.bottom + 2;
           return at(start, a) && at(end, b);
         })",
    )
    .map_err(|error| format!("a line ends in the air: {error}"))
}
