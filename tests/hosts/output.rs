//! The verdict that a program or a script that ended without an error has in its last line.

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It counted its checks: `N passed, 0 failed`, with N > 0.
    Passed,
    /// The host lacks what it is about: `ignored: REASON`.
    Ignored(String),
}

impl Verdict {
    /// Reads the last line of what was printed. A script has its name in front of the counts.
    pub(crate) fn of(output: &str) -> Result<Self, String> {
        let last = output.trim_end().lines().next_back().unwrap_or_default().trim();
        if let Some(reason) = last.strip_prefix("ignored: ") {
            return Ok(Self::Ignored(reason.into()));
        }
        let counts = last.rsplit(": ").next().unwrap_or_default();
        let passed = counts.strip_suffix(" passed, 0 failed").and_then(|n| n.parse::<u64>().ok());
        match passed {
            Some(1..) => Ok(Self::Passed),
            Some(0) => Err("no check was made".into()),
            None => Err(format!("the last line is not 'N passed, 0 failed': '{last}'")),
        }
    }
}
