//! Every kernel of the corpus gives on the software driver what an H200 gave: bit for bit, or within its stated bound.
//! `cargo xtask corpus` prints the same as a table.

use std::path::Path;

use dacapo_sim::{Detectors, Machine, Options};
use dacapo_suite::corpus::{AWAITED, Verdict, all, committed, compare, run};
use dacapo_suite::session::Session;

#[test]
fn kernels_give_what_the_recording_says() {
    check(Options { seed: 1, detectors: Detectors::all(), ..Default::default() });
}

#[test]
fn kernels_give_the_same_on_two_cores() {
    check(Options { seed: 1, detectors: Detectors::none(), cores: 2, cores_from: 0, ..Default::default() });
}

fn check(options: Options) {
    let recording =
        committed(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).expect("the recording is committed");
    let machine = Machine::new(options);
    let mut session = Session::open(&machine).expect("the software device opens");
    let (mut failed, mut awaited) = (Vec::new(), 0);
    for case in all() {
        let recorded = match recording.awaits(&case) {
            true => None,
            false => Some(recording.outputs(&case).unwrap_or_else(|error| panic!("{}: {error}", case.name()))),
        };
        awaited += usize::from(recorded.is_none());
        match run(&mut session, &case) {
            Ok(ours) => {
                if let Some(recorded) = recorded
                    && let Verdict::Failed(why) = compare(&case, &ours, &recorded)
                {
                    failed.push(format!("{}: {why}", case.name()));
                }
            }
            Err(failure) => failed.push(format!("{}: {failure}", case.name())),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert_eq!(machine.findings(), [], "the corpus makes no mistakes");
    let waiting = all().iter().filter(|case| AWAITED.contains(&case.module)).count();
    assert_eq!(awaited, waiting, "cases of `AWAITED` are in the recording: take them out of that list");
}
