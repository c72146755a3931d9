//! The arguments of `cartograph plan`.

use std::path::PathBuf;

use cartograph_core::mapping::Objective;
use cartograph_jobs::predict::parse_network;
use cartograph_jobs::replay::Link;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::help::{self, Known};

#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["dims", "graph", "traffic"])))]
#[command(group(clap::ArgGroup::new("where").args(["nodes", "node_sizes"])))]
pub(crate) struct Arguments {
    /// The sizes of a grid
    #[arg(long, value_name = "AxBxC")]
    pub(super) dims: Option<String>,
    /// Periodic dimensions: a 1 or a 0 for each, such as 110
    #[arg(long, value_name = "BITS", conflicts_with_all = ["graph", "traffic"])]
    pub(super) periodic: Option<String>,
    /// A graph in METIS format instead of a grid; - is stdin
    #[arg(long, value_name = "FILE")]
    pub(super) graph: Option<PathBuf>,
    /// A recording by `cartograph exec --record`, to place the ranks of that program
    #[arg(long, value_name = "DIR")]
    pub(super) traffic: Option<PathBuf>,
    /// The number of nodes, all of the same size
    #[arg(long, requires = "ppn")]
    pub(super) nodes: Option<usize>,
    /// Processes on each node
    #[arg(long, conflicts_with = "node_sizes")]
    pub(super) ppn: Option<usize>,
    /// Processes on each node if they differ: 40*48,10*30,15 for 40 nodes of 48, 10 of 30 and one of 15
    #[arg(long, value_name = "SIZES")]
    pub(super) node_sizes: Option<String>,
    /// The machine as in CARTOGRAPH_LAYOUT: 4x16 (nodes x processes), 2x4x16 (switches x nodes x processes),
    /// 40*48,16,8, or a file with the node of each rank, by its name or by a path such as s1/n5; default: the nodes
    /// of the recording. Slurm's topology.conf or topology.yaml also needs the job's nodes: --hosts with --ppn or
    /// --node-sizes, or --traffic
    #[arg(long)]
    pub(super) layout: Option<String>,
    /// With switches: the cost of an edge inside a node, between nodes of one switch, between
    /// switches and so on; default: 1,10,30
    #[arg(long, value_name = "DISTANCES")]
    pub(super) level_weights: Option<String>,
    /// The weights of edges along each dimension, such as 1,1,4; default: unknown, assumed to be equal
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, conflicts_with_all = ["graph", "traffic"])]
    pub(super) weights: Option<Vec<i64>>,
    /// The objective to minimize. time: the time of an exchange over the busiest link or, if neither switches nor
    /// coordinates are known, all edges between nodes, of which up to 1 % more are accepted for fewer edges of a grid's
    /// busiest node; sum: all edges between nodes; max: the edges of the busiest node, then all edges between nodes
    #[arg(long, default_value = "time", value_parser = objectives())]
    pub(super) objective: Objective,
    /// With --traffic: the latency and bandwidth between nodes, such as 1.5us,100Gbit; default: fitted to the
    /// recorded run
    #[arg(long, value_name = "LATENCY,BITS", requires = "traffic", value_parser = parse_network)]
    pub(super) network: Option<Link>,
    /// The devices of a node, if ranks choose them by their number: each node keeps as many ranks of each remainder;
    /// default: as recorded
    #[arg(long, value_name = "N")]
    pub(super) devices: Option<u32>,
    /// Approximate time limit of the search
    #[arg(long)]
    pub(super) seconds: Option<f64>,
    /// Print the plan as JSON: the process with the old rank old_rank[r] becomes rank r
    #[arg(long)]
    pub(super) json: bool,
    /// Draw the processes before and after to a file; - is stdout
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,
    /// Write a rank file for a launcher, for programs that pass reorder = 0; may be repeated
    #[arg(long, num_args = 2, value_names = ["openmpi|slurm|cray|flux", "FILE"], value_parser = LAUNCHERS, hide_possible_values = true)]
    pub(super) rankfile: Option<Vec<String>>,
    /// The names of the nodes, for the rank file and a --layout file of the network: a,b,c or n[0-7], or a file with
    /// one on each line, also as host:48 or host slots=48; default: those of --layout FILE or --traffic, or n0, n1, ...
    #[arg(long)]
    pub(super) hosts: Option<String>,
}

/// The launchers that completions know for `--rankfile`.
const LAUNCHERS: Known = Known { words: &["openmpi", "slurm", "cray", "flux"], check: help::any };

/// The names of objectives.
fn objectives() -> impl TypedValueParser<Value = Objective> {
    let names = PossibleValuesParser::new(Objective::NAMED.map(|(name, _)| name));
    names.try_map(|name| Objective::named(&name).ok_or(name))
}
