//! Every kernel of the corpus gives on the software driver what an H200 gave: bit for bit, or within its stated bound.
//! `cargo xtask corpus` prints the same as a table.

use std::path::Path;

use dacapo_sim::{Detectors, InstructionSet, Machine, Options};
use dacapo_suite::corpus::{AWAITED, Verdict, all, committed, compare, run};
use dacapo_suite::session::Session;
use dacapo_suite::single;

#[test]
fn kernels_give_what_the_recording_says() {
    check(Options { seed: 1, detectors: Detectors::all(), ..Default::default() });
}

#[test]
fn kernels_give_the_same_on_two_cores() {
    check(Options { seed: 1, detectors: Detectors::none(), cores: 2, cores_from: 0, ..Default::default() });
}

/// The processor must not show: every output of every case, and of every single instruction, has the same bits whichever
/// of its instruction sets are used, within bounds or not. A set that this processor lacks is not looked at.
#[test]
fn every_instruction_set_gives_the_same_bits() {
    let baseline = outputs(InstructionSet::Baseline);
    for set in [InstructionSet::Avx2, InstructionSet::Avx512] {
        if set > InstructionSet::widest() {
            println!("this processor has no {set}");
            continue;
        }
        let differ: Vec<&str> = baseline
            .iter()
            .zip(outputs(set))
            .filter(|((_, want), (_, got))| want != got)
            .map(|((name, _), _)| name.as_str())
            .collect();
        assert!(differ.is_empty(), "{set} gives other bits than the baseline: {}", differ.join(", "));
    }
}

/// All bytes that the corpus and the single instructions give.
fn outputs(instructions: InstructionSet) -> Vec<(String, Vec<u8>)> {
    let machine = Machine::new(Options { seed: 1, instructions, ..Default::default() });
    let mut session = Session::open(&machine).expect("the software device opens");
    let mut all: Vec<(String, Vec<u8>)> = Vec::new();
    for case in dacapo_suite::corpus::all() {
        let ours = run(&mut session, &case).unwrap_or_else(|failure| panic!("{}: {failure}", case.name()));
        all.push((case.name(), ours.concat()));
    }
    for one in single::all() {
        let ours = single::run(&mut session, &one).unwrap_or_else(|refused| panic!("{}: {refused}", one.name));
        all.push((one.name.clone(), ours.iter().flat_map(|bits| bits.to_le_bytes()).collect()));
    }
    all
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
