//! The lines of a part.

use serde::{Deserialize, Serialize};

use crate::Window;

/// The most grids in the parts of one process: a program may create grids without end.
pub const MOST_GRIDS: usize = 256;

/// The version of the format. It increases when a field changes its meaning or is removed, not when one is added.
pub const SCHEMA: u32 = 1;

/// One line of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// The process whose lines follow.
    Process(Process),
    /// The messages that the process sent or put to another, identified by its rank in `MPI_COMM_WORLD`.
    Sent {
        /// The other process.
        to: u32,
        /// The amount.
        #[serde(flatten)]
        count: Count,
    },
    /// The data that the process fetched from another by one-sided calls.
    Got {
        /// The other process.
        from: u32,
        /// The amount.
        #[serde(flatten)]
        count: Count,
    },
    /// A grid that contains the process.
    Grid(Grid),
    /// Calls of a collective whose messages are not counted.
    Collective {
        /// The MPI function.
        function: String,
        /// The number of calls.
        calls: u64,
        /// The time that the process spent in it, in nanoseconds, if it is blocking.
        #[serde(default)]
        nanoseconds: u64,
    },
    /// The time that the process spent in receives and in waits for them.
    Waited {
        /// The process from which it received; `None` if that is unknown, and for requests that send.
        on: Option<u32>,
        /// The time.
        nanoseconds: u64,
    },
    /// The first calls of the process.
    Window(Window),
}

/// The first line of a part: the process that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Its rank in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// The size of `MPI_COMM_WORLD`.
    pub size: u32,
    /// The name that `MPI_Get_processor_name` gave, as a [host's name](crate::host_name): processes with the same name
    /// share a node.
    pub host: String,
    /// The node's address in the network, if the launcher set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
    /// The program's name on its command line.
    pub program: String,
    /// The MPI library's name and version, as it reports them.
    pub mpi: String,
    /// The number of the process's earlier parts: this part adds to their counts.
    #[serde(default)]
    pub part: u32,
    /// True if the process completed.
    pub complete: bool,
    /// The time from the end of `MPI_Init` to the part's beginning, in nanoseconds.
    #[serde(default)]
    pub nanoseconds: u64,
    /// The part of this time that the recorder took, in nanoseconds, if that is measured.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cost: u64,
    /// True if the recorder stopped counting because that took too long.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stopped: bool,
    /// The work of the process since its previous part.
    #[serde(default, skip_serializing_if = "is_default")]
    pub work: Work,
    /// The bytes of this work, each multiplied by the [weight](crate::partner_weight) of the other process; `None` in
    /// recordings of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<i64>,
    /// The device that the process used, in its last part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
    /// The number of lines that follow.
    pub lines: usize,
}

/// The device of a node that a process used, such as a GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// The number by which the process knows it.
    pub number: u32,
    /// The number of devices that the process may use.
    pub visible: u32,
    /// Its place on the PCI bus, which is the same for all processes of the node.
    pub bus: String,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The work of a run, regardless of which processes exchange messages: it distinguishes runs with different inputs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Messages sent or put, and data fetched.
    pub messages: u64,
    /// Their total size in bytes.
    pub bytes: u64,
    /// Calls of collectives whose messages are not counted.
    pub collectives: u64,
}

impl Work {
    /// Adds the work of another part or process.
    pub fn add(&mut self, other: Self) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.messages, other.messages);
        add(&mut self.bytes, other.bytes);
        add(&mut self.collectives, other.collectives);
    }
}

/// The address of a node in the network, from Slurm's variables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// `SLURM_TOPOLOGY_ADDR`, such as `s0.s4.n1`.
    pub path: String,
    /// `SLURM_TOPOLOGY_ADDR_PATTERN`, such as `switch.switch.node`.
    pub pattern: String,
}

/// A number of messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// The number of messages.
    pub messages: u64,
    /// Their total size in bytes.
    pub bytes: u64,
}

/// A grid that the program created, as one of its processes knows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Grid {
    /// The MPI function that created it.
    pub function: String,
    /// The number of processes along each dimension.
    pub dims: Vec<u32>,
    /// The periodic dimensions: true for each that is.
    pub periodic: Vec<bool>,
    /// The program's argument `reorder`; false if the function has no such argument.
    pub reorder: bool,
    /// The rank of the process in the grid.
    pub rank: u32,
    /// The rank in `MPI_COMM_WORLD` of the grid's first process, which distinguishes grids of the same shape.
    pub first: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_line_is_the_written_line() {
        let shown = include_str!("../../docs/design/traffic-format.md");
        let shown = shown.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
        let lines: Vec<Line> =
            shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let written: Vec<String> =
            lines.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
        assert_eq!(written, shown.lines().collect::<Vec<_>>());
        let kinds: std::collections::HashSet<_> =
            lines.iter().map(std::mem::discriminant).collect();
        assert_eq!(kinds.len(), 7);
    }
}
