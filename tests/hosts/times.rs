//! Times and failures: printed after a run of many trials, since only its last lines are kept.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use libtest_mimic::{Completion, Failed};

/// The number of trials of each host that are printed.
const SHOWN: usize = 20;

/// The number of lines of a failed trial's output that are printed.
const LINES: usize = 30;

/// The trials that ran: `HOST/NAME`, and their time.
static TIMES: Mutex<Vec<(String, Duration)>> = Mutex::new(Vec::new());

/// The trials that failed: `HOST/NAME`, and why.
static FAILURES: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// The checks that the programs of each host made under Cartograph, and their starts.
static COUNTS: Mutex<BTreeMap<String, [u64; 2]>> = Mutex::new(BTreeMap::new());

/// Counts checks and starts of programs on a host.
pub(crate) fn count(host: &str, checks: u64, starts: u64) {
    let mut counts = COUNTS.lock().expect("no trial panics in here");
    let counts = counts.entry(host.to_owned()).or_default();
    *counts = [counts[0] + checks, counts[1] + starts];
}

/// Prints the numbers of checks and starts, and the processor time.
pub(crate) fn print_counts() {
    for (host, [checks, starts]) in COUNTS.lock().expect("no trial panics in here").iter() {
        println!("{host}: {checks} checks of programs in {starts} starts");
    }
    if let Some(seconds) = processor_time() {
        println!("{seconds:.0} s of processor time");
    }
}

/// The processor time of all trials, which depends less on other load of the machine than their times.
fn processor_time() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name of the process: utime, stime, cutime and cstime, in hundredths of a second.
    let words = stat.rsplit(')').next()?.split_whitespace().skip(12).take(4);
    let ticks: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
    (ticks.len() == 4).then(|| ticks.iter().sum::<f64>() / 100.0)
}

/// Runs a trial and keeps how long it took and how it failed.
pub(crate) fn of(
    name: String,
    trial: impl FnOnce() -> Result<Completion, Failed>,
) -> Result<Completion, Failed> {
    let start = Instant::now();
    let result = trial();
    if let Err(failed) = &result {
        let why = failed.message().unwrap_or_default().to_owned();
        FAILURES.lock().expect("no trial panics in here").push((name.clone(), why));
    }
    TIMES.lock().expect("no trial panics in here").push((name, start.elapsed()));
    result
}

/// Prints the failures, with the last lines of each.
pub(crate) fn print_failures() {
    for (name, why) in FAILURES.lock().expect("no trial panics in here").iter() {
        let lines: Vec<&str> = why.lines().collect();
        println!("failed: {name}\n{}", lines[lines.len().saturating_sub(LINES)..].join("\n"));
    }
}

/// Prints the longest trials of each host and the sums. Concurrent trials share the processors, so the sums exceed the
/// elapsed time.
pub(crate) fn print() {
    let mut times = std::mem::take(&mut *TIMES.lock().expect("no trial panics in here"));
    if times.len() <= SHOWN {
        return;
    }
    times.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    let host_of = |name: &str| name.split('/').next().unwrap_or_default().to_owned();
    let mut hosts: Vec<String> = times.iter().map(|(name, _)| host_of(name)).collect();
    hosts.sort();
    hosts.dedup();
    for host in hosts {
        let of_host: Vec<_> = times.iter().filter(|(name, _)| host_of(name) == host).collect();
        let total: f64 = of_host.iter().map(|(_, time)| time.as_secs_f64()).sum();
        println!("{host}: {total:.0} s in {} trials, of which", of_host.len());
        for (name, time) in of_host.iter().take(SHOWN) {
            println!("{:7.1} s  {name}", time.as_secs_f64());
        }
    }
}
