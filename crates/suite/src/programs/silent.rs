//! Mistakes that a GPU does not notice: every driver call answers success, and the process ends with 0.
//!
//! - [`SILENT`] names them; the software driver has a finding about each. [`run_all`] makes them on NVIDIA's driver, each
//!   in a process of its own and several times over, and [`render`] is the file that is committed of it.
//! - A program counts as silent if no call of it was refused, if everything that it had submitted came to success
//!   (`cuCtxSynchronize` behind the last round), and if the process ended with 0 by itself.
//!
//! What the numbers are is not asked: with a mistake they may be right.

use std::io::Read as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dacapo_driver::{CUresult, Driver};

use super::gpu::{PATIENCE, panic_text};
use super::{LISTED, Listed, Program, Way};
use crate::session::Session;

/// The mistakes that an H200, driver 580.159.04, lets pass every time: `results/programs-silent-h200.txt`.
pub const SILENT: &[&str] = &[
    "graph/condition_never_set",
    "graph/free_without_a_path",
    "graph/user_object_released_twice",
    "launch/arguments_too_short",
    "launch/barrier_in_both_branches",
    "launch/barrier_that_is_not_there",
    "launch/integer_division_by_zero",
    "launch/shuffle_from_exited_lane",
    "launch/shuffle_mask_without_a_lane",
    "memory/freed_under_a_graph",
    "memory/graph_memory_after_its_free",
    "memory/into_the_next_allocation",
    "memory/one_element_before",
    "memory/one_element_too_far",
    "memory/padding_not_set",
    "memory/uninitialised_read",
    "memory/uninitialised_shared",
    "memory/used_after_free",
    "memory/write_to_parameter",
    "race/cleared_beside_a_kernel",
    "race/counter_set_beside_its_use",
    "race/edge_from_the_wrong_node",
    "race/event_never_recorded",
    "race/event_on_the_wrong_stream",
    "race/event_recorded_too_early",
    "race/fork_taken_too_early",
    "race/freed_while_another_stream_uses_it",
    "race/joined_too_late",
    "race/legacy_stream_beside_non_blocking",
    "race/missing_syncthreads",
    "race/next_input_over_the_last",
    "race/pageable_memory_in_a_graph",
    "race/pinned_memory_of_two_streams",
    "race/pool_memory_before_it_is_there",
    "race/read_beside_a_replay",
    "race/reused_address_under_a_graph",
    "race/same_word_by_all",
    "race/second_turn_without_barrier",
    "race/two_branches_of_a_graph",
    "race/two_graphs_one_buffer",
    "race/two_kernels_one_buffer",
    "race/two_streams_without_event",
    "race/upload_beside_a_replay",
    "race/wait_before_the_record",
    "race/warp_without_syncwarp",
];

/// How often each program runs in its process.
pub const ROUNDS: usize = 10;

/// What the child's one line begins with.
const MARK: &str = "dacapo-silent ";

/// What came of one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// `area/name`.
    pub name: String,
    /// What its process said: how many calls of it were refused, and the last code.
    pub said: String,
    /// The code its process ended with; `None` if it did not end by itself.
    pub exit: Option<i32>,
}

impl Ended {
    /// Whether nothing was said to the mistake.
    pub fn is_silent(&self) -> bool {
        self.exit == Some(0) && self.said.ends_with(" 0 refused, last CUDA_SUCCESS")
    }
}

/// Whether a GPU lets this one pass.
pub fn is_silent(listed: &Listed) -> bool {
    SILENT.contains(&listed.path().as_str())
}

/// Makes every silent mistake. `start` is a command for a child that calls [`run_here`] with this name.
pub fn run_all(mut start: impl FnMut(&str) -> Command) -> Vec<Ended> {
    SILENT.iter().map(|name| run_to_its_end(name, start(name), PATIENCE)).collect()
}

/// One line for each program, behind lines with `#` that say where and when.
pub fn render(gpu: &str, driver: &str, commit: &str, all: &[Ended]) -> String {
    let silent = all.iter().filter(|ended| ended.is_silent()).count();
    let mut text = format!(
        "# Programs of crates/suite/src/programs whose mistake a GPU does not notice, as `dacapo-gpu silent` ran them.\n\
         # {gpu}, driver {driver}, commit {commit}\n\
         # Each in a process of its own, {ROUNDS} times; the last code is that of cuCtxSynchronize behind the last time.\n\
         # {silent} of {} ended without a word\n",
        all.len()
    );
    for Ended { name, said, exit } in all {
        let exit = exit.map_or("none".to_string(), |code| code.to_string());
        text.push_str(&format!("{name:<40} {said}, exit {exit}\n"));
    }
    text
}

