//! How a task tells what it found: a text for people, or with `--json` one JSON document for programs.
//!
//! - Colour and progress are for a terminal: a pipe or a file gets neither. `NO_COLOR` (no-color.org) and `TERM=dumb`
//!   switch colour off there too.
//! - What is told goes to standard output; progress and complaints go to standard error.

use std::fmt;
use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use crate::complaint::Complaint;

/// What a task found. Its text has colours where the formatter is told `{:#}`.
pub trait Told: fmt::Display {
    /// The same for programs.
    fn json(&self) -> Value;
}

/// How it is told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Output {
    /// As JSON.
    pub json: bool,
}

impl Output {
    /// Tells what was found.
    pub fn tell(self, told: &dyn Told) {
        match (self.json, in_colour(&std::io::stdout())) {
            (true, _) => println!("{:#}", told.json()),
            (false, true) => println!("{told:#}"),
            (false, false) => println!("{told}"),
        }
    }

    /// Tells what went wrong.
    pub fn complain(self, complaint: &Complaint) {
        match (self.json, in_colour(&std::io::stderr())) {
            (true, _) => eprintln!("{}", complaint.json()),
            (false, true) => eprintln!("{complaint:#}"),
            (false, false) => eprintln!("{complaint}"),
        }
    }

    /// A bar over so many steps, on a terminal.
    pub fn progress(self, steps: u64) -> ProgressBar {
        if !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let style = ProgressStyle::with_template("{bar:40} {percent:>3} %  {msg}  ({elapsed})");
        let bar = ProgressBar::new(steps);
        style.map_or(bar.clone(), |style| bar.with_style(style))
    }
}

fn in_colour(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && allows_colour(|name| std::env::var(name).ok())
}

fn allows_colour(get: impl Fn(&str) -> Option<String>) -> bool {
    get("NO_COLOR").is_none_or(|value| value.is_empty()) && get("TERM").is_none_or(|value| value != "dumb")
}

/// How a word stands out; numbers of ECMA-48, "select graphic rendition".
#[derive(Clone, Copy, Debug)]
pub enum Ink {
    /// Red, for what failed.
    Bad,
    /// Green, for what holds.
    Good,
    /// Cyan, for what one can do.
    Help,
    /// Yellow, for what must not be overlooked.
    Warn,
}

/// The text in this ink, if the formatter was told `{:#}`.
pub fn inked(f: &fmt::Formatter<'_>, ink: Ink, text: &str) -> String {
    let number = match ink {
        Ink::Bad => "1;31",
        Ink::Good => "32",
        Ink::Help => "36",
        Ink::Warn => "33",
    };
    if f.alternate() { format!("\x1b[{number}m{text}\x1b[0m") } else { text.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_can_be_switched_off() {
        let allows =
            |name: &'static str, value: &'static str| allows_colour(|asked| (asked == name).then(|| value.to_string()));
        assert!(allows("TERM", "xterm") && allows("NO_COLOR", ""));
        assert!(!allows("TERM", "dumb") && !allows("NO_COLOR", "1"));
    }
}
