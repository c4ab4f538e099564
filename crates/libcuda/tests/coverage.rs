//! docs/driver-calls.md is what the table says: this test writes it, and fails when the committed one is stale.
//!
//! `cargo xtask bless` accepts the new text.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

use dacapo_driver::{BesideCapturing, Call, Family, OnCapturing, PerThreadTwin};

const HEADER: &str = "# Driver calls

Made from the table in `crates/driver/src/table.rs`; do not edit. A test says when it is stale, and how to write it anew.

- *since*: the CUDA version that brought this signature.
- *on*: what the call does when its own stream is capturing. **Recorded**: it becomes a node or moves the stream's
  dependencies. **Refused**: `STREAM_CAPTURE_UNSUPPORTED`, and the capture is invalidated. **Allowed**: it answers and does
  not invalidate the capture. Empty: it takes no stream.
- *beside*: what it does while another stream captures. **Unsafe**: refused, and invalidates the capture, unless the thread's
  or the capture's mode exempts it. **Refused**: whatever the modes. **Legacy**: it runs on the legacy stream and is refused
  while a blocking stream captures. **Event**: it depends on where the event was recorded. Empty: free.
- *twin*: the suffix of the symbol for which the null stream is the calling thread's own.
- *software*: whether the software driver implements it. What it does not answers `CUDA_ERROR_NOT_SUPPORTED` and leaves a
  finding; some of what it does may still answer so for some arguments.

The capture columns are observations on an H200 (driver 580.159.04), not quotations. How a call gets into this table:
[how-to-add-a-driver-call.md](how-to-add-a-driver-call.md).
";

fn text(implemented: &HashSet<Call>) -> String {
    let mut text = HEADER.to_string();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "\n{} symbols, {} of them in the software driver.", Call::ALL.len(), implemented.len());
    let mut family = None;
    for &call in Call::ALL {
        if family != Some(call.family()) {
            family = Some(call.family());
            let _ = writeln!(text, "\n## {}\n", title(call.family()));
            let _ = writeln!(text, "| symbol | since | on | beside | twin | software |\n|---|---|---|---|---|---|");
        }
        let _ = writeln!(
            text,
            "| `{}` | {}.{} | {} | {} | {} | {} |",
            call.symbol(),
            call.since() / 1000,
            call.since() % 1000 / 10,
            on(call.on_capturing_stream()),
            beside(call.beside_capturing_stream()),
            twin(call.per_thread_twin()),
            if implemented.contains(&call) { "yes" } else { "" },
        );
    }
    text
}

fn title(family: Family) -> String {
    match family {
        Family::VirtualMemory => "Virtual memory".to_string(),
        Family::GraphExec => "Executable graphs".to_string(),
        Family::GraphMemory => "Memory of graphs".to_string(),
        Family::UserObject => "User objects".to_string(),
        other => format!("{other:?}"),
    }
}

fn on(on: OnCapturing) -> &'static str {
    match on {
        OnCapturing::Recorded => "Recorded",
        OnCapturing::Refused => "Refused",
        OnCapturing::Allowed => "Allowed",
        OnCapturing::NoStream => "",
    }
}

fn beside(beside: BesideCapturing) -> &'static str {
    match beside {
        BesideCapturing::Free => "",
        BesideCapturing::Unsafe => "Unsafe",
        BesideCapturing::Refused => "Refused",
        BesideCapturing::Legacy => "Legacy",
        BesideCapturing::Event => "Event",
    }
}

fn twin(twin: PerThreadTwin) -> &'static str {
    match twin {
        PerThreadTwin::None => "",
        PerThreadTwin::Ptsz => "`_ptsz`",
        PerThreadTwin::Ptds => "`_ptds`",
    }
}

/// What the software driver implements, and what this library answers by itself.
fn implemented() -> HashSet<Call> {
    let here = [Call::cuGetProcAddress, Call::cuGetProcAddress_v2];
    dacapo_sim::IMPLEMENTED.iter().copied().chain(here).collect()
}

#[test]
fn the_list_of_driver_calls_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/driver-calls.md");
    let text = text(&implemented());
    if std::env::var_os("DACAPO_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    // Not assert_eq: two whole documents in a failure help nobody.
    let first = committed.lines().zip(text.lines()).find(|(committed, now)| committed != now);
    assert!(
        committed == text,
        "docs/driver-calls.md is stale; first difference: {first:?}\nhelp: `cargo xtask bless` writes it anew"
    );
}

#[test]
fn a_family_is_one_section() {
    let mut seen = HashSet::new();
    let mut last = None;
    for call in Call::ALL {
        if last != Some(call.family()) {
            assert!(seen.insert(call.family()), "{} is apart from its family", call.symbol());
            last = Some(call.family());
        }
    }
}
