//! What is known to fail, test by test, each with its reason.
//!
//! `known.txt` has a line for each: client, test, reason, with ` | ` between. A `*` at the end of a test's name stands for
//! any rest. A reason that begins with `flaky: ` is for a test that may also pass; every other one that passes, or is not
//! there any more, is an error, so that the list stays true. docs/known-differences.md has the same as a table.

use std::fmt::Write as _;

use super::outcome::{Outcome, Test};

/// The committed list.
const LIST: &str = include_str!("known.txt");

/// One line of the list.
#[derive(Debug)]
pub struct Known {
    /// Whose test.
    pub client: String,
    /// Its name, or how it begins with a `*` behind.
    pub test: String,
    /// Why it fails.
    pub reason: String,
}

impl Known {
    fn is_flaky(&self) -> bool {
        self.reason.starts_with("flaky: ")
    }

    fn covers(&self, client: &str, test: &str) -> bool {
        let covered = match self.test.strip_suffix('*') {
            Some(begin) => test.starts_with(begin),
            None => test == self.test,
        };
        covered && client == self.client
    }
}

/// The committed list, read.
///
/// # Errors
///
/// - A line without three parts.
pub fn committed() -> Result<Vec<Known>, String> {
    read(LIST)
}

fn read(text: &str) -> Result<Vec<Known>, String> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| match line.split(" | ").collect::<Vec<_>>()[..] {
            [client, test, reason] if !reason.is_empty() => {
                Ok(Known { client: client.into(), test: test.into(), reason: reason.into() })
            }
            _ => Err(format!("known.txt: not `client | test | reason`: {line}")),
        })
        .collect()
}

/// How often a test that failed beside others is tried by itself: not at all where it is known to fail, eight times where
/// it is flaky, else once.
pub fn tries(list: &[Known], client: &str, test: &str) -> usize {
    match list.iter().find(|known| known.covers(client, test)) {
        Some(known) if known.is_flaky() => 8,
        Some(_) => 0,
        None => 1,
    }
}

/// What a run of a client comes to.
#[derive(Debug, Default, PartialEq)]
pub struct Verdict {
    /// Tests that passed or failed.
    pub tests: usize,
    /// Of these, the ones that passed.
    pub passed: usize,
    /// That failed and are in the list.
    pub known: usize,
    /// That skipped themselves.
    pub skipped: usize,
    /// That failed and are not in the list, and lines of the list that are not true any more; a line each.
    pub unexplained: Vec<String>,
}

impl Verdict {
    /// A list of known failures must not swallow a client, nor may a client that skips all of its tests look like one that
    /// passes: of a hundred tests at least so many pass, and there are more tests than skipped ones.
    pub fn hold_to(&mut self, client: &str, percent_min: usize) {
        if self.tests <= self.skipped {
            let (tests, skipped) = (self.tests, self.skipped);
            self.unexplained.push(format!("{client}: {tests} tests ran, and {skipped} skipped themselves"));
        }
        if self.passed * 100 < self.tests * percent_min {
            self.unexplained.push(format!("{client}: fewer than {percent_min} % pass"));
        }
    }
}

/// Holds the tests of a client against the list. Lines that no test ran for are stale only where all of them ran.
pub fn judge(client: &str, tests: &[Test], list: &[Known], is_whole: bool) -> Verdict {
    let mut verdict = Verdict::default();
    let list: Vec<&Known> = list.iter().filter(|known| known.client == client).collect();
    let (mut failed, mut passed) = (vec![0; list.len()], vec![0; list.len()]);
    for test in tests {
        let covering: Vec<usize> = (0..list.len()).filter(|index| list[*index].covers(client, &test.name)).collect();
        match &test.outcome {
            Outcome::Skipped(_) => {
                verdict.skipped += 1;
                continue;
            }
            Outcome::Passed => {
                verdict.passed += 1;
                covering.iter().for_each(|index| passed[*index] += 1);
                if let Some(known) = covering.iter().map(|index| list[*index]).find(|known| !known.is_flaky()) {
                    let (name, line) = (&test.name, &known.test);
                    verdict.unexplained.push(format!("{client}: {name} passes, and known.txt says it fails ({line})"));
                }
            }
            Outcome::Failed(_) if !covering.is_empty() => {
                verdict.known += 1;
                covering.iter().for_each(|index| failed[*index] += 1);
            }
            Outcome::Failed(reason) => verdict.unexplained.push(format!("{client}: {} failed: {reason}", test.name)),
        }
        verdict.tests += 1;
    }
    let never = (0..list.len()).filter(|index| is_whole && failed[*index] + passed[*index] == 0);
    let stale = never.map(|index| format!("{client}: known.txt names {}, and no such test ran", list[index].test));
    verdict.unexplained.extend(stale);
    verdict
}

