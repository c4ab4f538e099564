//! The program as a user runs it, small, on the software device.

use std::process::{Command, Output};

fn decode(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dacapo-example-decode")).args(arguments).output().expect("the program starts")
}

#[test]
fn a_small_decode_agrees_with_itself_and_with_plain_rust() {
    let sizes = ["--device", "software", "--size", "tiny", "--steps", "12", "--rounds", "1", "--requests", "7"];
    let greedy = ["--temperature", "0", "--sequences", "3", "--buckets", "2"];
    // One graph at a time for three buckets: it is dropped and recorded again as batches come and go.
    for more in [&[][..], &greedy, &["--max-graphs", "1"]] {
        let output = decode(&[&sizes[..], more].concat());
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        for line in [
            "ok      logits are at most",
            "ok      the replayed steps choose the tokens of the eager ones: all",
            "ok      12 steps: 12 launches, 0 patches, 0 other driver calls",
            "ok      12 steps, another temperature every fourth: 12 launches, 2 patches, 0 other driver calls",
            "ok      padded to buckets, the same requests get the same tokens: all",
            "ok      the cache counts what was asked of it, never over",
            "say nothing of a GPU",
        ] {
            assert!(text.contains(line), "{line} is missing:\n{text}");
        }
        assert!(!text.contains("FAILED"), "{text}");
    }
}

#[test]
fn whole_texts_are_one_launch_and_the_same_in_every_way() {
    let sizes = ["--device", "software", "--size", "tiny", "--rounds", "1", "--until-end"];
    let one = ["--sequences", "1", "--temperature", "0", "--steps", "7"];
    for (more, line) in [
        (&[][..], "24 steps; tokens of each text (+: without an end token): 4 25+ 21 13"),
        (&["--until", "first"], "3 steps; tokens of each text (+: without an end token): 4 4+ 4+ 4+"),
        (&one, "ok      1 of 1 texts end where they must"),
    ] {
        let output = decode(&[&sizes[..], more].concat());
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        for line in [
            line,
            "ok      logits are at most",
            "in one launch: all",
            "ok      one launch: the same tokens: all",
            "ok      back to back: the same tokens: all",
            "ok      read back: the same tokens: all",
            "ok      eager: the same tokens: all",
            "whole texts: 1 launches, 0 patches, 0 other driver calls",
            "say nothing of a GPU",
        ] {
            assert!(text.contains(line), "{line} is missing:\n{text}");
        }
        assert!(!text.contains("FAILED"), "{text}");
    }
}

#[test]
fn a_timed_step_is_a_table_and_a_file() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("decode.trace.json");
    let sizes = ["--device", "software", "--size", "tiny", "--steps", "4", "--rounds", "1", "--requests", "1"];
    let output = decode(&[&sizes[..], &["--trace", file.to_str().expect("a path")]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("layer 1/attention") && text.contains("attend"), "{text}");
    let trace = std::fs::read_to_string(&file).expect("a file");
    assert!(trace.contains("traceEvents") && trace.contains("attend"), "{trace}");
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_behind_what_was_found() {
    let sizes = ["--device", "software", "--size", "tiny", "--steps", "4", "--rounds", "1", "--requests", "1"];
    let output = decode(&[&sizes[..], &["--trace", "/no/such/folder/trace.json"]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("/no/such/folder/trace.json"), "{output:?}");
    assert!(text.contains("ok      the cache counts"), "{text}");
    // Four steps have no place for a change, and nothing is claimed of one.
    assert!(!text.contains("another temperature"), "{text}");
}

#[test]
fn a_checkpoint_is_decoded_and_the_text_is_all_that_is_printed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/checkpoints/f32");
    let model = ["--device", "software", "--model", folder, "--prompt", "The five", "--tokens", "6"];
    let texts = [&[][..], &["--eager"], &["--until-end"]].map(|more| {
        let output = decode(&[&model[..], more].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        for word in ["F32 weights", "GB/s", "6 tokens in", "tokens a second", "say nothing of a GPU"] {
            assert!(said.contains(word), "{word} is missing:\n{said}");
        }
        output.stdout
    });
    assert!(texts[0].starts_with(b"The five") && texts[0].len() > 12, "{texts:?}");
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
}

#[test]
fn a_checkpoint_that_is_none_is_refused_with_the_file() {
    let output = decode(&["--device", "software", "--model", env!("CARGO_MANIFEST_DIR"), "--prompt", "x"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{said}");
    assert!(said.contains("error[file]: config.json cannot be read") && said.contains("help: --model"), "{said}");
}

#[test]
fn sizes_that_cannot_be_are_refused_before_anything_runs() {
    for (arguments, word) in [
        (["--heads", "3"], "a head has"),
        (["--steps", "999"], "do not fit"),
        (["--requests", "0"], "at least one"),
        (["--until", "first"], "--until-end"),
        (["--end-token", "3"], "--until-end"),
        (["--model", "folder"], "--prompt"),
        (["--prompt", "x"], "--model"),
    ] {
        let output = decode(&[&["--device", "software"], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(word), "{output:?}");
    }
}

#[test]
fn help_names_every_option_and_exit_code() {
    let text = String::from_utf8(decode(&["--help"]).stdout).expect("text");
    for word in [
        "--size",
        "--device",
        "--buckets",
        "--steps",
        "--requests",
        "--temperature",
        "--until-end",
        "--until <",
        "--end-token",
        "--trace",
        "--model",
        "--prompt",
        "--tokens",
        "--eager",
        "--ranks",
        "--seed",
        "exit code",
    ] {
        assert!(text.contains(word), "{word} is missing:\n{text}");
    }
}

#[test]
fn the_step_in_bf16_agrees_with_itself_and_with_plain_rust() {
    let sizes = ["--device", "software", "--gpt2", "--size", "tiny", "--rounds", "1", "--steps", "5"];
    for (more, operations) in [(&[][..], "10 operations a step"), (&["--sequences", "9"], "12 operations a step")] {
        let output = decode(&[&sizes[..], more].concat());
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        for line in [
            operations,
            "ok      logits are at most",
            "ok      the replayed steps choose the tokens of the eager ones: all",
            "say nothing of a GPU",
        ] {
            assert!(text.contains(line), "{line} is missing:\n{text}");
        }
    }
    let refused = decode(&[&sizes[..], &["--sequences", "33"]].concat());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("1 to 32 sequences"));
}
