//! What launchers take to place ranks as planned.

use std::fmt::Write;
use std::path::Path;

use cartograph::mapping::{Layout, Plan};
use clap::ValueEnum;

use crate::output::{self, Failure, Result};

/// The longest word that Linux passes to a program, in bytes, with its end.
const LONGEST_WORD: usize = 128 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Launcher {
    Openmpi,
    Mpich,
    Slurm,
}

/// The node on which each rank is to be started: those of the plan, and then the processes that have
/// no place in it.
pub(super) fn launch_order(plan: &Plan, layout: &Layout) -> Vec<u32> {
    let nodes = layout.nodes();
    let mut placed = vec![false; nodes.len()];
    let mut order: Vec<u32> = Vec::with_capacity(nodes.len());
    for old in plan.old_ranks() {
        placed[old as usize] = true;
        order.push(nodes[old as usize]);
    }
    let others = placed.iter().zip(nodes).filter(|(placed, _)| !**placed);
    order.extend(others.map(|(_, node)| *node));
    order
}

/// The names of the nodes: a list, a file with one in the first word of each line, or n0, n1, ...
pub(super) fn names(hosts: Option<&str>, layout: &Layout) -> Result<Vec<String>> {
    let nodes = layout.node_sizes().len();
    let Some(hosts) = hosts else { return Ok((0..nodes).map(|node| format!("n{node}")).collect()) };
    // "host:48" and "host slots=48" are machine files' ways.
    let word = |line: &str| {
        let name = line.split([' ', '\t', ':', '#']).next().unwrap_or_default();
        (!name.is_empty()).then(|| name.to_owned())
    };
    let names: Vec<String> = if Path::new(hosts).is_file() {
        output::read(Path::new(hosts))?.lines().map(str::trim).filter_map(word).collect()
    } else {
        hosts.split(',').map(str::trim).filter_map(word).collect()
    };
    if names.len() != nodes {
        return Err(Failure::usage(format!(
            "--hosts {hosts}: there are {nodes} nodes, but {} names (or the file is not there)",
            names.len()
        )));
    }
    Ok(names)
}

impl Launcher {
    /// The file's text; rank `r` is to be started on node `node_of[r]`.
    pub(super) fn write(self, node_of: &[u32], names: &[String]) -> Result<String> {
        let mut text = String::new();
        let name = |node: &u32| names[*node as usize].as_str();
        match self {
            Self::Openmpi => {
                let mut slots = vec![0; names.len()];
                for (rank, node) in node_of.iter().enumerate() {
                    let slot: &mut usize = &mut slots[*node as usize];
                    let _ = writeln!(text, "rank {rank}={} slot={slot}", name(node));
                    *slot += 1;
                }
            }
            // A host that comes again in a host list is another node to hydra, whose processes do
            // not share memory; so each is named once, and a map says who goes where.
            Self::Mpich => {
                let map: Vec<String> = node_of.iter().map(u32::to_string).collect();
                let (hosts, map) = (names.join(","), map.join(","));
                if hosts.len().max(map.len()) >= LONGEST_WORD {
                    return Err(Failure::new(format!(
                        "--rankfile mpich: {} ranks are too many for one argument of mpiexec; \
                         use --rankfile slurm FILE and mpiexec -f FILE",
                        node_of.len()
                    )));
                }
                let _ = writeln!(text, "-hosts {hosts} -rankmap {map}");
            }
            Self::Slurm => node_of.iter().for_each(|node| {
                let _ = writeln!(text, "{}", name(node));
            }),
        }
        Ok(text)
    }

    /// How a file is used.
    pub(super) fn usage(self, file: &str, ranks: usize) -> String {
        match self {
            Self::Openmpi => format!(
                "start it by: mpiexec --map-by rankfile:file={file} -n {ranks} PROGRAM\n\
                 (Open MPI 4: mpiexec --rankfile {file} -n {ranks} PROGRAM)"
            ),
            Self::Mpich => format!(
                "start it by: mpiexec $(cat {file}) -n {ranks} PROGRAM\n\
                 (an mpiexec without -rankmap: --rankfile slurm FILE and mpiexec -f FILE, but then \
                 MPICH takes a host that comes again for another node)"
            ),
            Self::Slurm => format!(
                "start it by: SLURM_HOSTFILE={file} srun --distribution=arbitrary -n {ranks} PROGRAM"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cartograph::mapping::Grid;

    #[test]
    fn every_launcher_starts_ranks_where_the_plan_wants_them() {
        let layout = Layout::blocks(&[2, 3]);
        let row = Grid::new(vec![4], vec![false], Grid::nearest_neighbors(&[1]));
        let plan = Plan { old_rank: Some([3, 0, 4, 1].into()), ..Plan::identity(&row, &layout, 0) };
        let order = launch_order(&plan, &layout);
        assert_eq!(order, [1, 0, 1, 0, 1]);
        let names = names(Some("a,b"), &layout).unwrap();
        let text = |launcher: Launcher| launcher.write(&order, &names).unwrap();
        assert_eq!(
            text(Launcher::Openmpi),
            "rank 0=b slot=0\nrank 1=a slot=0\nrank 2=b slot=1\nrank 3=a slot=1\nrank 4=b slot=2\n"
        );
        assert_eq!(text(Launcher::Mpich), "-hosts a,b -rankmap 1,0,1,0,1\n");
        assert_eq!(text(Launcher::Slurm), "b\na\nb\na\nb\n");
        let many = vec![0; LONGEST_WORD / 2 + 1];
        assert!(Launcher::Mpich.write(&many, &names).is_err());
        assert!(Launcher::Mpich.write(&many[1..], &names).is_ok());
    }
}
