//! Who reads the environment: docs/ARCHITECTURE.md has a table of files and variables, and it is the truth.
//!
//! - A file of `crates` or `examples` that reads the environment outside of tests has a row, with every variable that it
//!   names; a row whose file reads nothing is stale.
//! - Every `"DACAPO_.."` in code stands in some row: so a variable that is read through a constant is in the table too.
//! - A variable of a row is named in the code of that crate.
//!
//! Not looked at: what is read when a program is built (`env!` and `option_env!`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::code;

/// The heading above the table.
const HEADING: &str = "## The environment";

/// What the table of `text` lacks, and what is too much in it. `sources` are all files of the workspace.
pub fn check<'a>(sources: impl Iterator<Item = (&'a Path, &'a str)>, text: &str) -> Vec<String> {
    let table = rows(text);
    let told: BTreeSet<&str> = table.values().flatten().copied().collect();
    let (mut found, mut readers) = (Vec::new(), BTreeSet::new());
    let mut named: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (file, source) in sources.filter(|(file, _)| is_ours(file)) {
        let at = file.display().to_string();
        let mut read = BTreeSet::new();
        let mut reads = false;
        for (_, line) in code::lines(source).filter(|(_, line)| !line.contains("env!(")) {
            let literals = || line.split('"').skip(1).step_by(2);
            for variable in literals().filter(|text| text.starts_with("DACAPO_") && is_variable(text)) {
                if !told.contains(variable) {
                    found.push(format!(
                        "{at}: {variable} is not in the table of docs/ARCHITECTURE.md, \"{}\"",
                        &HEADING[3..]
                    ));
                }
            }
            named.entry(crate_of(file)).or_default().extend(literals().filter(|text| is_variable(text)));
            for call in line.split("env::var").skip(1) {
                reads = true;
                let argument = call.strip_prefix("_os").unwrap_or(call).strip_prefix("(\"");
                read.extend(argument.and_then(|rest| rest.split('"').next()));
            }
        }
        if !reads {
            continue;
        }
        match table.get(at.as_str()) {
            Some(listed) => found.extend(
                read.iter()
                    .filter(|variable| !listed.contains(**variable))
                    .map(|variable| format!("docs/ARCHITECTURE.md: the row of {at} lacks `{variable}`")),
            ),
            None => found.push(format!("docs/ARCHITECTURE.md: {at} reads the environment, and has no row")),
        }
        readers.insert(at);
    }
    for (file, variables) in &table {
        if !readers.contains(*file) {
            found.push(format!("docs/ARCHITECTURE.md: {file} does not read the environment"));
            continue;
        }
        let known = named.get(&crate_of(Path::new(file)));
        let gone = variables.iter().filter(|variable| !known.is_some_and(|known| known.contains(**variable)));
        found.extend(gone.map(|variable| format!("docs/ARCHITECTURE.md: {file} knows no `{variable}`")));
    }
    found
}

/// Code that a program or a user runs.
fn is_ours(file: &Path) -> bool {
    (file.starts_with("crates") || file.starts_with("examples")) && !code::is_test(file) && !is_build_script(file)
}

/// `crates/sim/build.rs`; a module of that name is none.
fn is_build_script(file: &Path) -> bool {
    file.iter().count() == 3 && file.ends_with("build.rs")
}

/// `crates/sim` of `crates/sim/src/lib.rs`.
fn crate_of(file: &Path) -> String {
    file.iter().take(2).filter_map(|part| part.to_str()).collect::<Vec<_>>().join("/")
}

/// `DACAPO_SEED`, `OUT`.
fn is_variable(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

/// The table: files in the first column, their variables in the second.
fn rows(text: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let below = text.lines().skip_while(|line| *line != HEADING).skip(1).take_while(|line| !line.starts_with("## "));
    let mut rows: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in below.filter(|line| line.starts_with("| `")) {
        let columns: Vec<&str> = line.split('|').collect();
        if let [_, files, variables, ..] = columns[..] {
            for file in super::quoted(files) {
                rows.entry(file).or_default().extend(super::quoted(variables));
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "## The environment\n\n| file | variables | |\n|---|---|---|\n\
                         | `crates/a/src/open.rs` | `DACAPO_SEED`, `CUDA_HOME` | |\n\n## Next\n| `b` | `c` |\n";
    const READS: &str = "let a = std::env::var(\"DACAPO_SEED\");\nconst NAMES: &[&str] = &[\"CUDA_HOME\"];\n";

    fn found(sources: &[(&str, &str)]) -> Vec<String> {
        check(sources.iter().map(|(file, text)| (Path::new(file), *text)), TABLE)
    }

    #[test]
    fn a_reader_with_its_row_is_right() {
        assert_eq!(found(&[("crates/a/src/open.rs", READS)]), [""; 0]);
        let test = "#[cfg(test)]\nmod tests {\n    fn a() { std::env::var(\"DACAPO_BLESS\"); }\n}\n";
        assert_eq!(
            found(&[("crates/a/src/open.rs", &format!("{READS}{test}")), ("crates/a/tests/b.rs", READS)]),
            [""; 0]
        );
    }

    #[test]
    fn a_reader_without_a_row_and_a_row_without_a_reader_are_named() {
        assert_eq!(
            found(&[("crates/a/src/other.rs", "std::env::var_os(NAME)")]),
            [
                "docs/ARCHITECTURE.md: crates/a/src/other.rs reads the environment, and has no row",
                "docs/ARCHITECTURE.md: crates/a/src/open.rs does not read the environment",
            ]
        );
    }

    #[test]
    fn variables_and_rows_are_the_same() {
        let other = READS.replace("CUDA_HOME", "CUDA_PATH") + "std::env::var_os(\"HOME\");\nlet b = \"DACAPO_NEW\";\n";
        assert_eq!(
            found(&[("crates/a/src/open.rs", &other)]),
            [
                "crates/a/src/open.rs: DACAPO_NEW is not in the table of docs/ARCHITECTURE.md, \"The environment\"",
                "docs/ARCHITECTURE.md: the row of crates/a/src/open.rs lacks `HOME`",
                "docs/ARCHITECTURE.md: crates/a/src/open.rs knows no `CUDA_HOME`",
            ]
        );
    }
}
