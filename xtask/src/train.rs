//! `cargo xtask train`: the committed training steps, by hand, by the library and by PyTorch, held against their limits; and the
//! same training on 1, 2, 4 and 8 ranks, now, on software devices.
//!
//! It reads what `dacapo-bench --only train --report` and `crates/bench/anchors/torch_train.py` wrote in one run on a GPU:
//!
//! - on the device the library's step takes at most 1.02 times the one by hand, and at most 0.2 us more on the host;
//! - it takes at most 0.8 times PyTorch's whole-step graph: tf32 on, a GRU as cells, the faster of its two ways to run Adam,
//!   the faster of its runs before and after;
//! - both trained the same: see [`Tolerance`].
//!
//! What ranks must show stands in `verdict.rs` of the example.

use std::path::{Path, PathBuf};
use std::time::Instant;

use dacapo_example_train::{Adam, Model, Ranks, Shape, Training, Whereabouts, verdict};
use serde_json::Value;

use crate::workspace;

/// What `dacapo-bench` wrote.
const BENCH: &str = "results/train-h200.json";
/// What PyTorch's program wrote, before and after.
const TORCH: &str = "results/train-torch-h200.jsonl";

/// On the device, the library over the graph by hand.
const RATIO_MAX: f64 = 1.02;
/// On the host, microseconds of the library over the graph by hand.
const OVER_MAX: f64 = 0.2;
/// On the device, the library over PyTorch.
const TORCH_MAX: f64 = 0.8;

/// How far two trainings of ten steps may be apart.
///
/// Losses are compared each with its counterpart, relative. Parameters as wholes: the length of the difference over the length
/// of the way that training moved them, because Adam moves a parameter by its full rate however small its gradient, and
/// gradients near 0 have a sign by chance.
struct Tolerance {
    tf32: bool,
    losses: f64,
    parameters: f64,
}

/// Without tf32 both sides round at 2^-24 and differ in the order of their sums; tf32 rounds factors at 2^-11. Each bound is
/// about ten times what was seen.
const TOLERANCES: [Tolerance; 2] = [
    Tolerance { tf32: false, losses: 3e-5, parameters: 1e-4 },
    Tolerance { tf32: true, losses: 1e-4, parameters: 1e-2 },
];

/// How many ranks train.
const RANKS: [usize; 4] = [1, 2, 4, 8];

/// Compares the committed files, or those that were named, trains on ranks, and prints what it found.
///
/// # Errors
///
/// - A file that cannot be read, or what does not hold.
pub fn run(bench: Option<PathBuf>, torch: Option<PathBuf>) -> Result<(), String> {
    let root = workspace::root();
    let (bench, torch) = (bench.unwrap_or(root.join(BENCH)), torch.unwrap_or(root.join(TORCH)));
    let (lines, mut failed) = compare(&bench, &torch)?;
    lines.iter().for_each(|line| println!("{line}"));
    for model in [Model::Mlp, Model::Gru] {
        for size in RANKS {
            failed.extend(ranks(model, size)?);
        }
    }
    match failed.is_empty() {
        true => {
            println!("train: every limit holds");
            Ok(())
        }
        false => Err(format!("over a limit: {}", failed.join("; "))),
    }
}

/// Trains on so many software devices, prints what that showed, and returns what of it does not hold.
fn ranks(model: Model, size: usize) -> Result<Vec<String>, String> {
    let shape = Shape { model, hidden: 16, batch: 8, time: 2, layers: 3 };
    let training = Training { shape, adam: Adam { rate: 0.05, ..Adam::default() }, steps: 6, seed: 1 };
    let began = Instant::now();
    let ranks = Ranks::from(Whereabouts::Software(size));
    let runs = ranks.runs(&training, |_| ()).map_err(|error| format!("{model:?} on {size}: {error:?}"))?;
    let checks = verdict::ranks_checks(&training, size, &runs);
    let [nodes, edges] = runs.replayed.graph;
    println!("{model:?}, {size} ranks of {nodes} nodes and {edges} edges, {:.1} s", began.elapsed().as_secs_f64());
    for check in &checks {
        println!("  {}  {}", if check.held { "ok    " } else { "FAILED" }, check.what);
    }
    let failed = checks.into_iter().filter(|check| !check.held);
    Ok(failed.map(|check| format!("{model:?} on {size} ranks: {}", check.what)).collect())
}

