//! What safe code can rely on, one test for each sentence.
//!
//! - [`contract`]: what the library adds to the first proof of its signatures: numbers, host memory, patches, foreign work.
//! - [`misuse`]: what happens to a program that does something else than it should, row by row.
//! - [`arenas`]: planned memory, arenas of the caller's, and what does not fit.
//! - [`awaited`]: what is awaited, forgotten or dropped half-way, by code that does what it likes.
//! - [`budgets`]: what memory is used for, and what a budget allows.
//! - [`caches`]: caches of graphs where memory runs out.
//! - [`captures`]: captures on the user's own terms that go wrong.
//! - [`declarations`]: what the text of a kernel contradicts, when a module is loaded.
//! - [`drops`]: dropping, losing the context, ending the process, panicking.
//! - [`faults`]: every driver call refused once.
//! - [`found`]: at which op something was found.
//! - [`globals`]: memory of a module that no argument names.
//! - [`lifetimes`]: what lives until its work is over, and what goes at the end.
//! - [`pool_arenas`]: the memory that graphs of a pool share, and how it grows.
//! - [`pools`]: graphs that belong together, and graphs inside graphs.
//! - [`recorders`]: ops that fail or panic inside a recording, and whose line an error names.
//! - [`rerecords`]: another recording in place of a graph's.
//! - [`undeclared`]: kernels that touch more than their ops were given.
//! - [`words`]: what handles, errors and reports say.
//!
//! Rows that the compiler keeps are programs of `tests/ui`, which `compile_fail` judges; the tests here assert that they
//! are there, with the code that keeps the promise.

#![cfg(feature = "software")]

mod arenas;
mod awaited;
mod budgets;
mod caches;
mod captures;
mod contract;
mod declarations;
mod drops;
mod faults;
mod found;
mod globals;
mod hosts;
mod kit;
mod lifetimes;
mod misuse;
mod pool_arenas;
mod pools;
mod recorders;
mod rerecords;
mod servers;
mod undeclared;
mod words;

use std::path::Path;

/// The programs that must not compile, each with its error.
#[track_caller]
fn kept_by_the_compiler(programs: &[(&str, &str)]) {
    for (name, code) in programs {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/ui/{name}.rs"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(text.lines().next(), Some(format!("// error: {code}").as_str()), "{name}");
    }
}
