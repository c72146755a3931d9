//! The names of nodes given by `--hosts`.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use cartograph_core::machine::host_names;
use cartograph_traffic::is_host_name;

use crate::output::{self, Failure, Result};

/// Checks that a launcher takes a name for a host name and nothing else.
pub(crate) fn check_name(name: &str) -> std::result::Result<(), String> {
    match is_host_name(name) {
        true => Ok(()),
        false => Err(format!(
            "'{name}' is not a host name: these have letters, digits, dots, underscores and hyphens, and do not \
             begin with a hyphen"
        )),
    }
}

/// The number in a text like "slots=48 max_slots=96", in which Open MPI allows blanks around the equals sign.
fn slots_of(words: &str) -> Option<usize> {
    let words = words.split('=').map(str::trim).collect::<Vec<_>>().join("=");
    words.split_whitespace().find_map(|word| word.strip_prefix("slots=")?.parse().ok())
}

/// The nodes that `--hosts` names.
pub(crate) struct Hosts {
    pub(crate) names: Vec<String>,
    /// The number of processes on each, if given for all of them.
    pub(crate) sizes: Option<Vec<usize>>,
}

impl Hosts {
    /// Reads a list, or a file with a list on each line. A list is like Slurm's `n[0-3],m7`; a name may be followed by
    /// its number of processes, as in machine files: "host:48" and "host slots=48". For a name on several lines, these
    /// numbers are summed; without numbers, each line is a process, as in the file named by `PBS_NODEFILE`.
    pub(crate) fn read(hosts: &str) -> Result<Self> {
        let file = Path::new(hosts);
        let text = if file.is_file() { output::read(file)? } else { hosts.to_owned() };
        // A name with its number, and the processes given for the name.
        let mut nodes: HashMap<String, (usize, Option<usize>)> = HashMap::new();
        let mut repeats = false;
        for line in text.lines().filter_map(|line| line.split('#').next()) {
            let (list, slots) = line.trim().split_once([' ', '\t']).unwrap_or((line.trim(), ""));
            if list.is_empty() {
                continue;
            }
            let wrong = |what: String| Failure::usage(format!("--hosts {hosts}: {what}"));
            let slots = slots_of(slots);
            let mut seen = HashSet::new();
            for word in host_names(list.trim_end_matches(',')).map_err(wrong)? {
                let (name, count) = match word.split_once(':') {
                    Some((name, count)) => (name.to_owned(), count.parse().ok()),
                    None => (word, slots),
                };
                check_name(&name).map_err(wrong)?;
                if !seen.insert(name.clone()) {
                    let twice = format!("{name} given twice; node names must differ");
                    return Err(wrong(twice));
                }
                let count = count.filter(|count| *count > 0);
                let next = nodes.len();
                let (node, size) = nodes.entry(name).or_insert((next, count));
                if *node < next {
                    repeats = true;
                    *size = Some(size.unwrap_or(1).saturating_add(count.unwrap_or(1)));
                }
            }
        }
        let mut nodes: Vec<(String, (usize, Option<usize>))> = nodes.into_iter().collect();
        nodes.sort_unstable_by_key(|(_, (node, _))| *node);
        // If some names repeat, a name without a number has one process.
        let one = repeats.then_some(1);
        let sizes = nodes.iter().map(|(_, (_, size))| size.or(one)).collect();
        Ok(Self { names: nodes.into_iter().map(|(name, _)| name).collect(), sizes })
    }

    /// Checks the number of hosts.
    pub(crate) fn number(&self, nodes: usize, hosts: &str) -> Result<()> {
        let Self { names, .. } = self;
        if names.len() == nodes {
            return Ok(());
        }
        Err(Failure::usage(match hosts.contains([',', '[']) || Path::new(hosts).is_file() {
            true => format!("--hosts {hosts}: there are {nodes} nodes, but {} names", names.len()),
            false => format!(
                "--hosts {hosts}: no such file, and as a list it has one name for {nodes} nodes"
            ),
        }))
    }
}
