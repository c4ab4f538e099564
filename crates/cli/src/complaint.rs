//! Why a task could not be done: what, where, and something one can type.
//!
//! Every task of the program ends in one of these or in success; `main` prints it to standard error.

use std::fmt;

use serde_json::{Value, json};

use crate::output::{Ink, inked};

/// What went wrong, with help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The library's word for the rule that was broken; empty where there is none.
    word: String,
    what: String,
    help: String,
}

impl Complaint {
    /// A complaint that has no better help than its own words.
    pub fn new(what: impl Into<String>) -> Complaint {
        Complaint { word: String::new(), what: what.into(), help: String::new() }
    }

    /// The same with something to do about it.
    pub fn help(self, help: impl Into<String>) -> Complaint {
        Complaint { help: help.into(), ..self }
    }

    /// The same, said of `place`: a measurement, a file, a step.
    pub fn at(self, place: impl fmt::Display) -> Complaint {
        Complaint { what: format!("{place}: {}", self.what), ..self }
    }

    /// The same for programs; what is not there is null.
    pub fn json(&self) -> Value {
        let text = |text: &str| if text.is_empty() { Value::Null } else { text.into() };
        json!({ "error": { "word": text(&self.word), "what": self.what, "help": text(&self.help) } })
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = match self.word.as_str() {
            "" => "error:".to_string(),
            word => format!("error[{word}]:"),
        };
        write!(f, "{} {}", inked(f, Ink::Bad, &error), self.what)?;
        if self.help.is_empty() { Ok(()) } else { write!(f, "\n{} {}", inked(f, Ink::Help, "help:"), self.help) }
    }
}

impl std::error::Error for Complaint {}

/// The library's errors say in their long form where it happened and what to do.
impl From<dacapo::Error> for Complaint {
    fn from(error: dacapo::Error) -> Complaint {
        let text = format!("{error:?}");
        let (text, help) = text.rsplit_once("\nhelp: ").unwrap_or((&text, ""));
        let (word, what) = text.strip_prefix("error[").and_then(|text| text.split_once("]: ")).unwrap_or(("", text));
        Complaint { word: word.to_string(), what: what.to_string(), help: help.to_string() }
    }
}

/// Arguments that the program does not take: what, and behind an empty line how to ask for help.
impl From<&clap::Error> for Complaint {
    fn from(error: &clap::Error) -> Complaint {
        let text = error.to_string();
        let text = text.trim_end();
        let text = text.strip_prefix("error: ").unwrap_or(text);
        match text.rsplit_once("\n\n") {
            Some((what, help)) => Complaint::new(what).help(help),
            None => Complaint::new(text),
        }
    }
}

/// Errors of the layers below bring their own words, and some bring their own help.
macro_rules! from_errors {
    ($($error:ty),*) => { $(
        impl From<$error> for Complaint {
            fn from(error: $error) -> Complaint {
                let text = error.to_string();
                match text.rsplit_once("\nhelp: ") {
                    Some((what, help)) => Complaint::new(what).help(help),
                    None => Complaint::new(text),
                }
            }
        }
    )* };
}
from_errors!(
    dacapo::page::ReadError,
    dacapo::profile::ReadError,
    dacapo_driver::DriverError,
    dacapo_driver::LoadError,
    crate::session::Refused
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_before_help_and_the_place_before_what() {
        let complaint = Complaint::new("the numbers are wrong").help("dacapo doctor").at("chain of 10");
        assert_eq!(complaint.to_string(), "error: chain of 10: the numbers are wrong\nhelp: dacapo doctor");
        assert_eq!(Complaint::new("no").to_string(), "error: no");
        let coloured = format!("{:#}", Complaint::new("no").help("yes"));
        assert_eq!(coloured, "\x1b[1;31merror:\x1b[0m no\n\x1b[36mhelp:\x1b[0m yes");
    }

    #[test]
    fn a_program_gets_the_same_as_data() {
        let complaint = Complaint::new("no device").help("dacapo doctor");
        assert_eq!(complaint.json()["error"], json!({ "word": null, "what": "no device", "help": "dacapo doctor" }));
    }

    #[test]
    fn an_error_of_the_library_keeps_its_word_its_sentence_and_its_help() {
        let text = Complaint::from(dacapo::Error::msg("too late")).at("a step").to_string();
        assert_eq!(text, "error[user]: a step: too late");
        let small = dacapo::Software::new().capacity(1 << 20).open().and_then(|device| device.zeros::<u8>(1 << 24));
        let text = Complaint::from(small.map(|_| ()).unwrap_err()).to_string();
        assert!(text.starts_with("error[out_of_memory]: ") && text.contains("\nhelp: drop what"), "{text}");
    }

    #[test]
    fn the_help_of_a_layer_below_stays_help() {
        // SAFETY: there is no such file.
        let missing = unsafe { dacapo_driver::Nvidia::open_path(std::path::Path::new("/nowhere/libcuda.so.1")) };
        let missing = missing.unwrap_err();
        let text = Complaint::from(missing).to_string();
        assert!(text.starts_with("error: no CUDA driver could be opened\n  tried /nowhere"), "{text}");
        assert_eq!(text.matches("help: ").count(), 1, "{text}");
    }
}
