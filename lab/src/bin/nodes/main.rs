//! Jobs on simulated nodes of this machine, which are network namespaces with slow links: `make lab-cluster`,
//! `lab-collectives`, `lab-programs`, `lab-jobs` and `lab-slurm`; and `lab-recording`, on the machine itself. Needs
//! root, the libraries and the command.
//!
//! The results go to `lab/results`; the environment variables `REPETITIONS`, `RATE` of the links, and `ONLY`, a pattern
//! of the titles of programs, change the measurements.

mod carried;
mod cases;
mod collectives;
mod exchanges;
mod jobs;
mod measured;
mod network;
mod programs;
mod recording;
mod sequences;
mod slurm;
mod tables;

use std::error::Error;
use std::process::{ExitCode, exit};
use std::{env, fs};

use cartograph_lab::host::command;
use cartograph_lab::top;

/// The result of an operation that may fail.
type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const USAGE: &str =
    "usage: nodes cluster|switches|collectives|slurm | nodes programs|jobs|try|recording DIRECTORY";

/// Runs in separate namespaces, which the kernel removes when this process ends in any way: its interfaces are not
/// visible from outside, and nothing is left behind.
fn in_namespaces(arguments: &[&str]) -> Outcome {
    // If this process is killed, setpriv's signal ends unshare, and --kill-child ends all processes inside.
    let mut command = command(
        "setpriv --pdeathsig KILL unshare --net --uts --mount --pid --fork --kill-child --mount-proc",
    );
    command.arg(env::current_exe()?).arg("inside").args(arguments);
    command.envs([("TMPDIR", "/dev/shm"), ("LC_ALL", "C"), ("OMP_NUM_THREADS", "1")]);
    let status = command.env("SLURM_CONF", slurm::CONF).status()?;
    exit(status.code().unwrap_or(1))
}

fn run(arguments: &[&str]) -> Outcome {
    let inside = || in_namespaces(arguments);
    match *arguments {
        ["inside", "cluster"] => exchanges::cluster(),
        ["inside", "switches"] => exchanges::switches(&exchanges::nodes()?, " SECTION=switches"),
        ["inside", "collectives"] => collectives::measure(),
        ["inside", "slurm"] => slurm::checks(),
        ["inside", "programs", built] => programs::programs(built),
        ["inside", "jobs", built] => programs::jobs(built),
        ["try", built] => programs::compile(built).and_then(|()| programs::ask_all(built)),
        ["recording", built] => programs::compile(built).and_then(|()| recording::recording(built)),
        ["programs" | "jobs", built] => programs::compile(built).and_then(|()| inside()),
        ["cluster" | "switches"] => exchanges::compile().and_then(|()| inside()),
        ["collectives"] => collectives::compile().and_then(|()| inside()),
        ["slurm"] => slurm::compile().and_then(|()| inside()),
        _ => Err(USAGE.into()),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match env::set_current_dir(top()).map_err(Into::into).and_then(|()| run(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("nodes: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A setting from the environment.
fn setting(name: &str, otherwise: &str) -> String {
    env::var(name).ok().filter(|value| !value.is_empty()).unwrap_or_else(|| otherwise.to_owned())
}

/// The number of runs of each variant.
fn repetitions(otherwise: &str) -> Outcome<u32> {
    Ok(setting("REPETITIONS", otherwise).parse()?)
}

/// The command.
fn tool() -> Outcome<String> {
    Ok(fs::canonicalize("build/bin/cartograph")?.display().to_string())
}
