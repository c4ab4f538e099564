//! Single instructions give on the software driver what an H200 gave: the same bits, or within the manual's error of the true
//! value on both. `cargo xtask corpus` prints the largest errors.

use std::path::Path;

use dacapo_sim::{Machine, Options};
use dacapo_suite::session::Session;
use dacapo_suite::single::{self, APPROX_FILE, FACTS_FILE, Judged};

#[test]
fn instructions_give_what_the_recording_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let recordings = [APPROX_FILE, FACTS_FILE].map(|file| single::committed(&root, file).expect("it is committed"));
    let machine = Machine::new(Options { seed: 1, ..Default::default() });
    let mut session = Session::open(&machine).expect("the software device opens");
    let mut failed = Vec::new();
    for one in single::all() {
        let recorded = recordings[usize::from(!one.is_approx())].singles.get(&one.name);
        match (single::run(&mut session, &one), recorded) {
            (Ok(ours), Some(recorded)) => {
                if let Judged::Failed(why) = single::judge(&one, &ours, recorded) {
                    failed.push(format!("{}: {why}", one.name));
                }
            }
            (Ok(_), None) => failed.push(format!("{}: not in the recording", one.name)),
            (Err(refused), _) => failed.push(format!("{}: {refused}", one.name)),
        }
    }
    assert!(failed.is_empty(), "{} instructions:\n{}", failed.len(), failed.join("\n"));
}
