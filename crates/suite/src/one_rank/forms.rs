//! Every form of ranks, with one.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use dacapo::collective::Communicator;

use super::Came;
use super::floor::{Floor, Made, ms, text};
use crate::ranks::{Rank, all, run_here};

/// What a hang looks like; `quick` runs beneath tools that stretch everything.
const PATIENCE: [Duration; 2] = [Duration::from_secs(20), Duration::from_secs(120)];

pub(super) fn run(floor: &Floor) -> Made<Came> {
    let only = std::env::var("DACAPO_ONLY").unwrap_or_default();
    let began = Instant::now();
    let (comm, other) =
        (Communicator::alone(&floor.device).map_err(text)?, Communicator::alone(&floor.device).map_err(text)?);
    floor.say(format!("two communicators {:.0} ms", ms(began)));
    let (mut held, mut failed, patience) = (0, 0, PATIENCE[usize::from(floor.quick)]);
    let forms = all().into_iter().filter(|form| only.split(',').any(|part| form.name.contains(part)));
    for form in forms {
        if form.ranks_min > 1 {
            floor.say(format!("{:<40} NOT RUN: it wants {} ranks", form.name, form.ranks_min));
            continue;
        }
        let before = floor.held()?;
        let (device, began) = (floor.device.clone(), Instant::now());
        let (comm, other) = (comm.clone(), other.clone());
        let (tell, told) = channel();
        std::thread::spawn(move || {
            let run = || -> Made {
                let stream = device.stream().map_err(text)?;
                let devices = vec![device.clone()];
                run_here(&form, Rank { comm, other, device, stream, devices })
            };
            // Nobody listens any more where it took too long.
            let _ = tell.send(run());
        });
        let Ok(outcome) = told.recv_timeout(patience) else {
            floor.say(format!("{:<40} HUNG: it has not ended after {patience:?}; no more forms are run", form.name));
            return Ok(Came { well: false, figure: format!("{held} forms held until {} hung", form.name) });
        };
        let took = ms(began);
        match outcome.and_then(|()| floor.clean(before)) {
            Ok(()) => {
                held += 1;
                floor.say(format!("{:<40} held   {took:>8.2} ms", form.name));
            }
            Err(why) => {
                failed += 1;
                floor.say(format!("{:<40} FAILED {took:>8.2} ms {why}", form.name));
            }
        }
    }
    floor.expect_no_findings()?;
    let figure = match failed {
        0 => format!("{held} forms held"),
        _ => format!("{held} forms held and {failed} FAILED"),
    };
    Ok(Came { well: failed == 0, figure })
}
