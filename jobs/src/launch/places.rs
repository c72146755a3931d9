//! The places of a job's processes: the launcher starts `cartograph where` in place of the program.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

use cartograph_core::launcher::variables;
use cartograph_core::machine::{Machine, cpus as levels};
use cartograph_traffic::{Address, NodeIdentity, Recording, host_name, is_host_name};
use serde::{Deserialize, Serialize};

use super::binding::{self, Binding, cpus};
use super::command::Launch;
use crate::error::{Failure, Result};
use crate::processes::{Question, job};
use crate::traffic;

/// The time limit for a launcher to start `cartograph where` in all processes and end.
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
    /// The CPUs that it may use; empty if they are unknown.
    #[serde(default)]
    cpus: String,
    /// The number of cores of its node that the job may use.
    cores: usize,
    /// The NUMA domain with all CPUs that it may use, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    numa: Option<u16>,
    /// Where it gets memory, unless that is the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    memory: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    address: Option<Address>,
}

/// The places of a job's processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places(Vec<Place>);

/// The line with the place of this process, which takes its CPUs in a file first.
///
/// # Errors
///
/// The process does not know its rank.
pub fn own_place(cpus: Option<&Path>) -> Result<String> {
    if let Some(file) = cpus {
        binding::take(file);
    }
    let number = |text: String| text.parse::<u32>().ok();
    let rank = variables::rank(|name| env::var(name).ok()).and_then(number);
    let size = variables::ALL.iter().find_map(|all| {
        env::var(all.rank).ok()?;
        number(env::var(all.size?).ok()?)
    });
    let (Some(cartograph_where), Some(size)) = (rank, size) else {
        return Err(Failure::new("no launcher set the rank of this process"));
    };
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let (cpus, allowed) = binding::own_and_allowed();
    // The first word is an address.
    let memory = read("/proc/self/numa_maps").split_whitespace().nth(1).map(str::to_owned);
    let variable = |name| env::var(name).ok();
    let system = |file: &str| fs::read_to_string(format!("/sys/devices/system/{file}")).ok();
    let place = Place {
        cartograph_where,
        size,
        host: host_name(read("/proc/sys/kernel/hostname").trim()),
        cores: cores(&allowed),
        numa: levels::domains(&binding::cpus(&cpus), system)[1],
        cpus,
        memory: memory.filter(|policy| policy != "default"),
        address: variable("SLURM_TOPOLOGY_ADDR")
            .zip(variable("SLURM_TOPOLOGY_ADDR_PATTERN"))
            .map(|(path, pattern)| Address { path, pattern }),
    };
    Ok(serde_json::to_string(&place).expect("all keys are strings") + "\n")
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
    pub(crate) fn read(text: &str) -> Option<Self> {
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

    /// The places in which a launcher starts processes, as `cartograph where` in place of the program shows.
    pub fn of_launch(launch: &Launch) -> Option<Self> {
        Self::read(&job::ask(&Self::question(&launch.of_places(&[]).ok()?))?)
    }

    /// Asks for the places by a launcher's command line with `cartograph where`.
    pub(crate) fn question(words: &[OsString]) -> Question<'_> {
        let is_answer = |text: &str| Self::read(text).is_some();
        Question { words, longest: LONGEST, is_answer: Some(is_answer) }
    }

    /// The hosts of the processes.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|place| place.host.as_str())
    }

    pub(crate) fn ranks(&self) -> u32 {
        self.0.len() as u32
    }

    /// The machine, and the names of its nodes.
    pub fn machine(&self) -> Option<(Machine, Vec<String>)> {
        let node = |place: &Place| {
            let Place { host, address, .. } = place.clone();
            (place.cartograph_where, NodeIdentity { name: host, address })
        };
        let hosts: BTreeMap<u32, NodeIdentity> = self.0.iter().map(node).collect();
        traffic::machine_of(&Recording { size: self.ranks(), hosts, ..Recording::default() })
    }

    /// True if the CPUs of all processes are known.
    pub(crate) fn have_cpus(&self) -> bool {
        self.0.iter().all(|place| !place.cpus.is_empty())
    }

    /// The CPUs of ranks on these nodes, if these are the places of the default order; `None` if the nodes are others.
    /// With numbers, they take the CPUs of these processes of their node.
    pub(crate) fn binding(
        &self,
        node_of: &[u32],
        slots: &[u32],
        names: &[String],
    ) -> Option<Binding> {
        let nodes: Option<Vec<&String>> =
            node_of.iter().map(|node| names.get(*node as usize)).collect();
        let default = self.0.iter().map(|place| (&*place.host, &*place.cpus));
        Binding::new(default, nodes?.into_iter().map(String::as_str), slots)
    }

    /// The NUMA domain of each process of each node; none if one is unknown, if no node has processes in two, or if ranks could
    /// not change places: if a node's processes have different numbers of CPUs, or one a memory policy, which would not move.
    pub(crate) fn domains(&self) -> Vec<Vec<u64>> {
        let Some((machine, names)) = self.machine() else { return Vec::new() };
        let mut all = vec![Vec::new(); names.len()];
        let mut counts = vec![None; names.len()];
        for (place, node) in self.0.iter().zip(machine.nodes()) {
            let Some(numa) = place.numa.filter(|_| place.memory.is_none()) else {
                return Vec::new();
            };
            let count = *counts[*node as usize].get_or_insert_with(|| cpus(&place.cpus).len());
            if cpus(&place.cpus).len() != count {
                return Vec::new();
            }
            all[*node as usize].push(u64::from(*node) << 16 | u64::from(numa));
        }
        let has_two = |of_node: &Vec<u64>| of_node.iter().any(|domain| *domain != of_node[0]);
        if all.iter().any(has_two) { all } else { Vec::new() }
    }

    /// Checks that each rank is on its intended node, and has its CPUs and the memory policy of that node's processes in
    /// the default order.
    ///
    /// # Errors
    ///
    /// Why the job runs unchanged.
    pub(crate) fn check(
        &self,
        (node_of, names): (&[u32], &[String]),
        own: &Self,
        binding: Option<&Binding>,
    ) -> core::result::Result<(), &'static str> {
        let is_there = |(place, node): (&Place, &u32)| {
            names.get(*node as usize).is_some_and(|name| *name == place.host)
        };
        if self.0.len() != node_of.len() || !self.0.iter().zip(node_of).all(is_there) {
            return Err("the launcher did not place ranks as in the rank file");
        }
        let has_cpus = |(rank, place): (usize, &Place)| {
            let wanted = binding.and_then(|binding| binding.of(rank));
            wanted.is_none_or(|wanted| wanted.is_empty() || wanted == place.cpus)
        };
        if !self.0.iter().enumerate().all(has_cpus) {
            return Err("ranks could not have the CPUs of the default order in their placement");
        }
        let policies = |places: &Self| {
            let of = |place: &Place| (place.host.clone(), place.memory.clone());
            places.0.iter().map(of).collect::<BTreeSet<_>>()
        };
        match policies(self) == policies(own) {
            true => Ok(()),
            false => Err("ranks would get their memory from other nodes than in the default order"),
        }
    }

    /// The smallest number of cores of a node that the job may use.
    pub(crate) fn cores(&self) -> usize {
        self.0.iter().map(|place| place.cores).min().unwrap_or(1).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_in_output_of_launchers() {
        let line = |rank: u32, host: &str| {
            format!("{MARK}{rank},\"size\":2,\"host\":\"{host}\",\"cpus\":\"{rank}\",\"cores\":4}}")
        };
        let text = format!("1: {}\nwarning\n[0] {} \n", line(1, "b"), line(0, "a"));
        let places = Places::read(&text).unwrap();
        let (machine, names) = places.machine().unwrap();
        assert_eq!((machine.nodes(), &names[..]), (&[0, 1][..], &["a".into(), "b".to_owned()][..]));
        assert_eq!((places.cores(), places.have_cpus()), (4, true));
        assert_eq!(Places::read(&line(0, "a")), None);
        assert_eq!(Places::read(&format!("{}\n{}", line(0, "a"), line(1, "-x"))), None);
        assert_eq!(Places::read(""), None);
        // Versions before this one wrote such lines.
        let old = text.replace("\"cpus\":\"0\"", "\"own_cores\":1");
        assert!(!Places::read(&old).unwrap().have_cpus());
    }

    #[test]
    fn placements_of_ranks_are_checked() {
        let places = |all: &[(&str, &str, Option<&str>)]| {
            let place = |(rank, (host, cpus, memory)): (u32, &(&str, &str, Option<&str>))| Place {
                cartograph_where: rank,
                size: all.len() as u32,
                host: (*host).into(),
                cpus: (*cpus).into(),
                cores: 4,
                numa: None,
                memory: memory.map(str::to_owned),
                address: None,
            };
            Places((0..).zip(all).map(place).collect())
        };
        let names = ["a".to_owned(), "b".to_owned()];
        let own = places(&[("a", "0", None), ("a", "1", None), ("b", "2-3", None)]);
        let binding = own.binding(&[1, 0, 0], &[], &names).unwrap();
        let check = |found: &[(&str, &str, Option<&str>)]| {
            places(found)
                .check((&[1, 0, 0], &names), &own, Some(&binding))
                .err()
                .unwrap_or_default()
        };
        assert_eq!(check(&[("b", "2-3", None), ("a", "0", None), ("a", "1", None)]), "");
        for (found, why) in [
            ([("a", "2-3", None), ("b", "0", None), ("a", "1", None)], "did not place ranks"),
            ([("b", "0-3", None), ("a", "0", None), ("a", "1", None)], "could not have the CPUs"),
            ([("b", "2-3", Some("bind:0")), ("a", "0", None), ("a", "1", None)], "memory"),
        ] {
            assert!(check(&found).contains(why), "{}", check(&found));
        }
        assert_eq!(own.binding(&[1, 1, 0], &[], &names), None);
        assert_eq!(own.binding(&[2, 0, 0], &[], &names), None);
    }

    #[test]
    fn ranks_change_cpus_only_where_nothing_else_depends_on_them() {
        let places = |all: &[(&str, u16, Option<&str>)]| {
            let place = |(rank, (cpus, numa, memory)): (u32, &(&str, u16, Option<&str>))| Place {
                cartograph_where: rank,
                size: all.len() as u32,
                host: if rank < 2 { "a" } else { "b" }.to_owned(),
                cpus: (*cpus).to_owned(),
                cores: 4,
                numa: Some(*numa),
                memory: memory.map(str::to_owned),
                address: None,
            };
            Places((0..).zip(all).map(place).collect())
        };
        let [one, other] = [("0-1", 0, None), ("2-3", 1, None)];
        assert_eq!(places(&[one, other, one, other]).domains(), [[0, 1], [1 << 16, 1 << 16 | 1]]);
        assert_eq!(places(&[one, one, other, other]).domains(), [[0u64; 0]; 0]);
        assert_eq!(places(&[one, ("2", 1, None), one, other]).domains(), [[0u64; 0]; 0]);
        let local = ("2-3", 1, Some("bind:1"));
        assert_eq!(places(&[one, local, one, other]).domains(), [[0u64; 0]; 0]);
        let mut unknown = places(&[one, other, one, other]);
        unknown.0[0].numa = None;
        assert_eq!(unknown.domains(), [[0u64; 0]; 0]);
    }
}
