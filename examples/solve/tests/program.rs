//! The program as a user runs it, small, on the software device.

use std::process::{Command, Output};

fn solve(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dacapo-example-solve")).args(arguments).output().expect("the program starts")
}

/// What a run on the software device printed, which must end with this code.
fn printed(arguments: &[&str], code: i32) -> String {
    let output = solve(&[&["--device", "software"], arguments].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(code), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn all_ways_agree_with_plain_rust_and_with_the_exact_solution() {
    // One block; blocks that are not full; rows that end inside of a block.
    for size in ["5", "16", "27"] {
        let text = printed(&["--size", size], 0);
        for line in [
            "ok      smooth, eager: equals plain Rust, bit for bit",
            "ok      smooth, rounds: equals plain Rust, bit for bit",
            "ok      smooth, launch: equals plain Rust, bit for bit",
            "ok      random, eager: equals plain Rust, bit for bit",
            "ok      random, launch: equals plain Rust, bit for bit",
            "ok      random, rounds: equals plain Rust, bit for bit",
            "ok      smooth, eager: the error falls with the square of the step",
            "ok      random, rounds: computed anew in f64",
            "rounds of 3 kernels",
            "say nothing about a GPU",
        ] {
            assert!(text.contains(line), "{line} is missing:\n{text}");
        }
        assert!(!text.contains("FAILED") && !text.contains("us a round"), "{text}");
    }
}

#[test]
fn a_way_can_be_chosen_and_a_seed_is_another_problem() {
    let text = printed(&["--size", "12", "--way", "rounds", "--tolerance", "1e-4"], 0);
    assert!(text.contains("ok      smooth, rounds: equals") && !text.contains("eager"), "{text}");
    let other = printed(&["--size", "12", "--way", "rounds", "--tolerance", "1e-4", "--seed", "2"], 0);
    let line =
        |text: &str| text.lines().find(|line| line.contains("random, rounds: computed anew")).map(str::to_string);
    assert_ne!(line(&text), line(&other));
}

#[test]
fn too_few_rounds_are_the_exit_code() {
    let text = printed(&["--size", "16", "--at-most", "3"], 1);
    assert!(text.contains("FAILED  random, rounds: the residual fell to") && text.contains("in 3 rounds"), "{text}");
    // What was computed until then is still the same everywhere.
    assert!(text.contains("ok      random, rounds: equals plain Rust, bit for bit"), "{text}");
}

#[test]
fn help_names_every_option_and_exit_code() {
    let text = String::from_utf8(solve(&["--help"]).stdout).expect("text");
    for word in ["--size", "--tolerance", "--at-most", "--way", "--device", "--seed", "exit code"] {
        assert!(text.contains(word), "{word} is missing:\n{text}");
    }
    for wrong in [["--size", "1"], ["--tolerance", "0"], ["--tolerance", "NaN"], ["--at-most", "0"]] {
        assert_eq!(solve(&wrong).status.code(), Some(2), "{wrong:?}");
    }
}
