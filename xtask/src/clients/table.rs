//! What a full run is written down as: results/clients.txt, and two tables of the documentation made from it.
//!
//! `cargo xtask clients --full` writes all three; `cargo xtask tidy` compares them.

use std::fmt::Write as _;
use std::path::Path;

use super::known::{self, Known};

/// The results of a full run.
pub const RESULTS: &str = "results/clients.txt";

/// Where the table of clients is.
const CLIENTS: &str = "docs/software-driver.md";

/// Where the table of known failures is.
const KNOWN: &str = "docs/known-differences.md";

/// What a table of ours stands between.
const MARKS: [&str; 2] = ["<!-- written by `cargo xtask clients --full` -->\n", "<!-- end of what is written -->\n"];

/// A client's line of the results.
#[derive(Debug, PartialEq)]
pub struct Line {
    /// Its name.
    pub client: String,
    /// Its version.
    pub version: String,
    /// What of it ran.
    pub what: String,
    /// Tests that passed or failed.
    pub tests: usize,
    /// Those that passed.
    pub passed: usize,
    /// Those that failed and are known to.
    pub known: usize,
    /// Those that skipped themselves.
    pub skipped: usize,
    /// Those that nobody explained.
    pub unexplained: usize,
    /// How long it took.
    pub seconds: u64,
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Line { client, version, what, tests, passed, known, skipped, unexplained, seconds } = self;
        write!(
            f,
            "{client} {version}, {what}: {tests} tests, {passed} passed, {known} known, {unexplained} unexplained, \
             {skipped} skipped, {seconds} s"
        )
    }
}

/// The lines of a file of results.
fn lines(text: &str) -> Vec<Line> {
    text.lines().filter_map(line).collect()
}

fn line(text: &str) -> Option<Line> {
    let (head, counts) = text.rsplit_once(": ")?;
    let (client, what) = head.split_once(", ")?;
    let (client, version) = client.rsplit_once(' ')?;
    let count = |word: &str| counts.split(", ").find_map(|part| part.strip_suffix(word)?.trim().parse::<usize>().ok());
    Some(Line {
        client: client.into(),
        version: version.into(),
        what: what.into(),
        tests: count("tests")?,
        passed: count("passed")?,
        known: count("known")?,
        skipped: count("skipped")?,
        unexplained: count("unexplained")?,
        seconds: count(" s")? as u64,
    })
}

/// The table of clients, without times: those are another every time.
fn table(lines: &[Line]) -> String {
    let mut text =
        String::from("| client | version | what runs | tests | passed | known to fail |\n|---|---|---|---|---|---|\n");
    for line in lines {
        let Line { client, version, what, tests, passed, known, .. } = line;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| {client} | {version} | {what} | {tests} | {passed} | {known} |");
    }
    text
}

/// Puts a table between the marks of a document.
fn replaced(document: &str, table: &str) -> Option<String> {
    let (before, rest) = document.split_once(MARKS[0])?;
    let (_, after) = rest.split_once(MARKS[1])?;
    Some([before, MARKS[0], table, MARKS[1], after].concat())
}

/// Writes the results and both tables.
///
/// # Errors
///
/// - A document has no place for its table, or cannot be written.
pub fn write(root: &Path, results: &str, list: &[Known]) -> Result<(), String> {
    let write =
        |name: &str, text: &str| std::fs::write(root.join(name), text).map_err(|error| format!("{name}: {error}"));
    write(RESULTS, results)?;
    for (name, table) in [(CLIENTS, table(&lines(results))), (KNOWN, known::table(list))] {
        let document = std::fs::read_to_string(root.join(name)).map_err(|error| format!("{name}: {error}"))?;
        let document = replaced(&document, &table).ok_or_else(|| format!("{name} has no place for its table"))?;
        write(name, &document)?;
    }
    Ok(())
}

/// What is untrue in the two tables, for `cargo xtask tidy`.
pub fn check(root: &Path, versions: &[(&str, &str)]) -> Vec<String> {
    let text = |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_default();
    let list = match known::committed() {
        Ok(list) => list,
        Err(error) => return vec![error],
    };
    compare(&text(RESULTS), &text(CLIENTS), &text(KNOWN), &list, versions)
}

fn compare(results: &str, clients: &str, known: &str, list: &[Known], versions: &[(&str, &str)]) -> Vec<String> {
    let lines = lines(results);
    let mut found = Vec::new();
    for (name, document, table) in [(CLIENTS, clients, table(&lines)), (KNOWN, known, known::table(list))] {
        if replaced(document, &table).as_deref() != Some(document) {
            found.push(format!("{name}: its table of clients is not what `cargo xtask clients --full` would write"));
        }
    }
    let there: Vec<(&str, &str)> = lines.iter().map(|line| (&*line.client, &*line.version)).collect();
    if there != versions {
        found.push(format!("{RESULTS}: other clients or versions than those of xtask/src/clients/pins.rs"));
    }
    found.extend(lines.iter().filter(|line| line.unexplained > 0).map(|line| format!("{RESULTS}: {line}")));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULT: &str = "# words: none\ncudarc 0.19.10, own tests: 53 tests, 51 passed, 2 known, 0 unexplained, 3 skipped, 40 s\n\
                          cuda-core (Python) 1.0.1, programs of ours: 9 tests, 9 passed, 0 known, 0 unexplained, 0 skipped, 4 s\n\
                          clients: 62 tests of 2 clients, 60 passed, 2 known, 0 unexplained\n";

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let lines = lines(RESULT);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[1].client, "cuda-core (Python)");
        assert_eq!((lines[0].tests, lines[0].passed, lines[0].known, lines[0].seconds), (53, 51, 2, 40));
        assert!(RESULT.contains(&format!("{}\n", lines[0])));
    }

    #[test]
    fn tables_are_compared_with_the_results_and_the_list() {
        let versions = [("cudarc", "0.19.10"), ("cuda-core (Python)", "1.0.1")];
        let list = vec![Known { client: "cudarc".into(), test: "t".into(), reason: "it measures time".into() }];
        let place = |table: &str| format!("text\n{}{table}{}more\n", MARKS[0], MARKS[1]);
        let (clients, known) = (place(&table(&lines(RESULT))), place(&known::table(&list)));
        assert_eq!(compare(RESULT, &clients, &known, &list, &versions), [""; 0]);
        assert_eq!(compare(&RESULT.replace("51 passed", "50 passed"), &clients, &known, &list, &versions).len(), 1);
        assert_eq!(compare(&RESULT.replace("40 s", "41 s"), &clients, &known, &list, &versions), [""; 0]);
        assert_eq!(compare(RESULT, &clients, &known, &[], &versions).len(), 1);
        assert_eq!(compare(RESULT, &clients, &known, &list, &versions[..1]).len(), 1);
        assert_eq!(
            compare(&RESULT.replace("0 unexplained", "1 unexplained"), &clients, &known, &list, &versions).len(),
            2
        );
        assert_eq!(compare(RESULT, "no marks", &known, &list, &versions).len(), 1);
    }
}
