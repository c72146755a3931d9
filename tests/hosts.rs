//! Runs the programs of `c_tests/testlist` on one real MPI, alone and under Cartograph.
//!
//! `make test` sets `CARTOGRAPH_TEST_HOST`; without it there is nothing to run, as in `cargo test`
//! on a machine without MPI. One trial is one program with one way of using it, on all the numbers
//! of processes that the list gives.

#[path = "hosts/differences.rs"]
mod differences;
#[path = "hosts/host.rs"]
mod host;
#[path = "hosts/testlist.rs"]
mod testlist;

use libtest_mimic::{Arguments, Failed, Trial};

use differences::Differences;
use host::{Host, Library};
use testlist::{Test, Way};

fn main() {
    let mut arguments = Arguments::from_args();
    // Runs of several processes each: side by side they would only slow each other down.
    arguments.test_threads = Some(1);
    let Ok(name) = std::env::var("CARTOGRAPH_TEST_HOST") else {
        println!("CARTOGRAPH_TEST_HOST is not set: use `make test HOST=...`");
        libtest_mimic::run(&arguments, Vec::new()).exit();
    };
    let host: &'static Host = Box::leak(Box::new(Host::new(&name)));
    let trials = testlist::read().into_iter().map(|test| {
        let ignored = !test.is_for(&name) || host.compiler(&test.source).is_none();
        Trial::test(format!("{name}/{}", test.name()), move || run(host, &test))
            .with_ignored_flag(ignored)
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

fn run(host: &Host, test: &Test) -> Result<(), Failed> {
    let library = match test.way {
        Way::Linked => Library::Linked,
        Way::Static => Library::Static,
        Way::Same | Way::Preloaded => Library::Preloaded,
    };
    let program = host.build(&test.source, library)?;
    if library != Library::Static {
        host.check_bindings(&program, library)?;
    }
    let alone = match test.way {
        Way::Same => {
            Some((host.build(&test.source, Library::None)?, Differences::read(host, test)))
        }
        _ => None,
    };
    let mut differences = None;
    for processes in &test.processes {
        let how = (&test.arguments[..], &test.settings[..]);
        let ours = host.run(&program, library, *processes, how)?;
        if let Some((program, known)) = &alone {
            // A bare host may hang by itself: Open MPI does, at random, in MPI_Dist_graph_create
            // (open-mpi/ompi issue 13918).
            let alone = || host.run(program, Library::None, *processes, how);
            let theirs = alone().or_else(|_| alone()).or_else(|_| alone())?;
            differences.get_or_insert_with(|| known.clone()).compare(*processes, &theirs, &ours)?;
        }
    }
    match differences {
        Some(differences) => differences.finish(),
        None => Ok(()),
    }
}
