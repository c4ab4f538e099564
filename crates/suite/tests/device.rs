//! The software device says of itself what an H200 said.

use std::path::Path;

use dacapo_sim::{Machine, Options};
use dacapo_suite::device::{Answers, NOT_IN_SOFTWARE, OF_THE_MACHINE, RECORDING_FILE, ask};
use dacapo_suite::session::Session;

#[test]
fn attributes_and_limits_are_those_of_the_recording() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(RECORDING_FILE);
    let text = std::fs::read_to_string(&path).expect("the recording is committed");
    let recorded: Answers = serde_json::from_str(&text).expect("the recording is what `dacapo-gpu device` writes");
    let machine = Machine::new(Options::default());
    let session = Session::open(&machine).expect("the software device opens");
    let mut ours = ask(&session, &recorded.commit).expect("the software device answers");
    for number in OF_THE_MACHINE {
        ours.attributes.insert(*number, recorded.attributes[number].clone());
    }
    for number in NOT_IN_SOFTWARE {
        let (told, on_a_gpu) =
            (ours.attributes.insert(*number, recorded.attributes[number].clone()), &recorded.attributes[number]);
        assert_eq!(told, Some(Ok(0)), "attribute {number} promises what is not there");
        assert_ne!(on_a_gpu, &Ok(0), "attribute {number} is no difference");
    }
    assert_eq!(ours.attributes, recorded.attributes);
    assert_eq!(ours.limits, recorded.limits);
    assert_eq!((ours.total_bytes, ours.api_version), (recorded.total_bytes, recorded.api_version));
}
