//! The programs on NVIDIA's driver: a near miss passes there too, and a mistake is refused with the same codes.
//!
//! - Programs run in child processes, because a fault ends the context, some end the process, and one that does not end
//!   must be killed: [`run_all`] starts them, [`run_here`] is what such a child does.
//! - The near misses share one child and one context, which takes most of a second to make; each mistake has a child of
//!   its own. A child that dies or hangs fails the program it was at; the next child goes on behind it.
//! - Mistakes in [`silent::SILENT`] are refused by nobody there, whatever the software driver says to them.
//! - Mistakes in [`NOT_COMPARED`] are not made: a GPU has no answer to them, or another one.
//!
//! Findings are not compared: NVIDIA's driver has none.

use std::io::{BufRead as _, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use dacapo_driver::Driver;
use serde::{Deserialize, Serialize};

use super::{LISTED, Listed, Program, Way, silent};
use crate::session::Session;

/// Why races between the blocks of a kernel are not compared.
const BLOCKS: &str = "no call is refused, and what the numbers are depends on which block comes first";

/// Mistakes that a GPU has no answer to, or another one than the software driver, and why. Seen on an H200, driver
/// 580.159.04, but for those that crash or do not end.
pub const NOT_COMPARED: &[(&str, &str)] = &[
    ("graph/endless_while", "does not end"),
    ("launch/barrier_not_reached_by_all", "does not end"),
    ("launch/endless_loop", "does not end"),
    ("launch/waits_for_nobody", "does not end"),
    ("link/destroyed_too_early", "crashes"),
    ("link/unloaded_library", "crashes, or names something else"),
    ("module/unsupported_instruction", "runs: only the software driver does not know the instruction"),
    ("memory/array_destroyed_under_a_texture", "reads what is there by then, or faults"),
    ("memory/load_straddles_the_end", "is let pass: it reads whatever lies there"),
    ("memory/managed_used_after_free", "writes what nobody owns, or faults"),
    ("memory/row_read_by_integers", "is let pass: it reads zeros"),
    ("memory/texture_destroyed_too_early", "reads by whatever the table of objects says by then"),
    ("memory/texture_past_the_end", "is let pass: it reads whatever lies there"),
    (
        "race/barrier_with_another_count",
        "CUDA_ERROR_ILLEGAL_INSTRUCTION; the software driver has a finding and goes on",
    ),
    ("race/atomic_of_one_block", BLOCKS),
    ("race/blocks_add_to_one_total", BLOCKS),
    ("race/counter_set_by_the_first_block", BLOCKS),
    ("race/flag_before_the_whole_block_is_done", BLOCKS),
    ("race/flag_without_a_fence", BLOCKS),
    ("race/flag_without_a_fence_behind_it", BLOCKS),
    ("race/grid_without_its_barrier", BLOCKS),
    ("race/halves_of_one_word", BLOCKS),
    ("race/last_block_without_a_fence", BLOCKS),
    ("race/neighbour_over_the_edge_of_a_block", BLOCKS),
    ("race/released_before_it_is_written", BLOCKS),
    ("race/same_value_by_all_blocks", BLOCKS),
    ("stream/destroyed_event", "crashes"),
    ("stream/destroyed_stream", "crashes"),
];

/// How long a program may take before it counts as endless.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// What a child's lines begin with: a driver may print lines of its own.
const MARK: &str = "dacapo-program ";

/// What came of one program.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// `area/name`.
    pub name: String,
    /// Which of the two.
    pub way: Way,
    /// Whether it did as expected; `None` where it was not run.
    pub passed: Option<bool>,
    /// The calls that were refused, in order, as `call -> CODE`.
    pub codes: Vec<String>,
    /// Why it was not run, or what was wrong.
    pub note: String,
}

/// What a child says about one program it ran.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Said {
    codes: Vec<String>,
    comparisons: usize,
    opt_panic: Option<String>,
}

