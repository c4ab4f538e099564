//! Pages that were kept: each opens as it is, with the script that it was written with, and made again by today's code.

use std::path::{Path, PathBuf};

use dacapo::page::Page;

use super::{chosen, has, page, ready, same, search, write as write_text};
use crate::pages::tab::Tab;
use crate::workspace;

/// Writes the page with one of everything, and beside it its report and its profile: what is kept of a new version.
pub fn write_everything(file: &Path) -> Result<(), String> {
    let made = dacapo_suite::scenes::everything().map_err(|error| error.to_string())?;
    page(file, &made)?;
    write_text(&file.with_extension("report.json"), &made.report.to_json())?;
    let profile = made.profile.as_ref().ok_or("it has no profile")?;
    write_text(&file.with_extension("profile.json"), &profile.to_json())
}

/// Writes every page that was kept, as it is and again, and the first of them as the scene's own.
pub fn write(file: &Path) -> Result<(), String> {
    let mut first = None;
    for (kept, text) in pages()? {
        let page = Page::from_html(&text).map_err(|error| format!("{}: {error}", kept.display()))?;
        let [as_it_is, again] = beside(file, &kept);
        write_text(&as_it_is, &text)?;
        write_text(&again, &page.html())?;
        first.get_or_insert(text);
    }
    write_text(file, &first.ok_or("no page was kept")?)
}

/// Opens all of them.
pub fn script(tab: &mut Tab) -> Result<(), String> {
    let own = tab.file().to_path_buf();
    for (kept, _) in pages()? {
        for file in beside(&own, &kept) {
            tab.open(&file)?;
            everything(tab).map_err(|error| format!("{}: {error}", file.display()))?;
        }
    }
    Ok(())
}

/// The page with one of everything shows all of it.
pub fn everything(tab: &mut Tab) -> Result<(), String> {
    ready(tab)?;
    tab.check()?;
    same("the title", tab.eval("document.title")?, "everything")?;
    same("loops with a branch", tab.count("#after .op.loop .op.branch")?, 1)?;
    same("what was found is at its op", tab.count("#after .op.wrong")?, 1)?;
    same("what is new", tab.count("#after .op.added")?, 3)?;
    search(tab, "window_of")?;
    tab.key("Enter")?;
    has("what is found", &chosen(tab)?, "window_of")?;
    let text = tab.text("#details")?;
    for part in ["out-of-bounds", "offset", "reads", "from"] {
        has("what is told of it", &text, part)?;
    }
    tab.check()?;
    for (id, part) in [("time", "critical path"), ("memory", "arena"), ("difference", "+ node 4 `add`")] {
        if tab.count_shown(&format!("#{id}"))? == 0 {
            tab.click(&format!("#tab-{id}"))?;
        }
        has(id, &tab.text(&format!("#{id}"))?, part)?;
        tab.check()?;
        tab.picture(id)?;
    }
    tab.key("Escape")?;
    tab.click("#fold")?;
    same("ops under a label that one sees", tab.count_shown("#after [data-frame] [data-op]")?, 0)?;
    tab.check()
}

/// The files that were kept, with their texts.
fn pages() -> Result<Vec<(PathBuf, String)>, String> {
    let folder = workspace::root().join("crates/dacapo/tests/kept");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|it| it == "html")).collect();
    files.sort();
    let read = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok((file, text))
    };
    files.into_iter().map(read).collect()
}

/// Where a page is written as it is, and again.
fn beside(file: &Path, kept: &Path) -> [PathBuf; 2] {
    let name = kept.file_stem().unwrap_or_default().to_string_lossy();
    ["", "-again"].map(|again| file.with_file_name(format!("kept-{name}{again}.html")))
}
