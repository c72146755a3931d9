//! The measured instances, with Cartograph's plans: `quality instances DIRECTORY`, for comparing other mappings with
//! these.
//!
//! `grids.jsonl` has one grid per line. A graph has a file in METIS' format, and a second file with the sizes of the
//! nodes on its first line, followed by the node of each vertex.

use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Adjacency, Csr, Options, Plan, plan_graph, plan_grid};
use serde_json::json;

use crate::graphs;
use crate::instances::{self, Instance};

/// `generate.rs` also creates larger graphs, but they would be most of the archive.
const MOST_VERTICES: usize = 40_000;

/// Writes the files.
pub(crate) fn write(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let listed = instances::listed().into_iter().map(|(instance, _)| ("literature", instance));
    let many = instances::many().into_iter().map(|instance| ("720", instance));
    let held_out = instances::held_out().into_iter().map(|instance| ("60 held out", instance));
    let lines: String =
        listed.chain(many).chain(held_out).map(|(of, grid)| line(of, &grid)).collect();
    fs::write(directory.join("grids.jsonl"), lines)?;
    for instance in graphs::instances() {
        if instance.graph.vertices() > MOST_VERTICES {
            continue;
        }
        let machine = Machine::blocks(&instance.sizes);
        let plan = plan_graph(&instance.graph, &machine, &Options::default());
        let name = instance.name.replace(", ", "-").replace(' ', "-");
        fs::write(directory.join(format!("{name}.graph")), metis(&instance.graph))?;
        fs::write(directory.join(format!("{name}.plan")), nodes(&instance.sizes, &machine, &plan))?;
    }
    Ok(())
}

fn line(of: &str, instance: &Instance) -> String {
    let plan = plan_grid(&instance.grid(), &instance.layout, &Options::default());
    let stencil: Vec<_> = instance.stencil.iter().map(|offset| &offset.by).collect();
    let line = json!({
        "of": of, "name": instance.name, "dims": instance.dims, "periodic": instance.periodic,
        "stencil": stencil, "node_sizes": instance.layout.node_sizes(),
        "lower_bound": plan.lower_bound, "before": plan.before, "after": plan.after,
        "algorithm": plan.algorithm, "old_rank": plan.old_ranks().collect::<Vec<_>>(),
    });
    format!("{line}\n")
}

/// A graph whose edges have the same weight in both directions, with weights of edges.
fn metis(graph: &Csr) -> String {
    let mut text = format!("{} {} 1\n", graph.vertices(), graph.len() / 2);
    for vertex in 0..graph.vertices() {
        let edges = graph.edges(vertex).map(|(to, weight)| format!("{} {weight}", to + 1));
        text += &edges.collect::<Vec<_>>().join(" ");
        text.push('\n');
    }
    text
}

fn nodes(sizes: &[usize], machine: &Machine, plan: &Plan) -> String {
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    let mut text = sizes.join(" ") + "\n";
    for old in plan.old_ranks() {
        let _ = writeln!(text, "{}", machine.nodes()[old as usize]);
    }
    text
}
