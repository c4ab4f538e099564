//! Public items that the documentation hides: each stands in docs/holes.md, with why it cannot hurt in safe hands.
//!
//! - Hidden is what `#[doc(hidden)]` stands above, the public functions of such a type, and what `__private` exports.
//! - A public item that is neither documented nor hidden does not compile (`missing_docs`). Only `driver` and `ptx`
//!   allow it, for the names of cuda.h and of PTX, which are plain data.
//! - A line of the table whose item is gone is stale.
//!
//! Reads the text as rustfmt leaves it: items of a file at its margin, functions of an `impl` one step in.

use std::collections::BTreeSet;
use std::path::Path;

/// The crates that a program can reach, by their folders.
const CRATES: &[&str] = &["dacapo", "driver", "ledger", "ptx", "sim"];

/// The heading of the table.
const HEADING: &str = "## Public items that the documentation hides";

/// What is missing from the table of `text`, and what is too much in it. `sources` are all files of the workspace.
pub fn check<'a>(sources: impl Iterator<Item = (&'a Path, &'a str)>, text: &str) -> Vec<String> {
    let (mut items, mut found) = (BTreeSet::new(), Vec::new());
    for (file, source) in sources {
        let Some(name) = crate_of(file) else { continue };
        items.extend(hidden_in(source).into_iter().map(|item| (name.to_string(), item)));
        if !["driver", "ptx"].contains(&name) && source.contains("allow(missing_docs)") {
            found.push(format!("{}: allows public items without documentation", file.display()));
        }
    }
    let listed = listed_in(text);
    let missing = items.difference(&listed);
    found.extend(missing.map(|(name, item)| format!("docs/holes.md: does not say why `{item}` of {name} cannot hurt")));
    let stale = listed.difference(&items);
    found.extend(stale.map(|(name, item)| format!("docs/holes.md: `{item}` of {name} is no hidden public item")));
    found
}

/// The crate of a source file, where it is one that a program can reach.
fn crate_of(file: &Path) -> Option<&str> {
    let mut parts = file.iter().filter_map(|part| part.to_str());
    let (crates, name, src) = (parts.next()?, parts.next()?, parts.next()?);
    (crates == "crates" && src == "src" && CRATES.contains(&name)).then_some(name)
}

/// The hidden items of one file.
fn hidden_in(source: &str) -> Vec<String> {
    let lines: Vec<&str> = source.lines().collect();
    let mut items = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        // Spelled in two pieces, so that this file does not find itself.
        if line.trim() != concat!("#[doc(", "hidden)]") {
            continue;
        }
        let Some((item, below)) = item_below(&lines[at..]) else { continue };
        let Some(name) = name_of(item) else { continue };
        if margin(item) > 0 {
            let above = lines[..at].iter().rev().find(|above| !above.trim().is_empty() && margin(above) < margin(item));
            let owner = above.and_then(|above| name_of(above).or_else(|| implemented(above))).unwrap_or_default();
            items.push(format!("{owner}::{name}"));
            continue;
        }
        items.extend(functions_of(&lines, &name));
        if name == "__private" {
            items.extend(exported(&lines[at + below..]));
        }
        items.push(name);
    }
    items.sort();
    items.dedup();
    items
}

/// The item that the attribute on the first line stands above, and how many lines below it.
fn item_below<'a>(lines: &[&'a str]) -> Option<(&'a str, usize)> {
    let mut open = false;
    for (below, line) in lines.iter().enumerate() {
        let text = line.split(" // ").next().unwrap_or_default().trim();
        let attribute = open || text.starts_with("#[");
        open = attribute && !text.ends_with(']');
        if !attribute && !text.starts_with("//") && !text.is_empty() {
            return Some((line, below));
        }
    }
    None
}

