//! The recording: what NVIDIA's driver answered to every scenario. Written by `cudarc record`, never by hand.
//!
//! It opens with a line for each time it was written: device, driver and commit, and which scenarios were recorded then if
//! not all of them were.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use crate::transcript::Scenario;

/// A recording.
#[derive(Default)]
pub struct Recording {
    /// Device, driver and commit of each time.
    pub about: Vec<String>,
    scenarios: BTreeMap<String, String>,
}

/// A line that is not as recorded.
pub struct Difference {
    /// The part before the colon.
    pub what: String,
    recorded: String,
    got: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "recorded `{}`, got `{}`", self.recorded, self.got)
    }
}

impl Recording {
    /// Reads one.
    pub fn read_from(path: &Path) -> Result<Recording, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let about: Vec<_> = text.lines().map_while(|line| line.strip_prefix("# ")).map(str::to_string).collect();
        if about.is_empty() {
            return Err(format!("{}: says not what was recorded", path.display()));
        }
        let mut scenarios = BTreeMap::new();
        for section in text.split("\n[").skip(1) {
            if let Some((name, lines)) = section.split_once("]\n") {
                scenarios.insert(name.to_string(), format!("{}\n", lines.trim_end()));
            }
        }
        Ok(Recording { about, scenarios })
    }

    /// This recording as text, with what was recorded now in the place of what it had.
    pub fn with<'a>(
        mut self,
        about: &str,
        names: &[&str],
        recorded: impl Iterator<Item = (&'a str, String)>,
    ) -> String {
        self.about.push(match names {
            [] => about.to_string(),
            names => format!("{}: {about}", names.join(" ")),
        });
        self.scenarios.extend(recorded.map(|(name, lines)| (name.to_string(), lines)));
        let head = self.about.iter().map(|line| format!("# {line}\n"));
        let sections = self.scenarios.iter().map(|(name, lines)| format!("\n[{name}]\n{lines}"));
        head.chain(sections).collect()
    }

    /// What differs in one scenario, line by line.
    pub fn differences(&self, scenario: &str, got: &str) -> Vec<Difference> {
        let Some(recorded) = self.scenarios.get(scenario) else {
            return vec![Difference {
                what: "recording".to_string(),
                recorded: "nothing: record it on a GPU".to_string(),
                got: got.to_string(),
            }];
        };
        let (recorded, got): (Vec<_>, Vec<_>) =
            (recorded.trim_end().lines().collect(), got.trim_end().lines().collect());
        let pairs = (0..recorded.len().max(got.len())).map(|at| (recorded.get(at), got.get(at)));
        pairs
            .filter(|(recorded, got)| recorded != got)
            .map(|(recorded, got)| {
                let line = |line: Option<&&str>| line.copied().unwrap_or("(no line)").to_string();
                let what = recorded.or(got).and_then(|line| line.split_once(':')).map_or("", |(what, _)| what);
                Difference { what: what.to_string(), recorded: line(recorded), got: line(got) }
            })
            .collect()
    }

    /// Recorded scenarios that there are no more.
    pub fn strangers(&self, scenarios: &[&Scenario]) -> Vec<String> {
        let is_there = |name: &&String| scenarios.iter().any(|scenario| scenario.name == name.as_str());
        let strangers = self.scenarios.keys().filter(|name| !is_there(name));
        strangers.map(|name| format!("{name}: recorded, but there is no such scenario")).collect()
    }
}
