//! The verdict that a program that ended without an error has in its last line.

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The program counted its checks: `N passed, 0 failed`, with N > 0. Or it speaks TAP: N lines `ok`, none `not ok`,
    /// and `1..N`.
    Passed,
    /// The host lacks a requirement: `ignored: REASON`.
    Ignored(String),
}

impl Verdict {
    /// Reads the last line of the output.
    pub(crate) fn of(output: &str) -> Result<Self, String> {
        let last = output.trim_end().lines().next_back().unwrap_or_default().trim();
        if let Some(reason) = last.strip_prefix("ignored: ") {
            return Ok(Self::Ignored(reason.into()));
        }
        if let Some(plan) = last.strip_prefix("1..") {
            let points = |word| output.lines().filter(|line| line.starts_with(word)).count();
            let (right, wrong) = (points("ok "), points("not ok "));
            return match plan.parse() {
                Ok(1..) if wrong == 0 && Ok(right) == plan.parse() => Ok(Self::Passed),
                _ => Err(format!("of {plan} points {right} are right, and {wrong} are wrong")),
            };
        }
        match passed(last) {
            Some(1..) => Ok(Self::Passed),
            Some(0) => Err("no check was made".into()),
            None => Err(format!("the last line is not 'N passed, 0 failed': '{last}'")),
        }
    }
}

/// The number of checks in the last line of the output.
pub(crate) fn checks(output: &str) -> u64 {
    let last = output.trim_end().lines().next_back().unwrap_or_default().trim();
    let plan = last.strip_prefix("1..").and_then(|n| n.parse().ok());
    plan.or_else(|| passed(last)).unwrap_or(0)
}

fn passed(line: &str) -> Option<u64> {
    line.strip_suffix(" passed, 0 failed")?.parse().ok()
}
