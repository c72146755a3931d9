//! The output of `cartograph plan`: a table, a picture, or JSON.

use std::fmt::Write;

use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Cost, Csr, Grid, Plan};
use cartograph_core::report::{LevelEffect, NodeSizes, VertexPlacement, WeightedEffect};
use cartograph_jobs::draw::terminal::View;
use cartograph_jobs::draw::{self, Caption, Figure};
use cartograph_jobs::predict::{Forecast, LEAST_GAIN, Prediction};
use cartograph_traffic::Recording;
use serde::Serialize;

use super::problem::Problem;
use crate::output::{self, Failure, Result};
use crate::traffic;

/// A problem with its solution.
pub(super) struct Solved {
    pub(super) problem: Problem,
    pub(super) machine: Machine,
    /// The names of the nodes, if known.
    pub(super) names: Option<Vec<String>>,
    pub(super) plan: Plan,
    /// Present for a recorded run that can be replayed.
    pub(super) forecast: Option<Forecast>,
    pub(super) seconds: f64,
    /// True if the search was interrupted.
    pub(super) stopped: bool,
}

/// The output of `--json`.
#[derive(Serialize)]
struct Answer<'a> {
    dims: &'a [usize],
    periodic: &'a [bool],
    node_sizes: Vec<usize>,
    ranks: usize,
    /// The meaning of an edge of weight 1.
    unit: &'a str,
    lower_bound: i64,
    before: Cost,
    after: Cost,
    algorithm: &'a str,
    seconds: f64,
    levels: Vec<LevelEffect>,
    weighted: Option<WeightedEffect>,
    predicted: &'a [Prediction],
    old_rank: Vec<i32>,
}

impl Solved {
    pub(super) fn json(&self) -> String {
        let (dims, periodic): (&[usize], &[bool]) = match &self.problem {
            Problem::Grid(grid) => (grid.dims(), grid.periodic()),
            Problem::Graph { .. } | Problem::Traffic(_) => (&[], &[]),
        };
        let answer = Answer {
            dims,
            periodic,
            node_sizes: self.machine.node_sizes(),
            ranks: self.machine.ranks(),
            unit: self.problem.weighs(),
            lower_bound: self.plan.lower_bound,
            before: self.plan.before,
            after: self.plan.after,
            algorithm: self.plan.algorithm,
            seconds: self.seconds,
            levels: LevelEffect::of(&self.machine, &self.plan),
            weighted: self.plan.weighted.as_ref().map(WeightedEffect::from),
            predicted: self.forecast.as_ref().map_or(&[], |forecast| &forecast.all),
            old_rank: self.plan.old_ranks().collect(),
        };
        serde_json::to_string(&answer).expect("all keys are strings")
    }

    /// The places of vertices, before and after.
    fn places(&self) -> [VertexPlacement; 2] {
        let after: Vec<i32> = self.plan.old_ranks().collect();
        let before = VertexPlacement::new(&self.machine, 0..self.plan.vertices);
        [before, VertexPlacement::new(&self.machine, after.iter().copied())]
    }

    fn subject(&self) -> String {
        let above = self.machine.above().iter().zip(self.machine.names()).rev();
        let above: String =
            above.map(|(level, name)| format!(", {} {name}", level.groups())).collect();
        format!("{} on {}{above}", self.problem, NodeSizes::from(&self.machine))
    }

    pub(super) fn text(&self) -> String {
        let mut text = format!("{}\n\n{}", self.subject(), self.table());
        let stopped = if self.stopped { ", interrupted" } else { "" };
        let _ = writeln!(text, "\n{}, in {:.4} s{stopped}", self.found(), self.seconds);
        if let Problem::Traffic(recorded) = &self.problem {
            let Recording { size, windows, .. } = &recorded.recording;
            // Ranks would wait forever for a rank that is not replayed.
            if !windows.is_empty() && windows.len() < *size as usize {
                let _ = writeln!(
                    text,
                    "the first calls of {} of {size} ranks were recorded, too few to replay; minimizing bytes instead",
                    windows.len()
                );
            }
        }
        if let Some(forecast) = &self.forecast {
            text += &traffic::table(forecast);
        }
        if let Problem::Grid(grid) = &self.problem {
            text += &self.picture(grid);
        }
        text
    }

