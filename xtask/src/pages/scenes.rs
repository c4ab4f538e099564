//! The scenes: pages, and what must be true of them when one uses them.
//!
//! The graphs are in `crates/suite/src/scenes`; those of `program/..` are of examples and of a test that fails, and the pages are
//! what these leave by themselves (`left`). A script is written from outside: what a user sees, clicks and types. It
//! asks for elements by what the page promises of them: `[data-op]`, `[data-frame]`, `[data-line]`, `[data-memory]`, and ids.

mod compared;
mod decode;
mod decoder;
pub mod failing;
mod flow;
mod kept;
mod layers;
mod left;
mod nonsense;
mod odd;
mod random;
mod saxpy;
mod timed;
mod train;

use std::fmt::Debug;
use std::path::Path;
use std::time::Duration;

use dacapo::page::Page;
use dacapo_suite::scenes as graphs;

use super::self_check;
use super::tab::Tab;

/// A page and what is done with it.
pub struct Scene {
    /// Unique, with the area before a slash.
    pub name: &'static str,
    /// Writes the page into this file.
    pub write: fn(&Path) -> Result<(), String>,
    /// Uses the page once it is open.
    pub script: fn(&mut Tab) -> Result<(), String>,
}

/// Every scene, in the order in which they run.
pub fn all() -> Vec<Scene> {
    vec![
        Scene { name: "harness/self-check", write: self_check::write, script: self_check::script },
        Scene { name: "graph/saxpy", write: |file| recorded(file, graphs::saxpy()), script: saxpy::script },
        Scene { name: "graph/flow", write: |file| recorded(file, graphs::loop_with_a_branch()), script: flow::script },
        Scene { name: "graph/layers", write: |file| recorded(file, graphs::layers(25)), script: layers::script },
        Scene { name: "graph/compared", write: |file| recorded(file, graphs::compared()), script: compared::script },
        Scene { name: "graph/timed", write: |file| recorded(file, graphs::timed()), script: timed::script },
        Scene { name: "graph/odd-texts", write: |file| page(file, &graphs::odd_texts()), script: odd::script },
        Scene { name: "graph/everything", write: kept::write_everything, script: kept::everything },
        Scene { name: "kept/pages", write: kept::write, script: kept::script },
        Scene { name: "graph/random", write: random::write, script: random::script },
        Scene { name: "nonsense/empty", write: |file| page(file, &graphs::empty()), script: nonsense::empty },
        Scene { name: "nonsense/endless", write: |file| recorded(file, graphs::endless()), script: nonsense::endless },
        Scene { name: "nonsense/shapes", write: |file| page(file, &graphs::shapes()), script: nonsense::shapes },
        Scene { name: "nonsense/places", write: |file| recorded(file, graphs::timed()), script: nonsense::places },
        Scene { name: "nonsense/keys", write: |file| recorded(file, graphs::compared()), script: nonsense::keys },
        Scene { name: "graph/decoder-100", write: |file| page(file, &graphs::decoder(100)), script: decoder::hundred },
        Scene {
            name: "graph/decoder-10000",
            write: |file| page(file, &graphs::decoder(10_000)),
            script: decoder::many,
        },
        Scene { name: "program/failing-test", write: failing::write, script: failing::script },
        Scene { name: "program/train", write: train::write, script: train::script },
        Scene { name: "program/decode-1", write: |file| decode::write(file, 1), script: decode::one },
        Scene { name: "program/decode-4", write: |file| decode::write(file, 4), script: decode::four },
        Scene { name: "program/decode-compared", write: decode::write_compared, script: decode::compared },
    ]
}

/// Writes a page.
pub fn write(file: &Path, html: &str) -> Result<(), String> {
    std::fs::write(file, html).map_err(|error| format!("{}: {error}", file.display()))
}

fn page(file: &Path, page: &Page) -> Result<(), String> {
    write(file, &page.html())
}

fn recorded(file: &Path, made: dacapo::Result<Page>) -> Result<(), String> {
    page(file, &made.map_err(|error| error.to_string())?)
}

/// An error unless both are the same.
pub fn same<A: PartialEq<B> + Debug, B: Debug>(what: &str, is: A, wanted: B) -> Result<(), String> {
    if is == wanted { Ok(()) } else { Err(format!("{what}: {is:?}, and not {wanted:?}")) }
}

