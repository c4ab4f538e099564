//! Programs that make one mistake each, and what the software driver says to them.
//!
//! They stand in `src/programs/`, `<area>/<name>.rs`, each with its near miss in the same file; `<area>/<name>.stderr` is
//! the whole report about the mistake: every call that did not answer success, every finding. The near miss is refused
//! nothing, nothing is found, and its numbers are right. Both run under several seeds: what is said about a mistake does
//! not depend on luck.
//!
//! One program: `cargo test -p dacapo-suite --test programs capture::unjoined_fork`. New expectations:
//! `cargo xtask bless`.

use std::path::{Path, PathBuf};

use dacapo_suite::programs::{LISTED, Listed, Program, Way, report, silent};

mod gpu;

/// Seeds under which every program runs.
const SEEDS: [u64; 3] = [0, 7, 0x5eed];

macro_rules! tests {
    ($($area:ident { $($name:ident),* $(,)? })*) => {
        mod mistake { $( mod $area { $(
            #[test]
            fn $name() {
                crate::check_mistake(stringify!($area), stringify!($name));
            }
        )* } )* }

        mod near_miss { $( mod $area { $(
            #[test]
            fn $name() {
                crate::check_near_miss(stringify!($area), stringify!($name));
            }
        )* } )* }
    };
}

dacapo_suite::for_each_program!(tests);

/// The program is refused or found out, and the report is the one that is committed.
fn check_mistake(area: &str, name: &str) {
    let listed = listed(area, name);
    let file = folder().join(area).join(format!("{name}.stderr"));
    let reports = SEEDS.map(|seed| {
        let program = Program::software_devices(listed.devices(), seed, Way::Mistake);
        // What it is refused with stands in the report.
        let _ = listed.run(&program);
        report::render(&program.events())
    });
    assert!(!reports[0].is_empty(), "nothing was said about the mistake");
    for (seed, other) in SEEDS.iter().zip(&reports).skip(1) {
        let difference = report::difference(&reports[0], other);
        assert!(
            reports[0] == *other,
            "another report under seed {seed:#x} (- {:#x}, + {seed:#x})\n\n{difference}",
            SEEDS[0]
        );
    }
    if let Err(message) = report::compare(&file, &reports[0]) {
        panic!("{message}");
    }
}

/// The program is right, and so are its numbers.
fn check_near_miss(area: &str, name: &str) {
    let listed = listed(area, name);
    for seed in SEEDS {
        let program = Program::software_devices(listed.devices(), seed, Way::NearMiss);
        let answer = listed.run(&program);
        let events = program.events();
        assert!(events.is_empty() && answer.is_ok(), "seed {seed:#x}\n{}", report::render(&events));
        assert!(program.comparisons() > 0, "the program compares no numbers");
    }
}

fn listed(area: &str, name: &str) -> &'static Listed {
    let found = LISTED.iter().find(|program| program.area == area && program.name == name);
    found.expect("the tests are made from the same list")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/programs")
}

/// Files of the areas with this extension, as (area, name).
fn found(extension: &str) -> Vec<(String, String)> {
    let entries = |path: &Path| {
        let all = std::fs::read_dir(path).expect("the folders of programs are part of the crate");
        all.map(|entry| entry.expect("readable").path()).collect::<Vec<_>>()
    };
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut files = Vec::new();
    // `program` is what they are written with.
    for area in entries(&folder()).into_iter().filter(|path| path.is_dir() && !path.ends_with("program")) {
        let of_kind = entries(&area).into_iter().filter(|path| path.extension().is_some_and(|e| e == extension));
        files.extend(of_kind.map(|path| (stem(&area), stem(&path))));
    }
    files.sort();
    files
}

#[test]
fn every_program_is_listed_and_every_mistake_has_its_report() {
    let mut listed: Vec<_> = LISTED.iter().map(|p| (p.area.to_string(), p.name.to_string())).collect();
    listed.sort();
    assert_eq!(found("rs"), listed, "the files in src/programs and the list in its mod.rs");
    assert_eq!(found("stderr"), listed, "the reports in src/programs and the list in its mod.rs");
}

#[test]
fn a_gpu_was_seen_to_let_every_silent_mistake_pass() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/programs-silent-h200.txt");
    let text = std::fs::read_to_string(file).expect("what `dacapo-gpu silent` wrote is committed");
    assert!(text.contains("NVIDIA H200, driver 580.159.04, commit "), "it is not known where the file was made");
    let ended = |line: &str| line.ends_with(", 0 refused, last CUDA_SUCCESS, exit 0");
    let seen = text.lines().filter(|line| !line.starts_with('#') && ended(line));
    let mut seen: Vec<&str> = seen.filter_map(|line| line.split_whitespace().next()).collect();
    seen.sort_unstable();
    assert_eq!(seen, silent::SILENT, "those of the file that ended with 0, and the list in silent.rs");
    assert!(LISTED.len() >= 60 && seen.len() >= 20, "{} programs, {} silent", LISTED.len(), seen.len());
}

#[test]
fn every_program_says_what_it_is_about() {
    for (area, name) in found("rs") {
        let path = folder().join(&area).join(format!("{name}.rs"));
        let text = std::fs::read_to_string(&path).expect("listed a moment ago");
        assert!(text.starts_with("//! "), "{area}/{name}.rs does not open with its mistake");
        for says in ["\n//! On a GPU: ", "\n//! Near miss: "] {
            assert!(text.contains(says), "{area}/{name}.rs has no line `{}..`", says.trim());
        }
    }
}

#[test]
fn a_report_names_no_address_twice_and_keeps_small_numbers() {
    let events =
        ["cuX -> Y".to_string(), "error: at 0x7f00aa000, 0x10 past null\n--> 0x7f00bb000 and 0x7f00aa000".into()];
    assert_eq!(
        report::render(&events),
        "cuX -> Y\n\nerror: at ADDRESS#1, 0x10 past null\n--> ADDRESS#2 and ADDRESS#1\n"
    );
}

#[test]
fn a_difference_shows_what_went_and_what_came() {
    assert_eq!(report::difference("a\nb\nc\n", "a\nx\nc\nd\n"), "  a\n- b\n+ x\n  c\n+ d\n");
}
