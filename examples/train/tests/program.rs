//! The program as a user runs it, small, on the software device.

use std::process::{Command, Output};

fn train(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dacapo-example-train")).args(arguments).output().expect("the program starts")
}

#[test]
fn a_small_training_learns_and_agrees() {
    // Sizes that fill no block and no warp.
    for sizes in [["--batch", "33", "--hidden", "7"], ["--batch", "300", "--hidden", "9"]] {
        let output = train(&[&["--device", "software", "--steps", "25"], &sizes[..]].concat());
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        assert!(text.contains("ok      the replayed run equals the eager run, bit for bit"), "{text}");
        assert!(text.contains("ok      the replayed run equals plain Rust, bit for bit"), "{text}");
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
    for word in ["--steps", "--device", "--batch", "--hidden", "--seed", "exit code"] {
        assert!(text.contains(word), "{word} is missing:\n{text}");
    }
    assert_eq!(train(&["--steps", "0"]).status.code(), Some(2));
}
