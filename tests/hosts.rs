//! Runs the programs and cases of `c_tests/testlist` on real MPIs, alone and under Cartograph.
//!
//! `CARTOGRAPH_TEST_HOST` names the hosts, which `make test` has built the library for; without it
//! there is nothing to run, as in `cargo test` on a machine without MPI. One trial is one program with
//! one way of using it, on all the numbers of processes that the list gives, or one case. Of several hosts
//! at once one of each family runs all of it, the others what may be another there (the list says which), on
//! the least and the largest number: what depends on that is in the pure layers. One host alone checks what no host makes
//! different, such as texts and files. Trials run side by side, two
//! for each processor (`--test-threads`): much of a run is waiting, for launchers and for other processes.

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

use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use differences::Differences;
use host::{Host, Library};
use output::Verdict;
use testlist::{Test, Way};

/// Hosts that have another host of their family in the same run: MPICH 5 and Open MPI 4.
const SHORTENED: [&str; 4] = ["mpich", "abi", "openmpi5", "intel"];

/// The host that checks what does not depend on the host, if it is among several: its jobs are the fastest.
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
        for mut test in testlist::read().into_iter().filter(|test| !test.is_elsewhere(name)) {
            if in_short {
                test.keep_least_and_largest();
            }
            let elsewhere = in_short && test.once;
            let ignored = elsewhere || test.long || !test.is_for(name) || !host.can_build(&test);
            let title = format!("{name}/{}", test.name());
            let processes = test.processes.iter().sum::<u32>();
            let size = (test.way.is_by_itself(), test.has_many_rounds(), processes);
            let line = title.clone();
            let trial = Trial::ignorable_test(title, move || times::of(line, || run(host, &test)));
            trials.push((size, trial.with_ignored_flag(ignored)));
        }
    }
    // The longest trials come first, so that no processor is idle at the end.
    trials.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    let trials = trials.into_iter().map(|(_, trial)| trial).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    times::print();
    times::print_failures();
    if !names.is_empty() && !arguments.list {
        let (passed, failed) = (conclusion.num_passed, conclusion.num_failed);
        println!("{passed} passed, {failed} failed, {} ignored", conclusion.num_ignored);
    }
    conclusion.exit_code()
}

fn run(host: &Host, test: &Test) -> Result<Completion, Failed> {
    let library = match test.way {
        Way::Case => return Ok(completion(cases::run(host, &test.source)?)),
        Way::Hostile => return Ok(completion(cases::hostile::run(host, test)?)),
        Way::Forwarded => Library::Forwarded,
        Way::Linked => Library::Linked,
        Way::Static => Library::Static,
        Way::Same | Way::Preloaded => Library::Preloaded,
    };
    let program = host.build(&test.source, library)?;
    let alone = match test.way {
        Way::Same => {
            Some((host.build(&test.source, Library::None)?, Differences::read(host, test)))
        }
        _ => None,
    };
    let mut differences = None;
    let mut verdict = None;
    for processes in &test.processes {
        let how = (&test.arguments[..], &test.settings[..]);
        let ours = host.run(&program, library, *processes, how)?;
        let judged = Verdict::of(&ours).map_err(|why| format!("{processes} processes: {why}"))?;
        if let Verdict::Passed = judged
            && let Some((program, known)) = &alone
        {
            // A bare host may hang by itself: Open MPI does, at random, in MPI_Dist_graph_create
            // (open-mpi/ompi issue 13918).
            let alone = || host.run(program, Library::None, *processes, how);
            let theirs = alone().or_else(|_| alone()).or_else(|_| alone())?;
            differences.get_or_insert_with(|| known.clone()).compare(*processes, &theirs, &ours)?;
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
