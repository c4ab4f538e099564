//! Every form of recording and launching holds on the software device, for a few seeds. `cargo xtask forms --full` runs
//! two hundred.

use dacapo_suite::forms::{all, on_software};

#[test]
fn every_form_holds() {
    let mut failed = Vec::new();
    for form in all() {
        for seed in 0..3 {
            if let Err(failure) = on_software(&form, seed) {
                failed.push(format!(
                    "{}: {failure}\nreproduce: cargo xtask forms --only {} --seed {seed:#x}",
                    form.name, form.name
                ));
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
    assert!(count >= 45, "{count} forms");
}
