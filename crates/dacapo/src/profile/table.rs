//! A profile as a table.

use std::fmt::{self, Write};

use crate::inspect;

use super::{Clock, Profile, Timed};

/// How the rows of a table are sorted: [`Profile::table`].
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::profile::By;
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut y = device.zeros::<f32>(1024)?;
/// let mut graph = device.graph().label("clear").record(dacapo::fill(&mut y, dacapo::baked(1.0)))?;
/// let profile = graph.profile(&stream)?;
/// assert!(profile.table(By::Time).contains("fill"));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// By start.
    Start,
    /// By time, the longest first.
    Time,
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.table(if f.alternate() { By::Time } else { By::Start }))
    }
}

impl Profile {
    /// The profile as a table.
    pub fn table(&self, by: By) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.head(&mut text);
        let mut rows = vec![self.titles()];
        self.rows(by, None, 0, &mut rows);
        if !self.ops.is_empty() {
            let _ = aligned(&rows, &mut text);
        }
        text
    }

    fn head(&self, text: &mut String) -> fmt::Result {
        let label = if self.label.is_empty() { String::new() } else { format!(" `{}`", self.label) };
        let unit = self.clock.unit();
        let [critical, sum, total, stamp] =
            [self.critical_ns(), self.sum_ns(), self.total_ns, self.stamp_ns].map(|ns| self.clock.number(ns));
        let (device, ops) = (&self.device, self.ops.len());
        match self.eager {
            true => writeln!(text, "profile of an eager run{label} on {device}: {ops} ops, one after the other")?,
            false => writeln!(text, "profile of graph{label} on {device}: one replay, {ops} ops")?,
        }
        writeln!(
            text,
            "critical path (*) {critical} {unit}; all ops together {sum} {unit}; at most {} at a time",
            self.lanes()
        )?;
        match self.clock {
            Clock::Gpu => writeln!(
                text,
                "the stamps took part: {total} us with them; {stamp} us, what one costs, is taken off each time and gap; \
                 the clock moves in steps of {} ns",
                self.step_ns
            ),
            Clock::Software => writeln!(
                text,
                "counted by the software device ({total} with the stamps, {stamp} a stamp): which op does more, no times"
            ),
        }
    }

    /// The ops inside another, or inside none; below each, what is inside it.
    fn rows(&self, by: By, inside: Option<usize>, depth: usize, rows: &mut Vec<[String; COLUMNS]>) {
        // An op stands behind the one it is in. If you changed the fields, those that do not are left out.
        let is_here = |op: &&Timed| op.inside == inside && inside.is_none_or(|outer| outer < op.index);
        let mut ops: Vec<&Timed> = self.ops.iter().filter(is_here).collect();
        match by {
            By::Start => ops.sort_by_key(|op| (op.start_ns, op.index)),
            By::Time => ops.sort_by_key(|op| (std::cmp::Reverse(op.time_ns), op.index)),
        }
        for op in ops {
            rows.push(self.row(op, depth));
            if matches!(op.kind, inspect::Kind::Branch | inspect::Kind::Guarded | inspect::Kind::Loop) {
                self.rows(by, Some(op.index), depth + 1, rows);
            }
        }
    }

    fn titles(&self) -> [String; COLUMNS] {
        let unit = self.clock.unit();
        let of = |what: &str| format!("{what}, {unit}");
        let plain = |what: &str| what.to_string();
        [
            plain("op"),
            of("start"),
            of("time"),
            plain("share"),
            of("gap before"),
            plain("runs"),
            plain("name"),
            plain("label"),
            plain("at"),
        ]
    }

    /// How often it ran, and how long once took; of a loop the rounds, and how long each took.
    fn runs(&self, op: &Timed) -> String {
        let each = |count: u64| self.clock.number(op.time_ns / count.max(1));
        match (self.rounds(op.index), op.inside, op.runs) {
            (_, Some(_), 0) => "none".to_string(),
            (Some(1), ..) => format!("1 round of {}", each(1)),
            (Some(rounds), ..) => format!("{rounds} rounds of {}", each(rounds)),
            (None, None, 1) => String::new(),
            (None, _, runs) => format!("{runs} x {}", each(runs)),
        }
    }

    fn row(&self, op: &Timed, depth: usize) -> [String; COLUMNS] {
        let is_guarded = op.kind == inspect::Kind::Guarded;
        let share = op.time_ns as f64 * 100.0 / self.sum_ns().max(1) as f64;
        [
            format!("{}{}", op.index, if op.critical { " *" } else { "" }),
            self.clock.number(op.start_ns),
            self.clock.number(op.time_ns),
            format!("{share:.1} %"),
            self.clock.number(op.gap_ns),
            self.runs(op),
            format!("{:1$}{2}{3}", "", 2 * depth.min(16), op.name, if is_guarded { " (guarded)" } else { "" }),
            op.label.clone(),
            op.location.as_ref().map_or_else(String::new, |at| format!("{}:{}", at.file, at.line)),
        ]
    }
}

impl Clock {
    /// What a number is of.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Clock::Gpu => "us",
            Clock::Software => "counted",
        }
    }

    fn number(self, ns: u64) -> String {
        match self {
            Clock::Gpu => format!("{:.3}", ns as f64 / 1000.0),
            Clock::Software => ns.to_string(),
        }
    }
}

/// Of a table. The one of runs is left out where every op ran once.
const COLUMNS: usize = 9;
const RUNS: usize = 5;

/// Columns as wide as their widest cell; numbers to the right.
fn aligned(rows: &[[String; COLUMNS]], text: &mut String) -> fmt::Result {
    let mut widths = [0; COLUMNS];
    let all_once = rows.iter().skip(1).all(|row| row[RUNS].is_empty());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count()).min(inspect::WIDTH_MAX);
        }
    }
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            match column {
                RUNS if all_once => {}
                1..=RUNS => write!(line, "  {cell:>width$}")?,
                _ => write!(line, "  {cell:<width$}")?,
            }
        }
        writeln!(text, "{}", line.trim_end())?;
    }
    Ok(())
}
