//! What became of a test, as Rust's test programs and our runner of Python's tests say it.

/// One test of a client.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// As its authors call it.
    pub name: String,
    /// What became of it.
    pub outcome: Outcome,
    /// How long it took, where that is known.
    pub seconds: f64,
}

/// What became of a test.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It passed.
    Passed,
    /// It failed, and why in a line, where that is known.
    Failed(String),
    /// It skipped itself, and why.
    Skipped(String),
}

impl Test {
    /// A test whose time nobody took.
    pub fn new(name: &str, outcome: Outcome) -> Test {
        Test { name: name.to_string(), outcome, seconds: 0.0 }
    }
}

/// What a Rust test program printed to standard output.
///
/// # Errors
///
/// - It did not end with a summary, or the summary counts other tests than the lines: a test ended the process, or wrote
///   into a line.
pub fn libtest(text: &str) -> Result<Vec<Test>, String> {
    let tests: Vec<Test> = text.lines().filter_map(libtest_line).collect();
    let summary = text.lines().rev().find_map(|line| line.split_once("test result: ")).ok_or("it has no summary")?.1;
    let said = |word: &str| {
        let before = summary.split(';').find_map(|part| part.trim().strip_suffix(word))?;
        before.split_whitespace().last()?.parse::<usize>().ok()
    };
    let counted = |is: fn(&Outcome) -> bool| Some(tests.iter().filter(|test| is(&test.outcome)).count());
    let same = counted(|outcome| *outcome == Outcome::Passed) == said("passed")
        && counted(|outcome| matches!(outcome, Outcome::Failed(_))) == said("failed")
        && counted(|outcome| matches!(outcome, Outcome::Skipped(_))) == said("ignored");
    if same { Ok(tests) } else { Err(format!("the lines say other numbers than the summary: {summary}")) }
}

fn libtest_line(line: &str) -> Option<Test> {
    let (name, outcome) = line.strip_prefix("test ")?.split_once(" ... ")?;
    // `#[should_panic]` is written behind the name.
    let name = name.split(" - ").next().unwrap_or(name);
    let outcome = match outcome.split_once(", ").unwrap_or((outcome, "")) {
        ("ok", _) => Outcome::Passed,
        ("FAILED", _) => Outcome::Failed(String::new()),
        ("ignored", reason) => Outcome::Skipped(reason.to_string()),
        _ => return None,
    };
    Some(Test::new(name, outcome))
}

/// The names that a Rust test program lists.
pub fn listed(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_string).collect()
}

/// What `tests/clients/unittests.py` wrote: the tests that ended, and the names of those that did not.
pub fn report(text: &str, prefix: &str) -> (Vec<Test>, Vec<String>) {
    let (mut tests, mut waiting) = (Vec::<Test>::new(), Vec::<String>::new());
    for line in text.lines() {
        let mut fields = line.split('\t');
        let (Some(name), Some(word)) = (fields.next(), fields.next()) else { continue };
        let name = name.strip_prefix(prefix).unwrap_or(name);
        if word == "listed" {
            waiting.push(name.to_string());
            continue;
        }
        let seconds = fields.next().and_then(|seconds| seconds.parse().ok()).unwrap_or_default();
        let reason = fields.next().unwrap_or_default().to_string();
        let outcome = match word {
            "passed" => Outcome::Passed,
            "failed" => Outcome::Failed(reason),
            "skipped" => Outcome::Skipped(reason),
            _ => continue,
        };
        waiting.retain(|waiting| waiting != name);
        tests.push(Test { name: name.to_string(), outcome, seconds });
    }
    (tests, waiting)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "
running 4 tests
test driver::tests::one ... ok
test tests::panics - should panic ... ok
test tests::peers ... ignored, must be executed with multiple gpus
test tests::slow ... FAILED

failures:

---- tests::slow stdout ----
test tests::quoted ... not an outcome

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s
";

    #[test]
    fn a_line_is_a_test_and_the_summary_is_compared() {
        let tests = libtest(PRINTED).expect("a summary");
        let names: Vec<&str> = tests.iter().map(|test| &*test.name).collect();
        assert_eq!(names, ["driver::tests::one", "tests::panics", "tests::peers", "tests::slow"]);
        assert_eq!(tests[2].outcome, Outcome::Skipped("must be executed with multiple gpus".into()));
        assert_eq!(tests[3].outcome, Outcome::Failed(String::new()));
        assert!(libtest(&PRINTED.replace("2 passed", "3 passed")).is_err());
        assert!(libtest(&PRINTED.replace("1 ignored", "0 ignored")).is_err());
        assert!(libtest(PRINTED.split("test result").next().unwrap_or_default()).is_err());
    }

    #[test]
    fn a_list_has_tests_and_no_benchmarks() {
        assert_eq!(listed("a::b: test\nc: benchmark\n\n1 test, 1 benchmark\n"), ["a::b"]);
    }

    #[test]
    fn a_report_says_what_ended_and_what_did_not() {
        let text = "p.a.One\tlisted\np.a.Two\tlisted\np.a.Three\tlisted\np.a.One\tstarted\np.a.One\tpassed\t0.250\t\n\
                    p.a.Two\tstarted\np.a.Two\tfailed\t1\tValueError: no\np.a.Three\tstarted\n";
        let (tests, missing) = report(text, "p.");
        assert_eq!(missing, ["a.Three"]);
        assert_eq!(tests[0], Test { name: "a.One".into(), outcome: Outcome::Passed, seconds: 0.25 });
        assert_eq!(tests[1].outcome, Outcome::Failed("ValueError: no".into()));
    }
}
