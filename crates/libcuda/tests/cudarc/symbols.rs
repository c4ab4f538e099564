//! Symbols: whatever cudarc may look for is there. A missing one would be a panic in the client.

use cudarc::driver::sys;

use crate::transcript::{Outcome, Transcript, scenarios};

scenarios!("symbols", right: [all_there, versions], mistaken: []);

/// Every symbol that cudarc's bindings of CUDA 13.0 name.
const NAMES: &str = include_str!("symbols.txt");

fn all_there(t: &mut Transcript) -> Outcome {
    // SAFETY: the library is opened once and stays; symbols are only looked for.
    let is_there = |name: &&str| unsafe { sys::culib().get::<*const ()>(name.as_bytes()).is_ok() };
    let names = NAMES.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let missing: Vec<&str> = names.clone().filter(|name| !is_there(name)).collect();
    t.note("looked for", names.count());
    t.note("missing", missing);
    Ok(())
}

fn versions(t: &mut Transcript) -> Outcome {
    // SAFETY: as above.
    t.note("the library", unsafe { sys::is_culib_present() });
    let mut version = 0;
    // SAFETY: the pointer is to a local.
    t.note("version", unsafe { sys::cuDriverGetVersion(&raw mut version) });
    t.note("version", version);
    Ok(())
}
