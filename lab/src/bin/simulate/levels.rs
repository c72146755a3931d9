//! Networks of several levels: a fat tree with less capacity above its switches than below, and a dragonfly; a job has
//! nodes as a scheduler allocates them.

use std::error::Error;
use std::path::Path;

use cartograph_lab::Table;

use crate::machine::Launch;
use crate::words;

/// Bytes of a face.
const FACE: u32 = 1 << 20;

/// A network of nodes with 100 Gbit/s each.
#[derive(Clone, Copy)]
struct Network {
    name: &'static str,
    /// SimGrid's description.
    topology: &'static str,
    parameters: &'static str,
    nodes: u32,
    /// The group of each node at each level above, the outermost first.
    widths: &'static [u32],
}

const FAT_TREE: Network = Network {
    name: "fat tree of 64",
    topology: "FAT_TREE",
    parameters: "2;16,4;1,4;1,1",
    nodes: 64,
    widths: &[16],
};

const LARGE_FAT_TREE: Network =
    Network { name: "fat tree of 128", parameters: "2;16,8;1,4;1,1", nodes: 128, ..FAT_TREE };

const DRAGONFLY: Network = Network {
    name: "dragonfly of 64",
    topology: "DRAGONFLY",
    parameters: "4,1;2,1;4,1;2",
    nodes: 64,
    widths: &[16, 2],
};

/// The order of a job's nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// In random order.
    Drawn,
    /// Switch after switch.
    Sorted,
}

/// A run, without its placement.
type Case = (Network, Order, [u32; 3], bool);

const CASES: [Case; 7] = [
    (FAT_TREE, Order::Drawn, [16, 8, 8], true),
    (FAT_TREE, Order::Drawn, [16, 8, 8], false),
    (DRAGONFLY, Order::Drawn, [16, 8, 8], true),
    (DRAGONFLY, Order::Drawn, [16, 8, 8], false),
    (FAT_TREE, Order::Sorted, [16, 8, 8], true),
    (FAT_TREE, Order::Sorted, [16, 8, 8], false),
    (LARGE_FAT_TREE, Order::Drawn, [16, 16, 16], true),
];

/// A random half of the nodes.
fn half(nodes: u32, order: Order) -> Vec<u32> {
    let mut all: Vec<u32> = (0..nodes).collect();
    let mut state = 1u64;
    for at in (1..all.len()).rev() {
        // The generator of Knuth's MMIX: the same numbers on every machine.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        all.swap(at, (state >> 33) as usize % (at + 1));
    }
    all.truncate(nodes as usize / 2);
    if order == Order::Sorted {
        all.sort_unstable();
    }
    all
}

/// The method that places ranks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Placement {
    Cyclic,
    Block,
    /// Block ranks, then Cartograph, which knows only the nodes.
    Nodes,
    /// Block ranks, then Cartograph with all levels.
    Levels,
}

impl Placement {
    const ALL: [Self; 4] = [Self::Cyclic, Self::Block, Self::Nodes, Self::Levels];
}

impl Network {
    fn platform(self, processes: u32) -> String {
        let Self { topology, parameters, nodes, .. } = self;
        format!(
            r#"<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{}" speed="1Gf" core="{processes}" bw="12.5GBps" lat="1us"
           loopback_bw="50GBps" loopback_lat="200ns" topology="{topology}" topo_parameters="{parameters}"/>
</platform>
"#,
            nodes - 1
        )
    }

    /// The path of a node, or its name alone.
    fn path(self, node: u32, levels: bool) -> String {
        let groups = self.widths.iter().filter(|_| levels);
        let groups = groups.map(|width| format!("g{width}.{}/", node / width));
        groups.chain([format!("n{node}")]).collect()
    }
}

fn run(
    launch: &Launch,
    program: &Path,
    (network, order, dims, periodic): Case,
    placement: Placement,
) -> Result<f64, Box<dyn Error>> {
    let nodes = half(network.nodes, order);
    let ranks: u32 = dims.iter().product();
    let processes = ranks / nodes.len() as u32;
    let node_of = |rank: u32| match placement {
        Placement::Cyclic => nodes[rank as usize % nodes.len()],
        _ => nodes[(rank / processes) as usize],
    };
    let hosts: String = (0..ranks).map(|rank| format!("n{}\n", node_of(rank))).collect();
    let layout = (0..ranks).map(|rank| network.path(node_of(rank), placement == Placement::Levels));
    let layout = layout.collect::<Vec<_>>().join("\n");
    let layout = match placement {
        Placement::Cyclic | Placement::Block => None,
        Placement::Nodes | Placement::Levels => Some(layout.as_str()),
    };
    let mut arguments = dims.map(|dim| dim.to_string()).to_vec();
    arguments.extend([
        u32::from(periodic).to_string(),
        "messages".into(),
        "1".into(),
        FACE.to_string(),
    ]);
    let platform = network.platform(processes);
    let output = launch.run_on(program, ranks, (&platform, &hosts), layout, &arguments)?;
    let [_, taken] = words(&output)?;
    Ok(taken.parse()?)
}

/// The table.
pub(crate) fn table(launch: &Launch, halo: &Path) -> Result<Table, Box<dyn Error>> {
    let mut table = Table::new(
        "Switches above the nodes",
        "network | nodes | grid | cyclic ranks | block ranks | nodes only | all levels",
    );
    for case in CASES {
        let placements = Placement::ALL.iter();
        let seconds = placements
            .map(|placement| run(launch, halo, case, *placement))
            .collect::<Result<Vec<_>, _>>()?;
        let (network, order, [x, y, z], periodic) = case;
        println!("{}, {x} x {y} x {z}, periodic {periodic}: {seconds:?}", network.name);
        let order = if order == Order::Drawn { "as drawn" } else { "by switches" };
        let periodic = if periodic { "periodic" } else { "not periodic" };
        let levels = seconds[Placement::ALL.len() - 1];
        let others = seconds[..seconds.len() - 1].iter();
        let others: Vec<String> = others
            .map(|seconds| format!("{:.3} ({:.2} x)", seconds * 1e3, seconds / levels))
            .collect();
        table.row(&format!(
            "{} | {order} | {x} x {y} x {z}, {periodic} | {} | {:.3}",
            network.name,
            others.join(" | "),
            levels * 1e3
        ));
    }
    Ok(table)
}
