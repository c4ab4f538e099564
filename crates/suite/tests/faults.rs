//! The fault model and the library under it: docs/faults.md is what the model says, every scenario holds without a fault,
//! and a few hundred faults of all kinds do no harm. `cargo xtask faults --full` tries every one.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use dacapo_driver::{CUresult, Call, Effect, Family, Lawful, STICKY, Source, lawful};
use dacapo_suite::faults::{TAKES_MEMORY, all, calls_of, inject, starve};

/// One of so many faults is tried here, and of a scenario no more than this.
const STRIDE: usize = 97;
const SHOTS_MAX: usize = 24;

#[test]
fn faults_of_all_kinds_do_no_harm() {
    let scenarios = all();
    let names: BTreeSet<&str> = scenarios.iter().map(|scenario| scenario.name).collect();
    assert_eq!(names.len(), scenarios.len(), "two scenarios have the same name");
    assert!(scenarios.len() >= 25, "{} scenarios", scenarios.len());
    let mut shots = Vec::new();
    for scenario in &scenarios {
        let calls = calls_of(scenario, 0).unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
        let mut of_one = Vec::new();
        for (nth, call) in (0..).zip(calls) {
            of_one.extend((0..lawful(call).len()).map(|which| (scenario, nth, which)));
        }
        let stride = STRIDE.max(of_one.len().div_ceil(SHOTS_MAX));
        // Not always the first call of a scenario.
        let first = shots.len() % stride;
        shots.extend(of_one.into_iter().skip(first).step_by(stride));
    }
    let (mut struck, mut effects, mut bad) = (0, BTreeSet::new(), Vec::new());
    for (scenario, nth, which) in shots {
        let verdict = inject(scenario, 0, nth, which);
        struck += usize::from(verdict.struck.is_some());
        effects.extend(verdict.struck.map(|(_, fault)| fault.effect));
        if !verdict.is_good() {
            let again = format!("cargo xtask faults --only {} --call {nth} --fault {which}", scenario.name);
            bad.push(format!("{}\nreproduce: {again}", verdict.lines().join("\n")));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n\n"));
    assert!(struck > 200 && effects.len() >= 3, "{struck} faults, {effects:?}: the shots miss");
}

#[test]
fn out_of_memory_at_every_allocation_loses_nothing_and_says_the_numbers() {
    let (mut struck, mut calls_struck, mut bad) = (0, BTreeSet::new(), Vec::new());
    for scenario in &all() {
        let calls = calls_of(scenario, 0).unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
        for (nth, call) in (0..).zip(calls).filter(|(_, call)| TAKES_MEMORY.contains(call)) {
            let oom =
                |fault: &Lawful| (fault.code, fault.effect) == (CUresult::CUDA_ERROR_OUT_OF_MEMORY, Effect::NotDone);
            let which = lawful(call).iter().position(oom).expect("a call that takes memory may find none");
            let verdict = inject(scenario, 0, nth, which);
            if verdict.struck.is_some() {
                struck += 1;
                calls_struck.insert(call);
            }
            if !verdict.is_good() {
                let again = format!("cargo xtask faults --only {} --call {nth} --fault {which}", scenario.name);
                bad.push(format!("{}\nreproduce: {again}", verdict.lines().join("\n")));
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n\n"));
    assert!(struck > 100 && calls_struck.len() == TAKES_MEMORY.len(), "{struck} struck, {calls_struck:?}");
}

/// From each allocation of each scenario on there is no memory: nothing is lost, and who is refused is told the numbers.
#[test]
fn out_of_memory_from_every_allocation_on() {
    let (mut starved, mut told, mut bad) = (0, 0, Vec::new());
    for scenario in &all() {
        let calls = calls_of(scenario, 0).unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
        for (nth, _) in (0..).zip(calls).filter(|(_, call)| TAKES_MEMORY.contains(call)) {
            let verdict = starve(scenario, 0, nth);
            starved += usize::from(verdict.struck.is_some());
            told += usize::from(verdict.out_of_memory);
            if !verdict.is_good() {
                bad.push(format!("{} from call {nth} on:\n{}", scenario.name, verdict.lines().join("\n")));
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n\n"));
    println!("{starved} allocations starved, {told} errors with the numbers");
    assert!(starved > 150 && told * 10 > starved * 9, "{starved} starved, {told} told: the shots miss");
}

/// Codes without their common beginning, with a mark for how they are known.
fn codes(faults: &[Lawful], effect: Effect) -> String {
    let mut said = Vec::new();
    let of_effect: Vec<&Lawful> = faults.iter().filter(|fault| fault.effect == effect).collect();
    if effect == Effect::ContextLost && of_effect.len() == STICKY.len() {
        return "a sticky code".into();
    }
    for fault in of_effect {
        let name = fault.code.name().unwrap_or("?");
        let mark = match fault.source {
            Source::Manual => "",
            Source::Observed => " ●",
            Source::Prudence => " ○",
        };
        said.push(format!("`{}`{mark}", name.trim_start_matches("CUDA_ERROR_").trim_start_matches("CUDA_")));
    }
    said.join(", ")
}

const HEAD: &str = "\
# The fault model

Made from `crates/driver/src/lawful.rs`; do not edit. A test says when it is stale, and how to write it anew.

A *fault* is what a call may answer although the program did nothing wrong: no memory, a call from inside a host function, a
capture that somebody else broke, a context that a kernel broke. This is the contract between a driver and the library: which
codes each call may fail with, and what holds after it. `Fault` (`crates/driver/src/hook/fault.rs`) has each happen on the
software driver, truthfully; `cargo xtask faults` has every driver call of the library's scenarios fail with every one.

## What holds after a fault

| effect | the state after |
|---|---|
| not done | as before the call; it may be made again |
| done | as if the call had succeeded; the code is of something else, or says nothing |
| capture invalidated | the call is not done, and the capture of its stream is invalidated: `cuStreamIsCapturing` says so, work on it answers `STREAM_CAPTURE_INVALIDATED`, its end answers that, gives no graph, and destroys a graph that it was made into. `cuStreamEndCapture` itself: the capture is over. Only where the stream captures |
| context lost | the call is not done, and every call that looks at the context answers the same code from now on |

Five sentences that the table comes down to:

1. A call that makes something and fails has made nothing.
2. A call that releases something and fails has left it as it was only if the code says that it was refused. After any other
   code the thing is gone: to release it again could hit another's.
3. A call that enqueues may have enqueued when its code says nothing.
4. The end of a capture, answered with anything but a refusal, is the end of the capture and of its graph.
5. A sticky code is the context's last word.

## What the library does with it

| fault | what the user sees |
|---|---|
| a call of an operation is refused | the error, which names the call, and the op where there is one. Nothing is left of the operation; device, streams and other graphs work on |
| a node of a graph could not be told a new value | the launch is not made; the node stays dirty, and is told again before the next launch |
| a launch answers a code that says nothing | the error; the ledger takes the work for enqueued, so that nobody overtakes it |
| a capture of foreign work is invalidated | the graph is built again, four times in all, then `CaptureBroken` |
| a capture by hand is invalidated | `CaptureBroken`, with the step before which it was good; the stream can capture again |
| the end of a capture is refused | it is made once more; refused again, the capture goes with its stream |
| the thread's capture mode cannot be relaxed | the error: what was to follow could break another library's capture, and is not done. Putting the mode back is tried twice |
| a release is refused, in the queue of drops | it stays in the queue for the next who empties it; who emptied it is told |
| a release answers a code that says nothing | the thing is taken for gone and never released again; who emptied the queue is told |
| a release fails while something that is not in the queue goes (a half-built graph, a private stream, temps of an eager run) | it goes into the queue |
| a release fails while the device itself goes | it is tried once more; nobody can be told. What is left then goes with the context |
| a sticky code | `Lost`, with the first call that said it and the launches in flight; every later call of the device answers that. At the device's end graphs are destroyed, values of the user's dropped, and the rest goes with the context |

## How to read the tables

Codes stand without `CUDA_ERROR_`. Without a mark: the call's page or the code's description in the manual of the driver API
says so. ●: observed on an H200. ○: neither, and nothing forbids it. `SUCCESS` under *capture invalidated*: the question is
answered, and the answer is `INVALIDATED`.

A sticky code is one of
";

const NOT_HERE: &str = "
Not in the tables: what a wrong argument is answered with; what a capture in the way is answered with (the capture columns of
[driver-calls.md](driver-calls.md)); `DEINITIALIZED` and `CONTEXT_IS_DESTROYED`, after which nothing is left that could be
held to a promise.
";

fn text(used: &BTreeSet<Call>) -> String {
    let mut text = HEAD.to_string();
    let names: Vec<String> = STICKY
        .iter()
        .map(|code| format!("`{}`", code.name().unwrap_or("?").trim_start_matches("CUDA_ERROR_")))
        .collect();
    for line in names.chunks(4) {
        let end = if line.last() == names.last() { ".\n" } else { ",\n" };
        let _ = write!(text, "{}{end}", line.join(", "));
    }
    text.push_str(NOT_HERE);
    let row = |text: &mut String, calls: &str, call: Call| {
        let cell = |effect| codes(lawful(call), effect);
        let role = format!("{:?}", call.role()).to_lowercase();
        let _ = writeln!(
            text,
            "| {calls} | {role} | {} | {} | {} | {} |",
            cell(Effect::NotDone),
            cell(Effect::Done),
            cell(Effect::CaptureInvalidated),
            cell(Effect::ContextLost)
        );
    };
    let columns = "| role | not done | done | capture invalidated | context lost |\n|---|---|---|---|---|---|\n";
    let _ = write!(text, "\n## The calls that the library makes\n\n| call {columns}");
    for &call in used {
        row(&mut text, &format!("`{}`", call.symbol()), call);
    }
    let _ = write!(text, "\n## All other calls, by family\n\n| calls {columns}");
    let mut families: Vec<Family> = Call::ALL.iter().map(|call| call.family()).collect();
    families.dedup();
    for family in families {
        let mut groups: Vec<(Vec<Call>, &[Lawful])> = Vec::new();
        for &call in Call::ALL.iter().filter(|call| call.family() == family && !used.contains(call)) {
            let same =
                |group: &&mut (Vec<Call>, &[Lawful])| group.1 == lawful(call) && group.0[0].role() == call.role();
            match groups.iter_mut().find(same) {
                Some(group) => group.0.push(call),
                None => groups.push((vec![call], lawful(call))),
            }
        }
        for (calls, _) in groups {
            let names: Vec<String> = calls.iter().map(|call| format!("`{}`", call.symbol())).collect();
            row(&mut text, &format!("*{family:?}*: {}", names.join(", ")), calls[0]);
        }
    }
    text
}

#[test]
fn the_fault_model_in_the_docs_is_up_to_date() {
    let mut used = BTreeSet::new();
    for scenario in all() {
        used.extend(calls_of(&scenario, 0).unwrap_or_default());
    }
    assert!(used.len() >= 50, "the scenarios make {} different calls only: {used:?}", used.len());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/faults.md");
    let text = text(&used);
    if dacapo_suite::programs::report::is_blessing() {
        std::fs::write(&path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let first = committed.lines().zip(text.lines()).find(|(committed, now)| committed != now);
    assert!(
        committed == text,
        "docs/faults.md is stale; first difference: {first:?}\nhelp: `cargo xtask bless` writes it anew"
    );
}

#[test]
fn every_call_has_faults_and_none_twice() {
    for &call in Call::ALL {
        let faults = lawful(call);
        assert!(!faults.is_empty(), "{call:?}");
        let different: BTreeSet<(CUresult, Effect)> = faults.iter().map(|fault| (fault.code, fault.effect)).collect();
        assert_eq!(different.len(), faults.len(), "{call:?}: {faults:?}");
        for fault in faults {
            assert_eq!(fault.effect == Effect::ContextLost, fault.code.is_sticky(), "{call:?}: {fault:?}");
            let tells = fault.code.is_success();
            assert!(!tells || fault.effect == Effect::CaptureInvalidated, "{call:?} claims a success: {fault:?}");
        }
    }
}
