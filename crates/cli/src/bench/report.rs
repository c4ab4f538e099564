//! What was measured, as a table for people and as JSON for programs.
//!
//! A number comes with its command, machine, driver version, commit and spread. The simulator's times are never shown as a
//! GPU's: both forms say so first, and no limit is judged on them.

use std::fmt;

use serde_json::{Value, json};

use super::compare::{BLOCKS_OF_A_ROUND, LIBRARY, RAW, Row};
use super::limits::BLOCKS_MIN;
use super::statistics::Samples;
use crate::output::{Ink, Told, inked};

/// The version of the JSON.
const VERSION: u32 = 1;

/// Where, with what and how it was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The device's name.
    pub device: String,
    /// Whether the device is the simulator.
    pub is_software: bool,
    /// The CUDA version of the driver, such as 13.0.
    pub driver_api: String,
    /// NVIDIA's number of the driver's release.
    pub driver_release: String,
    /// The commit of Dacapo.
    pub commit: String,
    /// The command.
    pub command: String,
    /// Blocks of each contender.
    pub blocks: u32,
}

/// Everything that a run of `dacapo bench` found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Where, with what and how.
    pub header: Header,
    /// What was measured.
    pub rows: Vec<Row>,
    /// What follows from it, or was found in other units.
    pub notes: Vec<Note>,
}

/// Something found that is no time of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Of which measurements.
    pub name: String,
    /// For people.
    pub lines: Vec<String>,
    /// The same for programs.
    pub json: Value,
}

impl Header {
    /// Whether limits may be judged on these times.
    pub fn is_judged(&self) -> bool {
        !self.is_software && self.blocks >= BLOCKS_MIN
    }
}

impl Report {
    /// The names of the measurements whose limit does not hold; none when nothing is judged.
    pub fn failed(&self) -> Vec<&str> {
        let judged = self.rows.iter().filter(|_| self.header.is_judged());
        judged.filter(|row| matches!(row.judged(), Some((_, false)))).map(|row| row.name.as_str()).collect()
    }

    /// The report for programs.
    fn to_json(&self) -> Value {
        let Header { device, is_software, driver_api, driver_release, commit, command, blocks } = &self.header;
        json!({
            "version": VERSION,
            "device": device,
            "simulator": is_software,
            "driver_api": driver_api,
            "driver_release": driver_release,
            "commit": commit,
            "command": command,
            "blocks": blocks,
            "blocks_of_a_round": BLOCKS_OF_A_ROUND,
            "unit": "us",
            "rows": self.rows.iter().map(|row| self.row_json(row)).collect::<Vec<_>>(),
            "notes": self.notes.iter().map(|note| json!({ "name": note.name, "found": note.json })).collect::<Vec<_>>(),
        })
    }

    fn row_json(&self, row: &Row) -> Value {
        let side = |(name, samples): &(String, Samples)| {
            let spread = samples.spread();
            json!({ "name": name, "median": spread.median, "p10": spread.p10, "p90": spread.p90, "blocks": samples })
        };
        let medians = row.medians();
        let judged = row.judged().filter(|_| self.header.is_judged());
        json!({
            "name": row.name,
            "launches_per_block": row.launches,
            "sides": row.sides.iter().map(side).collect::<Vec<_>>(),
            "ratio": medians.map(|(raw, library)| library / raw),
            "difference": medians.map(|(raw, library)| library - raw),
            "limit": row.judged().map(|(limit, _)| limit),
            "holds": judged.map(|(_, holds)| holds),
        })
    }
}

const SIMULATOR: &str = "\
*** THE SOFTWARE DEVICE: these are the simulator's times on this machine's processor.
*** They say nothing of any GPU, and are never to be shown as a GPU's.";

impl Told for Report {
    fn json(&self) -> Value {
        self.to_json()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Header { device, is_software, driver_api, driver_release, commit, command, blocks } = &self.header;
        if *is_software {
            writeln!(f, "{}", inked(f, Ink::Warn, SIMULATOR))?;
        }
        writeln!(f, "{device}, driver {driver_release} (CUDA {driver_api}), dacapo {commit}")?;
        writeln!(f, "{command}")?;
        let rounds = blocks.div_ceil(BLOCKS_OF_A_ROUND);
        writeln!(f, "microseconds a launch: median (p10 .. p90) of {blocks} alternating blocks in {rounds} rounds\n")?;
        let width = self.rows.iter().map(|row| row.name.len()).max().unwrap_or(0).max("measurement".len());
        writeln!(
            f,
            "{:<width$}  {:>27}  {:>27}  {:>7}  {:>9}  {:>11}        others",
            "measurement", RAW, LIBRARY, "ratio", "over", "limit"
        )?;
        for row in &self.rows {
            self.write_row(f, row, width)?;
        }
        for note in &self.notes {
            writeln!(f, "\n{}", note.name)?;
            note.lines.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
        }
        match (is_software, self.header.is_judged()) {
            (true, _) => write!(f, "\n{}", inked(f, Ink::Warn, SIMULATOR)),
            (false, false) => write!(f, "\nNo limit is judged: a claim needs at least {BLOCKS_MIN} blocks."),
            (false, true) if self.rows.iter().all(|row| row.judged().is_none()) => {
                write!(f, "\nNothing that was measured has a limit.")
            }
            (false, true) => match self.failed().as_slice() {
                [] => write!(f, "\n{}", inked(f, Ink::Good, "Every limit holds.")),
                failed => write!(f, "\n{} {}", inked(f, Ink::Bad, "Over the limit:"), failed.join(", ")),
            },
        }
    }
}

