//! docs/errors.md: every word with the texts of real mistakes. It is made here, and held against what is committed.
//!
//! `cargo xtask bless --only error` writes it anew; read the difference before you commit it.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::path::Path;

use super::super::{Error, ErrorKind, table::WORDS};
use super::mistakes::Mistake;
use super::{mistakes, mistakes_below, mistakes_flow};

const OPENING: &str = "\
# Errors

Every error of the library, by the word that stands in its brackets. The word is `error.kind().word()`; it is short, unique, and
stays the same from version to version. The fields of each kind are in the documentation of `ErrorKind`.

- `{}` is one line, for a log: op, labels, line of the program, the rule, and the first line of what the software device found.
- `{:#}`, and `{:?}`, which is what `main` and `unwrap` print, are the whole report, with notes, causes and help.
- `source()` is what it came from: a code of the driver, an error of the program's own, another error of the library. Its text
  is not a part of `{}`, so that what prints a chain of errors prints nothing twice.

Below, the first block of each mistake is `{}` and the second `{:#}`. They are printed by tests that make these mistakes
(`crates/dacapo/src/error/tests`); what no software device can do is put together by hand, and says so. Lines and columns are left
out. `cargo xtask bless --only error` writes this page anew.
";

/// All mistakes with what came of each.
pub(super) fn all() -> Vec<(&'static str, Error)> {
    let made = |(mistake, make): &Mistake| (*mistake, make());
    let all = mistakes::MISTAKES.iter().chain(mistakes_below::MISTAKES).chain(mistakes_flow::MISTAKES);
    all.map(made).collect()
}

/// The page: a section for each word, in the order of the table.
fn page() -> String {
    let all = all();
    let mut page = OPENING.to_string();
    for (kind, word) in WORDS {
        write!(page, "\n## `{word}`\n\n`ErrorKind::{kind}`\n").unwrap();
        for (mistake, error) in all.iter().filter(|(_, error)| error.kind().word() == *word) {
            let (line, report) = (plain(&error.to_string()), plain(&format!("{error:#}")));
            write!(page, "\n{}:\n\n```text\n{line}\n```\n```text\n{report}\n```\n", upper(mistake)).unwrap();
        }
    }
    page
}

fn upper(text: &str) -> String {
    text[..1].to_uppercase() + &text[1..]
}

/// Without what differs from one edit of the tests, or from one run, to the next.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("crates/dacapo/src/error/tests/") {
        let end = rest[at..].find(".rs:").map_or(rest.len(), |dot| at + dot + 4);
        let behind = rest[end..].trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
        out += &rest[..at];
        // What stands behind a place may begin with a colon of its own.
        out += if rest[..rest.len() - behind.len()].ends_with(':') { "src/main.rs:_:_:" } else { "src/main.rs:_:_" };
        rest = behind;
    }
    out += rest;
    let mut parts = out.split("opened as number ");
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        text += "opened as number _";
        text += part.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    text
}

#[test]
fn the_page_has_every_error_as_it_is_printed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
    let got = page();
    if std::env::var_os("DACAPO_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, got).expect("writable");
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = expected.lines().zip(got.lines()).find(|(expected, got)| expected != got);
    assert!(
        expected == got,
        "docs/errors.md is stale; first difference: {differs:?}\nhelp: cargo xtask bless --only error"
    );
}

#[test]
fn every_kind_has_a_word_of_its_own_and_a_mistake_that_makes_it() {
    let words: BTreeSet<&str> = WORDS.iter().map(|(_, word)| *word).collect();
    assert_eq!(words.len(), WORDS.len(), "a word stands for two kinds: {WORDS:?}");
    let plain = |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c == '_') && word.len() <= 20;
    assert!(words.iter().all(|word| plain(word)), "{words:?}");
    let made: HashMap<&str, &str> = all().iter().map(|(mistake, error)| (error.kind().word(), *mistake)).collect();
    let missing: Vec<_> = words.iter().filter(|word| !made.contains_key(**word)).collect();
    assert!(missing.is_empty(), "no mistake makes {missing:?}");
}

/// A word is the kind's name as a program would write it, but for the user's own error.
#[test]
fn a_word_is_its_kinds_name() {
    for (kind, word) in WORDS.iter().filter(|(kind, _)| *kind != "Msg") {
        let upper = kind.chars().filter(char::is_ascii_uppercase).count();
        assert_eq!(kind.to_lowercase(), word.replace('_', ""), "{kind}");
        assert_eq!(word.matches('_').count() + 1, upper, "{word}");
    }
    assert_eq!(ErrorKind::Msg(String::new()).word(), "user");
}
