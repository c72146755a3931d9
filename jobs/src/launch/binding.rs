//! The CPUs that processes may use. In a placement, the ranks of a node take the lists of CPUs that the launcher gave the
//! processes there in the default order, whatever it does now.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use cartograph_core::launcher::variables;
use cartograph_shim::splitmix::digest;
use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::error::{self, Result};

/// The end of the name of the file that a process writes next to the lists if it could not take its own.
const UNBOUND: &str = "unbound";

/// The list of each rank in a placement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Binding {
    /// The lists, as Linux prints them. An empty one is unknown.
    lists: Vec<String>,
    /// The index of each rank's list.
    of_rank: Vec<u32>,
}

impl Binding {
    /// The lists of ranks on these nodes, if they are those of the processes of a job: each with the name of its node and
    /// its list. The ranks of a node take those of its processes by these numbers or, without numbers, in order.
    pub(crate) fn new<'a>(
        default: impl Iterator<Item = (&'a str, &'a str)>,
        nodes: impl Iterator<Item = &'a str>,
        slots: &[u32],
    ) -> Option<Self> {
        let mut of_node: BTreeMap<&str, (Vec<&str>, usize)> = BTreeMap::new();
        default.for_each(|(node, list)| of_node.entry(node).or_default().0.push(list));
        let mut numbers = BTreeMap::new();
        let mut lists = Vec::new();
        let mut number = |list: &'a str| {
            *numbers.entry(list).or_insert_with(|| {
                lists.push(list.to_owned());
                lists.len() as u32 - 1
            })
        };
        let of_rank = |(rank, node): (usize, &str)| {
            let (lists, next) = of_node.get_mut(node)?;
            let slot = slots.get(rank).map_or(*next, |slot| *slot as usize);
            *next += 1;
            lists.get(slot).map(|list| number(list))
        };
        let of_rank: Option<Vec<u32>> = nodes.enumerate().map(of_rank).collect();
        Some(Self { lists, of_rank: of_rank? })
    }

    /// Reads a file.
    pub(crate) fn read(file: &Path) -> Option<Self> {
        serde_json::from_str(&fs::read_to_string(file).ok()?).ok()
    }

    pub(crate) fn write(&self, file: &Path) -> Result<()> {
        error::write(file, &serde_json::to_string(self).expect("all keys are strings"))
    }

    /// The list of a rank.
    pub(crate) fn of(&self, rank: usize) -> Option<&str> {
        let list = *self.of_rank.get(rank)? as usize;
        self.lists.get(list).map(String::as_str)
    }

    /// A number for the lists.
    pub(crate) fn number(&self) -> u64 {
        digest(format!("{self:?}").as_bytes())
    }
}

/// The file with the lists for a rank file.
pub(crate) fn file_for(rank_file: &Path) -> PathBuf {
    rank_file.with_extension("cpus")
}

/// Gives this process the CPUs in a file. It keeps its own if it cannot, and notes that in a file next to it.
pub fn take(file: &Path) {
    let why = match (Binding::read(file), rank()) {
        (Some(binding), Some(rank)) => match binding.of(rank) {
            Some("") => return,
            Some(list) => match set(list) {
                Ok(()) => return,
                Err(error) => format!("rank {rank} could not be bound to CPUs {list} ({error})"),
            },
            None => format!("rank {rank} has no list of CPUs"),
        },
        (_, None) => "a process did not know its rank".to_owned(),
        // The store is not on this node: nothing can be noted.
        (None, _) => return,
    };
    // One note is enough.
    let note = File::create_new(file.with_extension(UNBOUND));
    let _ = note.and_then(|mut note| note.write_all(why.as_bytes()));
}

/// Why a process of a job did not take its CPUs in a file, if one did not.
pub(crate) fn missed(file: &Path) -> Option<String> {
    fs::read_to_string(file.with_extension(UNBOUND)).ok()
}

/// The rank of this process, as launchers set it.
fn rank() -> Option<usize> {
    variables::rank(|name| env::var(name).ok())?.parse().ok()
}

/// Gives this process exactly these CPUs, or none of them.
fn set(list: &str) -> nix::Result<()> {
    let this = Pid::from_raw(0);
    let before = sched_getaffinity(this)?;
    let mut wanted = CpuSet::new();
    for cpu in cpus(list) {
        wanted.set(cpu)?;
    }
    if before == wanted {
        return Ok(());
    }
    sched_setaffinity(this, &wanted)?;
    // Linux ignores CPUs that the job may not use.
    if sched_getaffinity(this)? != wanted {
        sched_setaffinity(this, &before)?;
        return Err(Errno::EINVAL);
    }
    Ok(())
}

