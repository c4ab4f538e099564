//! The benchmarks keep working: every one of them runs here, on the software device, and checks its numbers.

use std::process::{Command, Output};

fn bench(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dacapo"));
    command.arg("bench").args(arguments).args(["--device", "software"]).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_measurement_runs_and_the_simulator_is_named() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench.json");
    let output = bench(&["--quick", "--commit", "0123abc", "--report", file.to_str().unwrap()]);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    assert!(said.starts_with("*** THE SOFTWARE DEVICE"), "{said}");
    assert!(said.contains("dacapo 0123abc"), "{said}");
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(json["simulator"], true);
    let names: Vec<&str> = json["rows"].as_array().unwrap().iter().filter_map(|row| row["name"].as_str()).collect();
    for length in [1, 10, 100, 1000] {
        for way in ["host-launch", "back-to-back", "launch-and-wait", "record"] {
            let name = format!("chain-{length}/{way}");
            assert!(names.contains(&name.as_str()) && said.contains(&name), "{name} is missing\n{said}");
        }
    }
    let others = [
        "edges-1-block/back-to-back",
        "edges-132-blocks/back-to-back",
        "if-1/taken",
        "if-1/not-taken",
        "if-2/taken",
        "if-2/not-taken",
        "if-3/taken",
        "if-3/not-taken",
        "slot/host-launch",
        "fork-join/back-to-back",
        "fork-join/launch-and-wait",
        "overlap/step",
    ];
    assert!(others.iter().all(|name| names.contains(name)), "{names:?}");
    assert_eq!(names.len(), 38, "{names:?}");
}

#[test]
fn only_what_was_asked_for_is_measured() {
    let said = text(&bench(&["--quick", "--only", "chain-10/"]).stdout);
    assert!(said.contains("chain-10/host-launch") && !said.contains("chain-100/"), "{said}");
    let output = bench(&["--quick", "--only", "nonsense"]);
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("help: names are chain-1/host-launch"), "{output:?}");
}

#[test]
fn a_verdict_is_not_given_on_the_software_device_nor_in_a_hurry() {
    let output = bench(&["--check"]);
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("limits are for a GPU"), "{output:?}");
    assert_eq!(bench(&["--check", "--quick"]).status.code(), Some(2), "clap refuses the two together");
}