/// Runs every near miss, and every mistake that a GPU has the same answer to.
///
/// `start` is a command for a child that calls [`run_here`] with the way and these names.
pub fn run_all(mut start: impl FnMut(Way, &[String]) -> Command) -> Vec<Outcome> {
    // Those that want a second device are left out: no machine with two GPUs was asked.
    let listed: Vec<&Listed> = LISTED.iter().filter(|listed| listed.devices() == 1).collect();
    let names: Vec<String> = listed.iter().map(|listed| listed.path()).collect();
    let near_misses = run_in_children(&names, PATIENCE, |rest| start(Way::NearMiss, rest));
    let mut outcomes: Vec<Outcome> =
        listed.iter().zip(near_misses).map(|(listed, said)| judge_near_miss(listed, said)).collect();
    for (listed, name) in listed.iter().zip(&names) {
        if let Some((_, why)) = NOT_COMPARED.iter().find(|(known, _)| known == name) {
            let note = format!("not compared; on a GPU: {why}");
            outcomes.push(Outcome { name: name.clone(), way: Way::Mistake, passed: None, codes: Vec::new(), note });
            continue;
        }
        let said = run_in_children(std::slice::from_ref(name), PATIENCE, |rest| start(Way::Mistake, rest));
        outcomes.extend(said.into_iter().map(|said| judge_mistake(listed, said)));
    }
    outcomes
}

/// One line about all: how many did as expected, how many were not run.
pub fn summary(outcomes: &[Outcome]) -> String {
    let count = |passed| outcomes.iter().filter(|outcome| outcome.passed == passed).count();
    let (passed, failed, not_compared) = (count(Some(true)), count(Some(false)), count(None));
    format!("programs: {passed} of {} as expected, {not_compared} not compared", passed + failed)
}

fn judge_near_miss(listed: &Listed, said: Result<Said, String>) -> Outcome {
    let (codes, note) = match said {
        Err(note) => (Vec::new(), note),
        Ok(Said { codes, opt_panic: Some(panic), .. }) => (codes, panic),
        Ok(Said { codes, .. }) if !codes.is_empty() => (codes, "a call was refused".to_string()),
        Ok(Said { codes, comparisons: 0, .. }) => (codes, "no numbers were compared".to_string()),
        Ok(Said { codes, .. }) => (codes, String::new()),
    };
    Outcome { name: listed.path(), way: Way::NearMiss, passed: Some(note.is_empty()), codes, note }
}

fn judge_mistake(listed: &Listed, said: Result<Said, String>) -> Outcome {
    let expected = if silent::is_silent(listed) { Vec::new() } else { listed.expected_codes() };
    let (codes, note) = match said {
        Err(note) => (Vec::new(), note),
        Ok(Said { codes, opt_panic: Some(panic), .. }) => (codes, panic),
        Ok(Said { codes, .. }) if codes.iter().ne(&expected) => (
            codes,
            format!("expected: {}", if expected.is_empty() { "no refusal".into() } else { expected.join(", ") }),
        ),
        Ok(Said { codes, .. }) => (codes, String::new()),
    };
    Outcome { name: listed.path(), way: Way::Mistake, passed: Some(note.is_empty()), codes, note }
}

/// What children say about each of `names`, or why one said nothing. One child runs all; where it stops, another one is
/// started for those behind.
fn run_in_children(
    names: &[String],
    patience: Duration,
    mut start: impl FnMut(&[String]) -> Command,
) -> Vec<Result<Said, String>> {
    let mut said = Vec::new();
    while said.len() < names.len() {
        let rest = &names[said.len()..];
        let mut child = match start(rest).stdin(Stdio::null()).stdout(Stdio::piped()).spawn() {
            Ok(child) => child,
            Err(error) => {
                said.extend(rest.iter().map(|_| Err(format!("no process could be started: {error}"))));
                break;
            }
        };
        listen(&mut child, rest.len(), patience, &mut said);
    }
    said
}

/// Adds what the child says about its next `count` programs; the last is an error if it stopped before.
fn listen(child: &mut Child, count: usize, patience: Duration, said: &mut Vec<Result<Said, String>>) {
    let (send, lines) = mpsc::channel();
    let stdout = child.stdout.take();
    let reader = std::thread::spawn(move || {
        for line in stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines()).map_while(Result::ok) {
            let Some(text) = line.strip_prefix(MARK) else { continue };
            let Ok(one) = serde_json::from_str::<Said>(text) else { continue };
            if send.send(one).is_err() {
                return;
            }
        }
    });
    for _ in 0..count {
        match lines.recv_timeout(patience) {
            Ok(one) => said.push(Ok(one)),
            Err(RecvTimeoutError::Timeout) => {
                said.push(Err("does not end".to_string()));
                break;
            }
            Err(RecvTimeoutError::Disconnected) => {
                let how = child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                said.push(Err(format!("the process ended: {how}")));
                break;
            }
        }
    }
    // Everything that is wanted of it has been said. It may hang in a kernel, or while the driver takes itself down after
    // a fault.
    let _ = child.kill();
    let _ = child.wait();
    let _ = reader.join();
}

