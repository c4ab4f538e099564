//! Programs with one mistake: each is one file with its near miss, and says nothing twice.
//!
//! A file `crates/suite/src/programs/<area>/<name>.rs`, or `crates/suite/src/ranks/mistakes/<name>.rs`:
//!
//! - has both ways: it asks `p.way` or, of several ranks, `p.errs(..)`, or its PTX has lines of one way alone (`//~`, `//+`);
//! - has no line of code of more than 20 characters twice, marks and indentation aside. `use` lines and lines without a
//!   letter do not count. A line that a way must move stands in [`MOVED`], with the reason.
//!
//! There are no folders `fail/` and `pass/`: a near miss in a file of its own repeats the program.
//!
//! Not checked here: that the mistake is found and the near miss is right (`crates/suite/tests/programs.rs`, `rank_mistakes.rs`).

use std::collections::BTreeMap;
use std::path::Path;

/// Where the programs stand.
const FOLDER: &str = "crates/suite/src/programs";

/// Where those of several ranks stand, beside what they are written with.
const OF_RANKS: &str = "crates/suite/src/ranks/mistakes";

/// The folder there that holds what they are written with.
const KIT: &str = "program";

/// A line of no more characters than this says too little to count.
const SHORT: usize = 20;

/// Lines that stand twice: program, line, why.
const MOVED: &[(&str, &str, &str)] = &[(
    "race/released_before_it_is_written",
    "st.global.u32 [%rd1], 42;",
    "the mistake is the place of the store: behind the flag, and not in front of it",
)];

/// What is wrong with the programs among `sources`, which are all files of the workspace.
pub fn check<'a>(sources: impl Iterator<Item = (&'a Path, &'a str)>) -> Vec<String> {
    let mut found = Vec::new();
    let mut moved: Vec<(&str, &str)> = MOVED.iter().map(|(name, line, _)| (*name, *line)).collect();
    for (file, text) in sources {
        let Some((area, name)) = named(file) else { continue };
        let at = file.display();
        match area {
            KIT => {}
            "fail" | "pass" => found.push(format!("{at}: a mistake and its near miss are one file, {FOLDER}/<area>")),
            _ => {
                if !has_both_ways(text) {
                    found.push(format!("{at}: has one way; ask `p.way`, or mark lines of PTX with `//~` and `//+`"));
                }
                for line in lines_twice(text) {
                    let path = format!("{area}/{name}");
                    match moved.iter().position(|known| *known == (path.as_str(), line)) {
                        Some(known) => drop(moved.remove(known)),
                        None => found.push(format!("{at}: has this line twice: `{line}`")),
                    }
                }
            }
        }
    }
    found.extend(moved.iter().map(|(name, line)| format!("{name} does not have this line twice: `{line}`")));
    found
}

/// Area and name, if it is a program: those of several ranks are one area.
fn named(file: &Path) -> Option<(&str, &str)> {
    if let Ok(below) = file.strip_prefix(OF_RANKS) {
        return Some(("ranks", below.to_str()?.strip_suffix(".rs").filter(|name| *name != "mod")?));
    }
    file.strip_prefix(FOLDER).ok()?.to_str()?.strip_suffix(".rs")?.split_once('/')
}

/// Whether there is a line that asks for the way, or that only one of the two has.
fn has_both_ways(text: &str) -> bool {
    code(text).any(|line| line.contains("p.way") || line.contains("p.errs(") || line != unmarked(line))
}

/// The lines of code that stand there more than once.
fn lines_twice(text: &str) -> Vec<&str> {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for line in code(text).map(unmarked).filter(|line| !line.starts_with("use ") && line.len() > SHORT) {
        *times.entry(line).or_default() += usize::from(line.contains(char::is_alphanumeric));
    }
    times.into_iter().filter(|(_, times)| *times > 1).map(|(line, _)| line).collect()
}

/// Lines that are no comment: a mark looks like one, and is none.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.starts_with("//") || line.starts_with("//+ "))
}

/// A line of either way without its mark.
fn unmarked(line: &str) -> &str {
    let line = line.strip_suffix("//~").unwrap_or(line);
    line.strip_prefix("//+ ").unwrap_or(line).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "    p.launch(stream, kernel, [1, 32], &[])?;\n";

    /// What is found in one program, beside that the lines of other programs do not stand twice in it.
    fn found_in(file: &str, text: &str) -> Vec<String> {
        let found = check([(Path::new(file), text)].into_iter());
        found.into_iter().filter(|line| line.starts_with("crates/")).collect()
    }

    #[test]
    fn a_program_of_one_way_is_refused() {
        let file = "crates/suite/src/programs/launch/trap.rs";
        assert_eq!(found_in(file, &format!("//! asks `p.way`\n{LINE}")).len(), 1);
        for other in ["if p.way == Mistake {\n}\n", "bar.sync 1; //~\n", "//+ bar.sync 1;\n"] {
            assert!(found_in(file, &format!("{LINE}{other}")).is_empty(), "{other}");
        }
        assert!(found_in("crates/suite/src/programs/program/stream.rs", LINE).is_empty());
    }

    #[test]
    fn a_program_of_several_ranks_is_held_to_the_same() {
        let file = "crates/suite/src/ranks/mistakes/another_root.rs";
        assert_eq!(found_in(file, LINE).len(), 1);
        assert!(found_in(file, &format!("{LINE}let root = if p.errs(1) {{ 1 }} else {{ 0 }};\n")).is_empty());
        assert_eq!(found_in(file, &format!("p.way\n{LINE}{LINE}")).len(), 1);
        assert!(found_in("crates/suite/src/ranks/mistakes/mod.rs", LINE).is_empty());
    }

    #[test]
    fn a_near_miss_in_a_file_of_its_own_is_refused() {
        let text = format!("{LINE}if p.way == Mistake {{}}\n");
        assert_eq!(found_in("crates/suite/src/programs/pass/launch/trap.rs", &text).len(), 1);
        assert_eq!(found_in("crates/suite/src/programs/fail/launch/trap.rs", &text).len(), 1);
    }

    #[test]
    fn a_line_that_stands_twice_is_refused_whatever_its_mark() {
        let file = "crates/suite/src/programs/launch/trap.rs";
        let twice = |text: &str| found_in(file, &format!("p.way\n{text}"));
        let line = "p.launch(stream, kernel, [1, 32], &[])?;";
        assert_eq!(twice(&format!("{LINE}{LINE}")), [format!("{file}: has this line twice: `{line}`")]);
        let store = "st.global.u32 [%rd1], %r1;";
        assert_eq!(twice(&format!("{store} //~\n    //+ {store}\n")).len(), 1);
        assert!(twice(&format!("// {store}\n{store}\n")).is_empty(), "a comment is no code");
        assert!(twice("bar.sync 0;\nbar.sync 0;\n").is_empty(), "short lines do not count");
        assert!(twice("use crate::programs::Answer;\nuse crate::programs::Answer;\n").is_empty());
    }

    #[test]
    fn a_line_that_is_allowed_twice_and_stands_once_is_named() {
        let (name, line, _) = MOVED[0];
        let file = format!("{FOLDER}/{name}.rs");
        let text = |lines: &str| format!("if p.way == Mistake {{}}\n{lines}\n");
        let all = |text: &str| check([(Path::new(&file), text)].into_iter());
        assert!(all(&text(&format!("{line}\n{line}"))).iter().all(|found| !found.contains(name)));
        assert!(all(&text(line)).iter().any(|found| found.contains(name)));
    }
}
