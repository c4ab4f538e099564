//! Every form of work that several ranks do together holds on software devices, for one seed. `cargo xtask ranks --full` runs a
//! hundred.

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
