//! `c_tests/differences.txt`: all deliberate differences between Cartograph and a host.
//!
//! A line that differs must be listed, with the text of the host and that of Cartograph; a listed difference that no
//! longer occurs is a failure too.

use crate::host::Host;
use crate::pattern::fits;
use crate::testlist::{Test, expand, top};

#[derive(Clone)]
struct Known {
    /// Start of the lines that may differ, after the "rank N " that begins each.
    line: String,
    /// Patterns of what follows: the host's and ours.
    host: String,
    cartograph: String,
    seen: bool,
}

/// The listed differences of one program on one host.
#[derive(Clone)]
pub(crate) struct Differences {
    known: Vec<Known>,
}

impl Differences {
    /// Reads those of a program on a host:
    /// `hosts | programs | start of the line | the host's value | ours | reason`.
    pub(crate) fn read(host: &Host, test: &Test) -> Self {
        let path = top().join("c_tests/differences.txt");
        let text = std::fs::read_to_string(path).expect("c_tests/differences.txt can be read");
        let known = text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
            .flat_map(expand)
            .filter_map(|line| {
                let fields: Vec<&str> = line.split('|').map(str::trim).collect();
                let [hosts, programs, start, theirs, ours, reason] = fields[..] else {
                    panic!("c_tests/differences.txt: bad line: {line}");
                };
                assert!(!reason.is_empty(), "c_tests/differences.txt: no reason: {line}");
                (has(hosts, &host.name) && has(programs, &test.program())).then(|| Known {
                    line: start.into(),
                    host: theirs.into(),
                    cartograph: ours.into(),
                    seen: false,
                })
            })
            .collect();
        Self { known }
    }

    /// Compares the output of a program without and under Cartograph, line by line.
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
            let says = |line: Option<&&str>, start: &str, pattern: &str| {
                let Some((rank, rest)) = line.map(|line| without_rank(line)) else { return false };
                rest.strip_prefix(start)
                    .is_some_and(|rest| fits(pattern, rest, rank, processes.into()))
            };
            let known = self.known.iter_mut().find(|known| {
                says(host, &known.line, &known.host)
                    && says(cartograph, &known.line, &known.cartograph)
            });
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

    /// Fails if a listed difference did not occur.
    pub(crate) fn finish(self) -> Result<(), libtest_mimic::Failed> {
        match self.known.into_iter().find(|known| !known.seen) {
            None => Ok(()),
            Some(known) => Err(format!(
                "c_tests/differences.txt lists '{} {}' where we say '{}': no line is so, remove it",
                known.line, known.host, known.cartograph
            )
            .into()),
        }
    }
}

/// True if a name is in a comma-separated list.
fn has(names: &str, name: &str) -> bool {
    names.split(',').any(|listed| listed.trim() == name)
}

/// The rank in the "rank N " at the start of a line, and the rest of the line.
fn without_rank(line: &str) -> (i64, &str) {
    let parse = || {
        let (rank, rest) = line.strip_prefix("rank ")?.split_once(' ')?;
        Some((rank.parse().ok()?, rest))
    };
    parse().unwrap_or((0, line))
}