/// The CPUs that this process may use; empty if they are unknown.
pub(crate) fn own() -> String {
    sched_getaffinity(Pid::from_raw(0)).map_or_else(|_| String::new(), |own| list(&own))
}

/// The same, and the CPUs that all processes of the job may use on this node: those left after asking for all.
pub(crate) fn own_and_allowed() -> (String, String) {
    let this = Pid::from_raw(0);
    let Ok(own) = sched_getaffinity(this) else { return Default::default() };
    let mut all = CpuSet::new();
    (0..CpuSet::count()).for_each(|cpu| all.set(cpu).unwrap_or_default());
    let allowed = sched_setaffinity(this, &all).and_then(|()| sched_getaffinity(this));
    let _ = sched_setaffinity(this, &own);
    (list(&own), list(&allowed.unwrap_or(own)))
}

/// The CPUs of a set as Linux prints them.
fn list(set: &CpuSet) -> String {
    let cpus: Vec<usize> =
        (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap_or(false)).collect();
    let runs = cpus.chunk_by(|one, next| one + 1 == *next);
    let run = |run: &[usize]| match run {
        [cpu] => cpu.to_string(),
        run => format!("{}-{}", run[0], run[run.len() - 1]),
    };
    runs.map(run).collect::<Vec<_>>().join(",")
}

/// The CPUs in a list as Linux prints it.
pub(crate) fn cpus(list: &str) -> Vec<usize> {
    let range = |word: &str| {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        Some(first.trim().parse::<usize>().ok()?..=last.trim().parse::<usize>().ok()?)
    };
    list.trim().split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_take_the_lists_of_their_node_in_its_order() {
        // Round-robin on nodes of three, two and one processes.
        let default =
            [("a", "0"), ("b", "0-3"), ("c", "0-7"), ("a", "1"), ("b", "4-7"), ("a", "2")];
        let with_slots = |nodes: &[&'static str], slots: &[u32]| {
            let binding = Binding::new(default.into_iter(), nodes.iter().copied(), slots)?;
            Some((0..nodes.len()).map(|rank| binding.of(rank).unwrap().to_owned()).collect())
        };
        let binding = |nodes: &[&'static str]| with_slots(nodes, &[]);
        let lists = |text: &str| Some(text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(binding(&["a", "a", "a", "b", "b", "c"]), lists("0 1 2 0-3 4-7 0-7"));
        assert_eq!(binding(&["b", "a", "c", "a", "b", "a"]), lists("0-3 0 0-7 1 4-7 2"));
        let nodes = ["b", "a", "c", "a", "b", "a"];
        assert_eq!(with_slots(&nodes, &[1, 2, 0, 0, 0, 1]), lists("4-7 2 0-7 0 0-3 1"));
        assert_eq!(with_slots(&nodes, &[2, 2, 0, 0, 0, 1]), None);
        // A node has fewer processes, or is another.
        assert_eq!(binding(&["c", "c", "a", "b", "a", "b"]), None);
        assert_eq!(binding(&["d"]), None);
        let many =
            Binding::new([("a", "0-7"); 100].into_iter(), ["a"; 100].into_iter(), &[]).unwrap();
        assert_eq!((many.lists.len(), many.of(99), many.of(100)), (1, Some("0-7"), None));
    }

    #[test]
    fn a_process_takes_its_list_or_keeps_its_own() {
        let (own, allowed) = own_and_allowed();
        assert_eq!(list(&sched_getaffinity(Pid::from_raw(0)).unwrap()), own);
        let first = cpus(&allowed)[0];
        set(&first.to_string()).unwrap();
        assert_eq!(own_and_allowed(), (first.to_string(), allowed));
        // There may be such a CPU, but not together with more than a set has.
        for wrong in ["1023", "0-1023", "5000", ""] {
            assert!(set(wrong).is_err(), "{wrong}");
            assert_eq!(own_and_allowed().0, first.to_string());
        }
        set(&own).unwrap();
    }

    #[test]
    fn lists_are_read_and_printed_in_linux_format() {
        for text in ["0-3,8,10-11", "5", "", "0,2,4-1023"] {
            let mut set = CpuSet::new();
            cpus(text).into_iter().for_each(|cpu| set.set(cpu).unwrap());
            assert_eq!(list(&set), text);
        }
    }
}