impl Report {
    fn write_row(&self, f: &mut fmt::Formatter<'_>, row: &Row, width: usize) -> fmt::Result {
        let spread = |name| row.side(name).map_or("-".to_string(), shown);
        let (ratio, over) = match row.medians() {
            Some((raw, library)) => (format!("{:.3}", library / raw), format!("{:+.3}", library - raw)),
            None => ("-".to_string(), "-".to_string()),
        };
        let (limit, verdict) = match row.judged() {
            Some((limit, true)) if self.header.is_judged() => (limit.to_string(), inked(f, Ink::Good, "pass")),
            Some((limit, false)) if self.header.is_judged() => (limit.to_string(), inked(f, Ink::Bad, "FAIL")),
            _ => ("-".to_string(), "    ".to_string()),
        };
        let others = row.sides.iter().filter(|(name, _)| name != RAW && name != LIBRARY);
        let others: String = others.map(|(name, samples)| format!("  {name} {}", figure(samples.median()))).collect();
        let (raw, library) = (spread(RAW), spread(LIBRARY));
        let line = format!(
            "{:<width$}  {raw:>27}  {library:>27}  {ratio:>7}  {over:>9}  {limit:>11}  {verdict}{others}",
            row.name
        );
        writeln!(f, "{}", line.trim_end())
    }
}

fn shown(samples: &Samples) -> String {
    let spread = samples.spread();
    format!("{} ({} .. {})", figure(spread.median), figure(spread.p10), figure(spread.p90))
}

/// Four digits or so: more would be noise.
fn figure(microseconds: f64) -> String {
    match microseconds {
        value if value < 10.0 => format!("{value:.3}"),
        value if value < 100.0 => format!("{value:.2}"),
        value => format!("{value:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::limits::Limit;

    fn report(is_software: bool, blocks: u32, library: f64) -> Report {
        let same = |value: f64| (0..blocks).map(|_| value).collect::<Samples>();
        let sides = vec![(RAW.to_string(), same(2.0)), (LIBRARY.to_string(), same(library))];
        let eager = ("eager".to_string(), same(40.0));
        let header = Header {
            device: "A device".into(),
            is_software,
            driver_api: "13.0".into(),
            driver_release: "580.1".into(),
            commit: "abc".into(),
            command: "dacapo bench".into(),
            blocks,
        };
        let name = "chain-10/host-launch".to_string();
        let note = Note { name: "bytes".into(), lines: vec!["of the device: 7".into()], json: json!(7) };
        Report {
            header,
            rows: vec![Row {
                name,
                launches: 100,
                sides: sides.into_iter().chain([eager]).collect(),
                limit: Some(Limit::MicrosecondsOver(0.2)),
            }],
            notes: vec![note],
        }
    }

    #[test]
    fn a_figure_comes_with_its_spread_machine_driver_commit_and_command() {
        let text = report(false, 21, 2.125).to_string();
        for part in [
            "A device, driver 580.1 (CUDA 13.0), dacapo abc",
            "dacapo bench\n",
            "21 alternating blocks",
            "2.125 (2.125 .. 2.125)",
            "1.062     +0.125   <= +0.2 us  pass  eager 40.00",
            "bytes\n  of the device: 7\n",
            "Every limit holds.",
        ] {
            assert!(text.contains(part), "no {part:?} in\n{text}");
        }
        assert!(!text.contains("SOFTWARE"), "{text}");
    }

    #[test]
    fn no_limit_is_said_to_hold_where_there_is_none() {
        let mut report = report(false, 21, 2.0);
        report.rows[0].limit = None;
        assert!(report.to_string().ends_with("Nothing that was measured has a limit."), "{report}");
    }

    #[test]
    fn what_is_over_its_limit_is_named() {
        let report = report(false, 21, 2.5);
        assert_eq!(report.failed(), ["chain-10/host-launch"]);
        let text = report.to_string();
        assert!(text.contains("FAIL") && text.contains("Over the limit: chain-10/host-launch"), "{text}");
        assert_eq!(report.json()["rows"][0]["holds"], false);
    }

    #[test]
    fn the_simulators_times_are_called_so_first_and_last_and_are_not_judged() {
        let report = report(true, 21, 2.5);
        let text = report.to_string();
        assert!(text.starts_with("*** THE SOFTWARE DEVICE") && text.ends_with(SIMULATOR), "{text}");
        assert!(!text.contains("FAIL") && report.failed().is_empty(), "{text}");
        assert_eq!(report.json()["simulator"], true);
        assert_eq!(report.json()["rows"][0]["holds"], Value::Null);
    }

    #[test]
    fn too_few_blocks_make_no_claim() {
        let report = report(false, 5, 2.5);
        assert!(report.failed().is_empty() && report.to_string().contains("needs at least 21 blocks"), "{report}");
    }

    #[test]
    fn the_json_holds_every_block() {
        let json = report(false, 21, 2.5).json();
        let side = &json["rows"][0]["sides"][0];
        assert_eq!((side["name"].as_str(), side["blocks"].as_array().map(Vec::len)), (Some("raw"), Some(21)));
        assert_eq!(json["rows"][0]["difference"], 0.5);
    }
}
