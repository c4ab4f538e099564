//! The cases of two devices on the software driver: the same answers under every seed, and those that are written down for
//! `dacapo-gpu two-devices` to hold two GPUs against.

use std::path::Path;
use std::process::Command;

use dacapo_suite::conformance::{Recording, TWO_DEVICES_FILE, compare, of_two_devices, run_in_software};
use dacapo_suite::programs::report::is_blessing;

const ORIGIN: &str = "software driver, as it reads the manual; no machine with two GPUs was asked";

fn answers(seed: u64) -> Recording {
    let cases = of_two_devices().into_iter().map(|case| (case.name.clone(), run_in_software(seed, &case).0)).collect();
    Recording { origin: ORIGIN.to_string(), cases }
}

#[test]
fn answers_are_those_that_are_written_down() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(TWO_DEVICES_FILE);
    if is_blessing() {
        std::fs::write(&path, answers(0).text()).expect("the file can be written");
    }
    let text = std::fs::read_to_string(&path).expect("the answers are committed");
    let written = Recording::parse(&text).expect("what `cargo xtask bless` writes");
    for seed in [0, 7, 11] {
        let comparison = compare(&written, &answers(seed), "");
        assert_eq!(comparison.retired, [""; 0], "no case any more; `cargo xtask bless` writes the file anew");
        let differ = comparison.unexplained.iter().map(|(name, difference)| format!("{name}: {difference}"));
        let differ: Vec<String> = differ.collect();
        assert!(
            differ.is_empty(),
            "seed {seed}:\n{}\nhelp: `cargo xtask bless` writes the file anew",
            differ.join("\n")
        );
    }
}

#[test]
fn what_asks_two_gpus_runs_on_two_software_devices() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("two-devices");
    let folder = folder.to_str().expect("a path that is a text");
    let done = Command::new(env!("CARGO_BIN_EXE_dacapo-gpu")).args(["two-devices", folder, "--software"]).output();
    let done = done.expect("the binary of this crate");
    let said = String::from_utf8_lossy(&done.stdout);
    let last = said.lines().last().unwrap_or_default();
    let cases = of_two_devices().len();
    assert!(done.status.success(), "{said}");
    assert!(last.starts_with(&format!("two-devices: {cases} of {cases} cases as the software driver, ")), "{said}");
    assert!(last.ends_with(" 0 failed"), "{said}");
}
