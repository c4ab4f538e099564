//! Where findings go: standard error, or appended to a file.
//!
//! A finding is one `write`, so that the findings of processes that share a file do not mix. A file that cannot be
//! written is said once, and the findings go to standard error: they are never lost in silence.
//!
//! A program that goes on after a finding may make the same mistake in every launch. Of one mistake at one place
//! [`TIMES_MAX`] are written whole; then a note says that it is counted, and again at ten times as many.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::sync::{Mutex, PoisonError};

use dacapo_sim::Finding;

use crate::environment::{Format, Sink};
use crate::forked;
use crate::json;

/// How often the same is written whole.
const TIMES_MAX: u64 = 10;

/// An open sink.
pub struct Findings {
    file: Option<File>,
    format: Format,
    /// How often each was found.
    times: Mutex<HashMap<u64, u64>>,
}

impl Findings {
    /// Opens the sink.
    pub fn open(sink: &Sink, format: Format) -> Findings {
        let file = match sink {
            Sink::StandardError => None,
            Sink::File(path) => match OpenOptions::new().append(true).create(true).open(path) {
                Ok(file) => Some(file),
                Err(error) => {
                    let _ = writeln!(
                        std::io::stderr(),
                        "dacapo: DACAPO_FINDINGS is {path:?}, which cannot be written: {error}; standard error is used instead"
                    );
                    None
                }
            },
        };
        Findings { file, format, times: Mutex::default() }
    }

    /// Writes a line that blames nobody; of JSON it is one with the code `note`.
    pub fn note(&self, what: &str) {
        self.put(&match self.format {
            Format::Text => format!("note: {what}\n\n"),
            Format::Json => json::note(what),
        });
    }

    /// Writes one finding: a text with an empty line behind it, or a line of JSON.
    pub fn write(&self, finding: &Finding) {
        let times = if forked::is_child() {
            // Its one finding; and whoever held the lock when the process forked does not let go of it here.
            1
        } else {
            let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
            let times = times.entry(mistake(finding)).or_default();
            *times += 1;
            *times
        };
        if times > TIMES_MAX {
            // At 100, 1,000, ..
            if times.ilog10() > (times - 1).ilog10() {
                self.note(&format!("`{}` at {} was found {times} times by now", finding.code, place(finding)));
            }
            return;
        }
        self.put(&match self.format {
            Format::Text => format!("{finding}\n\n"),
            Format::Json => json::line(finding),
        });
        if times == TIMES_MAX {
            let (code, place) = (finding.code, place(finding));
            self.note(&format!("`{code}` at {place} was found {times} times: from here on it is only counted"));
        }
    }

    fn put(&self, text: &str) {
        let written = self.file.as_ref().is_some_and(|mut file| file.write_all(text.as_bytes()).is_ok());
        if !written {
            // Standard error may be closed; there is nowhere left to say so.
            let _ = standard_error().write_all(text.as_bytes());
        }
    }
}

/// Standard error without the standard library's lock, which nobody lets go of in a child that was forked under it.
fn standard_error() -> ManuallyDrop<File> {
    // SAFETY: a descriptor like any other, which may be closed; it is only written to, and stays the process's own.
    ManuallyDrop::new(unsafe { File::from_raw_fd(2) })
}

fn place(finding: &Finding) -> &str {
    finding.places.first().map_or("no place", |(place, _)| place)
}

/// What makes two findings the same mistake: their word, their place, and the sentence without its numbers, since
/// addresses and distances differ from launch to launch. A number in a name counts.
fn mistake(finding: &Finding) -> u64 {
    let mut hasher = DefaultHasher::new();
    (finding.code, place(finding)).hash(&mut hasher);
    for word in finding.what.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        if !word.starts_with(|c: char| c.is_ascii_digit()) {
            word.hash(&mut hasher);
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use dacapo_sim::Ending;

    use super::*;

    #[test]
    fn findings_are_appended() {
        let path = std::env::temp_dir().join(format!("dacapo-findings-{}.txt", std::process::id()));
        for (what, format) in [("one", Format::Text), ("two", Format::Json)] {
            Findings::open(&Sink::File(path.clone()), format).write(&Finding::new("code", Ending::YourProgram, what));
        }
        let written = std::fs::read_to_string(&path);
        let _ = std::fs::remove_file(&path);
        let written = written.unwrap();
        let (text, json) = written.split_once("\n\n").unwrap();
        assert_eq!(text, "error[code]: one");
        assert!(json.starts_with("{\"code\":\"code\",") && json.ends_with("}\n"), "{json}");
    }

    #[test]
    fn the_same_mistake_is_written_ten_times_and_then_counted() {
        let path = std::env::temp_dir().join(format!("dacapo-findings-again-{}.txt", std::process::id()));
        let findings = Findings::open(&Sink::File(path.clone()), Format::Text);
        let found = |what: String| Finding::new("code", Ending::YourProgram, what).at("module 1:4:2", "`ld`");
        for launch in 0..1000 {
            findings.write(&found(format!("`k` reads 4 bytes at {:#x}", 4096 + launch)));
        }
        findings.write(&found("`k2` reads 4 bytes at 0x1000".to_string()));
        findings
            .write(&Finding::new("code", Ending::YourProgram, "`k` reads 4 bytes at 0x1000").at("module 2:4:2", ""));
        let written = std::fs::read_to_string(&path);
        let _ = std::fs::remove_file(&path);
        let written = written.unwrap();
        let heads: Vec<&str> =
            written.lines().filter(|line| line.starts_with("error") || line.starts_with("note")).collect();
        assert_eq!(heads.len(), 10 + 3 + 2, "{written}");
        assert_eq!(heads[9], "error[code]: `k` reads 4 bytes at 0x1009");
        assert_eq!(heads[10], "note: `code` at module 1:4:2 was found 10 times: from here on it is only counted");
        assert_eq!(heads[11], "note: `code` at module 1:4:2 was found 100 times by now");
        assert_eq!(heads[12], "note: `code` at module 1:4:2 was found 1000 times by now");
        assert!(heads[13].contains("`k2`") && heads[14].starts_with("error"), "another mistake, and another place");
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_no_reason_to_stop() {
        let finding = Finding::new("code", Ending::OurBug, "this line belongs on standard error");
        Findings::open(&Sink::File("/nowhere/at/all.txt".into()), Format::Text).write(&finding);
    }
}
