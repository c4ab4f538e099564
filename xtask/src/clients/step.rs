//! `cargo xtask clients --step OLD NEW`: tinygrad's training step as a CUDA graph, on two builds of the software driver.
//!
//! A process has one driver, so the two take turns by processes. Each makes the network and the graph, and then times some
//! steps (`tests/clients/tinygrad_step.py`). Printed are medians over all steps, how far they spread, and the ratio.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::program::Workshop;

/// Turns of each driver.
const TURNS: usize = 5;

/// Timed steps of a turn.
const STEPS: usize = 4;

/// Measures and prints.
///
/// # Errors
///
/// - A run fails, or the two drivers compute different losses.
pub fn run(place: &Workshop, libraries: &[PathBuf]) -> Result<(), String> {
    let [old, new] = libraries else { return Err("--step wants two libraries".into()) };
    let (mut seconds, mut losses) = ([Vec::new(), Vec::new()], Vec::<Vec<String>>::new());
    for turn in 0..TURNS {
        for (index, library) in [old, new].into_iter().enumerate() {
            let (times, loss) = measure(place, library)?;
            println!("turn {turn}, {}: {}", ["old", "new"][index], shown(&times));
            seconds[index].extend(times);
            losses.push(loss);
        }
    }
    if losses.iter().any(|loss| loss != &losses[0]) {
        return Err("the two drivers compute different losses".into());
    }
    let [old, new] = seconds.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times
    });
    println!("seconds a step: median (p10 .. p90) of {} steps in {TURNS} turns", old.len());
    for (name, times) in [("old", &old), ("new", &new)] {
        println!("{name}  {:.3} ({:.3} .. {:.3})", at(times, 0.5), at(times, 0.1), at(times, 0.9));
    }
    println!("step: new / old = {:.3}", at(&new, 0.5) / at(&old, 0.5));
    Ok(())
}

fn measure(place: &Workshop, library: &Path) -> Result<(Vec<f64>, Vec<String>), String> {
    let mut command = place.command("step", &place.python());
    command.env("DACAPO_LIBCUDA", std::path::absolute(library).unwrap_or_else(|_| library.into()));
    command.env("DEV", "CUDA").arg(place.root.join("tests/clients/tinygrad_step.py")).arg(STEPS.to_string());
    let ended = place.run(command, "step", Duration::from_secs(600))?;
    let lines: Vec<(f64, String)> = ended
        .output
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(seconds, loss)| Some((seconds.parse().ok()?, loss.to_string())))
        .collect();
    if lines.len() != STEPS {
        return Err(format!(
            "{}: the step does not run; see {}",
            library.display(),
            place.folder.join("out").display()
        ));
    }
    Ok(lines.into_iter().unzip())
}

/// The value that this part of the sorted ones is below.
fn at(sorted: &[f64], part: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    // The index is small and not negative.
    sorted[((last as f64 * part).round() as usize).min(last)]
}

fn shown(times: &[f64]) -> String {
    times.iter().map(|time| format!("{time:.3}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_tails() {
        let times: Vec<f64> = (0..=10).map(f64::from).collect();
        assert_eq!((at(&times, 0.5), at(&times, 0.1), at(&times, 0.9)), (5.0, 1.0, 9.0));
        assert_eq!(at(&[3.0], 0.9), 3.0);
    }
}
