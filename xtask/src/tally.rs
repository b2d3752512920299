//! Counts what passed, failed and was skipped, from the output of test runners and from single checks.

/// The sums over everything that ran.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: Vec<String>,
    /// What failed, by name.
    pub(crate) failures: Vec<String>,
}

impl Tally {
    /// Counts one check.
    pub(crate) fn check(&mut self, name: &str, passed: bool) {
        if passed {
            self.passed += 1;
        } else {
            self.failed += 1;
            self.failures.push(name.to_owned());
        }
    }

    /// Counts one check that could not be made.
    pub(crate) fn skip(&mut self, name: &str, why: &str) {
        self.skipped.push(format!("{name} ({why})"));
    }

    /// Counts one line of a test runner's output.
    pub(crate) fn line(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.passed += count(counts, "passed");
            self.failed += count(counts, "failed");
        } else if let Some((name, outcome)) = line
            .strip_prefix("test ")
            .and_then(|test| test.split_once(" ... "))
        {
            match outcome.split_whitespace().next() {
                Some("FAILED") => self.failures.push(name.trim().to_owned()),
                Some("ignored" | "ignored,") => self.skipped.push(name.trim().to_owned()),
                _ => {}
            }
        }
    }

    /// Counts a runner that failed without saying which test did, e.g. because it did not compile.
    pub(crate) fn runner_ended(&mut self, name: &str, success: bool, failed_before: usize) {
        if !success && self.failed == failed_before {
            self.check(name, false);
        }
    }

    /// The last line of every run.
    pub(crate) fn summary(&self) -> String {
        format!(
            "{} passed, {} failed, {} skipped",
            self.passed,
            self.failed,
            self.skipped.len()
        )
    }

    /// Whether the run as a whole is a success.
    pub(crate) fn success(&self, skips_fail: bool) -> bool {
        self.failed == 0 && (self.skipped.is_empty() || !skips_fail)
    }
}

/// The number before a word, as in `3 passed; 0 failed`.
fn count(counts: &str, word: &str) -> usize {
    let before = counts
        .split([';', '.'])
        .filter_map(|part| part.trim().strip_suffix(word));
    before
        .filter_map(|number| number.trim().parse::<usize>().ok())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_names_come_from_the_runners_output() {
        let mut tally = Tally::default();
        for line in [
            "running 4 tests",
            "test a::b ... ok",
            "test claude::stdio::c   ... ignored",
            "test d ... ignored, needs a network",
            "test e ... FAILED",
            "test result: FAILED. 1 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        ] {
            tally.line(line);
        }
        tally.check("fmt", true);
        tally.skip("deny", "not installed");
        assert_eq!(tally.summary(), "14 passed, 1 failed, 3 skipped");
        assert_eq!(tally.failures, ["e"]);
        assert_eq!(tally.skipped, ["claude::stdio::c", "d", "deny (not installed)"]);
    }

    #[test]
    fn a_runner_that_does_not_compile_is_a_failure() {
        let mut tally = Tally::default();
        tally.runner_ended("unit tests", false, 0);
        assert_eq!((tally.failed, tally.success(false)), (1, false));
        let mut counted = Tally {
            failed: 2,
            ..Tally::default()
        };
        counted.runner_ended("unit tests", false, 0);
        assert_eq!(counted.failed, 2);
    }

    #[test]
    fn a_skip_fails_only_where_skips_fail() {
        let mut tally = Tally::default();
        tally.check("fmt", true);
        tally.skip("deny", "not installed");
        assert!(tally.success(false));
        assert!(!tally.success(true));
    }
}
