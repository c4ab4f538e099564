"""Runs unittest modules, or single tests by name, and writes what became of each test to a file.

    python unittests.py REPORT MODULE_OR_TEST..

Lines have tabs between their fields: `NAME listed` for every test before the first is run, `NAME started`, then
`NAME OUTCOME SECONDS REASON`, where the outcome is passed, failed or skipped. Where a test ends the process, its outcome
and those of the tests behind it are missing. What a failure says in full goes to standard error.
"""

import sys
import time
import unittest


class Report(unittest.TestResult):
    def __init__(self, file):
        super().__init__()
        self.file = file
        self.outcome = ("passed", "")

    def write(self, test, *fields):
        fields = [test if isinstance(test, str) else test.id(), *fields]
        print("\t".join(" ".join(str(field).split()) for field in fields), file=self.file, flush=True)

    def startTest(self, test):
        super().startTest(test)
        self.outcome = ("passed", "")
        self.begun = time.monotonic()
        self.write(test, "started")

    def stopTest(self, test):
        outcome, reason = self.outcome
        self.write(test, outcome, f"{time.monotonic() - self.begun:.3f}", reason)
        super().stopTest(test)

    def fail(self, test, error):
        kind, value, _ = error
        # A test for pytest may skip itself in its words, also while its module is imported.
        words = [word for word in str(value).splitlines() if word.strip()]
        if kind.__name__ == "Skipped" or any("Skipped: " in word for word in words):
            self.addSkip(test, words[-1] if words else "")
            return
        reason = f"{kind.__name__}: {words[0].strip() if words else ''}"
        if not hasattr(test, "_testMethodName"):
            # A class that cannot be set up: none of its tests is started.
            self.write(test, "failed", "0", reason)
        self.outcome = ("failed", reason)
        print(f"---- {test.id()}\n{self._exc_info_to_string(error, test)}", file=sys.stderr, flush=True)

    def addError(self, test, error):
        self.fail(test, error)

    def addFailure(self, test, error):
        self.fail(test, error)

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.fail(test, error)

    def addSkip(self, test, reason):
        if not hasattr(test, "_testMethodName"):
            self.write(test, "skipped", "0", reason)
        if self.outcome[0] != "failed":
            self.outcome = ("skipped", reason)

    def addExpectedFailure(self, test, error):
        self.outcome = ("passed", "it fails, as its authors expect")

    def addUnexpectedSuccess(self, test):
        self.outcome = ("failed", "its authors expect a failure")


def tests_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


def load(report, name):
    """The tests of a module, or the one test of this name. A module without any says so: it may be for pytest alone."""
    try:
        suite = unittest.defaultTestLoader.loadTestsFromName(name)
    except BaseException as error:
        # What pytest skips a whole module with is no Exception.
        if type(error).__name__ != "Skipped":
            raise
        report.write(name, "skipped", "0", error)
        return unittest.TestSuite()
    if suite.countTestCases() == 0:
        report.write(name, "skipped", "0", "it has no tests for unittest")
    return suite


if __name__ == "__main__":
    with open(sys.argv[1], "a", encoding="utf-8") as file:
        report = Report(file)
        suite = unittest.TestSuite([load(report, name) for name in sys.argv[2:]])
        for test in tests_of(suite):
            report.write(test, "listed")
        suite.run(report)
