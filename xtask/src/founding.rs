//! `cargo xtask founding`: docs/founding.md against the sources.
//!
//! - Every item of the founding systems has a row, in order: F1 to F19, L1 to L12, A1 to A14, N1 to N8.
//! - Every home is a public item of the library (or a folder), and every test exists and is not ignored.
//! - What is different on purpose has its reason; what comes later is counted, and may only be what is allowed to.
//!
//! Last line: `founding: N of M have a home, K different on purpose, L later`.

use std::path::Path;

use crate::workspace;

/// The founding systems and how many items each has.
const SYSTEMS: &[(char, usize)] = &[('F', 19), ('L', 12), ('A', 14), ('N', 8)];
/// What may come later.
const MAY_COME_LATER: &[&str] = &[];
/// Where a test without a path is.
const TESTS: &str = "crates/dacapo/tests/founding.rs";

/// One row of the table.
struct Row {
    number: String,
    homes: Vec<String>,
    test: String,
    how: String,
    note: String,
}

/// Checks the table and prints the counts.
///
/// # Errors
///
/// - Every row that does not hold, a line each.
pub fn run() -> Result<(), String> {
    let root = workspace::root();
    let text =
        std::fs::read_to_string(root.join("docs/founding.md")).map_err(|error| format!("docs/founding.md: {error}"))?;
    let rows: Vec<Row> = text.lines().filter_map(parse).collect();
    let expected: Vec<String> =
        SYSTEMS.iter().flat_map(|(system, count)| (1..=*count).map(move |n| format!("{system}{n}"))).collect();
    let mut wrong = Vec::new();
    let found: Vec<&String> = rows.iter().map(|row| &row.number).collect();
    if found != expected.iter().collect::<Vec<_>>() {
        wrong.push(format!("the rows are {found:?}, not one for each item in order"));
    }
    let library = sources(&root.join("crates/dacapo/src"));
    for row in &rows {
        wrong.extend(check(&root, &library, row).into_iter().map(|what| format!("{}: {what}", row.number)));
    }
    if !wrong.is_empty() {
        return Err(format!("docs/founding.md:\n  {}", wrong.join("\n  ")));
    }
    let count = |how: &str| rows.iter().filter(|row| row.how == how).count();
    let (all, different, later) = (rows.len(), count("different"), count("later"));
    println!("founding: {} of {all} have a home, {different} different on purpose, {later} later", all - later);
    Ok(())
}

/// A row of the table, if the line is one.
fn parse(line: &str) -> Option<Row> {
    let cells: Vec<&str> = line.trim().strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect();
    let [number, _, homes, test, how, note] = cells[..] else { return None };
    let system = number.chars().next()?;
    if !SYSTEMS.iter().any(|(known, _)| *known == system) || !number[1..].chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let quoted = |cell: &str| cell.split('`').skip(1).step_by(2).map(String::from).collect::<Vec<_>>();
    Some(Row {
        number: number.to_string(),
        homes: quoted(homes),
        test: quoted(test).into_iter().next().unwrap_or_default(),
        how: how.to_string(),
        note: note.to_string(),
    })
}

/// Everything that does not hold about a row.
fn check(root: &Path, library: &str, row: &Row) -> Vec<String> {
    let mut wrong = Vec::new();
    match row.how.as_str() {
        "same" => {}
        "different" if row.note.is_empty() => wrong.push("different without a reason".into()),
        "different" => {}
        "later" if !MAY_COME_LATER.contains(&row.number.as_str()) => wrong.push("may not come later".into()),
        "later" => return wrong,
        other => wrong.push(format!("`{other}` is none of same, different, later")),
    }
    if row.homes.is_empty() {
        wrong.push("no home".into());
    }
    for home in &row.homes {
        if !exists(root, library, home) {
            wrong.push(format!("`{home}` is no public item of the library"));
        }
    }
    if let Some(what) = test_missing(root, &row.test) {
        wrong.push(what);
    }
    wrong
}

/// Whether a home is there: a folder, or an item whose last name is declared public in the library.
fn exists(root: &Path, library: &str, home: &str) -> bool {
    if home.contains('/') {
        return root.join(home).is_dir();
    }
    let name = home.rsplit("::").next().unwrap_or(home);
    let kinds = ["fn", "struct", "enum", "trait", "unsafe fn", "const"];
    let declared = kinds.iter().any(|kind| {
        [
            format!("pub {kind} {name}("),
            format!("pub {kind} {name}<"),
            format!("pub {kind} {name} "),
            format!("pub {kind} {name}:"),
        ]
        .iter()
        .any(|text| library.contains(text))
    });
    // A variant of an enum has no `pub` of its own.
    declared || (home.starts_with("ErrorKind::") && library.contains(&format!("\n    {name}")))
}

/// What is wrong with a test's name, if anything.
fn test_missing(root: &Path, test: &str) -> Option<String> {
    if test.is_empty() {
        return Some("no test".into());
    }
    if test.contains('/') {
        return (!root.join(test).is_file()).then(|| format!("no file {test}"));
    }
    let text = std::fs::read_to_string(root.join(TESTS)).unwrap_or_default();
    let Some(at) = text.find(&format!("\nfn {test}(")) else { return Some(format!("no test `{test}` in {TESTS}")) };
    let before = text[..at].lines().last().unwrap_or_default();
    (before.trim() != "#[test]").then(|| format!("`{test}` is not a test that runs"))
}

/// All sources below a folder, one after the other.
fn sources(folder: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            text.push_str(&sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&std::fs::read_to_string(&path).unwrap_or_default());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_holds() {
        run().unwrap();
    }

    #[test]
    fn a_row_with_a_home_or_test_that_is_not_there_is_found() {
        let root = workspace::root();
        let library = sources(&root.join("crates/dacapo/src"));
        let row = |line: &str| parse(line).unwrap();
        assert!(
            check(&root, &library, &row("| F4 | x | `Graph::launch` | `f4_a_launch_is_one_submission` | same |  |"))
                .is_empty()
        );
        for line in [
            "| F4 | x | `Graph::lunch` | `f4_a_launch_is_one_submission` | same |  |",
            "| F4 | x | `Graph::launch` | `f4_absent` | same |  |",
            "| F4 | x |  | `f4_a_launch_is_one_submission` | same |  |",
            "| F4 | x | `Graph::launch` | `f4_a_launch_is_one_submission` | different |  |",
            "| F4 | x | `Graph::launch` |  | later | because |",
        ] {
            assert!(!check(&root, &library, &row(line)).is_empty(), "{line}");
        }
    }
}
