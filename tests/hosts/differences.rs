//! `c_tests/differences.txt`: every way in which Cartograph deliberately differs from a host.
//!
//! A line that differs must be listed; a listed difference that is no longer seen is a failure too.

use crate::host::Host;
use crate::testlist::{Test, top};

#[derive(Clone)]
struct Known {
    /// Start of the lines that may differ, after the "rank N " that begins each.
    line: String,
    seen: bool,
}

/// The differences that are known of one program on one host.
#[derive(Clone)]
pub(crate) struct Differences {
    known: Vec<Known>,
}

impl Differences {
    /// Reads those of a program on a host: `hosts | program | start of the line | reason`.
    pub(crate) fn read(host: &Host, test: &Test) -> Self {
        let path = top().join("c_tests/differences.txt");
        let text = std::fs::read_to_string(path).expect("c_tests/differences.txt can be read");
        let known = text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
            .filter_map(|line| {
                let fields: Vec<&str> = line.split('|').map(str::trim).collect();
                let [hosts, program, start, reason] = fields[..] else {
                    panic!("c_tests/differences.txt: bad line: {line}");
                };
                assert!(!reason.is_empty(), "c_tests/differences.txt: no reason: {line}");
                let here = hosts.split(',').any(|name| name.trim() == host.name);
                (here && program == test.program())
                    .then(|| Known { line: start.into(), seen: false })
            })
            .collect();
        Self { known }
    }

    /// Compares what a program printed alone and under Cartograph, line by line.
    pub(crate) fn compare(
        &mut self,
        processes: u32,
        theirs: &str,
        ours: &str,
    ) -> Result<(), String> {
        let (theirs, ours): (Vec<_>, Vec<_>) = (theirs.lines().collect(), ours.lines().collect());
        if theirs.is_empty() {
            return Err("the program prints nothing to compare".into());
        }
        for i in 0..theirs.len().max(ours.len()) {
            let (host, cartograph) = (theirs.get(i), ours.get(i));
            if host == cartograph {
                continue;
            }
            let starts = |line: Option<&&str>, start: &str| {
                line.is_some_and(|line| without_rank(line).starts_with(start))
            };
            let known = self
                .known
                .iter_mut()
                .find(|known| starts(host, &known.line) && starts(cartograph, &known.line));
            match known {
                Some(known) => known.seen = true,
                None => {
                    return Err(format!(
                        "{processes} processes, line {}:\n  host:       {}\n  cartograph: {}",
                        i + 1,
                        host.unwrap_or(&"(nothing)"),
                        cartograph.unwrap_or(&"(nothing)")
                    ));
                }
            }
        }
        Ok(())
    }

    /// Fails if a listed difference was not seen.
    pub(crate) fn finish(self) -> Result<(), libtest_mimic::Failed> {
        match self.known.into_iter().find(|known| !known.seen) {
            None => Ok(()),
            Some(known) => Err(format!(
                "c_tests/differences.txt lists '{}', which no longer differs: remove it",
                known.line
            )
            .into()),
        }
    }
}

/// A line without the "rank N " that says who printed it.
fn without_rank(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("rank ") else { return line };
    rest.split_once(' ').map_or(line, |(_, rest)| rest)
}
