//! More rows of `make lab-jobs`: the halo exchange in circumstances that change, alternately with and without
//! `cartograph run`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Instant;

use cartograph_lab::host::{command, emptied};

use super::cases::Program;
use super::measured::Measured;
use super::network::Nodes;
use super::programs::Places;
use super::tables::{ALONE, LEARNS};
use super::{Outcome, repetitions, tool};

/// The exchange and its arguments: most bytes go between nodes, all stay on them, or both are equal.
const APART: &str = "-n 20 262144 4096";
const TOGETHER: &str = "-n 20 4096 262144";
const EQUAL: &str = "-n 40 65536 65536";

const LINKS: &str = "50mbit";

/// The host files of a sequence: two nodes, and then all.
const HOSTS: [&str; 2] =
    ["n0 slots=8\nn1 slots=8\n", "n0 slots=4\nn1 slots=4\nn2 slots=4\nn3 slots=4\n"];

/// The changes from job to job.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    Nothing,
    /// One input, and then the other.
    Inputs,
    /// Other processes run during the first job.
    Disturbance,
    /// Two jobs run at once, on two nodes each.
    AtOnce,
    /// The host file is rewritten after half of the jobs.
    HostFile,
}

const ALL: [(&str, &str, Change); 6] = [
    ("Two alternating inputs", LINKS, Change::Inputs),
    ("A disturbed first job", LINKS, Change::Disturbance),
    ("A disturbed first job, fast links", "", Change::Disturbance),
    ("Two jobs at once", LINKS, Change::AtOnce),
    ("A host file that is rewritten", LINKS, Change::HostFile),
    ("Fast links", "", Change::Nothing),
];

/// The options and arguments of the simultaneous jobs with number `job` of `jobs`, and their numbers of processes.
fn steps(
    change: Change,
    job: u32,
    jobs: u32,
    hosts: &Path,
) -> Outcome<Vec<(String, u32, &'static str)>> {
    let all = || "--host n0:4,n1:4,n2:4,n3:4".to_owned();
    Ok(match change {
        Change::Inputs => vec![(all(), 16, [APART, TOGETHER][job as usize % 2])],
        Change::AtOnce => {
            ["n0:4,n1:4", "n2:4,n3:4"].map(|hosts| (format!("--host {hosts}"), 8, EQUAL)).into()
        }
        Change::HostFile => {
            fs::write(hosts, HOSTS[usize::from(job >= jobs / 2)])?;
            vec![(format!("--hostfile {}", hosts.display()), 16, EQUAL)]
        }
        Change::Nothing | Change::Disturbance => vec![(all(), 16, EQUAL)],
    })
}

/// Processes that use both processors; they end when this is dropped.
struct Disturbance(Vec<Child>);

impl Disturbance {
    fn start() -> Outcome<Self> {
        let busy = || command("setpriv --pdeathsig KILL yes").stdout(Stdio::null()).spawn();
        Ok(Self((0..4).map(|_| busy()).collect::<Result<_, _>>()?))
    }
}

impl Drop for Disturbance {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Runs jobs simultaneously with a command before their launchers; returns the longest of their times, or `None` if one
/// fails.
fn run(
    steps: Vec<(String, u32, &'static str)>,
    (nodes, halo): (&Nodes, &Program),
    (by, line): (&str, &str),
    at: &Path,
) -> Outcome<Option<f64>> {
    let mut started = Vec::new();
    for (step, (options, count, arguments)) in steps.into_iter().enumerate() {
        let here = at.join(step.to_string());
        emptied(&here)?;
        let said = File::create(here.join("said"))?;
        let launcher = nodes.launcher_on(&options, count);
        let mut command = command(&format!("{by} {launcher} {line}{arguments}"));
        command.stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said);
        started.push((here, command.spawn()?));
    }
    let mut longest = Some(0.0);
    for (here, mut job) in started {
        let is_done = job.wait()?.success();
        let said = fs::read_to_string(here.join("said"))?;
        let ours = said.lines().filter(|line| line.starts_with("cartograph: ") || !is_done);
        ours.for_each(|line| eprintln!("{line}"));
        let time = if is_done { Some(halo.found(&here)?.0) } else { None };
        longest = longest.zip(time).map(|(one, other): (f64, f64)| one.max(other));
    }
    Ok(longest)
}

/// Measures all selected sequences.
pub(crate) fn measure(
    nodes: &Nodes,
    places: &Places,
    halo: &Program,
    all: &mut Measured,
) -> Outcome {
    for (number, (title, links, change)) in ALL.into_iter().enumerate() {
        let Some(line) = places.line(title, "halo") else { continue };
        match links {
            "" => nodes.unlimit()?,
            rate => nodes.limit(rate)?,
        }
        all.note(title, "links", if links.is_empty() { "-" } else { links });
        let at = PathBuf::from(format!("/dev/shm/sequence{number}"));
        emptied(&at)?;
        let learns = format!("env CARTOGRAPH_STORE={}/store {} run", at.display(), tool()?);
        let jobs = repetitions("12")?;
        for job in 0..jobs {
            // With two inputs, each variant comes first equally often with each.
            let pair = [(ALONE, ""), (LEARNS, &learns)];
            let pair = if job / 2 % 2 == 0 { pair } else { [pair[1], pair[0]] };
            for (variant, by) in pair {
                let is_disturbed = change == Change::Disturbance && job == 0;
                let _disturbance = is_disturbed.then(Disturbance::start).transpose()?;
                let steps = steps(change, job, jobs, &at.join("hosts"))?;
                let began = Instant::now();
                let Some(time) = run(steps, (nodes, halo), (by, &line), &at)? else {
                    all.note(title, variant, "fails");
                    continue;
                };
                all.add(title, variant, &[time]);
                all.add(title, &format!("{variant} launched"), &[began.elapsed().as_secs_f64()]);
            }
        }
    }
    Ok(())
}
