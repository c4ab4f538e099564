//! A canary: programs of the library on two streams, whose order only the ledger provides. Of the last it is the order of a
//! pool: its graphs share nothing but the pool's arena.
//!
//! As they are, no detector finds anything. With the ledger switched off, which is to say with every wait of a stream for
//! another one left out, the detector reports the race under every seed: so that the forms find nothing means something.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use dacapo::Software;
use dacapo_driver::{Argument, CUresult, Call, Hook, Hooked};
use dacapo_sim::{Detectors, Options};
use dacapo_suite::forms::{Form, all, on_software};

/// Forms that use one buffer, or one pool's arena, on two streams.
const FORMS: [&str; 3] = ["streams/two_graphs_one_buffer", "streams/alternately", POOL];
const POOL: &str = "pools/arena_on_two_streams";
const SEEDS: std::ops::Range<u64> = 0..12;

/// Leaves out every wait of a stream for an event.
struct LedgerOff;

impl Hook for LedgerOff {
    fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
        if call == Call::cuStreamWaitEvent { CUresult::CUDA_SUCCESS } else { run() }
    }
}

fn forms() -> impl Iterator<Item = Form> {
    all().into_iter().filter(|form| FORMS.contains(&form.name))
}

/// What is found while a form runs without the ledger.
fn without_the_ledger(form: &Form, seed: u64, detectors: Detectors) -> Vec<String> {
    let software = Software::new().seed(seed).options(|options: &mut Options| options.detectors = detectors);
    // SAFETY: the hook claims that streams wait when they do not. The driver below is the software driver, where work
    // without an order gives wrong numbers and touches nothing that is not there.
    let device = unsafe { software.open_hooked(|machine| Arc::new(Hooked::new(machine, LedgerOff))) };
    let device = device.expect("the software device opens");
    let machine = device.machine().cloned().expect("it is a software device");
    // Its numbers are wrong, and it may say so in any way.
    let _ = catch_unwind(AssertUnwindSafe(|| (form.body)(&device)));
    let _ = device.synchronize();
    machine.findings().iter().map(ToString::to_string).collect()
}

#[test]
fn with_the_ledger_nothing_is_found() {
    assert_eq!(forms().count(), FORMS.len());
    for (form, seed) in forms().flat_map(|form| SEEDS.map(move |seed| (form, seed))) {
        on_software(&form, seed).unwrap_or_else(|failure| panic!("{} under seed {seed}: {failure}", form.name));
    }
}

#[test]
fn without_the_ledger_the_race_is_reported() {
    for (form, seed) in forms().flat_map(|form| SEEDS.map(move |seed| (form, seed))) {
        let found = without_the_ledger(&form, seed, Detectors::all());
        let race = found.iter().find(|text| text.starts_with("error[unordered]"));
        let race = race.unwrap_or_else(|| panic!("{} under seed {seed}: no race in {found:#?}", form.name));
        assert!(race.contains("`churn`") && race.contains("cuStreamWaitEvent"), "{race}");
    }
}

#[test]
fn the_detector_that_is_off_says_nothing() {
    let detectors = Detectors { unordered: false, ..Detectors::all() };
    for form in forms() {
        assert_eq!(without_the_ledger(&form, 1, detectors), Vec::<String>::new(), "{}", form.name);
    }
}
