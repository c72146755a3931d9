//! The names of nodes, as `--hosts` gives them.

use std::collections::HashSet;
use std::path::Path;

use cartograph::mapping::layout::host_names;
use cartograph_traffic::is_host_name;

use crate::output::{self, Failure, Result};

/// Checks that a launcher takes a name for nothing else than that of a host.
pub(super) fn check_name(name: &str) -> std::result::Result<(), String> {
    match is_host_name(name) {
        true => Ok(()),
        false => Err(format!(
            "'{name}' is no name of a host: these have letters, digits, dots, underscores and hyphens, and do not \
             begin with a hyphen"
        )),
    }
}

/// The nodes that `--hosts` names.
pub(super) struct Hosts {
    pub(super) names: Vec<String>,
    /// Processes on each, where that is said of all of them.
    pub(super) sizes: Option<Vec<usize>>,
}

impl Hosts {
    /// Reads a list, or a file with a list on each line. A list is as Slurm's `n[0-3],m7`; behind a name
    /// may be how many processes there are, in the ways of machine files: "host:48" and "host slots=48".
    pub(super) fn read(hosts: &str) -> Result<Self> {
        let file = Path::new(hosts);
        let text = if file.is_file() { output::read(file)? } else { hosts.to_owned() };
        let (mut names, mut sizes) = (Vec::new(), Vec::new());
        for line in text.lines().filter_map(|line| line.split('#').next()) {
            let (list, slots) = line.trim().split_once([' ', '\t']).unwrap_or((line.trim(), ""));
            if list.is_empty() {
                continue;
            }
            let wrong = |what: String| Failure::usage(format!("--hosts {hosts}: {what}"));
            let slots = slots.trim().strip_prefix("slots=").and_then(|number| number.parse().ok());
            for word in host_names(list.trim_end_matches(',')).map_err(wrong)? {
                let (name, count) = match word.split_once(':') {
                    Some((name, count)) => (name, count.parse().ok()),
                    None => (&word[..], slots),
                };
                check_name(name).map_err(wrong)?;
                names.push(name.to_owned());
                sizes.push(count.filter(|count| *count > 0));
            }
        }
        let mut seen = HashSet::new();
        if let Some(twice) = names.iter().find(|name| !seen.insert(*name)) {
            return Err(Failure::usage(format!(
                "--hosts {hosts}: {twice} is named twice; each node has a name of its own"
            )));
        }
        Ok(Self { names, sizes: sizes.into_iter().collect() })
    }

    /// Whether there are so many.
    pub(super) fn number(&self, nodes: usize, hosts: &str) -> Result<()> {
        let Self { names, .. } = self;
        if names.len() == nodes {
            return Ok(());
        }
        Err(Failure::usage(match hosts.contains([',', '[']) || Path::new(hosts).is_file() {
            true => format!("--hosts {hosts}: there are {nodes} nodes, but {} names", names.len()),
            false => format!(
                "--hosts {hosts}: there is no such file, and as a list it has one name, but there are {nodes} \
                 nodes"
            ),
        }))
    }
}
