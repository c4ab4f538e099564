//! What `cargo run --release` shows: three ways to the same numbers.

use std::process::{Command, Output};

fn dacapo(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dacapo"));
    // No GPU, also where there is one: what is tested here must be the same everywhere.
    command.args(arguments).env("DACAPO_LIBCUDA", "/nowhere/libcuda.so.1").output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn eager_replay_and_plain_rust_agree_and_the_software_device_is_named() {
    for arguments in [&[][..], &["demo", "--device", "software", "--seed", "7"][..]] {
        let output = dacapo(arguments);
        let said = text(&output.stdout);
        assert!(output.status.success(), "{said}{}", text(&output.stderr));
        assert!(said.contains("eager, replayed and plain Rust agree in every bit"), "{said}");
        assert!(said.contains("*** NO GPU: this is the software device"), "{said}");
        assert!(said.contains("*** NO GPU: these are the simulator's times"), "{said}");
    }
}

#[test]
fn the_report_of_the_demonstration_can_be_inspected() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("demo.json");
    let file = file.to_str().unwrap();
    assert!(dacapo(&["demo", "--device", "software", "--report", file]).status.success());
    let said = text(&dacapo(&["inspect", file]).stdout);
    assert!(said.contains("linear_forward") && said.contains("network.rs"), "{said}");
    assert_eq!(dacapo(&["inspect", file, "--against", file]).status.code(), Some(0));
}

#[test]
fn a_profile_names_every_op_and_says_that_it_is_no_gpu() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("demo-trace.json");
    let output = dacapo(&["demo", "--device", "software", "--profile", "--trace", file.to_str().unwrap()]);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    assert!(said.contains("critical path (*)") && said.contains("which op does more, no times"), "{said}");
    let trace: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let ops = trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X").count();
    assert!(ops > 5 && said.contains(&format!("{ops} ops")), "{ops} ops:\n{said}");
}

#[test]
fn a_gpu_that_was_asked_for_and_is_not_there_is_an_error() {
    let output = dacapo(&["demo", "--device", "cuda"]);
    assert!(!output.status.success());
    assert!(text(&output.stderr).starts_with("error: no CUDA driver could be opened"), "{output:?}");
}
