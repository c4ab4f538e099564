//! The benchmarks of whole models keep working: every one runs here, on the software device, and checks its numbers.
//! Those that `dacapo bench` has too are tested there.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn bench(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dacapo-bench"));
    command.args(arguments).args(["--device", "software"]).output().expect("the program starts")
}

/// What the measurements of this name gave.
fn measured(only: &str) -> Value {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.json", only.replace('/', "-")));
    let output = bench(&["--quick", "--only", only, "--report", file.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.starts_with("*** THE SOFTWARE DEVICE") && said.contains("\ndacapo-bench --quick"), "{said}");
    serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap()
}

fn names(report: &Value) -> Vec<&str> {
    report["rows"].as_array().unwrap().iter().filter_map(|row| row["name"].as_str()).collect()
}

fn note<'r>(report: &'r Value, name: &str) -> &'r Value {
    let mut notes = report["notes"].as_array().unwrap().iter();
    &notes.find(|note| note["name"].as_str().unwrap().contains(name)).unwrap()["found"]
}

#[test]
fn decoding_is_measured_in_batches_of_one_and_eight() {
    assert_eq!(names(&measured("decode/")), ["decode/batch-1", "decode/batch-8"]);
}

#[test]
fn the_step_in_bf16_is_measured_against_a_graph_by_hand_in_three_batch_sizes() {
    let report = measured("gpt2");
    assert_eq!(names(&report), ["gpt2/batch-1", "gpt2/batch-8", "gpt2/batch-32"]);
    for row in report["rows"].as_array().unwrap() {
        let sides: Vec<_> = row["sides"].as_array().unwrap().iter().filter_map(|side| side["name"].as_str()).collect();
        assert_eq!(sides, ["raw", "dacapo", "tuned", "raw again"]);
    }
}

/// What needs NVRTC is measured where there is one, and said not to be where there is none.
#[test]
fn what_each_optimisation_is_worth_is_measured_by_leaving_it_out() {
    let report = measured("worth/");
    let names = names(&report);
    assert!(names.starts_with(&["worth/graph", "worth/edges", "worth/eager-edges", "worth/tuning"]), "{names:?}");
    assert!(names.len() == 8 || names.len() == 13, "{names:?}");
    assert_eq!(note(&report, "worth").as_array().unwrap().len(), names.len());
    for row in report["rows"].as_array().unwrap() {
        let sides: Vec<_> = row["sides"].as_array().unwrap().iter().filter_map(|side| side["name"].as_str()).collect();
        assert_eq!(sides, ["dacapo", "without"]);
    }
}

#[test]
fn whole_texts_are_measured_in_three_ways_that_choose_the_same_tokens() {
    let report = measured("decode-until-end/batch-8");
    assert_eq!(names(&report), ["decode-until-end/batch-8"]);
    let row = &report["rows"][0];
    let sides: Vec<_> = row["sides"].as_array().unwrap().iter().filter_map(|side| side["name"].as_str()).collect();
    assert_eq!(sides, ["dacapo", "back-to-back", "read-back"]);
    assert_eq!(row["launches_per_block"], 6, "steps");
}

#[test]
fn training_lowers_the_loss() {
    let report = measured("train");
    let rows = ["train-gru/device", "train-gru/host-launch", "train-mlp/device", "train-mlp/host-launch"];
    assert_eq!(names(&report), rows);
    for model in ["train-gru", "train-mlp"] {
        let losses = note(&report, model)["losses"].as_array().unwrap();
        assert_eq!(losses.len(), 10);
        assert!(losses[9].as_f64() < losses[0].as_f64(), "ten steps on one batch lower its loss: {losses:?}");
    }
}

#[test]
fn graphs_of_a_pool_take_the_memory_of_the_largest() {
    let report = measured("buckets");
    let temps = |mode: usize| note(&report, "buckets")[mode]["temps"].as_u64().unwrap();
    // Two activations of 128 rows of 64 in bf16 are alive at a time; private memory has them for 255 rows in all.
    assert_eq!((temps(0), temps(1)), (2 * 128 * 64 * 2, 2 * 128 * 64 * 2));
    assert!(temps(2) >= 2 * 255 * 64 * 2 && temps(2) < 2 * 260 * 64 * 2 + 16 * 256, "{}", temps(2));
}

#[test]
fn all_that_can_be_measured_is_named() {
    let output = bench(&["--quick", "--only", "nonsense"]);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{complained}");
    for name in [
        "chain-1/host-launch",
        "overlap/step",
        "train-gru/device",
        "decode/batch-8",
        "decode-until-end/batch-1",
        "buckets/memory",
    ] {
        assert!(complained.contains(name), "{name} is missing: {complained}");
    }
}
