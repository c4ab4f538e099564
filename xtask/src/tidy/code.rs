//! The lines of a source that are neither comments nor tests.
//!
//! Reads the text as rustfmt leaves it: a module of tests begins with `#[cfg(test)]`, or `all(test, ..)`, and ends with a brace at the
//! margin. What stands in a folder or a file called tests is for the caller to leave out ([`is_test`]).

use std::path::Path;

/// Whether all of a file is tests, or measures.
pub fn is_test(file: &Path) -> bool {
    file.components().any(|part| ["tests", "tests.rs", "benches"].iter().any(|name| part.as_os_str() == *name))
}

/// Each line of code with its number, from 1.
pub fn lines(source: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_tests = false;
    let mut lines = source.lines().enumerate().peekable();
    std::iter::from_fn(move || {
        loop {
            let (at, line) = lines.next()?;
            if line == "#[cfg(test)]" || line.starts_with("#[cfg(all(test,") {
                in_tests = lines.peek().is_some_and(|(_, next)| next.ends_with('{'));
            }
            if in_tests || line.trim_start().starts_with("//") {
                in_tests &= line != "}";
                continue;
            }
            return Some((at + 1, line));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_tests_are_left_out_and_what_follows_them_is_not() {
        let source = "a();\n// b\n#[cfg(test)]\nmod tests {\n    c();\n}\n#[cfg(test)]\nmod far;\nd();\n";
        let code: Vec<(usize, &str)> = lines(source).collect();
        assert_eq!(code, [(1, "a();"), (7, "#[cfg(test)]"), (8, "mod far;"), (9, "d();")]);
        assert!(is_test(Path::new("crates/sim/src/memory/tests.rs")));
        assert!(is_test(Path::new("crates/sim/tests/faults.rs")));
        assert!(!is_test(Path::new("crates/suite/src/programs/mod.rs")));
    }
}
