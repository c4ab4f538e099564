//! A finding as one line of JSON (RFC 8259), for programs that read what was found.
//!
//! The keys are those of [`Finding`] without `ops`, which no C call can tell; `ending` is `program`, `unsupported`, `bug` or
//! `note`, and `help` is null where there is none.

use std::fmt::Write;

use dacapo_sim::{Ending, Finding};

/// The finding, with a line feed behind it and none inside.
pub fn line(finding: &Finding) -> String {
    let ending = match finding.ending {
        Ending::YourProgram => "program",
        Ending::Unsupported => "unsupported",
        Ending::OurBug => "bug",
        Ending::Remark => "note",
    };
    let places =
        finding.places.iter().map(|(place, what)| format!("{{\"place\":{},\"what\":{}}}", string(place), string(what)));
    let notes = finding.notes.iter().map(|note| string(note));
    format!(
        "{{\"code\":{},\"ending\":\"{ending}\",\"what\":{},\"places\":[{}],\"notes\":[{}],\"help\":{}}}\n",
        string(finding.code),
        string(&finding.what),
        places.collect::<Vec<_>>().join(","),
        notes.collect::<Vec<_>>().join(","),
        finding.help.as_deref().map_or("null".to_string(), string),
    )
}

/// A line that is no finding: what this library has done to help.
pub fn note(what: &str) -> String {
    let what = string(what);
    format!("{{\"code\":\"note\",\"ending\":\"note\",\"what\":{what},\"places\":[],\"notes\":[],\"help\":null}}\n")
}

/// A text between quotes.
fn string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            control if control < ' ' => {
                // Writing to a String cannot fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_there_and_quotes_and_lines_do_not_break_it() {
        let finding = Finding::new("race", Ending::YourProgram, "`k` reads \"x\"\nand writes")
            .at("a.cu:3:1", "thread (1,0,0)")
            .note("tab\there");
        assert_eq!(
            line(&finding),
            concat!(
                r#"{"code":"race","ending":"program","what":"`k` reads \"x\"\nand writes","#,
                r#""places":[{"place":"a.cu:3:1","what":"thread (1,0,0)"}],"notes":["tab\u0009here"],"help":null}"#,
                "\n"
            )
        );
        let helped = Finding::new("c", Ending::Unsupported, "").help("do this");
        assert!(line(&helped).ends_with("\"help\":\"do this\"}\n"), "{}", line(&helped));
    }
}
