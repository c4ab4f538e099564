//! Every form of recording and launching holds on the software device, for a few seeds. `cargo xtask forms --full` runs
//! two hundred.

use dacapo::interop::nvrtc;
use dacapo_suite::forms::{all, on_software, on_software_of};

#[test]
fn every_form_holds() {
    let mut failed = Vec::new();
    for form in all() {
        if let Some(lacks) = form.lacks() {
            println!("{} NOT RUN: there is no {lacks} here", form.name);
            continue;
        }
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

/// Before CUDA 12.8 there is neither ELSE nor SWITCH: both are made of IFs, and nobody sees a difference.
#[test]
fn control_flow_is_the_same_before_else_and_switch() {
    let mut forms = all();
    forms.retain(|form| form.name.starts_with("flow/"));
    assert!(forms.len() >= 100, "{} forms", forms.len());
    for form in forms {
        let held = on_software_of(&form, 1, 12_040);
        assert!(held.is_ok(), "{}: {}", form.name, held.unwrap_err());
    }
}

/// A form whose body has nothing to run with says so, and only such a form.
#[test]
fn a_form_that_does_nothing_does_not_pass() {
    let has_compiler = nvrtc::version(&nvrtc::Options::new()).is_ok();
    for form in all() {
        let lacks = (form.name.starts_with("nvrtc/") && !has_compiler).then_some("NVRTC");
        assert_eq!(form.lacks(), lacks, "{}", form.name);
    }
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
