//! Where findings go: standard error, or appended to a file.
//!
//! A finding is one `write`, so that the findings of processes that share a file do not mix. A file that cannot be
//! written is said once, and the findings go to standard error: they are never lost in silence.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;

use dacapo_sim::Finding;

use crate::environment::{Format, Sink};
use crate::json;

/// An open sink.
pub struct Findings {
    file: Option<File>,
    format: Format,
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
        Findings { file, format }
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
        self.put(&match self.format {
            Format::Text => format!("{finding}\n\n"),
            Format::Json => json::line(finding),
        });
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
    fn a_file_that_cannot_be_opened_is_no_reason_to_stop() {
        let finding = Finding::new("code", Ending::OurBug, "this line belongs on standard error");
        Findings::open(&Sink::File("/nowhere/at/all.txt".into()), Format::Text).write(&finding);
    }
}
