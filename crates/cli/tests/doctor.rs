//! What a newcomer sees first.

use std::process::{Command, Output};

fn doctor(arguments: &[&str], library: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dacapo"));
    command.args(arguments).env_remove("DACAPO_LIBCUDA");
    if let Some(library) = library {
        command.env("DACAPO_LIBCUDA", library);
    }
    command.output().expect("the program starts")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_self_test_passes_and_says_how_to_run_it_again() {
    for (arguments, seed) in [(&["doctor"][..], 0), (&["doctor", "--seed", "7"][..], 7)] {
        let output = doctor(arguments, None);
        let said = text(&output);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("self-test: three kernels captured by driver calls, replayed 20 times"), "{said}");
        assert!(said.contains("replayed, as eager and plain Rust in every bit"), "{said}");
        assert!(said.contains(&format!("reproduce: dacapo doctor --seed {seed}")), "{said}");
        assert!(said.contains("conditional nodes                   yes"), "{said}");
    }
}

#[test]
fn a_library_that_was_asked_for_and_is_not_there_is_a_failure() {
    let output = doctor(&["doctor"], Some("/nowhere/libcuda.so.1"));
    let said = text(&output);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("/nowhere/libcuda.so.1"), "{said}");
    assert!(said.contains("DACAPO_LIBCUDA names this library"), "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn nobody_who_reads_on_is_no_panic() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dacapo"));
    command.arg("doctor").stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
