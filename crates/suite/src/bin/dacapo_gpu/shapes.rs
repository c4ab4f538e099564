//! `shapes`: every shape of graph that forms build, with the edges that the library chose and with full ones.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use dacapo_driver::Nvidia;
use dacapo_suite::edges::shapes::{Effort, Part, Priced, Shape, median, of_forms};
use dacapo_suite::session::Session;

/// What is measured first, and again where that looks slower.
const FIRST: Effort = Effort { rounds: 7, turns: 9, launches: 40 };
const AGAIN: Effort = Effort { rounds: 31, turns: 9, launches: 40 };
/// What the library's edges may cost.
const MOST: f64 = 1.01;

/// Measures them and writes shapes.txt.
pub fn run(_: &Nvidia, session: &mut Session<'_>, folder: &Path) -> Result<bool, Box<dyn Error>> {
    let shapes = of_forms()?;
    let mut text =
        format!("{}, driver {}, commit {}\n", session.device_name()?, session.driver_release(), crate::COMMIT);
    text += "us a launch, medians over rounds: full edges, the library's; the library's against full ones; full ones against \
             full ones\n";
    let mut slower = 0;
    for (form, shape) in &shapes {
        let mut priced = Priced::of(session, shape, FIRST)?;
        // Once more where it looks slower: one of many may be unlucky.
        if priced.ratio() > MOST {
            priced = Priced::of(session, shape, AGAIN)?;
        }
        let (ratio, noise) = (priced.ratio(), priced.noise());
        let is_slower = ratio > MOST;
        slower += usize::from(is_slower);
        let (full, chosen) = (median(priced.full), median(priced.chosen));
        writeln!(
            text,
            "{form:<44} {:<40} {full:>7.2} {chosen:>7.2}  {ratio:.3}  {noise:.3}{}",
            told(shape),
            if is_slower { "  SLOWER" } else { "" }
        )?;
    }
    writeln!(text, "shapes: {} shapes of forms with programmatic edges, {slower} slower than {MOST}", shapes.len())?;
    print!("{text}");
    std::fs::write(folder.join("shapes.txt"), text)?;
    Ok(slower == 0)
}

/// A shape in a few words.
fn told(shape: &Shape) -> String {
    let kernels = shape.nodes.iter().filter(|part| matches!(part, Part::Kernel { .. })).count();
    let early = shape.edges.iter().filter(|(_, _, early)| *early).count();
    format!("{kernels} kernels of {} nodes, {early} of {} edges", shape.nodes.len(), shape.edges.len())
}