/// Waits for a child that says one line, and ends it if it does not end.
fn run_to_its_end(name: &str, mut command: Command, patience: Duration) -> Ended {
    let ended = |said: String, exit| Ended { name: name.to_string(), said, exit };
    let mut child = match command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => return ended(format!("no process could be started: {error}"), None),
    };
    let began = Instant::now();
    let exit = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.code(),
            Ok(None) if began.elapsed() < patience => std::thread::sleep(Duration::from_millis(5)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return ended("does not end".to_string(), None);
            }
        }
    };
    // One line fits the pipe, so the child never waited for us to read it.
    let mut text = String::new();
    let _ = child.stdout.take().map(|mut stdout| stdout.read_to_string(&mut text));
    let said = text.lines().find_map(|line| line.strip_prefix(MARK)).unwrap_or("said nothing");
    ended(said.to_string(), exit)
}

/// What a child does: makes the mistake, several times, and says a line. `false`: something was said to it.
///
/// # Errors
///
/// - A name that is not listed.
/// - The driver has no device, or refuses it.
pub fn run_here(driver: Arc<dyn Driver>, name: &str) -> Result<bool, Box<dyn std::error::Error>> {
    let listed = LISTED.iter().find(|listed| listed.path() == name);
    let listed = listed.ok_or_else(|| format!("there is no program {name}"))?;
    // Keeps the primary context from one round to the next.
    let _session = Session::open(&*driver)?;
    let (mut calls, mut refused, mut last) = (0, Vec::new(), CUresult::CUDA_SUCCESS);
    let mut opt_panic = None;
    for _ in 0..ROUNDS {
        let program = Program::on(driver.clone(), Way::Mistake);
        // What it is refused with is among its events.
        let ended = catch_unwind(AssertUnwindSafe(|| listed.run(&program).err()));
        last = program.end();
        calls += program.calls();
        refused.extend(program.events());
        opt_panic = ended.err().map(|panic| panic_text(&*panic));
        if opt_panic.is_some() || !refused.is_empty() {
            break;
        }
    }
    let mut said = format!("{calls} calls, {} refused, last {last}", refused.len());
    for what in refused.iter().chain(&opt_panic) {
        said.push_str(&format!("; {}", what.replace('\n', " ")));
    }
    println!("{MARK}{said}");
    Ok(refused.is_empty() && opt_panic.is_none())
}

#[cfg(test)]
mod tests {
    use super::super::gpu::NOT_COMPARED;
    use super::*;

    fn shell(script: &str) -> Ended {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run_to_its_end("a/b", command, Duration::from_millis(2000))
    }

    #[test]
    fn a_program_is_silent_if_nothing_was_refused_and_it_ended_well() {
        let well = "echo the driver says something; echo 'dacapo-silent 12 calls, 0 refused, last CUDA_SUCCESS'";
        assert!(shell(well).is_silent());
        assert!(!shell(&format!("{well}; exit 1")).is_silent());
        assert!(!shell(&format!("{well}; kill -9 $$")).is_silent());
        assert!(!shell("echo 'dacapo-silent 12 calls, 10 refused, last CUDA_SUCCESS; cuX -> Y'").is_silent());
        assert!(!shell("echo 'dacapo-silent 12 calls, 0 refused, last CUDA_ERROR_ILLEGAL_ADDRESS'").is_silent());
        assert!(!shell("true").is_silent());
        assert_eq!(shell("exec sleep 60").said, "does not end");
    }

    #[test]
    fn every_mistake_is_refused_or_silent_or_not_compared() {
        for name in SILENT {
            assert!(LISTED.iter().any(|listed| listed.path() == *name), "{name} is not listed");
            assert!(NOT_COMPARED.iter().all(|(other, _)| other != name), "{name} is compared");
        }
        for listed in LISTED {
            let path = listed.path();
            let known = !listed.expected_codes().is_empty()
                || is_silent(listed)
                || NOT_COMPARED.iter().any(|(name, _)| *name == path);
            assert!(known, "what does a GPU say to {path}?");
        }
    }
}
