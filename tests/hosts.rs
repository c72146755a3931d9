//! Runs the programs and cases of `c_tests/testlist` on real MPIs, without and under Cartograph.
//!
//! `CARTOGRAPH_TEST_HOST` names the hosts, for which `make test` has built the library; without it nothing runs. A trial
//! is one line of the list: a program, with all its numbers of processes, or a case. Programs of a folder share starts
//! (`together`). If several hosts run at once, one host of each family runs every line, and these two share the numbers of
//! processes between the smallest and the largest; the others run lines whose result may differ, with the smallest and the
//! largest number. One host alone checks texts and files. Two trials run at once for each processor (`--test-threads`),
//! since launchers and processes often wait.

#[path = "hosts/cases/mod.rs"]
mod cases;
#[path = "hosts/differences.rs"]
mod differences;
#[path = "hosts/host.rs"]
mod host;
#[path = "hosts/output.rs"]
mod output;
#[path = "hosts/pattern.rs"]
mod pattern;
#[path = "hosts/session.rs"]
mod session;
#[path = "hosts/testlist.rs"]
mod testlist;
#[path = "hosts/times.rs"]
mod times;
#[path = "hosts/together.rs"]
mod together;

use std::cmp::Reverse;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use differences::Differences;
use host::{Host, Library};
use output::Verdict;
use testlist::{Test, Way};
use together::Starts;

/// Hosts that have another host of their family in the same run: MPICH 5 and Open MPI 4.
const SHORTENED: [&str; 4] = ["mpich", "abi", "openmpi5", "intel"];

/// Hosts that run every line. If both run, each number of processes between the smallest and the largest runs on one of
/// them, on MPICH in one line and on Open MPI in the next.
const SHARING: [&str; 2] = ["mpich5", "openmpi"];

/// The host for checks that do not depend on the host, if it is among several: its jobs are the fastest.
const CHEAPEST: &str = "mpich5";

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    arguments.test_threads.get_or_insert(2 * processors);
    let names = std::env::var("CARTOGRAPH_TEST_HOST").unwrap_or_default();
    if names.is_empty() {
        println!("CARTOGRAPH_TEST_HOST is not set: use `make test HOST=...`");
    }
    let mut trials = Vec::new();
    let names: Vec<&str> = names.split([' ', ',']).filter(|name| !name.is_empty()).collect();
    for &name in &names {
        let mut host = Host::new(name);
        let in_short = names.len() > 1 && SHORTENED.contains(&name);
        host.shortened = in_short;
        host.checks_all =
            if names.contains(&CHEAPEST) { name == CHEAPEST } else { name == names[0] };
        let host: &'static Host = Box::leak(Box::new(host));
        let both = SHARING.iter().all(|sharing| names.contains(sharing));
        let place = SHARING.iter().position(|sharing| both && *sharing == name);
        let mut tests = Vec::new();
        for (line, mut test) in testlist::read().into_iter().enumerate() {
            if test.is_elsewhere(name) {
                continue;
            }
            if in_short {
                test.keep_least_and_largest();
            } else if let Some(place) = place {
                test.keep_every_second(line + place);
            }
            let elsewhere = in_short && test.once;
            let ignored = elsewhere || test.long || !test.is_for(name) || !host.can_build(&test);
            tests.push((format!("{name}/{}", test.name()), ignored, test));
        }
        let selected = tests.iter().filter(|(title, ignored, _)| {
            let runs = arguments.include_ignored || *ignored == arguments.ignored;
            runs && is_selected(&arguments, title)
        });
        let starts: &'static Starts =
            Box::leak(Box::new(Starts::new(selected.map(|(_, _, test)| test))));
        for (title, ignored, test) in tests {
            let processes = test.processes.iter().sum::<u32>();
            let turn = Reverse(starts.turn(&test));
            let size = (test.way.is_by_itself(), turn, test.has_many_rounds(), processes);
            let line = title.clone();
            let run = move || times::of(line, || run(host, starts, &test));
            trials.push((size, Trial::ignorable_test(title, run).with_ignored_flag(ignored)));
        }
    }
    // The longest trials come first, so that no processor is idle at the end.
    trials.sort_by_key(|(size, _)| Reverse(*size));
    let trials = trials.into_iter().map(|(_, trial)| trial).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    times::print();
    times::print_counts();
    times::print_failures();
    if !names.is_empty() && !arguments.list {
        let (passed, failed) = (conclusion.num_passed, conclusion.num_failed);
        println!("{passed} passed, {failed} failed, {} ignored", conclusion.num_ignored);
    }
    conclusion.exit_code()
}

/// True if the command line does not leave the trial out.
fn is_selected(arguments: &Arguments, title: &str) -> bool {
    let fits = |filter: &String| {
        if arguments.exact { title == filter } else { title.contains(filter.as_str()) }
    };
    arguments.filter.as_ref().is_none_or(fits) && !arguments.skip.iter().any(fits)
}

fn run(host: &Host, starts: &Starts, test: &Test) -> Result<Completion, Failed> {
    match test.way {
        Way::Case => return Ok(completion(cases::run(host, &test.source)?)),
        Way::Hostile => return Ok(completion(cases::hostile::run(host, test)?)),
        _ => {}
    }
    let mut differences = (test.way == Way::Same).then(|| Differences::read(host, test));
    let mut verdict = None;
    for &processes in &test.processes {
        let ours = starts.output(host, test, test.libraries()[0], processes)?;
        let judged = Verdict::of(&ours).map_err(|why| format!("{processes} processes: {why}"))?;
        times::count(&host.name, output::checks(&ours), 0);
        if let Verdict::Passed = judged
            && let Some(differences) = &mut differences
        {
            let theirs = starts.output(host, test, Library::None, processes)?;
            differences.compare(processes, &theirs, &ours)?;
        }
        match verdict.get_or_insert_with(|| judged.clone()) {
            first if *first == judged => {}
            first => return Err(format!("{processes} processes: {judged:?}, but {first:?}").into()),
        }
    }
    if let Some(differences) = differences {
        differences.finish()?;
    }
    Ok(completion(verdict.ok_or("the list gives no number of processes")?))
}

fn completion(verdict: Verdict) -> Completion {
    match verdict {
        Verdict::Passed => Completion::Completed,
        Verdict::Ignored(reason) => Completion::ignored_with(reason),
    }
}
