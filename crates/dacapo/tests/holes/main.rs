//! Programs that break other libraries in safe code, written with this one: each ends in a compile error or in the
//! outcome that is documented, asserted by data.
//!
//! `docs/holes.md` says what each program is; the names are its numbers. Every test runs with the detectors of the
//! software device on: nothing is read after it is freed, out of bounds, or before it is written.

#![cfg(feature = "software")]

mod capture;
#[path = "../promises/kit.rs"]
#[allow(dead_code, reason = "shared with the promises, which use more of it")]
mod kit;
mod left_behind;
mod lifetimes;
mod order;
mod ours;

use std::path::Path;

/// The program that must not compile, with the error that keeps it from doing so.
#[track_caller]
fn does_not_compile(name: &str, code: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/ui/{name}.rs"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(text.lines().next(), Some(format!("// error: {code}").as_str()), "{name}");
}

/// What the documentation says is tested is tested.
#[test]
fn the_documentation_names_every_hole_and_only_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("../../docs/holes.md")).unwrap();
    let mut sources = String::new();
    for file in ["main.rs", "capture.rs", "left_behind.rs", "lifetimes.rs", "order.rs", "ours.rs"] {
        sources += &std::fs::read_to_string(root.join("tests/holes").join(file)).unwrap();
    }
    let named: Vec<&str> = text.split('`').filter(|word| word.starts_with("hole_")).collect();
    for name in &named {
        assert!(sources.contains(&format!("fn {name}(")), "docs/holes.md names `{name}`, which is no test");
    }
    for line in sources.lines().filter_map(|line| line.strip_prefix("fn hole_")) {
        let name = format!("hole_{}", line.split('(').next().unwrap());
        assert!(named.contains(&name.as_str()), "docs/holes.md does not name `{name}`");
    }
    for program in text.split('`').filter_map(|word| word.strip_prefix("ui/")) {
        assert!(root.join(format!("tests/ui/{program}.rs")).exists(), "docs/holes.md names `ui/{program}`");
    }
}
