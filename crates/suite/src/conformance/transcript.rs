//! A recording of transcripts as a text, and the comparison of another run with it.
//!
//! ```text
//! # GPU NVIDIA H200, driver 580.159.04, commit 3f2a9c1..
//! [stream.query_while_held]
//! cuStreamCreate(1) = SUCCESS: stream#1
//! ```
//!
//! The list of known differences has a line for each: the case, a colon, the reason.

use std::collections::BTreeMap;

/// Transcripts by the names of their cases, and where they come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// The first line, without its mark: GPU, driver, commit.
    pub origin: String,
    /// Lines by case.
    pub cases: BTreeMap<String, Vec<String>>,
}

impl Recording {
    /// The recording as a text.
    pub fn text(&self) -> String {
        let mut text = format!("# {}\n", self.origin);
        for (name, lines) in &self.cases {
            text += &format!("\n[{name}]\n");
            for line in lines {
                text += line;
                text.push('\n');
            }
        }
        text
    }

    /// A recording from its text.
    ///
    /// # Errors
    ///
    /// - A line stands before the first case, or a case has two transcripts.
    pub fn parse(text: &str) -> Result<Recording, String> {
        let mut recording = Recording::default();
        let mut current: Option<&mut Vec<String>> = None;
        for (number, line) in text.lines().enumerate() {
            if let Some(origin) = line.strip_prefix("# ").filter(|_| number == 0) {
                recording.origin = origin.to_string();
            } else if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                if recording.cases.insert(name.to_string(), Vec::new()).is_some() {
                    return Err(format!("line {}: {name} has been there before", number + 1));
                }
                current = recording.cases.get_mut(name);
            } else if !line.is_empty() {
                match &mut current {
                    Some(lines) => lines.push(line.to_string()),
                    None => return Err(format!("line {}: belongs to no case", number + 1)),
                }
            }
        }
        Ok(recording)
    }
}

/// What a comparison came to.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Cases whose transcripts are equal.
    pub matching: usize,
    /// All cases.
    pub cases: usize,
    /// Recorded once, and no case any more.
    pub retired: Vec<String>,
    /// Those that differ and are on the list of known differences.
    pub known: Vec<String>,
    /// Those that differ and are not, with what differs; and entries of the list that say nothing true.
    pub unexplained: Vec<(String, String)>,
}

/// Holds `ours` against `recorded`, with the text of the list of known differences.
pub fn compare(recorded: &Recording, ours: &Recording, known: &str) -> Comparison {
    let known: BTreeMap<&str, &str> = known
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(": ").unwrap_or((line, "")))
        .collect();
    // A case may be taken away, for one that has no stable answer after all; its transcript goes with the next recording.
    let retired = recorded.cases.keys().filter(|name| !ours.cases.contains_key(*name)).cloned().collect();
    let mut comparison = Comparison { cases: ours.cases.len(), retired, ..Comparison::default() };
    for (name, ours) in &ours.cases {
        let is_known = known.get(name.as_str()).is_some_and(|reason| !reason.is_empty());
        match recorded.cases.get(name) {
            Some(theirs) if theirs == ours => {
                comparison.matching += 1;
                if is_known {
                    let why = "is on the list of known differences, and matches";
                    comparison.unexplained.push((name.clone(), why.into()));
                }
            }
            _ if is_known => comparison.known.push(name.clone()),
            Some(theirs) => comparison.unexplained.push((name.clone(), difference(theirs, ours))),
            None => comparison.unexplained.push((name.clone(), "not recorded".into())),
        }
    }
    for name in known.keys().filter(|name| !recorded.cases.contains_key(**name)) {
        comparison.unexplained.push((name.to_string(), "is on the list of known differences, but no case".into()));
    }
    comparison
}

/// The lines that differ, each with the other side's; what is equal before the first is left out but for one line.
fn difference(recorded: &[String], ours: &[String]) -> String {
    let mut text = String::new();
    let rows = recorded.len().max(ours.len());
    let at = |lines: &[String], row: usize| lines.get(row).map_or("(nothing)", |line| line).to_string();
    for row in (0..rows).filter(|row| recorded.get(*row) != ours.get(*row)).take(12) {
        text += &format!("\n  line {}\n    recorded: {}\n    ours:     {}", row + 1, at(recorded, row), at(ours, row));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(cases: &[(&str, &[&str])]) -> Recording {
        let lines = |lines: &[&str]| lines.iter().map(|line| line.to_string()).collect();
        let cases = cases.iter().map(|(name, text)| (name.to_string(), lines(text))).collect();
        Recording { origin: "GPU x, driver y, commit z".into(), cases }
    }

    #[test]
    fn a_recording_survives_its_text() {
        let one = recording(&[("a.b", &["x() = SUCCESS", "y"]), ("c.d", &[])]);
        assert_eq!(Recording::parse(&one.text()), Ok(one));
        assert!(Recording::parse("x").is_err());
        assert!(Recording::parse("[a]\n[a]").is_err());
    }

    #[test]
    fn what_differs_is_known_or_unexplained() {
        let theirs = recording(&[("a", &["1"]), ("b", &["1"]), ("c", &["1"]), ("d", &["1"])]);
        let ours = recording(&[("a", &["1"]), ("b", &["2"]), ("c", &["2"]), ("e", &["1"])]);
        let found = compare(&theirs, &ours, "# why\nb: a reason\nc\n");
        assert_eq!((found.matching, found.cases, found.known), (1, 4, vec!["b".to_string()]));
        assert_eq!(found.retired, ["d"], "recorded, and no case any more");
        let names: Vec<&str> = found.unexplained.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["c", "e"], "an entry without a reason explains nothing");
    }

    #[test]
    fn a_known_difference_that_is_none_is_no_explanation() {
        let same = recording(&[("a", &["1"])]);
        let found = compare(&same, &same, "a: it differs\nz: gone\n");
        assert_eq!(found.unexplained.len(), 2);
    }
}
