//! `pools`: eight bucketed graphs in one pool, recorded in four orders and replayed in a thousand on three streams.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use dacapo::Device;
use dacapo_driver::Nvidia;
use dacapo_suite::forms::{RecordingOrder, eight_in_one_pool};
use dacapo_suite::session::Session;

/// Runs them and writes pools.txt.
pub fn run(_: &Nvidia, session: &mut Session<'_>, folder: &Path) -> Result<bool, Box<dyn Error>> {
    let device = Device::cuda(0)?;
    let (mut text, mut well) = (String::new(), true);
    writeln!(
        text,
        "eight graphs in one pool on {}, driver {}, commit {}",
        session.device_name()?,
        session.driver_release(),
        crate::COMMIT
    )?;
    let all = [
        RecordingOrder::SmallestFirst,
        RecordingOrder::LargestFirst,
        RecordingOrder::Shuffled(1),
        RecordingOrder::Shuffled(2),
    ];
    let mut launches = 0;
    for (number, recorded) in (0..).zip(all) {
        match eight_in_one_pool(&device, recorded, number * 250..(number + 1) * 250) {
            Ok(shared) => {
                launches += shared.launches;
                let ratio = shared.arena as f64 / shared.largest as f64;
                writeln!(
                    text,
                    "{:<14} apart {:>10}  largest {:>10}  arena {:>10}  {ratio:.3} of the largest",
                    format!("{recorded:?}"),
                    shared.apart,
                    shared.largest,
                    shared.arena
                )?;
            }
            Err(failure) => {
                well = false;
                writeln!(text, "{recorded:?}: FAILED: {failure:?}")?;
            }
        }
    }
    let how = if well { "every output right" } else { "NOT RIGHT" };
    writeln!(text, "pools: 1000 orders of replays on 3 streams, {launches} launches, {how}")?;
    print!("{text}");
    std::fs::write(folder.join("pools.txt"), text)?;
    Ok(well)
}
