//! The files by which launchers place ranks as planned.

use std::fmt::Write;

use cartograph_core::machine::Machine;
use cartograph_core::mapping::Plan;
use clap::ValueEnum;

use crate::hosts::Hosts;
use crate::output::{Failure, Result};

/// The longest word that Linux passes to a program, in bytes, with its end.
const LONGEST_WORD: usize = 128 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Launcher {
    Openmpi,
    Mpich,
    Slurm,
    Cray,
    Flux,
}

/// The node on which each rank is to be started: those of the plan, and then the processes that have
/// no place in it.
pub(crate) fn launch_order(plan: &Plan, layout: &Machine) -> Vec<u32> {
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

/// The names of the nodes: a list, a file with one in the first word of each line, those that are known
/// from elsewhere, or n0, n1, ...
pub(crate) fn names(
    hosts: Option<&str>,
    known: Option<&[String]>,
    layout: &Machine,
) -> Result<Vec<String>> {
    let nodes = layout.node_sizes().len();
    let Some(hosts) = hosts else {
        let numbered = || (0..nodes).map(|node| format!("n{node}")).collect();
        return Ok(known.map_or_else(numbered, <[String]>::to_vec));
    };
    let read = Hosts::read(hosts)?;
    read.number(nodes, hosts)?;
    Ok(read.names)
}

/// The ranks in runs on one node each: the node and how many.
fn runs(node_of: &[u32]) -> impl Iterator<Item = (u32, usize)> + '_ {
    node_of.chunk_by(|one, next| one == next).map(|run| (run[0], run.len()))
}

/// The largest number of ranks of a node.
fn most(node_of: &[u32]) -> usize {
    let mut nodes = node_of.to_vec();
    nodes.sort_unstable();
    runs(&nodes).map(|(_, ranks)| ranks).max().unwrap_or_default()
}

impl Launcher {
    /// All of them, as the command line writes them.
    pub(crate) const NAMES: &'static str = "openmpi, mpich, slurm, cray or flux";

    /// Returns whether its file has the names of nodes; else they are numbered in the order of the allocation.
    pub(crate) fn takes_names(self) -> bool {
        !matches!(self, Self::Cray | Self::Flux)
    }

    /// The file's text; rank `r` is to be started on node `node_of[r]`.
    pub(crate) fn write(self, node_of: &[u32], names: &[String]) -> Result<String> {
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
            // not share memory; so each is named once, and a map says which rank goes where.
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
            // Places are filled node by node, in the order in which the nodes were allocated; the file
            // says which rank takes each.
            Self::Cray => {
                let mut ranks: Vec<usize> = (0..node_of.len()).collect();
                ranks.sort_by_key(|rank| node_of[*rank]);
                for line in ranks.chunk_by(|one, next| node_of[*one] == node_of[*next]) {
                    let line: Vec<String> = line.iter().map(usize::to_string).collect();
                    let _ = writeln!(text, "{}", line.join(","));
                }
            }
            // RFC 34 of Flux: node, number of nodes, tasks on each, how often.
            Self::Flux => {
                let blocks: Vec<String> =
                    runs(node_of).map(|(node, tasks)| format!("[{node},1,{tasks},1]")).collect();
                let _ = writeln!(text, "[{}]", blocks.join(","));
                if text.len() >= LONGEST_WORD {
                    return Err(Failure::new(format!(
                        "--rankfile flux: {} ranks are too many for one argument of flux run; use \
                         --rankfile slurm FILE and flux run --taskmap=hostfile:FILE",
                        node_of.len()
                    )));
                }
            }
        }
        Ok(text)
    }

    /// The use of a file, on a line.
    pub(crate) fn usage_words(self, file: &str, ranks: u32) -> String {
        let node_of = vec![0; ranks as usize];
        let usage = self.usage(file, &node_of);
        let line = usage.lines().next().unwrap_or_default();
        line.strip_prefix("start it by: ").unwrap_or(line).to_owned()
    }

    /// The use of a file; rank `r` is to be started on node `node_of[r]`.
    pub(crate) fn usage(self, file: &str, node_of: &[u32]) -> String {
        let ranks = node_of.len();
        match self {
            Self::Openmpi => format!(
                "start it by: mpiexec --map-by rankfile:file={file} -n {ranks} PROGRAM\n\
                 (Open MPI 4: mpiexec --rankfile {file} -n {ranks} PROGRAM; it ends with code 1 and \
                 without a word where a node has fewer cores than ranks, here {})",
                most(node_of)
            ),
            Self::Mpich => format!(
                "start it by: mpiexec $(cat {file}) -n {ranks} PROGRAM\n\
                 (an mpiexec that does not know -rankmap, as Debian's of MPICH 4.0.2, cannot place ranks: \
                 use srun with --rankfile slurm, or link the program with a later MPICH)"
            ),
            Self::Slurm => format!(
                "start it by: SLURM_HOSTFILE={file} srun --distribution=arbitrary -n {ranks} PROGRAM\n\
                 (not MPICH by srun --mpi=pmi2: Slurm tells it then that each process is on a node of its own, and \
                 none shares memory with another; take an MPI by --mpi=pmix)"
            ),
            Self::Cray => format!(
                "start it by: MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE={file} srun -n {ranks} \
                 PROGRAM\n(nodes are filled one after the other, in the order of the allocation)"
            ),
            Self::Flux => format!(
                "start it by: flux run -n {ranks} --taskmap=manual:$(cat {file}) PROGRAM\n\
                 (nodes are numbered in the order of the allocation)"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cartograph_core::mapping::{Distances, Grid};

    #[test]
    fn every_launcher_starts_ranks_where_the_plan_wants_them() {
        let layout = Machine::blocks(&[2, 3]);
        let row = Grid::new(vec![4], vec![false], Grid::nearest_neighbors(&[1]));
        let plan = Plan {
            old_rank: Some([3, 0, 4, 1].into()),
            ..Plan::identity(&row, &layout, &Distances::default(), |_| 0)
        };
        let order = launch_order(&plan, &layout);
        assert_eq!(order, [1, 0, 1, 0, 1]);
        let names = names(Some("a,b"), None, &layout).unwrap();
        let text = |launcher: Launcher| launcher.write(&order, &names).unwrap();
        assert_eq!(
            text(Launcher::Openmpi),
            "rank 0=b slot=0\nrank 1=a slot=0\nrank 2=b slot=1\nrank 3=a slot=1\nrank 4=b slot=2\n"
        );
        let how = Launcher::Openmpi.usage("ranks", &order);
        assert!(how.contains("-n 5 ") && how.contains("fewer cores than ranks, here 3)"), "{how}");
        assert_eq!(text(Launcher::Mpich), "-hosts a,b -rankmap 1,0,1,0,1\n");
        assert_eq!(text(Launcher::Slurm), "b\na\nb\na\nb\n");
        assert_eq!(text(Launcher::Cray), "1,3\n0,2,4\n");
        let flux = Launcher::Flux.write(&[1, 1, 0, 1], &names).unwrap();
        assert_eq!(flux, "[[1,1,2,1],[0,1,1,1],[1,1,1,1]]\n");
        let many = vec![0; LONGEST_WORD / 2 + 1];
        assert!(Launcher::Mpich.write(&many, &names).is_err());
        assert!(Launcher::Mpich.write(&many[1..], &names).is_ok());
    }
}
