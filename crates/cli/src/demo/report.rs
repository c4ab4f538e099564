//! What the demonstration found, as a text and as data.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::output::{Ink, Told, inked};

/// All of it; the results were compared before there is one.
pub struct Report {
    pub device: String,
    pub is_software: bool,
    pub operations: usize,
    pub dependencies: usize,
    /// How long recording took.
    pub recording: Duration,
    /// Steps of each side.
    pub steps: u32,
    /// Before and after them.
    pub losses: (f32, f32),
    pub eager: Times,
    pub replay: Times,
    pub profile: Option<Profiled>,
    pub report_file: Option<PathBuf>,
    pub trace_file: Option<PathBuf>,
    pub page_file: Option<PathBuf>,
}

/// Microseconds a step.
pub struct Times {
    /// Waited for.
    pub step: f64,
    /// Of it in the library's calls.
    pub host: f64,
}

/// One replay op by op.
pub struct Profiled {
    /// For people.
    pub table: String,
    pub total_ns: u64,
    /// Each op and its nanoseconds.
    pub ops: Vec<(String, u64)>,
}

const NO_GPU: &str = "*** NO GPU: this is the software device. Its results are right; its times are the simulator's.";
const NO_GPU_TIMES: &str = "\
*** NO GPU: these are the simulator's times, and say nothing of any GPU.
    Replay is there to be checked here, not to be fast: on a GPU it is one driver call a step.";

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "dacapo {}: a step of a small network on {}\n", env!("CARGO_PKG_VERSION"), self.device)?;
        if self.is_software {
            writeln!(f, "{}\n", inked(f, Ink::Warn, NO_GPU))?;
        }
        let Report { operations, dependencies, recording, steps, .. } = self;
        writeln!(f, "recorded {operations} operations with {dependencies} dependencies in {recording:.0?}")?;
        if let Some(path) = &self.report_file {
            writeln!(f, "its report is in {0}: dacapo inspect {0}", path.display())?;
        }
        let agree = inked(f, Ink::Good, "eager, replayed and plain Rust agree in every bit");
        writeln!(f, "{steps} steps each: {agree}")?;
        writeln!(f, "loss {:.4} before, {:.4} after\n", self.losses.0, self.losses.1)?;
        writeln!(f, "{:<10} {:>22} {:>22}", "", "a step, waited for", "of it in our calls")?;
        for (name, times) in [("eager", &self.eager), ("replay", &self.replay)] {
            writeln!(f, "{name:<10} {:>19.1} us {:>19.1} us", times.step, times.host)?;
        }
        write!(f, "{:<10} {:>20.1} x", "", self.eager.step / self.replay.step)?;
        if self.is_software {
            write!(f, "\n\n{}", inked(f, Ink::Warn, NO_GPU_TIMES))?;
        }
        if let Some(profile) = &self.profile {
            write!(f, "\n\n{}", profile.table.trim_end())?;
        }
        if let Some(path) = &self.page_file {
            write!(f, "\n\nthe page is in {}: open it in a browser", path.display())?;
        }
        match &self.trace_file {
            Some(path) => write!(f, "\n\nthe trace is in {}: open it in https://ui.perfetto.dev", path.display()),
            None => Ok(()),
        }
    }
}

impl Told for Report {
    fn json(&self) -> Value {
        let times = |times: &Times| json!({ "step_us": times.step, "host_us": times.host });
        let profile = self.profile.as_ref().map(|profile| {
            let ops = profile.ops.iter().map(|(name, ns)| json!({ "op": name, "ns": ns }));
            json!({ "total_ns": profile.total_ns, "ops": ops.collect::<Vec<_>>() })
        });
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "device": self.device,
            "simulator": self.is_software,
            "operations": self.operations,
            "dependencies": self.dependencies,
            "recording_us": self.recording.as_secs_f64() * 1e6,
            "steps": self.steps,
            "agree": true,
            "loss_before": self.losses.0,
            "loss_after": self.losses.1,
            "eager": times(&self.eager),
            "replay": times(&self.replay),
            "profile": profile,
            "report": self.report_file,
            "trace": self.trace_file,
            "page": self.page_file,
        })
    }
}
