//! The text of a crate's API, and how it differs from the committed one.

use dacapo_suite::programs::report;

use super::lines::Line;

/// The whole text: what the documentation shows, then what it hides.
pub fn text(package: &str, lines: &[Line]) -> String {
    let mut text = format!(
        "# The public API of {package}: a line for each item, at the path where a user finds it.\n\
         # `cargo xtask api` compares it with the sources, `cargo xtask bless` writes it. How to read it: docs/testing.md\n\n"
    );
    let (hidden, shown): (Vec<&Line>, Vec<&Line>) = lines.iter().partition(|line| line.is_hidden);
    shown.iter().for_each(|line| text += &format!("{}\n", line.text));
    if !hidden.is_empty() {
        text += "\n# Hidden from the documentation\n\n";
        hidden.iter().for_each(|line| text += &format!("{}\n", line.text));
    }
    text
}

/// The lines that went, with `-`, and those that came, with `+`.
pub fn changes(committed: &str, now: &str) -> Vec<String> {
    let lines = report::difference(committed, now);
    lines.lines().filter(|line| !line.starts_with(' ')).map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_and_what_went_is_told_and_nothing_else() {
        assert_eq!(changes("a\nb\nc\n", "a\nx\nc\n"), ["- b", "+ x"]);
        assert!(changes("a\n", "a\n").is_empty());
    }
}
