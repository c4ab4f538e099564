//! The program as a user runs it, small, on the software device.

use std::process::{Command, Output};

fn train(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dacapo-example-train")).args(arguments).output().expect("the program starts")
}

/// What a run printed, which must end with this code and have agreed in every bit.
fn agreed(arguments: &[&str], code: Option<i32>) {
    let output = train(&[&["--device", "software"], arguments].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(code.is_none() || output.status.code() == code, "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("ok      the replayed run equals the eager run, bit for bit"), "{arguments:?}: {text}");
    assert!(text.contains("ok      the replayed run equals plain Rust, bit for bit"), "{arguments:?}: {text}");
}

#[test]
fn a_small_training_learns_and_agrees() {
    // Sizes that fill no tile.
    agreed(&["--model", "gru", "--hidden", "24", "--batch", "5", "--time", "3", "--rate", "0.02"], Some(0));
    agreed(&["--model", "mlp", "--hidden", "24", "--batch", "7", "--time", "3"], Some(0));
}

#[test]
fn sizes_of_more_than_one_tile_and_turn_agree() {
    // Two steps learn little, and whether they do is not asked.
    agreed(&["--model", "gru", "--hidden", "136", "--batch", "9", "--time", "2", "--steps", "2"], None);
    agreed(&["--model", "mlp", "--hidden", "136", "--batch", "33", "--time", "1", "--steps", "2"], None);
    // One layer, one place: nothing is between.
    agreed(&["--model", "mlp", "--hidden", "8", "--batch", "1", "--time", "1", "--layers", "1", "--steps", "2"], None);
    agreed(&["--model", "gru", "--hidden", "8", "--batch", "1", "--time", "1", "--steps", "2"], None);
}

/// What a run on several ranks printed, which must end well.
fn ranked(arguments: &[&str]) -> String {
    let output =
        train(&[&["--device", "software", "--time", "2", "--steps", "6", "--rate", "0.05"], arguments].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{arguments:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    for line in [
        "after every step, bit for bit\nok      each step is one rank's with the whole batch",
        "ok      a second run equals the first, bit for bit",
        "ok      another seed changes nothing, bit for bit",
        "ok      the replayed run equals the eager run, bit for bit",
        "ok      0 findings",
    ] {
        assert!(text.contains(line), "{arguments:?}: {line} is missing:\n{text}");
    }
    text
}

#[test]
fn ranks_train_as_one() {
    for model in ["gru", "mlp"] {
        let text = ranked(&["--model", model, "--ranks", "1", "--hidden", "16"]);
        assert!(text.contains("ok      one rank equals the run without ranks, bit for bit"), "{text}");
        let text = ranked(&["--model", model, "--ranks", "4", "--hidden", "16"]);
        assert!(text.contains("ok      the whole training ends"), "{text}");
    }
}

#[test]
fn a_check_that_fails_is_the_exit_code() {
    // One step cannot lower its own loss.
    let output = train(&["--device", "software", "--steps", "1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("FAILED  the loss fell from"));
}

#[test]
fn help_names_every_option_and_exit_code() {
    let text = String::from_utf8(train(&["--help"]).stdout).expect("text");
    let words =
        ["--model", "--steps", "--device", "--hidden", "--batch", "--time", "--layers", "--rate", "--seed", "--ranks"];
    for word in words.into_iter().chain(["exit code"]) {
        assert!(text.contains(word), "{word} is missing:\n{text}");
    }
    assert_eq!(train(&["--steps", "0"]).status.code(), Some(2));
    let output = train(&["--device", "software", "--ranks", "4", "--batch", "6"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("4 equal parts"), "{output:?}");
    let output = train(&["--device", "software", "--hidden", "12"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("multiple of 8"), "{output:?}");
}