fn margin(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The name of the item that a line begins.
fn name_of(line: &str) -> Option<String> {
    const KINDS: &[&str] = &["struct", "enum", "trait", "type", "mod", "fn", "macro_rules!", "const", "use"];
    let mut words =
        line.trim().split(|c: char| c.is_whitespace() || "<({:;=".contains(c)).filter(|word| !word.is_empty());
    let mut kind = words.find(|word| KINDS.contains(word))?;
    let mut name = words.next()?;
    // `const fn` is a function.
    if kind == "const" && name == "fn" {
        (kind, name) = (name, words.next()?);
    }
    // What is re-exported has the last name of its path.
    Some(if kind == "use" {
        line.trim().trim_end_matches(';').rsplit("::").next()?.to_string()
    } else {
        name.to_string()
    })
}

/// The type of an inherent `impl`.
fn implemented(line: &str) -> Option<String> {
    let mut rest = line.strip_prefix("impl")?;
    if rest.starts_with('<') {
        let mut depth = 0;
        // The arrow of a closure's type closes nothing.
        let closed = |(at, c): &(usize, char)| {
            depth += i32::from(*c == '<') - i32::from(*c == '>' && !rest[..*at].ends_with('-'));
            depth == 0
        };
        let end = rest.char_indices().find(closed)?.0;
        rest = &rest[end + 1..];
    }
    let name = rest.trim().split(|c: char| "<{ ".contains(c)).next()?;
    (!rest.contains(" for ")).then(|| name.to_string())
}

/// The public functions of a type that stand in its file.
fn functions_of(lines: &[&str], name: &str) -> Vec<String> {
    let (mut functions, mut inside) = (Vec::new(), false);
    for line in lines {
        if margin(line) == 0 && !line.is_empty() {
            inside = implemented(line).is_some_and(|of| of == name);
        }
        let public = line.trim().starts_with("pub ") && line.contains("fn ");
        functions.extend((inside && public).then(|| name_of(line)).flatten().map(|f| format!("{name}::{f}")));
    }
    functions
}

/// The names that a module re-exports.
fn exported(lines: &[&str]) -> Vec<String> {
    let body: Vec<&str> = lines.iter().copied().take_while(|line| *line != "}").skip(1).collect();
    let body = body.join(" ");
    let uses = body.split(';').filter_map(|text| text.trim().strip_prefix("pub use "));
    let names = uses.flat_map(|path| match path.split_once('{') {
        Some((_, list)) => list.trim_end_matches('}').split(',').map(str::trim).collect::<Vec<_>>(),
        None => path.rsplit("::").take(1).collect(),
    });
    names.filter(|name| !name.is_empty()).map(str::to_string).collect()
}

/// The items that the table names: a crate in the first column, items in the second.
fn listed_in(text: &str) -> BTreeSet<(String, String)> {
    let table = text.split(HEADING).nth(1).unwrap_or_default();
    let rows = table.lines().skip(1).take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with("| "));
    let mut items = BTreeSet::new();
    for row in rows {
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        if let [_, name, listed, ..] = columns[..] {
            items.extend(listed.split('`').skip(1).step_by(2).map(|item| (name.to_string(), item.to_string())));
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = concat!(
        "/// Open.\npub struct Open;\n\n/// Hidden.\n#[doc(",
        "hidden)]\n#[derive(Clone)]\npub struct Shut<T>(T);\n\n",
        "impl<T: Fn() -> u8> Shut<T> {\n    pub fn reach(&self) {}\n    fn own(&self) {}\n}\n\n",
        "impl Clone for Shut<u8> {\n    fn clone(&self) {}\n}\n\npub trait Open {\n    #[doc(",
        "hidden)]\n    fn inner();\n}\n"
    );

    #[test]
    fn hidden_items_are_found_with_their_functions() {
        assert_eq!(hidden_in(SOURCE), ["Open::inner", "Shut", "Shut::reach"]);
    }

    #[test]
    fn an_item_without_a_line_and_a_line_without_an_item_are_named() {
        let file = Path::new("crates/sim/src/shut.rs");
        let rows = "| sim | `Shut`, `Open::inner` | x |\n| sim | `Gone` | x |\n";
        let text = format!("{HEADING}\n\n| crate | item | why |\n|---|---|---|\n{rows}");
        let found = check([(file, SOURCE)].into_iter(), &text);
        assert_eq!(
            found,
            [
                "docs/holes.md: does not say why `Shut::reach` of sim cannot hurt",
                "docs/holes.md: `Gone` of sim is no hidden public item"
            ]
        );
    }
}