/// What was found, and what of it does not hold.
fn compare(bench: &Path, torch: &Path) -> Result<(Vec<String>, Vec<String>), String> {
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
    let ours: Value = serde_json::from_str(&read(bench)?).map_err(|error| format!("{}: {error}", bench.display()))?;
    let theirs = read(torch)?.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>();
    let theirs = theirs.map_err(|error| format!("{}: {error}", torch.display()))?;
    let mut found = Found::default();
    found.check(ours["simulator"] == false, "the times are a GPU's".into());
    found.check(ours["blocks"].as_u64() >= Some(21), format!("{} blocks of each side", ours["blocks"]));
    let runs = theirs.iter().filter(|line| line["figure"] == "done").count();
    found.check(runs >= 2, format!("{runs} runs of PyTorch around it"));
    for name in ["train-gru", "train-mlp"] {
        times(&mut found, name, &ours, &theirs)?;
        for tolerance in &TOLERANCES {
            results(&mut found, name, &ours, &theirs, tolerance)?;
        }
    }
    Ok((found.lines, found.failed))
}

fn times(found: &mut Found, name: &str, ours: &Value, theirs: &[Value]) -> Result<(), String> {
    let median = |row: &str, side: &str| {
        let named = |list: &'_ Value, name: &str| {
            list.as_array().into_iter().flatten().find(|found| found["name"] == name).cloned()
        };
        let side = named(&ours["rows"], row).and_then(|row| named(&row["sides"], side));
        side.and_then(|side| side["median"].as_f64()).ok_or_else(|| format!("{row} was not measured"))
    };
    let (device, host) = (format!("{name}/device"), format!("{name}/host-launch"));
    let (raw, library) = (median(&device, "raw")?, median(&device, "dacapo")?);
    let ratio = library / raw;
    found.check(
        ratio <= RATIO_MAX,
        format!("{name}: {library:.1} us a step, by hand {raw:.1} us: {ratio:.3} of it (at most {RATIO_MAX})"),
    );
    let (raw, on_host) = (median(&host, "raw")?, median(&host, "dacapo")?);
    let over = on_host - raw;
    found.check(
        over <= OVER_MAX,
        format!("{name}: {on_host:.3} us a launch, by hand {raw:.3} us: {over:+.3} us (at most +{OVER_MAX})"),
    );
    let steps = theirs.iter().filter(|line| {
        line["figure"] == "torch_train_step"
            && line["name"] == name
            && line["clock"] == "device"
            && line["tf32"] == true
    });
    let medians = steps.filter_map(|line| Some((line["median"].as_f64()?, line["adam"].as_str()?)));
    let fastest = medians.min_by(|a, b| a.0.total_cmp(&b.0)).ok_or_else(|| format!("no time of PyTorch's {name}"))?;
    let (torch, adam) = fastest;
    let ratio = library / torch;
    found.check(
        ratio <= TORCH_MAX,
        format!(
            "{name}: {library:.1} us a step, PyTorch {torch:.1} us ({adam}): {ratio:.3} of it (at most {TORCH_MAX})"
        ),
    );
    Ok(())
}

fn results(found: &mut Found, name: &str, ours: &Value, theirs: &[Value], tolerance: &Tolerance) -> Result<(), String> {
    let tf32 = if tolerance.tf32 { "with tf32" } else { "without tf32" };
    let missing = || format!("no results of {name} {tf32}");
    let mut notes = ours["notes"].as_array().into_iter().flatten();
    let training = &notes.find(|found| found["name"] == name).ok_or_else(missing)?["found"];
    let torch = theirs.iter().filter(|line| line["figure"] == "torch_train_result" && line["name"] == name);
    let torch: Vec<&Value> = torch.filter(|line| line["tf32"] == tolerance.tf32).collect();
    if torch.is_empty() {
        return Err(missing());
    }
    let (mut losses, mut parameters) = (0.0_f64, 0.0_f64);
    for torch in torch {
        let (mine, other) = (numbers(&training["losses"])?, numbers(&torch["losses"])?);
        if mine.len() != other.len() {
            return Err(format!("{name}: {} losses, and {} of PyTorch's", mine.len(), other.len()));
        }
        let apart = mine.iter().zip(&other).map(|(mine, other)| (mine - other).abs() / other.abs());
        losses = apart.fold(losses, worse);
        let (first, mine) = (numbers(&training["parameters_first"])?, numbers(&training["parameters_last"])?);
        let other = numbers(&torch["parameters_last"])?;
        if mine.len() != other.len() || first.len() != other.len() || mine.len() < 1000 {
            return Err(format!("{name}: other parameters than PyTorch's were written down"));
        }
        parameters = worse(parameters, length(&mine, &other) / length(&other, &first));
    }
    found.check(
        losses <= tolerance.losses,
        format!("{name}: ten losses within {losses:.1e} of PyTorch's {tf32} (at most {:.0e})", tolerance.losses),
    );
    found.check(
        parameters <= tolerance.parameters,
        format!(
            "{name}: parameters then within {parameters:.1e} of the way that training moved them, {tf32} (at most {:.0e})",
            tolerance.parameters
        ),
    );
    Ok(())
}

