//! The two ways through a program: with its mistake, and without.
//!
//! What differs between the two stands once, mistake and cure beside each other:
//!
//! - in Rust, behind a `match` or an `if` on [`Program::way`](super::Program::way);
//! - in PTX, by marks at the ends of lines, as in the programs that must not compile (`crates/dacapo/tests/ui`): a line
//!   that ends in `//~` is only the mistake's, and one that begins with `//+` only the near miss's. [`Way::ptx`] makes
//!   plain PTX of it.

use serde::{Deserialize, Serialize};

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// With the mistake.
    Mistake,
    /// Without it.
    NearMiss,
}

impl Way {
    /// As a child process is told, and as GPU runs write it.
    pub fn name(self) -> &'static str {
        match self {
            Way::Mistake => "mistake",
            Way::NearMiss => "near-miss",
        }
    }

    /// The way of that name.
    pub fn named(name: &str) -> Option<Way> {
        [Way::Mistake, Way::NearMiss].into_iter().find(|way| way.name() == name)
    }

    /// The lines of `text` that belong to this way, without their marks. The mistake's lines keep their numbers if
    /// those of the near miss were not there: reports name them.
    pub fn ptx(self, text: &str) -> String {
        let lines = text.split('\n').filter_map(|line| {
            let code = line.trim_start();
            match (self, line.strip_suffix(" //~"), code.strip_prefix("//+ ")) {
                (_, None, None) => Some(line.to_string()),
                (Way::Mistake, Some(line), _) => Some(line.to_string()),
                (Way::NearMiss, _, Some(cure)) => Some(format!("{}{cure}", &line[..line.len() - code.len()])),
                _ => None,
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_has_its_own_lines_and_all_that_are_not_marked() {
        let text = "{\n    bar.sync 1; //~\n    //+ bar.sync 0;\n    // a comment\n    ret;\n}\n";
        assert_eq!(Way::Mistake.ptx(text), "{\n    bar.sync 1;\n    // a comment\n    ret;\n}\n");
        assert_eq!(Way::NearMiss.ptx(text), "{\n    bar.sync 0;\n    // a comment\n    ret;\n}\n");
        assert_eq!(Way::NearMiss.ptx("no newline"), "no newline");
    }

    #[test]
    fn a_way_is_found_by_its_name_and_written_by_it() {
        for way in [Way::Mistake, Way::NearMiss] {
            assert_eq!(Way::named(way.name()), Some(way));
            assert_eq!(serde_json::to_value(way).ok(), Some(way.name().into()));
        }
        assert_eq!(Way::named("fail"), None);
    }
}
