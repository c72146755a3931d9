//! The files with which launchers place ranks as planned.

use std::ffi::OsStr;

use cartograph_core::launcher::{Format, LauncherKind};
use cartograph_core::machine::Machine;
use cartograph_jobs::launch::{Passing, Placement};

use crate::hosts::Hosts;
use crate::output::Result;

/// The names of the nodes: from a list, from a file with a name in the first word of each line, from elsewhere, or n0,
/// n1, ...
pub(super) fn names(
    hosts: Option<&str>,
    known: Option<&[String]>,
    machine: &Machine,
) -> Result<Vec<String>> {
    let nodes = machine.node_sizes().len();
    let Some(hosts) = hosts else {
        let numbered = || (0..nodes).map(|node| format!("n{node}")).collect();
        return Ok(known.map_or_else(numbered, <[String]>::to_vec));
    };
    let read = Hosts::read(hosts)?;
    read.number(nodes, hosts)?;
    Ok(read.names)
}

/// The ranks as runs on one node each: the node and the number of ranks.
fn runs(node_of: &[u32]) -> impl Iterator<Item = (u32, usize)> + '_ {
    node_of.chunk_by(|one, next| one == next).map(|run| (run[0], run.len()))
}

/// The largest number of ranks of a node.
fn most(node_of: &[u32]) -> usize {
    let mut nodes = node_of.to_vec();
    nodes.sort_unstable();
    runs(&nodes).map(|(_, ranks)| ranks).max().unwrap_or_default()
}

/// The launcher for a file format, and its arguments.
fn launcher(format: Format) -> (LauncherKind, &'static str) {
    match format {
        Format::Openmpi => (LauncherKind::Prterun, "mpiexec"),
        Format::Slurm | Format::Cray => (LauncherKind::Srun, "srun"),
        Format::Flux => (LauncherKind::Flux, "flux run"),
    }
}

/// How to use a file; rank `r` is to be started on node `node_of[r]`.
pub(super) fn usage(format: Format, file: &str, node_of: &[u32]) -> String {
    let ranks = node_of.len();
    let (kind, command) = launcher(format);
    let Passing { mut variables, options } =
        Placement::of(format, kind).passing(OsStr::new(file), &format!("$(cat {file})"));
    variables.push(command.into());
    variables.extend(options);
    let line = variables.join(OsStr::new(" "));
    let note = match format {
        Format::Openmpi => format!(
            "(Open MPI 4: mpiexec --rankfile {file} -n {ranks} PROGRAM; it exits silently with code 1 when a node has \
             fewer cores than ranks, here {})",
            most(node_of)
        ),
        Format::Slurm => "(not for MPICH with srun --mpi=pmi2, where Slurm reports each process on a separate node and \
                          none shares memory; use an MPI with --mpi=pmix)"
            .to_owned(),
        Format::Cray => {
            "(nodes are filled in allocation order)".to_owned()
        }
        Format::Flux => "(nodes are numbered in allocation order)".to_owned(),
    };
    format!("run: {} -n {ranks} PROGRAM\n{note}", line.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_names_the_file_and_the_largest_node() {
        let order = [1, 0, 1, 0, 1];
        assert_eq!(names(Some("a,b"), None, &Machine::blocks(&[2, 3])).unwrap(), ["a", "b"]);
        let how = usage(Format::Openmpi, "ranks", &order);
        assert!(how.starts_with("run: mpiexec --map-by rankfile:file=ranks -n 5 PROGRAM\n"));
        assert!(how.contains("fewer cores than ranks, here 3)"), "{how}");
    }
}
