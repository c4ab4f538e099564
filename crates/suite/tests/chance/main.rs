//! Random safe programs over the library: some of them, the same printed as Rust, and that what is wrong is seen.

use std::path::Path;

use dacapo_suite::chance::{self, PRELUDE, Tally};

#[rustfmt::skip]
mod printed;

/// Programs that have between them every kind of step and op.
const PRINTED: &[u64] = &[458, 558, 177, 755, 272, 717, 198, 295, 751, 822, 415, 500, 654, 333, 805, 349, 670, 1810];

fn text() -> String {
    let mut text = String::from(
        "//! Programs of `cargo xtask programs` as Rust tests. Made by `cargo xtask bless`; do not edit.\n\
         #![allow(unused, dropping_copy_types, clippy::all, reason = \"printed by a program, read by a person once\")]\n\n\
         #[path = \"../../src/chance/kernels.rs\"]\nmod kernels;\n\n",
    );
    text += PRELUDE;
    for seed in PRINTED {
        text += &format!("\n{}", chance::print(&format!("seed_{seed}"), &chance::one(*seed).0));
    }
    text
}

/// The committed tests are what is printed of their seeds.
#[test]
fn printed_programs_are_those_of_their_seeds() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/chance/printed.rs");
    let (text, committed) = (text(), std::fs::read_to_string(&path).unwrap_or_default());
    if text == committed {
        return;
    }
    if dacapo_suite::programs::report::is_blessing() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let differs = text.lines().zip(committed.lines()).position(|(new, old)| new != old).unwrap_or_default();
    panic!("printed.rs is stale from line {} on: `cargo xtask bless` writes it anew", differs + 1);
}

/// What is printed has every kind of step and op in it.
#[test]
fn every_kind_is_printed() {
    let mut tally = Tally::default();
    PRINTED.iter().for_each(|seed| tally.add(&chance::one(*seed).1.tally));
    let missing: Vec<String> =
        tally.missing().into_iter().filter(|kind| kind.starts_with("step:") || kind.starts_with("op:")).collect();
    assert_eq!(missing, [] as [String; 0]);
}

#[test]
fn some_programs_do_as_the_model_says() {
    let crowd = chance::many(1_000_000, 120, 2, 3, |seed| panic!("seed {seed} does not end"));
    let failed: Vec<String> =
        crowd.found.iter().map(|found| format!("seed {}: {}", found.seed, found.failure)).collect();
    assert_eq!(failed, [] as [String; 0]);
    assert!(crowd.threaded > 10 && crowd.struck > 10, "{} threaded, {} with faults", crowd.threaded, crowd.struck);
    assert!(crowd.flows > 30, "{} with control flow", crowd.flows);
}
