//! Programs in which ranks make one mistake each, and what they are told.
//!
//! They stand in `src/ranks/mistakes/`, `<name>.rs`, each with its near miss in the same file; `<name>.stderr` is the whole report
//! about the mistake: how each rank ended, with its error as a user reads it, and every finding. The near miss ends well on every
//! rank, nothing is found, and its numbers are right. Both run under several seeds and with each rank late in turn: what is said
//! about a mistake does not depend on luck.
//!
//! One program: `cargo test -p dacapo-suite --test rank_mistakes mistake::another_length`. New expectations: `cargo xtask bless`.

use std::path::{Path, PathBuf};

use dacapo_suite::programs::report;
use dacapo_suite::ranks::mistakes::{Found, LISTED, Listed, Ran, Way};

/// Seeds under which every program runs, and the rank that begins late: nobody, and each in turn.
fn runs(size: usize) -> Vec<(u64, Option<usize>)> {
    let late = [7, 0x5eed, 8, 9].into_iter().zip((0..size).map(Some));
    [(0, None), (1, None)].into_iter().chain(late).collect()
}

macro_rules! tests {
    ($($found:ident { $($name:ident: $size:literal),* $(,)? })*) => {
        mod mistake { $($(
            #[test]
            fn $name() {
                crate::check_mistake(stringify!($name));
            }
        )*)* }

        mod near_miss { $($(
            #[test]
            fn $name() {
                crate::check_near_miss(stringify!($name));
            }
        )*)* }
    };
}

dacapo_suite::for_each_rank_mistake!(tests);

/// The mistake is found when it should be, and the report is the one that is committed.
fn check_mistake(name: &str) {
    let listed = listed(name);
    let runs = runs(listed.size);
    let report = |run: &(u64, Option<usize>)| {
        let ran = ran(listed, Way::Mistake, *run);
        let text = report::render(&ran.events);
        assert!(!ran.is_well, "nothing was said about the mistake");
        let is_found = matches!(listed.found, Found::Running | Found::Waiting);
        assert_eq!(ran.findings, usize::from(is_found), "{:?}, and it says\n{text}", listed.found);
        text
    };
    let reports: Vec<String> = runs.iter().map(report).collect();
    for (run, other) in runs.iter().zip(&reports).skip(1) {
        let difference = report::difference(&reports[0], other);
        assert!(reports[0] == *other, "another report (- {:x?}, + {run:x?})\n\n{difference}", runs[0]);
    }
    if let Err(message) = report::compare(&folder().join(format!("{name}.stderr")), &reports[0]) {
        panic!("{message}");
    }
}

/// Every rank ends well, and so do its numbers.
fn check_near_miss(name: &str) {
    let listed = listed(name);
    for run in runs(listed.size) {
        let ran = ran(listed, Way::NearMiss, run);
        assert!(ran.is_well, "{run:x?}\n{}", report::render(&ran.events));
        assert!(ran.comparisons >= listed.size, "{} comparisons of {} ranks", ran.comparisons, listed.size);
    }
}

fn ran(listed: &Listed, way: Way, (seed, late): (u64, Option<usize>)) -> Ran {
    let ran = listed.run(way, seed, late).expect("software devices open");
    assert_eq!(ran.hang, 0, "ranks hang under seed {seed:#x}, {late:?} late\n{}", report::render(&ran.events));
    ran
}

fn listed(name: &str) -> &'static Listed {
    LISTED.iter().find(|program| program.name == name).expect("the tests are made from the same list")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ranks/mistakes")
}

/// The files there with this extension, by name.
fn found(extension: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the folder of programs is part of the crate");
    let paths = entries.map(|entry| entry.expect("readable").path());
    let of_kind = paths.filter(|path| path.extension().is_some_and(|e| e == extension));
    let mut names: Vec<String> =
        of_kind.map(|path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned()).collect();
    names.retain(|name| name != "mod");
    names.sort();
    names
}

#[test]
fn every_program_is_listed_and_every_mistake_has_its_report() {
    let mut listed: Vec<&str> = LISTED.iter().map(|program| program.name).collect();
    listed.sort_unstable();
    assert_eq!(found("rs"), listed, "the files in src/ranks/mistakes and the list in its mod.rs");
    assert_eq!(found("stderr"), listed, "the reports in src/ranks/mistakes and the list in its mod.rs");
    assert!(listed.len() >= 20, "{} programs", listed.len());
}

#[test]
fn every_program_says_what_it_is_about() {
    for name in found("rs") {
        let text = std::fs::read_to_string(folder().join(format!("{name}.rs"))).expect("listed a moment ago");
        assert!(text.starts_with("//! "), "{name}.rs does not open with its mistake");
        for says in ["\n//! In NCCL: ", "\n//! Near miss: "] {
            assert!(text.contains(says), "{name}.rs has no line `{}..`", says.trim());
        }
    }
}

/// What a rank is told names a line of the program, and so does each side of a finding.
#[test]
fn every_report_names_lines_of_its_program() {
    for Listed { name, expected, size, .. } in LISTED {
        let place = format!("crates/suite/src/ranks/mistakes/{name}.rs:");
        let blocks: Vec<&str> = expected.split("\n\n").collect();
        assert!(blocks.len() >= *size, "{name}: {} of {size} ranks", blocks.len());
        for block in blocks.iter().filter(|block| block.contains("error[")) {
            assert!(block.contains(&place), "{name}: no line of the program in\n{block}");
            assert!(block.contains("\nhelp: "), "{name}: no help in\n{block}");
        }
    }
}