/// What a child does: runs these programs one after the other on the driver, and says a line about each.
///
/// # Errors
///
/// - A name that is not listed.
/// - The driver has no device, or refuses it.
pub fn run_here(driver: Arc<dyn Driver>, way: Way, names: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let programs = names.iter().map(|name| {
        let found = LISTED.iter().find(|listed| listed.path() == *name);
        found.ok_or_else(|| format!("there is no program {name}"))
    });
    let programs = programs.collect::<Result<Vec<_>, _>>()?;
    // Keeps the primary context from one program to the next.
    let _session = Session::open(&*driver)?;
    for listed in programs {
        let program = Program::on(driver.clone(), way);
        let ended = catch_unwind(AssertUnwindSafe(|| {
            // What it is refused with is among its events.
            let _ = listed.run(&program);
        }));
        let opt_panic = ended.err().map(|panic| panic_text(&*panic));
        let said = Said { codes: program.events(), comparisons: program.comparisons(), opt_panic };
        // Before the program is dropped: a driver may die of what it left.
        println!("{MARK}{}", serde_json::to_string(&said)?);
    }
    Ok(())
}

/// What a panic says.
pub(super) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WELL: &str = r#"dacapo-program {"codes":[],"comparisons":1,"opt_panic":null}"#;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|i| i.to_string()).collect()
    }

    /// A shell that does `script`.
    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_is_not_compared_exists() {
        for (name, why) in NOT_COMPARED {
            assert!(LISTED.iter().any(|listed| listed.path() == *name), "{name}: {why}");
        }
    }

    #[test]
    fn a_child_that_dies_fails_one_program_and_the_rest_go_on() {
        let mut children = 0;
        let said = run_in_children(&names(4), PATIENCE, |rest| {
            children += 1;
            match rest.len() {
                4 => shell(&format!("echo '{WELL}'; echo the driver says something; exit 3")),
                count => shell(&format!("for i in $(seq {count}); do echo '{WELL}'; done")),
            }
        });
        assert_eq!(children, 2);
        assert_eq!(said.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true, true]);
        assert!(said[1].as_ref().is_err_and(|why| why.contains("exit status: 3")), "{said:?}");
    }

    #[test]
    fn a_child_that_does_not_end_is_ended() {
        let said = run_in_children(&names(1), Duration::from_millis(200), |_| shell("exec sleep 60"));
        assert_eq!(said, [Err("does not end".to_string())]);
    }

    #[test]
    fn a_mistake_passes_only_with_the_codes_of_its_report() {
        let listed = LISTED.iter().find(|listed| listed.path() == "launch/trap").expect("listed");
        let expected: Vec<String> = listed.expected_codes().into_iter().map(str::to_string).collect();
        assert!(!expected.is_empty());
        let said = |codes: &[String]| Ok(Said { codes: codes.to_vec(), comparisons: 0, opt_panic: None });
        assert_eq!(judge_mistake(listed, said(&expected)).passed, Some(true));
        assert_eq!(judge_mistake(listed, said(&expected[1..])).passed, Some(false));
        assert_eq!(judge_mistake(listed, Err("does not end".into())).passed, Some(false));
    }

    #[test]
    fn a_near_miss_passes_only_without_refusals_and_with_numbers() {
        let said = |codes: &[&str], comparisons, opt_panic: Option<&str>| {
            let codes = codes.iter().map(|code| code.to_string()).collect();
            let said = Said { codes, comparisons, opt_panic: opt_panic.map(str::to_string) };
            judge_near_miss(&LISTED[0], Ok(said)).passed
        };
        assert_eq!(said(&[], 1, None), Some(true));
        assert_eq!(said(&["cuX -> Y"], 1, None), Some(false));
        assert_eq!(said(&[], 0, None), Some(false));
        assert_eq!(said(&[], 1, Some("other numbers")), Some(false));
    }

    #[test]
    fn the_summary_counts_what_was_run() {
        let one =
            |passed| Outcome { name: "a/b".into(), way: Way::NearMiss, passed, codes: vec![], note: String::new() };
        let outcomes = [one(Some(true)), one(Some(false)), one(None), one(Some(true))];
        assert_eq!(summary(&outcomes), "programs: 2 of 3 as expected, 1 not compared");
    }
}