/// The list as a table for docs/known-differences.md.
pub fn table(list: &[Known]) -> String {
    let mut text = String::from("| client | test | why it fails |\n|---|---|---|\n");
    for known in list {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| {} | `{}` | {} |", known.client, known.test, known.reason);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(name: &str, outcome: Outcome) -> Test {
        Test::new(name, outcome)
    }

    fn failed(name: &str) -> Test {
        test(name, Outcome::Failed("why".into()))
    }

    const SOME: &str = "# words\n\na | t.one | no peers\na | t.group.* | no links\na | t.time | flaky: takes its time\nb | t.two | other\n";

    #[test]
    fn what_fails_is_known_or_unexplained() {
        let list = read(SOME).expect("a list");
        let tests = [
            failed("t.one"),
            failed("t.group.x"),
            failed("t.two"),
            failed("t.time"),
            test("t.fine", Outcome::Passed),
            test("t.skips", Outcome::Skipped(String::new())),
        ];
        let verdict = judge("a", &tests, &list, true);
        assert_eq!((verdict.tests, verdict.passed, verdict.known, verdict.skipped), (5, 1, 3, 1));
        assert_eq!(verdict.unexplained, ["a: t.two failed: why"]);
    }

    #[test]
    fn a_known_one_that_passes_is_an_error_unless_it_is_flaky() {
        let list = read(SOME).expect("a list");
        let tests = [test("t.one", Outcome::Passed), failed("t.group.y"), test("t.time", Outcome::Passed)];
        let verdict = judge("a", &tests, &list, true);
        assert_eq!(verdict.unexplained, ["a: t.one passes, and known.txt says it fails (t.one)"]);
        assert_eq!((verdict.tests, verdict.passed, verdict.known), (3, 2, 1));
    }

    #[test]
    fn what_is_known_is_not_tried_again_and_what_is_flaky_is() {
        let list = read(SOME).expect("a list");
        assert_eq!(["t.one", "t.time", "t.other"].map(|test| tries(&list, "a", test)), [0, 8, 1]);
    }

    #[test]
    fn a_line_for_a_test_that_is_gone_is_an_error_where_all_ran() {
        let list = read(SOME).expect("a list");
        let tests = [failed("t.one"), failed("t.time")];
        assert_eq!(judge("a", &tests, &list, true).unexplained, ["a: known.txt names t.group.*, and no such test ran"]);
        assert_eq!(judge("a", &tests, &list, false).unexplained, [""; 0]);
    }

    #[test]
    fn a_client_whose_tests_do_not_run_is_no_success() {
        let skipped = || test("t.skips", Outcome::Skipped("no device".into()));
        let held = |tests: &[Test], percent_min| {
            let mut verdict = judge("c", tests, &[], true);
            verdict.hold_to("c", percent_min);
            verdict.unexplained
        };
        assert_eq!(held(&[], 0), ["c: 0 tests ran, and 0 skipped themselves"]);
        assert_eq!(held(&[skipped(), skipped()], 90), ["c: 0 tests ran, and 2 skipped themselves"]);
        let passed = || test("t.fine", Outcome::Passed);
        assert_eq!(held(&[passed(), skipped()], 90), ["c: 1 tests ran, and 1 skipped themselves"]);
        assert_eq!(held(&[passed(), passed(), skipped()], 100), [""; 0]);
        let list = read("c | t.bad | a reason\n").expect("a list");
        let mut verdict = judge("c", &[passed(), failed("t.bad")], &list, true);
        verdict.hold_to("c", 51);
        assert_eq!(verdict.unexplained, ["c: fewer than 51 % pass"]);
        verdict.unexplained.clear();
        verdict.hold_to("c", 50);
        assert_eq!(verdict.unexplained, [""; 0]);
    }

    #[test]
    fn every_line_of_the_committed_list_has_a_reason() {
        let list = committed().expect("known.txt can be read");
        assert!(list.iter().all(|known| known.reason.len() > 10), "a reason is a sentence");
        assert!(read("a | b\n").is_err() && read("a | b | \n").is_err());
    }
}
