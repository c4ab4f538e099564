//! What `dacapo-gpu ranks` does on a GPU holds on a software device, with few replays.

use std::path::PathBuf;

use dacapo_suite::one_rank::{Floor, PARTS};

#[test]
fn every_part_holds() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let mut failed = Vec::new();
    for part in PARTS {
        let done = Floor::software(&folder, true, |line| println!("{line}")).and_then(|floor| (part.run)(&floor));
        match done {
            Ok(came) if came.well => {}
            Ok(came) => failed.push(format!("{}: {}", part.name, came.figure)),
            Err(why) => failed.push(format!("{}: {why}", part.name)),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}
