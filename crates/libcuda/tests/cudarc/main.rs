//! A client that we did not write, cudarc, on our `libcuda.so.1`: each scenario answers as it was recorded on an H200.
//!
//! ```text
//! cudarc [NAME..]              the test: on the software driver under three seeds, against the recording
//! cudarc show [NAME..]         what the software driver answers, without a comparison
//! cudarc record FILE [NAME..]  on NVIDIA's driver: writes the recording, or these scenarios of it anew. Refused on the
//!                              software driver
//! cudarc scenario NAME         one scenario, on whatever `libcuda.so.1` this process finds
//! ```
//!
//! Every scenario is a process of its own: cudarc opens one library in a process, and a fault ends a context. A scenario
//! that makes no mistake must leave no finding. What is known to differ stands in `known.rs`, with its reason.

mod capture;
mod contexts;
mod copies;
mod errors;
mod events;
mod faults;
mod functions;
mod gate;
mod graphs;
mod kernels;
mod known;
mod launches;
mod memory;
mod modules;
mod processes;
mod recording;
mod slices;
mod streams;
mod symbols;
mod transcript;
mod views;

use std::path::Path;
use std::process::ExitCode;

use processes::{Run, Software};
use recording::Recording;
use transcript::{Scenario, Transcript};

const SEEDS: [u64; 3] = [0, 7, 0x5eed];

fn all() -> Vec<&'static Scenario> {
    let areas: &[&'static [Scenario]] = &[
        contexts::SCENARIOS,
        streams::SCENARIOS,
        events::SCENARIOS,
        slices::SCENARIOS,
        views::SCENARIOS,
        copies::SCENARIOS,
        modules::SCENARIOS,
        functions::SCENARIOS,
        launches::SCENARIOS,
        capture::SCENARIOS,
        graphs::SCENARIOS,
        memory::SCENARIOS,
        errors::SCENARIOS,
        faults::SCENARIOS,
        symbols::SCENARIOS,
    ];
    areas.iter().flat_map(|area| area.iter()).collect()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["scenario", name] => return scenario(name),
        ["record", file, names @ ..] => record(file, names),
        ["show", names @ ..] => show(names),
        // Cargo's own flags mean nothing here.
        names => test(&names.iter().copied().filter(|name| !name.starts_with('-')).collect::<Vec<_>>()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs one scenario here.
fn scenario(name: &str) -> ExitCode {
    let Some(scenario) = all().into_iter().find(|scenario| scenario.name == name) else {
        eprintln!("there is no scenario `{name}`");
        return ExitCode::from(2);
    };
    if let Err(error) = (scenario.body)(&mut Transcript) {
        println!("ended: {}", transcript::name(error));
    }
    ExitCode::SUCCESS
}

fn chosen(names: &[&str]) -> Vec<&'static Scenario> {
    let is_chosen = |scenario: &&Scenario| names.is_empty() || names.iter().any(|name| scenario.name.contains(name));
    all().into_iter().filter(is_chosen).collect()
}

fn show(names: &[&str]) -> Result<(), String> {
    let software = Software::prepare()?;
    for (scenario, run) in chosen(names).iter().zip(software.run(&chosen(names), SEEDS[0])) {
        print!("[{}]\n{}", scenario.name, run.lines());
        println!("{}", run.findings);
    }
    Ok(())
}

fn record(file: &str, names: &[&str]) -> Result<(), String> {
    if processes::is_software() {
        return Err("this is the software driver; only a GPU is recorded".to_string());
    }
    // What is free depends on the neighbours: those scenarios run alone.
    let is_alone = |scenario: &&&Scenario| scenario.name.starts_with("memory/");
    let (mut scenarios, all) = (Vec::new(), chosen(names));
    scenarios.extend(all.iter().filter(|scenario| !is_alone(scenario)));
    let mut runs = processes::run(&scenarios, 8, |_| Vec::new());
    let alone: Vec<_> = all.iter().filter(is_alone).copied().collect();
    runs.extend(processes::run(&alone, 1, |_| Vec::new()));
    scenarios.extend(alone);
    let before = if names.is_empty() { Recording::default() } else { Recording::read_from(Path::new(file))? };
    let text =
        before.with(&processes::about(), names, scenarios.iter().map(|s| s.name).zip(runs.iter().map(Run::lines)));
    std::fs::write(file, text).map_err(|error| format!("{file}: {error}"))?;
    println!("{} scenarios in {file}", scenarios.len());
    Ok(())
}

fn test(names: &[&str]) -> Result<(), String> {
    let recording = Recording::read_from(&Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings/cudarc-h200.txt"))?;
    let software = Software::prepare()?;
    let scenarios = chosen(names);
    let (mut wrong, mut known) = (Vec::new(), std::collections::HashSet::new());
    for seed in SEEDS {
        for (scenario, run) in scenarios.iter().zip(software.run(&scenarios, seed)) {
            let at = format!("{} (DACAPO_SEED={seed})", scenario.name);
            let Run { findings, .. } = &run;
            if !scenario.mistakes && !findings.is_empty() {
                wrong.push(format!("{at}: makes no mistake, and was told of one:\n{findings}"));
            }
            for difference in recording.differences(scenario.name, &run.lines()) {
                match known::reason(scenario.name, &difference.what) {
                    Some(_) => drop(known.insert((scenario.name, difference.what))),
                    None => wrong.push(format!("{at}: {difference}\n{findings}")),
                }
            }
        }
    }
    for (scenario, what, _) in known::KNOWN {
        if names.is_empty() && !known.contains(&(*scenario, (*what).to_string())) {
            wrong.push(format!("{scenario}: `{what}` is known to differ, and does not any more: known.rs"));
        }
    }
    if names.is_empty() {
        wrong.extend(recording.strangers(&scenarios));
    }
    println!(
        "cudarc: {} scenarios x {} seeds as {}, {} lines known to differ, {} wrong",
        scenarios.len(),
        SEEDS.len(),
        recording.about[0],
        known.len(),
        wrong.len()
    );
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n")),
    }
}
