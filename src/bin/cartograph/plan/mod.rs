//! `cartograph plan`: what a mapping would do, without MPI.

mod problem;
mod rankfile;

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use cartograph::mapping::{Cost, Distances, Layout, Objective, Options, Plan};
use cartograph::mapping::{plan_cart, plan_graph, stop_searches};
use cartograph::report::picture::{self, Caption, Figure};
use cartograph::report::{Drawn, LevelEffect, NodeSizes, Traffic, WeightedEffect};
use clap::ValueEnum;
use serde::Serialize;

use crate::dims::sides_text;
use crate::output::{self, Failure, Progress, Result};
use problem::{Problem, Stencil};
use rankfile::Launcher;

/// What the words in an answer mean.
const WORDS: &str = "\
How a mapping may be found:
  bricks      every node gets a box of the same sides, and the boxes tile the grid
  strips      the grid is cut into strips, which are walked to and fro, filling one node after the other
  bisection   grid and nodes are halved again and again
  tree        cells in the order in which halving the grid comes to them fill one node after the other
  multilevel  a graph is made smaller by joining neighbors, divided, and improved on the way back
  multisection  first what is on each switch is found, then what is on each of its nodes
Where there are switches, what was found for nodes is placed on them so that neighbors share a switch.";

#[derive(clap::Args)]
#[command(after_help = WORDS)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["dims", "graph", "traffic"])))]
#[command(group(clap::ArgGroup::new("where").args(["nodes", "node_sizes", "levels", "layout"])))]
pub(crate) struct Arguments {
    /// The sizes of a grid
    #[arg(long, value_name = "AxBxC")]
    dims: Option<String>,
    /// A 1 for each dimension whose ends are neighbors, a 0 for each other, such as 110
    #[arg(long, value_name = "BITS", conflicts_with_all = ["graph", "traffic"])]
    periodic: Option<String>,
    /// A graph in the format of METIS, in place of a grid; - is stdin
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    /// What `cartograph exec --record` has written: places the ranks of that program themselves
    #[arg(long, value_name = "DIR")]
    traffic: Option<PathBuf>,
    /// How many nodes there are, all alike
    #[arg(long, requires = "ppn")]
    nodes: Option<usize>,
    /// Processes on each node
    #[arg(long, requires = "nodes")]
    ppn: Option<usize>,
    /// Processes on each node where they differ: 40*48,10*30,15 for 40 nodes of 48, 10 of 30 and one of 15
    #[arg(long, value_name = "SIZES")]
    node_sizes: Option<String>,
    /// Switches, nodes on each and processes on each of these: 4:8:32; more levels, of switches of switches,
    /// come before
    #[arg(long, value_name = "A:B:C")]
    levels: Option<String>,
    /// The machine as CARTOGRAPH_LAYOUT has it: 4x16 (nodes x processes), 2x4x16 (switches x nodes x
    /// processes), 40*48,16,8, or a file with a node's name, or a path such as s1/n5, a rank; without any,
    /// the nodes on which --traffic was recorded
    #[arg(long)]
    layout: Option<String>,
    /// What an edge costs inside a node, between nodes of a switch, between switches and so on, where there
    /// are switches: 1,10,100 if nobody says
    #[arg(long, value_name = "DISTANCES")]
    level_weights: Option<String>,
    /// Which cells are neighbors, and so have edges between them
    #[arg(long, default_value = "nn", conflicts_with_all = ["graph", "traffic"])]
    stencil: Stencil,
    /// The weight of the edges along each dimension, such as 1,1,4; else they are assumed to be equal
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, conflicts_with_all = ["graph", "traffic"])]
    weights: Option<Vec<i64>>,
    /// What to minimize: all edges between nodes, or those of the node that has most
    #[arg(long, default_value = "sum")]
    objective: Figures,
    /// How long the search may take, about
    #[arg(long)]
    seconds: Option<f64>,
    /// Prints JSON; old_rank[r] is the rank of the process that becomes rank r
    #[arg(long)]
    json: bool,
    /// Draws processes before and after into a file; - is stdout
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Writes what a launcher takes to place ranks so, for programs that pass reorder = 0; may be repeated
    #[arg(long, num_args = 2, value_names = ["openmpi|mpich|slurm|cray|flux", "FILE"])]
    rankfile: Option<Vec<String>>,
    /// The names of the nodes for it: a,b,c or a file with one a line; else those of --layout FILE or
    /// --traffic, or n0, n1, ...
    #[arg(long, requires = "rankfile")]
    hosts: Option<String>,
}

/// What a shell tells of a command that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

