//! The software driver answers the conformance cases as an H200 did, whatever its seed. `cargo xtask conformance` prints the same.

use std::path::Path;

use dacapo_suite::conformance::{KNOWN_FILE, RECORDING_FILE, Recording, all, compare, run_in_software};

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    std::fs::read_to_string(&path).expect("the recording and the list of known differences are committed")
}

#[test]
fn transcripts_are_those_of_the_recording() {
    let recorded = Recording::parse(&read(RECORDING_FILE)).expect("what `dacapo-gpu conformance` writes");
    for seed in [0, 7] {
        let cases = all().into_iter().map(|case| (case.name.clone(), run_in_software(seed, &case).0)).collect();
        let comparison = compare(&recorded, &Recording { origin: String::new(), cases }, &read(KNOWN_FILE));
        let texts: Vec<String> =
            comparison.unexplained.iter().map(|(name, difference)| format!("{name}: {difference}")).collect();
        assert!(texts.is_empty(), "seed {seed}:\n{}", texts.join("\n"));
        assert!(comparison.known.len() <= 6, "more known differences than we allow ourselves");
    }
}

#[test]
fn there_are_two_hundred_cases_and_their_names_are_their_own() {
    let names: Vec<String> = all().into_iter().map(|case| case.name).collect();
    assert!(names.len() >= 200, "{} cases", names.len());
    assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "a name is there twice");
}
