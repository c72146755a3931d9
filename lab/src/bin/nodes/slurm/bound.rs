//! Slurm's own binding: placed ranks have the CPUs that its plugin task/affinity gave the processes of their node in
//! the default order.

use std::collections::BTreeMap;
use std::{fs, thread};

use cartograph_lab::host::{Host, checked, command};

use super::{CONF, Slurm, WORK, daemons};
use crate::Outcome;

/// The most jobs until one is placed.
const MOST: usize = 5;

/// Compiles a program that prints its CPUs, outside the namespaces.
pub(super) fn compile() -> Outcome {
    for host in super::HOSTS {
        Host::new(host)?.compile("cc", "pairs", &["c_tests/record/pairs.c", "-DPAUSE=20000"])?;
    }
    Ok(())
}

/// Restarts Slurm with its plugin, on nodes with the CPUs of this machine.
pub(super) fn restart() -> Outcome {
    let script = "kill $(cat $0/*.pid); for _ in $(seq 50); do ls $0/*.pid >&2 || break; sleep 0.2; done; rm -r $0/state/*";
    checked(command("sh -c").args([script, WORK]))?;
    let all = thread::available_parallelism()?;
    let conf = fs::read_to_string(CONF)?;
    let conf =
        conf.replace("task/none", "task/affinity").replace(" CPUs=4", &format!(" CPUs={all}"));
    fs::write(CONF, conf)?;
    daemons()
}

/// The ranks of each node with their CPUs.
fn lists(out: &str) -> BTreeMap<&str, Vec<(u32, &str)>> {
    let mut lists: BTreeMap<&str, Vec<(u32, &str)>> = BTreeMap::new();
    for line in out.lines() {
        let [rank, node, list] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        if let Ok(rank) = rank.parse() {
            lists.entry(node).or_default().push((rank, list));
        }
    }
    lists.values_mut().for_each(|of_node| of_node.sort_unstable());
    lists
}

/// Prints a table.
pub(super) fn checks(slurm: &Slurm) -> Outcome {
    let program = slurm.host.built("programs/pairs");
    for (number, options) in
        ["", "--cpu-bind=cores", "--cpu-bind=map_cpu:1,0", "--cpu-bind=none"].iter().enumerate()
    {
        let store = format!("{WORK}/{}.bound{number}", slurm.host.name);
        let learns = format!("env CARTOGRAPH_STORE={store} {} run", slurm.tool);
        let line = format!(
            "{} --ntasks-per-node=2 {} {learns} {} {options} -n 8 {} 0 cpus",
            slurm.with_settings("salloc -Q"),
            super::FOUR,
            slurm.srun(),
            program.display()
        );
        let first = slurm.job(&line)?;
        let first = lists(&first.out);
        let cpus = |all: &BTreeMap<&str, Vec<(u32, &str)>>| -> Vec<String> {
            let of_node = |of_node: &Vec<(u32, &str)>| {
                of_node.iter().map(|(_, list)| *list).collect::<Vec<_>>().join(" ")
            };
            all.values().map(of_node).collect()
        };
        let mut is_placed = false;
        for _ in 1..MOST {
            let said = slurm.job(&line)?;
            let placed = lists(&said.out);
            is_placed |= placed != first;
            println!("{} {options}: {:?}, {:?}", slurm.host.name, cpus(&first), cpus(&placed));
            said.check("the CPUs of each node", first.len() == 4 && cpus(&placed) == cpus(&first))?;
            if is_placed {
                break;
            }
        }
        if !is_placed {
            return Err("no job was placed".into());
        }
    }
    Ok(())
}