#[derive(Clone, Copy, ValueEnum)]
enum Figures {
    Sum,
    Max,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    dims: &'a [usize],
    periodic: &'a [bool],
    node_sizes: Vec<usize>,
    ranks: usize,
    lower_bound: i64,
    before: Cost,
    after: Cost,
    algorithm: &'a str,
    seconds: f64,
    levels: Vec<LevelEffect>,
    weighted: Option<WeightedEffect>,
    old_rank: Vec<i32>,
}

/// A problem with its solution.
struct Solved {
    problem: Problem,
    layout: Layout,
    /// The names of the nodes, where they are known.
    names: Option<Vec<String>>,
    plan: Plan,
    seconds: f64,
    /// The search was interrupted.
    stopped: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    // What is wrong is said before anything takes time.
    let words = arguments.rankfile.as_deref().unwrap_or_default();
    let launchers = words.chunks(2).map(|words| match Launcher::from_str(&words[0], true) {
        Ok(launcher) => Ok((launcher, PathBuf::from(&words[1]))),
        Err(_) => Err(Failure::usage(format!("--rankfile takes {}, and a file", Launcher::NAMES))),
    });
    let launchers = launchers.collect::<Result<Vec<_>>>()?;
    let files = arguments.svg.iter().chain(launchers.iter().map(|(_, file)| file));
    let on_stdout = files.filter(|file| file.as_os_str() == "-").count();
    if on_stdout + usize::from(arguments.json) > 1 {
        return Err(Failure::usage(
            "--json and the file - are all stdout, which is for one of them; name files for others",
        ));
    }
    let solved = solve(arguments)?;
    let svg = arguments.svg.as_ref().map(|file| Ok((file, solved.svg()?))).transpose()?;
    let ranks = launchers.into_iter().map(|(launcher, file)| {
        let node_of = rankfile::launch_order(&solved.plan, &solved.layout);
        let known = solved.names.as_deref();
        let names = rankfile::names(arguments.hosts.as_deref(), known, &solved.layout)?;
        let how = launcher.usage(&file.display().to_string(), node_of.len());
        Ok((file, launcher.write(&node_of, &names)?, how))
    });
    let ranks = ranks.collect::<Result<Vec<_>>>()?;

    // What is asked for on stdout comes alone.
    let taken = on_stdout > 0;
    if arguments.json {
        output::print(&(solved.json() + "\n"))?;
    } else if !taken {
        output::print(&solved.text())?;
    }
    if let Some((file, text)) = svg {
        output::write(file, &text)?;
    }
    for (file, text, how) in ranks {
        output::write(&file, &text)?;
        if !arguments.json && !taken {
            output::print(&format!("\n{how}\n"))?;
        }
    }
    Ok(())
}

fn solve(arguments: &Arguments) -> Result<Solved> {
    let problem = problem::read(arguments)?;
    let (layout, names) = problem::layout(arguments, &problem)?;
    let objective = match arguments.objective {
        Figures::Sum => Objective::Sum,
        Figures::Max => Objective::Max,
    };
    let seconds = arguments.seconds;
    if seconds.is_some_and(|seconds| !(seconds >= 0.0 && seconds.is_finite())) {
        return Err(Failure::usage("--seconds must be a number that is not negative"));
    }
    let distances =
        arguments.level_weights.as_deref().map_or(Ok(Distances::default()), |text| {
            Distances::parse(text)
                .map_err(|error| Failure::usage(format!("--level-weights {error}")))
        })?;
    let options = Options { objective, seconds, distances, ..Options::default() };
    let stopped = stop_when_interrupted();
    let progress =
        Progress::new(&format!("placing {} processes (Ctrl-C: the best so far)", layout.ranks()));
    let start = Instant::now();
    let plan = match &problem {
        Problem::Grid(grid) => plan_cart(grid, &layout, &options),
        Problem::Graph { graph, .. } | Problem::Traffic { graph, .. } => {
            plan_graph(graph, &layout, &options)
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    drop(progress);
    let stopped = stopped.load(Ordering::Relaxed);
    Ok(Solved { problem, layout, names, plan, seconds, stopped })
}

/// Lets Ctrl-C end the search, which then answers what it has; a second one ends the command as ever.
fn stop_when_interrupted() -> Arc<AtomicBool> {
    let stopped = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stopped);
    // Where it cannot be had, Ctrl-C does what it does by itself.
    let _ = ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
        stop_searches();
    });
    stopped
}

