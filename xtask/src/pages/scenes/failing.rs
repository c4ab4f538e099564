//! The page of a test that fails at an op, as the variable leaves it.

use std::path::Path;

use dacapo::page::Page;
use dacapo_suite::scenes as graphs;

use super::{chosen, click_op, has, in_other_windows, left, looks_chosen, ready, rect, same, search};
use crate::pages::tab::Tab;

/// The argument of `cargo xtask pages` that makes it fail like this.
pub const ARGUMENT: &str = "--fail-as-a-test";

/// Runs the test as a harness does, in a thread of its name.
///
/// # Errors
///
/// - The test failed, as it should.
pub fn fail() -> Result<(), String> {
    let test = std::thread::Builder::new().name(graphs::FAILING.to_string()).spawn(graphs::fails);
    let test = test.map_err(|error| format!("no thread: {error}"))?;
    test.join().map_err(|_| format!("{} failed", graphs::FAILING))
}

/// Lets the test fail.
pub fn write(file: &Path) -> Result<(), String> {
    let pages = left::by_failure(&["pages", ARGUMENT])?;
    let [page] = &pages[..] else { return Err(format!("{} pages, and not one", pages.len())) };
    let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
    same("the name of the file", name, "filters__a_flat_signal_stays_flat-filter.html")?;
    std::fs::copy(page, file).map(drop).map_err(|error| format!("{}: {error}", page.display()))?;
    let page = Page::from_html(&std::fs::read_to_string(file).map_err(|error| error.to_string())?);
    same("findings", page.map_err(|error| error.to_string())?.findings.len(), 1)
}

/// Uses the page.
pub fn script(tab: &mut Tab) -> Result<(), String> {
    ready(tab)?;
    same("ops", tab.count("#after [data-op]")?, 4)?;
    same("ops at which something was found", tab.count("#after .op.wrong")?, 1)?;
    is_red(tab, 1)?;
    same("the findings are shown", tab.count_shown("#findings")?, 1)?;
    let report = tab.text("#finding-0 pre")?;
    for part in
        ["out-of-bounds", "`smooth` reads 4 bytes", "right past the end of `signal` (1024 bytes", "filter/low pass"]
    {
        has("the report", &report, part)?;
    }
    there_and_back(tab, &report)?;
    search(tab, "low pass")?;
    same("how many are found", tab.text("#count")?, "2 of 4")?;
    tab.key("Enter")?;
    same("what is found", chosen(tab)?, "1 smooth")?;
    tab.key("Escape")?;
    is_red(tab, 1)?;
    folded(tab)?;
    in_other_windows(tab)
}

/// From the finding to the op, where the same report stands, and from there to the finding.
fn there_and_back(tab: &mut Tab, report: &str) -> Result<(), String> {
    tab.click("#finding-0 [data-pick]")?;
    same("the op of the finding", chosen(tab)?, "1 smooth")?;
    looks_chosen(tab, 1)?;
    same("the report at the op", tab.text("#details .wrongness pre")?.as_str(), report)?;
    has("the source", &tab.text("#source")?, "crates/suite/src/scenes/failing.rs:")?;
    tab.picture("op")?;
    tab.check()?;
    tab.click("#tab-findings")?;
    same("the findings are away", tab.count_shown("#findings")?, 0)?;
    tab.click("#details [data-finding='0']")?;
    same("the findings are back", tab.count_shown("#findings")?, 1)?;
    tab.holds("document.activeElement === document.querySelector('#finding-0')")?;
    let [_, top, _, height] = rect(tab, "#finding-0 p")?;
    tab.holds(&format!("{top} > 0 && {} < innerHeight", top + height))?;
    click_op(tab, 0)?;
    same("at another op", tab.count("#details .wrongness")?, 0)?;
    click_op(tab, 1)?;
    same("at the op again", tab.count("#details .wrongness")?, 1)?;
    tab.key("Escape")
}

/// A label that hides the op, and shows it again; then larger, and smaller.
fn folded(tab: &mut Tab) -> Result<(), String> {
    tab.click("#fold")?;
    same("the op is away", tab.count_shown("#after .op.wrong")?, 0)?;
    tab.check()?;
    tab.click("#finding-0 [data-pick]")?;
    same("the op is there again", tab.count_shown("#after .op.wrong")?, 1)?;
    let op = "#after .op.wrong > rect";
    let before = rect(tab, op)?;
    tab.wheel(before[0], before[1], -120.0)?;
    if rect(tab, op)?[2] <= before[2] {
        return Err("the wheel does not zoom".to_string());
    }
    tab.key("f")?;
    tab.key("Escape")
}

/// An error unless the frame of an op has the colour of what is wrong.
fn is_red(tab: &mut Tab, op: usize) -> Result<(), String> {
    tab.holds(&format!(
        "(() => {{ const of = getComputedStyle(document.querySelector('#after [data-op=\"{op}\"] > rect'));
           const [red, green, blue] = of.stroke.match(/\\d+/g).map(Number);
           return red > green + 80 && red > blue + 80 && parseFloat(of.strokeWidth) >= 3 }})()"
    ))
    .map_err(|error| format!("op {op} is not red: {error}"))
}
