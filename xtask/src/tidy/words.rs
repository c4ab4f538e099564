//! One name for one thing: words that named several types once, and where the one type of that name is.
//!
//! - A type, trait or alias of such a name anywhere else is refused: a reader who has met `Place` in one crate shall not
//!   learn it anew in the next. Variants, fields and functions may have the name.
//! - A word whose type is gone is stale.
//! - Not looked at: modules of tests, and `tests/ui`, where programs of users stand.

use std::path::Path;

use super::code;

/// Each word with the files that define it.
const WORDS: &[(&str, &[&str])] = &[
    // The second is the report's side of the first.
    ("Access", &["crates/dacapo/src/memory/access.rs", "crates/dacapo/src/inspect/model.rs"]),
    ("Cell", &["crates/dacapo/src/value/slot.rs"]),
    ("Draft", &["crates/dacapo/src/plan/draft.rs"]),
    ("Place", &["crates/dacapo/src/inspect/model.rs"]),
    ("Recorded", &["crates/dacapo/src/record/recorder.rs"]),
    ("Touch", &["crates/ledger/src/queues.rs"]),
];

/// What is defined twice, or not at all. `sources` are all files of the workspace.
pub fn check<'a>(sources: impl Iterator<Item = (&'a Path, &'a str)>) -> Vec<String> {
    let mut found = Vec::new();
    let mut missing: Vec<(&str, &Path)> =
        WORDS.iter().flat_map(|(word, homes)| homes.iter().map(|home| (*word, Path::new(*home)))).collect();
    let ours = |file: &Path| !file.components().any(|part| part.as_os_str() == "ui");
    for (file, text) in sources.filter(|(file, _)| ours(file)) {
        for (at, line) in code::lines(text) {
            let Some((word, homes)) = defined(line).and_then(|name| WORDS.iter().find(|(word, _)| *word == name))
            else {
                continue;
            };
            match missing.iter().position(|known| *known == (*word, file)) {
                Some(home) => drop(missing.remove(home)),
                None => found.push(format!(
                    "{}:{}: `{word}` is the one in {}: call this otherwise",
                    file.display(),
                    at,
                    homes[0]
                )),
            }
        }
    }
    let stale =
        |(word, home): &(&str, &Path)| format!("{}: has no `{word}`: mend the list in tidy/words.rs", home.display());
    found.extend(missing.iter().map(stale));
    found
}

/// The name of the type, trait or alias that a line begins to define.
fn defined(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let is_before = |word: &&str| word.starts_with("pub") || *word == "in" || *word == "unsafe" || word.ends_with(')');
    let keyword = words.by_ref().find(|word| !is_before(word))?;
    let name = words.next()?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    ["struct", "enum", "union", "trait", "type"].contains(&keyword).then(|| &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found in one file, beside that the words of others are not in it.
    fn found_in(file: &str, text: &str) -> Vec<String> {
        let found = check([(Path::new(file), text)].into_iter());
        found.into_iter().filter(|line| line.starts_with(&format!("{file}:")) && line.contains("otherwise")).collect()
    }

    #[test]
    fn a_second_type_of_a_known_name_is_refused() {
        let file = "crates/sim/src/model/work.rs";
        let home = "crates/dacapo/src/inspect/model.rs";
        for line in [
            "pub(crate) enum Place {",
            "struct Place;",
            "    pub(in crate::exec) type Place<'a> = u8;",
            "unsafe trait Place {",
        ] {
            assert_eq!(
                found_in(file, &format!("\n{line}\n")),
                [format!("{file}:2: `Place` is the one in {home}: call this otherwise")],
                "{line}"
            );
        }
        assert_eq!(found_in(home, "pub struct Place {\n"), [""; 0]);
        assert_eq!(found_in(home, "pub struct Place {\n}\nstruct Place;\n").len(), 1, "its home has one");
    }

    #[test]
    fn other_uses_of_the_word_are_free() {
        let text = "/// struct Place\nlet place: Place = x;\nPlace,\nstruct Places;\nimpl Place {}\nfn Place() {}\n";
        assert_eq!(found_in("crates/sim/src/model/work.rs", text), [""; 0]);
        assert_eq!(found_in("crates/dacapo/tests/ui/own.rs", "struct Place;\n"), [""; 0]);
    }

    #[test]
    fn a_word_whose_type_is_gone_is_stale() {
        let stale = check(std::iter::empty());
        assert_eq!(stale.len(), WORDS.iter().map(|(_, homes)| homes.len()).sum::<usize>());
        assert!(
            stale.contains(&"crates/ledger/src/queues.rs: has no `Touch`: mend the list in tidy/words.rs".to_string())
        );
    }
}
