//! `cargo xtask host-cost`: what our own code does around the driver's calls, counted by valgrind.
//!
//! The benchmark `cost` is run twice for each case, with so many calls and with twice as many, over a driver that does
//! nothing; the difference is that of the calls alone. The counts are those of the machine code and hang on the compiler, but
//! not on how busy the machine is. Launches are counted cold, too: between two of them all of ours is driven out of a
//! first-level cache, and what is missed then are the lines that a launch touches.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace;

/// The cases, how often each is called, and how often cold, if it is.
const CASES: [(&str, u64, Option<u64>); 9] = [
    ("nothing", 20_000, Some(200)),
    ("launch-1", 20_000, Some(200)),
    ("launch-10", 20_000, Some(200)),
    ("slot", 20_000, Some(200)),
    ("slot-launch", 20_000, Some(200)),
    ("record-1", 100, None),
    ("record-100", 10, None),
    ("record-1000", 3, None),
    ("plan-10000", 1, None),
];

/// Counts, and prints a line for each case.
///
/// # Errors
///
/// - There is no valgrind, or the benchmark does not build or run.
pub fn run(binary: Option<&Path>) -> Result<(), String> {
    let binary = match binary {
        Some(binary) => binary.to_path_buf(),
        None => built()?,
    };
    println!("{:<14} {:>14} {:>14} {:>14}   a call", "", "instructions", "lines of code", "lines of data");
    let mut idle = [0.0; 2];
    for (case, calls, cold) in CASES {
        let [instructions, ..] = difference(&binary, case, calls, false)?;
        let lines = match cold {
            None => String::new(),
            Some(calls) => {
                let [_, code, data] = difference(&binary, case, calls, true)?;
                if case == "nothing" {
                    idle = [code, data];
                }
                format!(" {:>14.1} {:>14.1}", code - idle[0], data - idle[1])
            }
        };
        println!("{case:<14} {instructions:>14.0}{lines}");
    }
    Ok(())
}

/// The benchmark, as `cargo bench` builds it.
fn built() -> Result<PathBuf, String> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["bench", "-p", "dacapo", "--bench", "cost", "--no-run"]).current_dir(workspace::root());
    let output = command.output().map_err(|error| format!("cargo: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let path = said.lines().find_map(|line| line.trim().strip_prefix("Executable")?.split(['(', ')']).nth(1));
    path.map(|path| workspace::root().join(path)).ok_or_else(|| format!("the benchmark does not build:\n{said}"))
}

/// Instructions, missed lines of code and missed lines of data of one call.
fn difference(binary: &Path, case: &str, calls: u64, cold: bool) -> Result<[f64; 3], String> {
    let (few, many) = (counted(binary, case, calls, cold)?, counted(binary, case, 2 * calls, cold)?);
    Ok(std::array::from_fn(|count| (many[count] - few[count]) / calls as f64))
}

fn counted(binary: &Path, case: &str, calls: u64, cold: bool) -> Result<[f64; 3], String> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    if cold {
        // As small as a core's own caches usually are, whatever this machine has.
        command.args(["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64"]);
    }
    command.arg(binary).arg(case).arg(calls.to_string()).args(cold.then_some("--cold"));
    let output = command.output().map_err(|error| format!("valgrind: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let collected = said.lines().find_map(|line| Some(line.split_once("Collected :")?.1));
    let counts: Vec<f64> = collected.unwrap_or("").split_whitespace().filter_map(|count| count.parse().ok()).collect();
    match counts[..] {
        [instructions] if output.status.success() => Ok([instructions, 0.0, 0.0]),
        // Ir, Dr, Dw, then the misses of the first level: of instructions, of reads, of writes.
        [instructions, _, _, code, reads, writes, ..] if output.status.success() => {
            Ok([instructions, code, reads + writes])
        }
        _ => Err(format!("valgrind could not run {case}: {said}")),
    }
}
