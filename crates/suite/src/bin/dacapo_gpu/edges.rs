//! `edges`: random small graphs with many choices of programmatic edges, whose results must be the host's.

use std::error::Error;
use std::path::Path;

use dacapo::Device;
use dacapo_driver::Nvidia;
use dacapo_suite::edges::{Checked, Checker, Draws};
use dacapo_suite::session::Session;

const GRAPHS: u64 = 1000;
/// Choices of each graph, at most.
const CHOICES: u64 = 40;
/// A kernel goes round so many times as often as on the software device: some microseconds, as long as it takes to begin another.
const SLOWER: u32 = 200;

/// Runs them and writes edges.txt.
pub fn run(_: &Nvidia, session: &mut Session<'_>, folder: &Path) -> Result<bool, Box<dyn Error>> {
    let checker = Checker::on(Device::cuda(0)?)?.at_most(CHOICES).slower(SLOWER);
    let (mut sum, mut wrong) = (Checked::default(), 0);
    for number in 0..GRAPHS {
        match checker.check(&Draws::random().graph(number), number)? {
            Ok(done) => (sum.edges, sum.choices) = (sum.edges + done.edges, sum.choices + done.choices),
            Err(found) => {
                println!("graph {number}: {found}");
                wrong += 1;
            }
        }
    }
    let text = format!(
        "{}, driver {}, commit {}\nedges: {GRAPHS} graphs, {} choices of {} edges, {wrong} wrong\n",
        session.device_name()?,
        session.driver_release(),
        crate::COMMIT,
        sum.choices,
        sum.edges
    );
    print!("{text}");
    std::fs::write(folder.join("edges.txt"), text)?;
    Ok(wrong == 0)
}
