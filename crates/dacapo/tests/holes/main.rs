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
mod served;

use std::path::Path;

/// The program that must not compile, with the error that keeps it from doing so.
#[track_caller]
fn does_not_compile(name: &str, code: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/ui/{name}.rs"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(text.lines().next(), Some(format!("// error: {code}").as_str()), "{name}");
}
