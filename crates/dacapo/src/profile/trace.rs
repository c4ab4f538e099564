//! A profile as a trace file.
//!
//! The format is that of Chrome's trace viewer, which Perfetto reads too ("Trace Event Format", complete events `X`, flow
//! events `s` and `f`, metadata `M`). Times in it are microseconds.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Clock, Profile, Timed};

impl Profile {
    /// The profile as a trace file, for <https://ui.perfetto.dev> or `chrome://tracing`.
    ///
    /// Overlapping ops are in separate lanes; arrows show the critical path.
    pub fn trace(&self) -> String {
        let label = match (&*self.label, self.eager) {
            ("", true) => "eager run",
            ("", false) => "graph",
            (label, _) => label,
        };
        let process = match self.clock {
            Clock::Gpu => format!("{label} on {}", self.device),
            Clock::Software => format!("{label} on {} (counted by the software device: no times)", self.device),
        };
        let mut events = vec![json!({ "name": "process_name", "ph": "M", "pid": 0, "args": { "name": process } })];
        let lanes: BTreeSet<usize> = self.ops.iter().map(|op| op.lane).collect();
        for lane in lanes {
            let name = format!("lane {lane}");
            events.push(json!({ "name": "thread_name", "ph": "M", "pid": 0, "tid": lane, "args": { "name": name } }));
        }
        events.extend(self.ops.iter().map(|op| self.event(op)));
        for (number, (from, to)) in self.critical().zip(self.critical().skip(1)).enumerate() {
            // A flow binds to the event that it begins or ends in: inside the one, at the start of the other.
            let arrow = |ph: &str, op: &Timed, at: u64| {
                json!({ "name": "critical path", "cat": "critical path", "ph": ph, "bp": "e", "id": number, "pid": 0,
                        "tid": op.lane, "ts": us(at) })
            };
            events.push(arrow("s", from, from.end_ns.saturating_sub(1).max(from.start_ns)));
            events.push(arrow("f", to, to.start_ns));
        }
        let trace = json!({
            "traceEvents": events,
            "displayTimeUnit": "ns",
            "otherData": {
                "made by": concat!("dacapo ", env!("CARGO_PKG_VERSION")),
                "clock": match self.clock {
                    Clock::Gpu => "the GPU's timer",
                    Clock::Software => "counted by the software device: no times",
                },
                "stamp_us": us(self.stamp_ns),
                "step_ns": self.step_ns,
            },
        });
        format!("{trace:#}\n")
    }

    fn event(&self, op: &Timed) -> Value {
        let at = op.location.as_ref().map(|at| format!("{}:{}", at.file, at.line));
        json!({
            "name": op.name,
            "cat": op.kind.to_string(),
            "ph": "X",
            "ts": us(op.start_ns),
            "dur": us(op.end_ns.saturating_sub(op.start_ns)),
            "pid": 0,
            "tid": op.lane,
            "args": {
                "op": op.index,
                "label": op.label,
                "at": at,
                "time without stamps": us(op.time_ns),
                "gap before": us(op.gap_ns),
                "after": op.after,
                "critical": op.critical,
            },
        })
    }
}

fn us(ns: u64) -> f64 {
    ns as f64 / 1000.0
}
