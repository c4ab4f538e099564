//! The decode step, recorded once for each bucket of rows: a page each, and two of them beside each other.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use dacapo::page::Page;

use super::{chosen, click_op, has, in_other_windows, left, looks_chosen, ready, rect, same, search};
use crate::pages::tab::Tab;

/// The op that has a block for each row.
const PER_ROW: &str = "embed";

/// The pages of the example, which runs once.
fn pages() -> Result<Vec<PathBuf>, String> {
    static PAGES: OnceLock<Result<Vec<PathBuf>, String>> = OnceLock::new();
    PAGES.get_or_init(|| left::by_example("decode", &["--device", "software", "--size", "tiny"])).clone()
}

/// The last page that the example left of a graph for so many rows.
fn of_rows(rows: u32) -> Result<(PathBuf, Page), String> {
    for file in pages()?.into_iter().rev() {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
        let page = Page::from_html(&std::fs::read_to_string(&file).map_err(|error| failed(&error))?);
        let page = page.map_err(|error| failed(&error))?;
        let per_row = page.report.nodes.iter().find(|node| node.name == PER_ROW).and_then(|node| node.geometry);
        if per_row.is_some_and(|geometry| geometry.blocks == [rows, 1, 1]) {
            return Ok((file, page));
        }
    }
    Err(format!("no graph for {rows} rows"))
}

/// The page of one bucket, as the example left it.
pub fn write(file: &Path, rows: u32) -> Result<(), String> {
    let (page, _) = of_rows(rows)?;
    std::fs::copy(&page, file).map(drop).map_err(|error| format!("{}: {error}", page.display()))
}

/// The bucket of four rows, since that of one.
pub fn write_compared(file: &Path) -> Result<(), String> {
    let ((_, one), (_, four)) = (of_rows(1)?, of_rows(4)?);
    super::write(file, &four.since(one.report).html())
}

/// Uses the page of the bucket of one row.
pub fn one(tab: &mut Tab) -> Result<(), String> {
    bucket(tab, 1)
}

/// Uses the page of the bucket of four rows.
pub fn four(tab: &mut Tab) -> Result<(), String> {
    bucket(tab, 4)?;
    in_other_windows(tab)
}

fn bucket(tab: &mut Tab, rows: usize) -> Result<(), String> {
    ready(tab)?;
    same("ops", tab.count("#after [data-op]")?, 25)?;
    click_op(tab, 0)?;
    same("what was clicked", chosen(tab)?, format!("0 {PER_ROW}"))?;
    has(
        "a block a row",
        &tab.text("#details")?,
        if rows == 1 { "1 block of 256 threads" } else { "4 blocks of 256 threads" },
    )?;
    has("the source", &tab.text("#source")?, "examples/decode/src/model.rs:")?;
    tab.picture("embed")?;
    tab.check()?;
    search(tab, "layer 1/attention")?;
    let found = tab.text("#count")?;
    has("how many are found", &found, " of 25")?;
    tab.key("Enter")?;
    has("what is found", &tab.text("#details")?, "decode/layer 1/attention")?;
    tab.key("Escape")?;
    let before = tab.count_shown("#after [data-op]")?;
    tab.click("#fold")?;
    // The first and the last: each is alone under its label.
    same("ops that are left", tab.count_shown("#after [data-op]")?, 2)?;
    tab.picture("folded")?;
    tab.check()?;
    tab.click("#fold")?;
    same("all are back", tab.count_shown("#after [data-op]")?, before)?;
    let [left, top, width, height] = rect(tab, "#graph")?;
    let op = "#after [data-op='0'] > rect";
    let small = rect(tab, op)?[2];
    tab.wheel(left + width / 2.0, top + height / 2.0, -120.0)?;
    if rect(tab, op)?[2] <= small {
        return Err("the wheel does not zoom".to_string());
    }
    tab.check()?;
    tab.click("#tab-memory")?;
    tab.click("#memory svg [data-memory]")?;
    has("what is told of a temp", &tab.text("#details")?, "Shares bytes with")?;
    tab.picture("memory")?;
    tab.click("#tab-memory")?;
    tab.key("Escape")
}

/// Uses the page that compares both.
pub fn compared(tab: &mut Tab) -> Result<(), String> {
    ready(tab)?;
    // Products have a kernel for each number of rows; the other ops are the same, with more blocks and larger temps.
    same("what is new", tab.count("#after .op.added")?, 9)?;
    same("what is gone", tab.count("#before .op.removed")?, 9)?;
    same("what has changed", tab.count("#after .op.changed")?, tab.count("#before .op.changed")?)?;
    tab.holds("document.querySelectorAll('#after .op.changed').length > 10")?;
    tab.click("#differences [data-pick='0'][data-of='after']")?;
    same("what has changed", chosen(tab)?, format!("0 {PER_ROW}"))?;
    looks_chosen(tab, 0)?;
    has("what is told of it", &tab.text("#details")?, "Changed")?;
    tab.picture("embed")?;
    tab.check()?;
    tab.click("#switch [data-view='before']")?;
    same("the first recording", (tab.count_shown("#before")?, tab.count_shown("#after")?), (1, 0))?;
    tab.eval("location.hash = '#op=0&before'")?;
    tab.reload()?;
    ready(tab)?;
    has("a block a row", &tab.text("#details")?, "1 block of 256 threads")?;
    has("which of both", &tab.text("#details")?, "in the first recording")?;
    tab.key("b")?;
    search(tab, "rms_norm")?;
    tab.key("Enter")?;
    has("what is found", &chosen(tab)?, "rms_norm")?;
    tab.check()?;
    tab.key("Escape")?;
    in_other_windows(tab)
}