impl Solved {
    fn json(&self) -> String {
        let (dims, periodic): (&[usize], &[bool]) = match &self.problem {
            Problem::Grid(grid) => (grid.dims(), grid.periodic()),
            Problem::Graph { .. } | Problem::Traffic { .. } => (&[], &[]),
        };
        let answer = Answer {
            dims,
            periodic,
            node_sizes: self.layout.node_sizes(),
            ranks: self.layout.ranks(),
            lower_bound: self.plan.lower_bound,
            before: self.plan.before,
            after: self.plan.after,
            algorithm: self.plan.algorithm,
            seconds: self.seconds,
            levels: LevelEffect::of(&self.layout, &self.plan),
            weighted: self.plan.weighted.as_ref().map(WeightedEffect::from),
            old_rank: self.plan.old_ranks().collect(),
        };
        serde_json::to_string(&answer).expect("all keys are strings")
    }

    /// Where each vertex is, before and after.
    fn places(&self) -> [Drawn; 2] {
        let after: Vec<i32> = self.plan.old_ranks().collect();
        let before = Drawn::new(&self.layout, 0..self.plan.vertices);
        [before, Drawn::new(&self.layout, after.iter().copied())]
    }

    fn subject(&self) -> String {
        let above = self.layout.above().iter().zip(self.layout.names()).rev();
        let above: String =
            above.map(|(level, name)| format!(", {} {name}", level.groups())).collect();
        format!("{} on {}{above}", self.problem, NodeSizes::from(&self.layout))
    }

    fn text(&self) -> String {
        let plan = &self.plan;
        let nodes = self.layout.node_sizes().len() as i64;
        let mut text = format!(
            "{}\n\n{:32}{:>12}{:>12}{:>14}\n",
            self.subject(),
            "",
            "rank order",
            "planned",
            "lower bound"
        );
        let mut row = |name: &str, before: i64, after: i64, bound: i64| {
            // Of graphs mostly nothing is known: then there is no bound to show.
            let bound = if bound > 0 { bound.to_string() } else { "-".to_owned() };
            let _ = writeln!(text, "{name:32}{before:>12}{after:>12}{bound:>14}");
        };
        let (before, after, bound) = (plan.before, plan.after, plan.lower_bound);
        let what = self.problem.weighs();
        row(
            &format!("{what} between nodes"),
            before.inter_node_edges,
            after.inter_node_edges,
            bound,
        );
        // The worst node has no fewer than the mean.
        let mean = bound.div_euclid(nodes) + i64::from(bound.rem_euclid(nodes) > 0);
        row(
            &format!("{what} of the worst node"),
            before.max_node_edges,
            after.max_node_edges,
            mean,
        );
        let others = LevelEffect::of(&self.layout, plan).into_iter().enumerate();
        for (_, level) in others.filter(|(at, _)| *at != self.layout.above().len()) {
            let LevelEffect { name, before, after, lower_bound, .. } = level;
            row(&format!("{what} between {name}"), before.edges, after.edges, lower_bound);
        }
        if let Some(weighted) = &plan.weighted {
            let WeightedEffect { before, after, lower_bound, .. } = weighted.into();
            row(&format!("{what} weighed by distance"), before, after, lower_bound);
        }
        let found = match (&plan.old_rank, plan.withheld) {
            (Some(_), _) => format!("found by {}", plan.algorithm),
            (None, Some(cost)) => format!(
                "{} of the worst node and {} between nodes are possible if all dimensions weigh the same, and could \
                 be a loss if not (--weights says what they weigh): nobody is moved",
                cost.max_node_edges, cost.inter_node_edges
            ),
            (None, None) => "nothing better than the order of ranks was found".to_owned(),
        };
        let stopped = if self.stopped { ", interrupted" } else { "" };
        let _ = writeln!(text, "\n{found}, in {:.4} s{stopped}", self.seconds);
        if let Problem::Grid(grid) = &self.problem {
            match picture::terminal::draw(grid.dims(), &self.places()[1].nodes) {
                Some(drawn) => {
                    let _ = write!(text, "\nthe node of each process, as planned:\n{drawn}");
                }
                None => text.push_str("too large to be drawn here: --svg FILE draws it\n"),
            }
        }
        text
    }

    fn svg(&self) -> Result<String> {
        let caption = Caption {
            subject: self.subject(),
            algorithm: self.plan.algorithm.to_owned(),
            before: self.plan.before,
            after: self.plan.after,
            lower_bound: self.plan.lower_bound,
            levels: LevelEffect::of(&self.layout, &self.plan),
        };
        let figure = match &self.problem {
            Problem::Grid(grid) => {
                let [before, after] = self.places();
                Figure::grids(&caption, grid.dims(), &before, &after)
            }
            Problem::Graph { graph, .. } | Problem::Traffic { graph, .. } => {
                let Traffic { before, after } = Traffic::new(graph, &self.layout, &self.plan);
                Figure::matrices(&caption, &before, &after)
            }
        };
        let figure = figure.ok_or_else(|| Failure::new("--svg: this is too large to be drawn"))?;
        Ok(picture::sheet(vec![figure]))
    }
}