    /// The weights of edges before and after, and their bounds.
    fn table(&self) -> String {
        let (plan, weighs) = (&self.plan, self.problem.weighs());
        let mut text = format!("{:32}{:>12}{:>12}{:>14}\n", "", "before", "after", "at least");
        let mut row = |name: &str, before: i64, after: i64, bound: i64| {
            let [before, after] = [before, after].map(|weight| traffic::amount(weight, weighs));
            // Graphs usually have no lower bound.
            let bound = if bound > 0 { traffic::amount(bound, weighs) } else { "-".to_owned() };
            let name = format!("{weighs} {name}");
            let _ = writeln!(text, "{name:31} {before:>11} {after:>11} {bound:>13}");
        };
        let (before, after, bound) = (plan.before, plan.after, plan.lower_bound);
        row("between nodes", before.inter_node_edges, after.inter_node_edges, bound);
        // The busiest node has at least the mean number of edges.
        let nodes = self.machine.node_sizes().len() as i64;
        let mean = bound.div_euclid(nodes) + i64::from(bound.rem_euclid(nodes) > 0);
        row("of the busiest node", before.max_node_edges, after.max_node_edges, mean);
        let levels = LevelEffect::of(&self.machine, plan).into_iter().enumerate();
        for (_, level) in levels.filter(|(at, _)| *at != self.machine.above().len()) {
            let LevelEffect { name, before, after, lower_bound, .. } = level;
            row(&format!("between {name}"), before.edges, after.edges, lower_bound);
        }
        if let Some(weighted) = &plan.weighted {
            let WeightedEffect { before, after, lower_bound, .. } = weighted.into();
            row("weighed by distance", before, after, lower_bound);
        }
        if self.machine.torus().is_some() {
            let (before, after) = (plan.links.before, plan.links.after);
            row("times hops", before.inter_node_edges, after.inter_node_edges, 0);
            row("over the busiest link", before.max_node_edges, after.max_node_edges, 0);
        }
        text
    }

    /// The outcome of the search, in words.
    fn found(&self) -> String {
        match (&self.plan.old_rank, self.plan.rejected_as_risky) {
            (Some(_), _) if self.plan.algorithm == Plan::INSIDE_NODES => {
                "ranks reordered inside their nodes only: found".to_owned()
            }
            (Some(_), _) => format!("found by {}", self.plan.algorithm),
            (None, Some(cost)) => format!(
                "reordering helps if all faces carry equal data and are exchanged at once ({} of the busiest node, {} \
                 between nodes), but may hurt otherwise (set --weights): ranks unchanged",
                cost.max_node_edges, cost.inter_node_edges
            ),
            (None, None) if self.forecast.is_some() => format!(
                "no rank order is predicted to be at least {:.0} % faster; ranks unchanged",
                100.0 * (LEAST_GAIN - 1.0)
            ),
            (None, None) => "no better rank order found".to_owned(),
        }
    }

    /// The nodes of a grid's cells, drawn with characters.
    fn picture(&self, grid: &Grid) -> String {
        let [before, after] = self.places();
        let planned = format!("after: {}", self.plan.algorithm);
        let before = View { title: "before: default rank order", node_of: &before.nodes };
        let after = View { title: &planned, node_of: &after.nodes };
        let views = [before, after];
        let shown = if self.plan.old_rank.is_some() { &views[..] } else { &views[..1] };
        match draw::terminal::draw(grid.dims(), shown, output::columns()) {
            Some(drawn) => format!("\n{drawn}"),
            None => "too large for the terminal; use --svg FILE\n".to_owned(),
        }
    }

    pub(super) fn svg(&self) -> Result<String> {
        let caption = Caption {
            weighs: self.problem.weighs(),
            subject: self.subject(),
            algorithm: self.plan.algorithm.to_owned(),
            before: self.plan.before,
            after: self.plan.after,
            lower_bound: self.plan.lower_bound,
            levels: LevelEffect::of(&self.machine, &self.plan),
        };
        let figure = match &self.problem {
            Problem::Grid(grid) => {
                let [before, after] = self.places();
                Some(Figure::grids(&caption, grid.dims(), &before, &after))
            }
            Problem::Graph { graph, .. } => self.matrices(&caption, graph),
            Problem::Traffic(recorded) => self.matrices(&caption, recorded.graph()),
        };
        let figure = figure.ok_or_else(|| Failure::new("--svg: too large to draw"))?;
        Ok(draw::sheet(figure))
    }

    /// A graph's edges between nodes, before and after; `None` if there are too many nodes.
    fn matrices(&self, caption: &Caption, graph: &Csr) -> Option<Figure> {
        let nodes = self.machine.node_sizes().len();
        let [before, after] =
            self.places().map(|places| traffic::between(graph, &places.nodes, nodes));
        Figure::matrices(caption, &before, &after)
    }
}