/// An error unless a text has this part.
fn has(what: &str, text: &str, part: &str) -> Result<(), String> {
    if text.contains(part) { Ok(()) } else { Err(format!("{what}: no `{part}` in `{text}`")) }
}

/// Waits until the page says that it can be used.
fn ready(tab: &mut Tab) -> Result<(), String> {
    tab.wait_until("document.documentElement.dataset.ready !== undefined", Duration::from_secs(10))
}

/// Clicks an op of the drawing, on its name.
fn click_op(tab: &mut Tab, op: usize) -> Result<(), String> {
    tab.click(&format!("#graph .drawing:not([hidden]) [data-op='{op}'] > text"))
}

/// An error unless one sees which op is chosen: its frame has the colour of what is chosen, whatever else it is.
fn looks_chosen(tab: &mut Tab, op: usize) -> Result<(), String> {
    tab.holds(&format!(
        "(() => {{ const frame = document.querySelector('.drawing:not([hidden]) [data-op=\"{op}\"] > rect');
           const probe = document.body.appendChild(document.createElement('i'));
           probe.style.color = 'var(--pick)';
           const wanted = getComputedStyle(probe).color;
           probe.remove();
           return getComputedStyle(frame).stroke === wanted }})()"
    ))
    .map_err(|error| format!("op {op} does not look chosen: {error}"))
}

/// The heading of the details: what is chosen.
fn chosen(tab: &mut Tab) -> Result<String, String> {
    tab.text("#details h2")
}

/// Types into the search, after what was there is gone.
fn search(tab: &mut Tab, text: &str) -> Result<(), String> {
    tab.key("Escape")?;
    tab.key("/")?;
    tab.type_text(text)
}

/// In whichever window one types this, the list of what is found lies in it; then the window is as before.
fn list_fits(tab: &mut Tab, text: &str) -> Result<(), String> {
    for width in [360, 480, 600, 720, 840, 960, 1040, 1280] {
        tab.size(width, 800)?;
        search(tab, text)?;
        let [left, _, wide, _] = rect(tab, "#results")?;
        if left < 0.0 || wide < 250.0 || left + wide > f64::from(width) {
            return Err(format!("the list is {wide:.0} wide from {left:.0} on, in a window of {width}"));
        }
    }
    tab.size(1280, 800)
}

/// The box of the first element that is selected: left, top, width, height.
fn rect(tab: &mut Tab, selector: &str) -> Result<[f64; 4], String> {
    let js = format!(
        "(() => {{ const r = document.querySelector({selector:?}).getBoundingClientRect(); \
         return [r.left, r.top, r.width, r.height] }})()"
    );
    let numbers = tab.eval(&js)?;
    let number = |at: usize| numbers[at].as_f64().ok_or_else(|| format!("`{selector}` has no box"));
    Ok([number(0)?, number(1)?, number(2)?, number(3)?])
}

/// Whether two lengths are the same for an eye.
fn near(what: &str, is: f64, wanted: f64) -> Result<(), String> {
    if (is - wanted).abs() < 1.5 { Ok(()) } else { Err(format!("{what}: {is:.1}, and not {wanted:.1}")) }
}

/// In the dark, in a narrow window and in a very wide one the page is as right as it is by day; then all is as before.
fn in_other_windows(tab: &mut Tab) -> Result<(), String> {
    // Without the frame around what keys go to.
    tab.eval("document.activeElement.blur()")?;
    tab.dark(true)?;
    tab.picture("dark")?;
    tab.check().map_err(|error| format!("in the dark: {error}"))?;
    let [paper, ink] = ["backgroundColor", "color"].map(|what| format!("getComputedStyle(document.body).{what}"));
    let sum = |colour: &str| format!("{colour}.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0)");
    tab.holds(&format!("{} + 300 < {}", sum(&paper), sum(&ink)))?;
    tab.dark(false)?;
    tab.holds(&format!("{} > 300 + {}", sum(&paper), sum(&ink)))?;
    for (width, height) in [(480, 800), (2400, 700)] {
        tab.size(width, height)?;
        tab.picture(&format!("{width}-wide"))?;
        tab.check().map_err(|error| format!("in a window of {width} x {height}: {error}"))?;
        tab.holds("document.documentElement.scrollWidth <= innerWidth")?;
        tab.holds("document.querySelector('#graph').clientHeight >= innerHeight / 5")?;
    }
    tab.size(1280, 800)
}
