//! Every task prints one JSON document when it is asked to, and nothing else to standard output.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn dacapo(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dacapo"));
    command.args(arguments).env_remove("DACAPO_LIBCUDA").output().expect("the program starts")
}

fn told(arguments: &[&str]) -> Value {
    let output = dacapo(arguments);
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{complained}");
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {said}"))
}

#[test]
fn the_demonstration_says_what_it_recorded_and_that_all_agree() {
    let report = Path::new(env!("CARGO_TARGET_TMPDIR")).join("json-demo.json");
    let report = report.to_str().unwrap();
    let demo = told(&["demo", "--json", "--device", "software", "--report", report, "--profile"]);
    assert_eq!((&demo["agree"], &demo["simulator"]), (&Value::Bool(true), &Value::Bool(true)));
    assert!(demo["loss_after"].as_f64() < demo["loss_before"].as_f64(), "{demo}");
    let ops = demo["profile"]["ops"].as_array().unwrap().len() as u64;
    assert_eq!(Some(ops), demo["operations"].as_u64(), "{demo}");
    let inspected = told(&["inspect", report, "--json"]);
    assert_eq!(inspected["nodes"].as_array().map(|nodes| nodes.len() as u64), Some(ops), "{inspected}");
    let compared = told(&["inspect", report, "--against", report, "--json"]);
    assert_eq!((&compared["same"], compared["differences"].as_array().map(Vec::len)), (&Value::Bool(true), Some(0)));
    // What is said when nothing is.
    assert_eq!(told(&["--json"])["operations"], demo["operations"]);
}

#[test]
fn the_doctor_tells_drivers_abilities_and_tests() {
    let doctor = told(&["doctor", "--json", "--seed", "7"]);
    assert_eq!((&doctor["seed"], &doctor["works"]), (&7.into(), &Value::Bool(true)), "{doctor}");
    let device = &doctor["software"]["device"];
    assert!(device["self_tests"].as_array().unwrap().iter().all(|test| test["passed"] == true), "{device}");
    let abilities = device["description"]["abilities"].as_array().unwrap();
    assert!(abilities.iter().any(|ability| ability["name"] == "conditional nodes" && ability["there"] == true));
}

#[test]
fn a_soak_and_a_benchmark_tell_what_they_measured() {
    let soak = told(&["soak", "--json", "--device", "software", "--replays", "1000"]);
    assert_eq!((soak["replays"].as_u64(), &soak["half_way"]["graphs"]), (Some(1000), &soak["end"]["graphs"]), "{soak}");
    let bench = told(&["bench", "--json", "--quick", "--only", "slot/", "--device", "software"]);
    assert_eq!(
        (bench["rows"][0]["name"].as_str(), &bench["simulator"]),
        (Some("slot/host-launch"), &Value::Bool(true))
    );
}

#[test]
fn a_complaint_is_json_too_on_standard_error() {
    let output = dacapo(&["inspect", "/nowhere/report.json", "--json"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let complaint: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert!(complaint["error"]["what"].as_str().unwrap().starts_with("/nowhere/report.json: "), "{complaint}");
}
