//! Random reports: their drawings stay right while labels are folded and unfolded, and are as before in the end.

use std::path::{Path, PathBuf};

use dacapo::page::Page;
use dacapo_suite::scenes::random;

use super::{page, ready, same};
use crate::pages::tab::Tab;

/// Which of them: among these are some that were drawn wrongly once.
const FIRST: u64 = 70;
const COUNT: u64 = 30;

/// Folds and unfolds at random, and returns what is wrong then.
const FOLD: &str = include_str!("random.js");

/// Writes one page for each beside the first.
pub fn write(file: &Path) -> Result<(), String> {
    (FIRST..FIRST + COUNT).try_for_each(|seed| page(&of_seed(file, seed), &Page::new(random(seed))))
}

/// Uses all pages.
pub fn script(tab: &mut Tab) -> Result<(), String> {
    let first = tab.file().to_path_buf();
    let wrong =
        |seed: u64| one(tab, &of_seed(&first, seed), seed).err().map(|error| format!("of seed {seed}: {error}"));
    let wrong: Vec<String> = (FIRST..FIRST + COUNT).filter_map(wrong).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// The first has the name of the scene.
fn of_seed(file: &Path, seed: u64) -> PathBuf {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    if seed == FIRST { file.to_path_buf() } else { file.with_file_name(format!("{name}-{seed}.html")) }
}

fn one(tab: &mut Tab, file: &Path, seed: u64) -> Result<(), String> {
    tab.open(file)?;
    ready(tab)?;
    fold_at_random(tab, seed)?;
    tab.key("f")?;
    // By hand: a label of which one sees the name is folded by a click on it, and unfolded by another.
    let name = "#after [data-frame] > text";
    if tab.count_shown(name)? > 0 {
        let folded = "#after [data-frame].folded";
        tab.click(name)?;
        same("labels that are folded", tab.count(folded)?, 1)?;
        tab.check()?;
        tab.click(name)?;
        same("labels that are folded", tab.count(folded)?, 0)?;
    }
    if tab.count_shown("#fold")? > 0 {
        tab.click("#fold")?;
        same("ops under a label that one sees", tab.count_shown("#after [data-frame] [data-op]")?, 0)?;
        tab.check()?;
        tab.picture(&format!("{seed}-folded"))?;
        tab.click("#fold")?;
    }
    fold_at_random(tab, seed + COUNT)
}

fn fold_at_random(tab: &mut Tab, seed: u64) -> Result<(), String> {
    let wrong = tab.eval(&format!("({FOLD})({seed})"))?;
    let lines: Vec<&str> = wrong.as_array().into_iter().flatten().filter_map(|line| line.as_str()).collect();
    if lines.is_empty() && wrong.is_array() { Ok(()) } else { Err(lines.join("\n")) }
}
