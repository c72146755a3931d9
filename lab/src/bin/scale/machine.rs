//! The simulated machines, and the nodes of a job on them.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A network of 64 nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Network {
    pub(crate) name: &'static str,
    /// SimGrid's description.
    topology: &'static str,
    parameters: &'static str,
    /// The group of each node at each level above, the outermost first.
    widths: &'static [u32],
}

/// Switches of 16 nodes, each with 8 links upward.
pub(crate) const FAT_TREE: Network =
    Network { name: "fat tree", topology: "FAT_TREE", parameters: "2;16,4;1,8;1,1", widths: &[16] };

/// Four groups of 16 nodes, two on each router.
pub(crate) const DRAGONFLY: Network = Network {
    name: "dragonfly",
    topology: "DRAGONFLY",
    parameters: "4,1;2,1;4,1;2",
    widths: &[16, 2],
};

const NODES: u32 = 64;

/// A machine, and the MPI on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Machine {
    pub(crate) network: Network,
    /// The rate of each link.
    pub(crate) gbits: u32,
    /// Processes on a node.
    pub(crate) processes: u32,
    /// The MPI whose algorithms for collectives are used.
    pub(crate) selector: &'static str,
}

impl Machine {
    /// The nodes of a job, in the order of their names: a random choice of the machine's.
    pub(crate) fn nodes(self, ranks: u32) -> Vec<u32> {
        let mut all: Vec<u32> = (0..NODES).collect();
        let mut state = 1u64;
        for at in (1..all.len()).rev() {
            // The generator of Knuth's MMIX: the same numbers on every machine.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            all.swap(at, (state >> 33) as usize % (at + 1));
        }
        all.truncate(ranks.div_ceil(self.processes) as usize);
        all.sort_unstable();
        all
    }

    /// The path of a node, with the groups above it.
    pub(crate) fn path(self, node: u32) -> String {
        let groups = self.network.widths.iter().map(|width| format!("g{width}.{}/", node / width));
        groups.chain([format!("n{node}")]).collect()
    }

    /// The group of each node at each level above the nodes, the lowest first.
    pub(crate) fn above(self) -> Vec<Vec<u32>> {
        let widths = self.network.widths.iter().rev();
        widths.map(|width| (0..NODES).map(|node| node / width).collect()).collect()
    }

    /// The links between two nodes: two to each common switch below the top, and two more for each level crossed.
    pub(crate) fn hops(self, one: u32, other: u32) -> f64 {
        let crossed = self.network.widths.iter().filter(|width| one / **width != other / **width);
        2.0 + 2.0 * crossed.count() as f64
    }

    /// SimGrid's description: a switch takes 250 ns; a copy inside a node 10 GB/s, or 4 GB/s if 128 processes share
    /// the memory.
    fn platform(self) -> String {
        let Self { network: Network { topology, parameters, .. }, gbits, processes, .. } = self;
        let (rate, copies) =
            (f64::from(gbits) / 8.0, if processes > 64 { "4GBps" } else { "10GBps" });
        format!(
            r#"<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{}" speed="1Gf" core="{processes}" bw="{rate}GBps" lat="250ns"
           loopback_bw="{copies}" loopback_lat="400ns" topology="{topology}" topo_parameters="{parameters}"/>
</platform>
"#,
            NODES - 1
        )
    }

    /// The seconds that the trace in a directory takes with its ranks on these nodes. The selectors' own choice fails
    /// in a replay for some collectives: the algorithm that both MPIs choose for a few bytes replaces it.
    pub(crate) fn replay(self, directory: &Path, node_of: &[u32]) -> Result<f64, Box<dyn Error>> {
        let of_few = ["allreduce:rdb", "bcast:binomial_tree", "reduce:binomial"];
        self.replay_with(&of_few, directory, node_of)
    }

    /// The same with these algorithms of collectives.
    pub(crate) fn replay_with(
        self,
        algorithms: &[&str],
        directory: &Path,
        node_of: &[u32],
    ) -> Result<f64, Box<dyn Error>> {
        fs::write(directory.join("platform.xml"), self.platform())?;
        let mut hosts = String::new();
        node_of.iter().try_for_each(|node| writeln!(hosts, "n{node}"))?;
        fs::write(directory.join("hosts"), hosts)?;
        let mut command = Command::new("smpirun");
        command.current_dir(directory).args(["-np", &node_of.len().to_string()]);
        command.args(["-platform", "platform.xml", "-hostfile", "hosts", "-replay", "trace"]);
        command.arg(format!("--cfg=smpi/coll-selector:{}", self.selector));
        // Lines begin with the clock, since the result itself has only microseconds.
        command.arg("--log=root.fmt:%.12r%e%m%n");
        command.args(algorithms.iter().map(|name| format!("--cfg=smpi/{name}")));
        // SMPI's default factors are those of a cluster with 1 Gbit/s. Larger messages wait for their receivers.
        command.args(["--cfg=smpi/bw-factor:0:0.95", "--cfg=smpi/lat-factor:0:1"]);
        command.args([
            "--cfg=smpi/async-small-thresh:65536",
            "--cfg=smpi/send-is-detached-thresh:65536",
        ]);
        command.args([
            "--cfg=smpi/os:0:2e-7:0",
            "--cfg=smpi/or:0:2e-7:0",
            "--cfg=smpi/ois:0:2e-7:0",
        ]);
        command.args(["--cfg=smpi/host-speed:1Gf", "--cfg=contexts/stack-size:64"]);
        command.args(["--cfg=smpi/privatization:no", "--cfg=network/TCP-gamma:1e9"]);
        let output = command.output()?;
        let text = String::from_utf8_lossy(&output.stderr);
        let found = text.lines().find_map(|line| line.split_once(" Simulation time "));
        let (seconds, _) = found.ok_or_else(|| {
            let last: Vec<&str> = text.lines().rev().take(5).collect();
            format!("smpirun ended with {}: {last:?}", output.status)
        })?;
        Ok(seconds.trim().parse()?)
    }
}
