//! Where findings go: standard error, or appended to a file.
//!
//! A finding is one `write`, so that the findings of processes that share a file do not mix. A file that cannot be
//! written is said once, and the findings go to standard error: they are never lost in silence.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write;

use crate::environment::Sink;

/// An open sink.
pub struct Findings {
    file: Option<File>,
}

impl Findings {
    /// Opens the sink.
    pub fn open(sink: &Sink) -> Findings {
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
        Findings { file }
    }

    /// Writes one finding, with an empty line behind it.
    pub fn write(&self, finding: &dyn fmt::Display) {
        let text = format!("{finding}\n\n");
        let written = self.file.as_ref().is_some_and(|mut file| file.write_all(text.as_bytes()).is_ok());
        if !written {
            // Standard error may be closed; there is nowhere left to say so.
            let _ = std::io::stderr().write_all(text.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_appended() {
        let path = std::env::temp_dir().join(format!("dacapo-findings-{}.txt", std::process::id()));
        for text in ["one", "two"] {
            Findings::open(&Sink::File(path.clone())).write(&text);
        }
        let written = std::fs::read_to_string(&path);
        let _ = std::fs::remove_file(&path);
        assert_eq!(written.unwrap(), "one\n\ntwo\n\n");
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_no_reason_to_stop() {
        Findings::open(&Sink::File("/nowhere/at/all.txt".into())).write(&"this line belongs on standard error");
    }
}
