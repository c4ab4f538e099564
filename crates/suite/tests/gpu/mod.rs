//! The same programs on NVIDIA's driver: the near misses pass there too, and a mistake is refused with the same codes.
//!
//! `cargo test -p dacapo-suite --test programs -- --ignored gpu::` on a machine with a GPU; or the test binary, built
//! elsewhere, and this folder at the path where it was built.
//!
//! A mistake runs in a process of its own, because a fault ends the context, and some end the process. Those in
//! [`NOT_COMPARED`] are not run: a GPU has no answer to them.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dacapo_driver::Nvidia;

use crate::program::Program;
use crate::{LISTED, folder};

/// Mistakes that a GPU has no answer to, or another one than the software driver, and why. Seen on an H200, driver
/// 580.159.04, but for those that crash or do not end.
const NOT_COMPARED: &[(&str, &str)] = &[
    ("launch/barrier_not_reached_by_all", "does not end"),
    ("launch/endless_loop", "does not end"),
    ("launch/integer_division_by_zero", "some number, no refusal"),
    ("launch/shuffle_from_exited_lane", "some number, no refusal"),
    ("launch/waits_for_nobody", "does not end"),
    ("memory/freed_under_a_graph", "hits whatever lies there now, no refusal"),
    ("memory/global_address_as_shared", "ILLEGAL_INSTRUCTION, where the software driver says INVALID_ADDRESS_SPACE"),
    ("memory/one_element_too_far", "hits whatever lies there, no refusal"),
    ("memory/uninitialised_read", "some number, no refusal"),
    ("memory/write_to_parameter", "no refusal"),
    ("module/unsupported_instruction", "runs: only the software driver does not know the instruction"),
    ("stream/destroyed_event", "crashes"),
    ("stream/destroyed_stream", "crashes"),
];

/// How long a mistake may take before it counts as endless.
const PATIENCE: Duration = Duration::from_secs(30);
/// Names the mistake that a process of its own is to make.
const MISTAKE: &str = "DACAPO_MISTAKE";

fn device() -> Program {
    let nvidia = Nvidia::open().expect("NVIDIA's driver is there");
    assert!(!nvidia.is_software(), "this is the software driver; the programs run on it anyway");
    Program::on(Arc::new(nvidia))
}

#[test]
fn what_is_not_compared_exists() {
    for (name, why) in NOT_COMPARED {
        assert!(LISTED.iter().any(|p| format!("{}/{}", p.area, p.name) == *name), "{name}: {why}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn near_misses_pass() {
    for listed in LISTED {
        let program = device();
        let answer = (listed.pass)(&program);
        let events = program.events();
        assert!(answer.is_ok() && events.is_empty(), "{}/{}: {events:#?}", listed.area, listed.name);
        assert!(program.comparisons() > 0);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn mistakes_are_refused_with_the_same_codes() {
    let mut different = Vec::new();
    for listed in LISTED {
        let name = format!("{}/{}", listed.area, listed.name);
        if NOT_COMPARED.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let report = std::fs::read_to_string(folder("fail").join(format!("{name}.stderr"))).unwrap_or_default();
        let want: Vec<&str> = report.lines().filter(|line| line.starts_with("cu") && line.contains(" -> ")).collect();
        let got = make_mistake(&name);
        if got.iter().ne(&want) {
            different.push(format!("{name}\n  expected {want:#?}\n  got {got:#?}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// The calls that were refused when a process of its own made the mistake.
fn make_mistake(name: &str) -> Vec<String> {
    let this = std::env::current_exe().expect("a test runs from a file");
    let mut child = Command::new(this)
        .args(["--exact", "gpu::one_mistake", "--ignored", "--nocapture"])
        .env(MISTAKE, name)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the test binary starts once more");
    let begun = Instant::now();
    while child.try_wait().is_ok_and(|ended| ended.is_none()) {
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
            return vec!["does not end".to_string()];
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("it has ended");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut calls: Vec<String> =
        text.lines().filter_map(|line| line.strip_prefix("refused: ")).map(str::to_string).collect();
    if !text.contains("made: ") {
        calls.push("the process died".to_string());
    }
    calls
}

#[test]
#[ignore = "needs a GPU; run by `mistakes_are_refused_with_the_same_codes`"]
fn one_mistake() {
    let Ok(name) = std::env::var(MISTAKE) else { return };
    let listed = LISTED.iter().find(|p| format!("{}/{}", p.area, p.name) == name).expect("a listed program");
    let program = device();
    let _ = (listed.fail)(&program);
    // On a line of their own: the test harness prints without an end of line before.
    println!();
    for event in program.events() {
        println!("refused: {event}");
    }
    println!("made: {name}");
}
