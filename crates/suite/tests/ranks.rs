//! Every form of work that several ranks do together holds on software devices, for one seed. `cargo xtask ranks --full` runs a
//! hundred.

use std::time::Duration;

use dacapo::collective::{Communicator, Reduce};
use dacapo::{Device, ErrorKind};
use dacapo_suite::ranks::{SIZES, all, on_software};

#[test]
fn every_form_holds() {
    let mut failed = Vec::new();
    for form in all() {
        for size in SIZES.into_iter().filter(|size| *size >= form.ranks_min && *size <= 4) {
            if let Err(failure) = on_software(&form, size, 1) {
                let again = format!("cargo xtask ranks --only {} --size {size} --seed 1", form.name);
                failed.push(format!("{} on {size} devices: {failure}\nreproduce: {again}", form.name));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn names_are_unique_and_there_are_enough() {
    let mut names: Vec<&str> = all().iter().map(|form| form.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "two forms have the same name");
    assert!(count >= 30, "{count} forms");
}

/// Whether the thread that watches has noticed it or the call does: the other rank's end is `RankFailed`.
#[test]
fn another_ranks_end_is_told_at_once_and_later() -> dacapo::Result<()> {
    for ms in (0..80).step_by(8) {
        let devices = Device::software_group(2)?;
        let ranks = Communicator::all(&devices)?;
        let stream = devices[0].stream()?;
        let mut x = devices[0].zeros::<f32>(4)?;
        ranks[1].abort("its data are gone");
        std::thread::sleep(Duration::from_millis(ms));
        let ran = stream.run(ranks[0].all_reduce_in_place(&mut x, Reduce::Sum)).and_then(|()| stream.synchronize());
        let error = ran.expect_err("the other rank is gone");
        assert!(matches!(error.kind(), ErrorKind::RankFailed { .. }), "after {ms} ms: {error:?}");
        assert!(ranks[0].death().is_some());
    }
    Ok(())
}
