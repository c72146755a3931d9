//! The nodes of a job: the launcher starts `cartograph where` in place of the program.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::time::Duration;

use cartograph_core::launcher::variables;
use cartograph_core::machine::Machine;
use cartograph_traffic::{Address, NodeIdentity, Recording, host_name, is_host_name};
use serde::{Deserialize, Serialize};

use super::surroundings::Surroundings;
use crate::output::{self, Result};
use crate::runs::command::Launch;
use crate::traffic;

/// The time limit for a launcher to start processes and end.
const LONGEST: Duration = Duration::from_secs(60);

/// The mark of a line of ours, which may follow a prefix by the launcher.
const MARK: &str = "{\"cartograph_where\":";

/// The place of a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    /// The rank. The key marks the line as ours.
    cartograph_where: u32,
    size: u32,
    host: String,
    /// The number of cores that it may use, and that of its node.
    own_cores: usize,
    cores: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    address: Option<Address>,
}

/// The places of a job's processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Places(Vec<Place>);

/// Prints the place of this process.
pub(crate) fn print_place() -> Result<()> {
    let number = |text: String| text.parse::<u32>().ok();
    let rank = variables::rank(|name| env::var(name).ok()).and_then(number);
    let size = variables::ALL.iter().find_map(|all| {
        env::var(all.rank).ok()?;
        number(env::var(all.size?).ok()?)
    });
    let (Some(cartograph_where), Some(size)) = (rank, size) else {
        return Err(output::Failure::new("no launcher set the rank of this process"));
    };
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let status = read("/proc/self/status");
    let cpus = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let online = read("/sys/devices/system/cpu/online");
    let variable = |name| env::var(name).ok();
    let place = Place {
        cartograph_where,
        size,
        host: host_name(read("/proc/sys/kernel/hostname").trim()),
        own_cores: cores(cpus.unwrap_or_default()),
        cores: cores(&online),
        address: variable("SLURM_TOPOLOGY_ADDR")
            .zip(variable("SLURM_TOPOLOGY_ADDR_PATTERN"))
            .map(|(path, pattern)| Address { path, pattern }),
    };
    output::print(&(serde_json::to_string(&place).expect("all keys are strings") + "\n"))
}

/// The CPUs in a list as Linux prints it.
fn cpus(list: &str) -> Vec<usize> {
    let range = |word: &str| {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        Some(first.trim().parse::<usize>().ok()?..=last.trim().parse::<usize>().ok()?)
    };
    list.trim().split(',').filter_map(range).flatten().collect()
}

/// The number of cores to which these CPUs belong.
fn cores(list: &str) -> usize {
    let siblings = |cpu: usize| {
        let file = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        fs::read_to_string(file).unwrap_or_else(|_| cpu.to_string())
    };
    cpus(list).into_iter().map(siblings).collect::<BTreeSet<_>>().len()
}

impl Places {
    /// Reads the lines printed by the processes; `None` unless each rank printed one.
    fn read(text: &str) -> Option<Self> {
        let line = |line: &str| {
            let text = &line[line.find(MARK)?..];
            let mut all = serde_json::Deserializer::from_str(text).into_iter::<Place>();
            all.next()?.ok().filter(|place| is_host_name(&place.host))
        };
        let mut all: Vec<Place> = text.lines().filter_map(line).collect();
        all.sort_by_key(|place| place.cartograph_where);
        let is_whole = !all.is_empty()
            && (0u32..).zip(&all).all(|(rank, place)| {
                place.cartograph_where == rank && place.size as usize == all.len()
            });
        is_whole.then_some(Self(all))
    }

    /// The places in which a launcher starts processes, by its command line without the program.
    pub(super) fn ask(around: &impl Surroundings, launch: &Launch) -> Option<Self> {
        Self::read(&around.ask(&launch.of_places().ok()?, LONGEST)?)
    }

    /// The hosts of the processes.
    pub(super) fn hosts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|place| place.host.as_str())
    }

    pub(super) fn ranks(&self) -> u32 {
        self.0.len() as u32
    }

    /// The machine, and the names of its nodes.
    pub(super) fn machine(&self) -> Option<(Machine, Vec<String>)> {
        let node = |place: &Place| {
            let Place { host, address, .. } = place.clone();
            (place.cartograph_where, NodeIdentity { name: host, address })
        };
        let hosts: BTreeMap<u32, NodeIdentity> = self.0.iter().map(node).collect();
        traffic::machine_of(&Recording { size: self.ranks(), hosts, ..Recording::default() })
    }

    /// True if each rank is on its intended node, and may use at least as many cores as in the default order.
    pub(super) fn are(&self, node_of: &[u32], names: &[String], own: &Self) -> bool {
        let least = |places: &Self| places.0.iter().map(|place| place.own_cores).min();
        let is_there = |(place, node): (&Place, &u32)| {
            names.get(*node as usize).is_some_and(|name| *name == place.host)
        };
        self.0.len() == node_of.len()
            && self.0.iter().zip(node_of).all(is_there)
            && least(self) >= least(own)
    }

    /// True if processes may use more than one core.
    fn share_cores(&self) -> bool {
        self.0.iter().any(|place| place.own_cores > 1) || self.are_crowded()
    }

    /// True if a node has more processes than cores.
    fn are_crowded(&self) -> bool {
        let mut ranks: BTreeMap<&str, usize> = BTreeMap::new();
        self.0.iter().for_each(|place| *ranks.entry(&place.host).or_default() += 1);
        self.0.iter().any(|place| ranks[&*place.host] > place.cores)
    }

    /// The smallest number of cores of a node, if processes are not bound to one core each: the rank file must preserve
    /// that.
    pub(super) fn free_cores(&self) -> Option<usize> {
        let cores = self.0.iter().map(|place| place.cores).min().unwrap_or(1).max(1);
        self.share_cores().then_some(cores)
    }
}

/// [`Places::free_cores`] from the output of `cartograph where`, which a launcher started in place of a program; `None`
/// if the output is incomplete.
pub(crate) fn free_cores(printed: &str) -> Option<Option<usize>> {
    Some(Places::read(printed)?.free_cores())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_in_output_of_launchers() {
        let line = |rank: u32, host: &str| {
            format!("{MARK}{rank},\"size\":2,\"host\":\"{host}\",\"own_cores\":1,\"cores\":4}}")
        };
        let text = format!("1: {}\nwarning\n[0] {} \n", line(1, "b"), line(0, "a"));
        let places = Places::read(&text).unwrap();
        let (machine, names) = places.machine().unwrap();
        assert_eq!((machine.nodes(), &names[..]), (&[0, 1][..], &["a".into(), "b".to_owned()][..]));
        assert!(places.are(&[0, 1], &names, &places) && !places.are(&[1, 0], &names, &places));
        assert_eq!(places.free_cores(), None);
        let unbound = text.replace("\"own_cores\":1", "\"own_cores\":4");
        assert_eq!(free_cores(&unbound), Some(Some(4)));
        assert_eq!(Places::read(&line(0, "a")), None);
        assert_eq!(Places::read(&format!("{}\n{}", line(0, "a"), line(1, "-x"))), None);
        assert_eq!(Places::read(""), None);
        assert_eq!((cpus("0-3,8,10-11").len(), cpus(" 5"), cpus("")), (7, vec![5], vec![]));
    }
}