/// The larger, and what is not a number is larger than any.
fn worse(a: f64, b: f64) -> f64 {
    if b.is_nan() { b } else { a.max(b) }
}

/// What is not finite is `null` in JSON, and is refused.
fn numbers(list: &Value) -> Result<Vec<f64>, String> {
    let list: Option<Vec<f64>> = list.as_array().into_iter().flatten().map(Value::as_f64).collect();
    let list = list.ok_or("what should be a number is none")?;
    if list.len() < 10 { Err("a list of numbers is too short".to_string()) } else { Ok(list) }
}

fn length(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

#[derive(Default)]
struct Found {
    lines: Vec<String>,
    failed: Vec<String>,
}

impl Found {
    fn check(&mut self, held: bool, what: String) {
        self.lines.push(format!("{}  {what}", if held { "ok    " } else { "FAILED" }));
        if !held {
            self.failed.push(what);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_training_steps_are_within_their_limits() {
        let root = workspace::root();
        let (lines, failed) = compare(&root.join(BENCH), &root.join(TORCH)).unwrap();
        assert!(failed.is_empty(), "{BENCH} and {TORCH}: {failed:?}");
        assert_eq!(lines.len(), 3 + 2 * (3 + 4), "{lines:?}");
    }

    /// Every limit is able to fail: each change makes one of them do so.
    #[test]
    fn a_worse_number_is_noticed() {
        let root = workspace::root();
        let folder = std::env::temp_dir().join(format!("dacapo-train-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let spoiled = |change: &dyn Fn(&mut Value, &mut Vec<Value>)| {
            let mut bench: Value = serde_json::from_str(&std::fs::read_to_string(root.join(BENCH)).unwrap()).unwrap();
            let torch = std::fs::read_to_string(root.join(TORCH)).unwrap();
            let mut torch: Vec<Value> = torch.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            change(&mut bench, &mut torch);
            let (a, b) = (folder.join("bench.json"), folder.join("torch.jsonl"));
            std::fs::write(&a, bench.to_string()).unwrap();
            std::fs::write(&b, torch.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
            compare(&a, &b).map_or_else(|refused| vec![refused], |(_, failed)| failed)
        };
        let slower = |row: &'static str, by: f64| {
            move |bench: &mut Value, _: &mut Vec<Value>| {
                let rows = bench["rows"].as_array_mut().unwrap();
                let row = rows.iter_mut().find(|found| found["name"] == row).unwrap();
                let sides = row["sides"].as_array_mut().unwrap();
                let side = sides.iter_mut().find(|side| side["name"] == "dacapo").unwrap();
                side["median"] = (side["median"].as_f64().unwrap() * by + 0.2).into();
            }
        };
        assert_eq!(spoiled(&slower("train-gru/device", 1.05)).len(), 1);
        assert!(spoiled(&slower("train-mlp/device", 50.0)).iter().any(|what| what.contains("PyTorch")));
        assert_eq!(spoiled(&slower("train-mlp/host-launch", 1.1)).len(), 1);
        let failed = spoiled(&|bench, _| bench["notes"][0]["found"]["losses"][9] = 0.5.into());
        assert!(failed.len() == 2 && failed[0].contains("ten losses"), "{failed:?}");
        let failed = spoiled(&|bench, _| bench["notes"][1]["found"]["parameters_last"][7] = 3.0.into());
        assert!(failed.len() == 2 && failed[0].contains("parameters"), "{failed:?}");
        let failed = spoiled(&|bench, _| bench["notes"][0]["found"]["losses"].as_array_mut().unwrap().push(0.6.into()));
        assert_eq!(failed, ["train-gru: 11 losses, and 10 of PyTorch's"]);
        let none = |list: &mut Value| list.as_array_mut().unwrap().push(Value::Null);
        let failed = spoiled(&|bench, _| none(&mut bench["notes"][0]["found"]["losses"]));
        assert_eq!(failed, ["what should be a number is none"]);
        assert_eq!(spoiled(&|bench, _| bench["simulator"] = true.into()).len(), 1);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
