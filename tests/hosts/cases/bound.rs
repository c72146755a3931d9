//! Ranks placed by `cartograph run` have the CPUs that the launcher gave the processes of their node in the default
//! order. Nodes are simulated by names on this machine, which requires root.

use std::collections::BTreeMap;
use std::process::Command;

use super::Outcome;
use super::exec::command;
use crate::output::Verdict;
use crate::session::{Session, word};
use crate::testlist::top;

/// The most jobs until one is placed: it may run in the default order if the load of this machine hides the gain.
const MOST: usize = 5;

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    if !session.makes_nodes() {
        return Ok(Verdict::Ignored("no node can be made up here".into()));
    }
    session.preloaded.clear();
    // Longer than it takes to wait for a processor.
    let program = session.compile("pairs", "c_tests/record/pairs.c", &["-DPAUSE=20000"]);
    let program = word(&program).to_owned();
    // Words before the launcher, and its options.
    let lines: &[(&str, &str)] = match &*session.host.name {
        "mpich" => &[("", "-bind-to core")],
        "openmpi" => &[
            ("", "--bind-to core"),
            ("", "--cpu-set 0"),
            ("", "--map-by ppr:2:node:pe=2 --bind-to core:overload-allowed"),
            ("taskset -c 1", "--bind-to none"),
        ],
        _ => &[
            ("", "--map-by ppr:2:node --bind-to core"),
            ("", "--map-by pe-list=1,0:ordered"),
            ("", "--cpu-set 0,1"),
            ("taskset -c 1", "--bind-to none --map-by ppr:2:node"),
        ],
    };
    for (number, (before, options)) in lines.iter().enumerate() {
        keeps_cpus(&mut session, &program, (before, options), &format!("store-{number}"));
    }
    session.verdict()
}

/// The CPUs of the ranks of each node, in their order.
fn lists(out: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut lists: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in out.lines().skip(1) {
        let [_, node, list] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        lists.entry(node).or_default().push(list);
    }
    lists
}

fn keeps_cpus(
    session: &mut Session<'_>,
    program: &str,
    (before, options): (&str, &str),
    store: &str,
) {
    let mut words = session.on_nodes("a:2,b:2", 4);
    if let Some(at) = words.iter().position(|word| word == "--map-by") {
        words.drain(at..at + 2);
    }
    let number = words.len() - 2;
    words.splice(number..number, options.split(' ').map(str::to_owned));
    let line = [before, options].join(" ");
    let mut default = None;
    for _ in 0..MOST {
        let mut job = Command::new("timeout");
        job.args(["-k", "5", "120"]).arg(command()).arg("run");
        job.args(before.split_whitespace()).args(&words).args([program, "0", "cpus"]);
        job.current_dir(top()).envs(session.environment());
        job.env("CARTOGRAPH_STORE", session.work(store));
        if !session.finish(&mut job) || session.said("^cartograph: ") != 1 {
            break;
        }
        let Some(default) = &default else {
            default = Some(session.out.clone());
            continue;
        };
        if session.out != *default {
            let same = lists(&session.out) == lists(default) && lists(default).len() == 2;
            return session.check(&format!("{line}: placed ranks have their CPUs"), same);
        }
    }
    session.check(&format!("{line}: a job is placed"), false);
}
