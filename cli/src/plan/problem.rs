//! The problem, and whether the nodes have enough processes for it, from the command line.

use std::cell::OnceCell;
use std::fmt;
use std::path::{Path, PathBuf};

use cartograph_core::mapping::{Adjacency, Csr, Grid};
use cartograph_core::metis;
use cartograph_traffic::Recording;

use super::arguments::Arguments;
use crate::dims::{parse_sides, sides_text};
use crate::output::{self, Failure, Result, processes};
use crate::traffic;

/// A larger job is a typing error.
pub(super) const MOST_RANKS: usize = 1 << 25;

pub(super) enum Problem {
    Grid(Grid),
    Graph { graph: Csr, file: PathBuf },
    Traffic(Box<Recorded>),
}

/// A recorded run. Its graph takes memory in proportion to the ranks that the recording claims, so it is built once
/// there are enough nodes.
pub(super) struct Recorded {
    pub(super) recording: Recording,
    graph: OnceCell<(Csr, &'static str)>,
}

impl Recorded {
    fn amounts(&self) -> &(Csr, &'static str) {
        self.graph.get_or_init(|| cartograph_jobs::traffic::graph(&self.recording))
    }

    /// The traffic between each pair of ranks.
    pub(super) fn graph(&self) -> &Csr {
        &self.amounts().0
    }
}

/// The grid or graph to place.
pub(super) fn read(arguments: &Arguments) -> Result<Problem> {
    match (&arguments.dims, &arguments.graph, &arguments.traffic) {
        (Some(dims), _, _) => grid(dims, arguments).map(Problem::Grid),
        (None, Some(file), _) => graph(file),
        (None, None, Some(file)) => recorded(file),
        (None, None, None) => {
            Err(Failure::usage("specify what to place: --dims, --graph or --traffic"))
        }
    }
}

fn grid(text: &str, arguments: &Arguments) -> Result<Grid> {
    let dims: Vec<usize> = parse_sides(text)?.into_iter().map(|side| side as usize).collect();
    let cells = dims.iter().fold(1usize, |cells, side| cells.saturating_mul(*side));
    if cells == 0 || cells > MOST_RANKS {
        return Err(Failure::usage(format!(
            "--dims {text}: sizes must be at least 1, and a grid have at most {MOST_RANKS} cells"
        )));
    }
    let periodic = periodic(arguments.periodic.as_deref(), dims.len())?;
    let weights = weights(arguments, dims.len(), cells)?;
    let grid = Grid::new(dims, periodic, Grid::nearest_neighbors(&weights));
    Ok(if arguments.weights.is_none() { grid.with_unknown_weights() } else { grid })
}

/// The periods of a grid, from a bit for each dimension.
fn periodic(bits: Option<&str>, ndims: usize) -> Result<Vec<bool>> {
    let Some(bits) = bits else { return Ok(vec![false; ndims]) };
    let period = |bit| match bit {
        '0' => Some(false),
        '1' => Some(true),
        _ => None,
    };
    let periods = bits.chars().map(period).collect::<Option<Vec<bool>>>();
    periods.filter(|periods| periods.len() == ndims).ok_or_else(|| {
        Failure::usage(format!(
            "--periodic {bits}: expected a 0 or 1 for each of the {ndims} dimensions, such as {}",
            "1".repeat(ndims)
        ))
    })
}

/// The weights of edges along each dimension.
fn weights(arguments: &Arguments, ndims: usize, cells: usize) -> Result<Vec<i64>> {
    let Some(weights) = &arguments.weights else { return Ok(vec![1; ndims]) };
    if weights.len() != ndims {
        return Err(Failure::usage(format!(
            "--weights must be {ndims} numbers, one per dimension; {} given",
            weights.len()
        )));
    }
    let most = Grid::most_weight(cells);
    match weights.iter().find(|weight| !(0..=most).contains(*weight)) {
        Some(wrong) => Err(Failure::usage(format!(
            "--weights: {wrong} must be from 0 to {most} for this grid size"
        ))),
        None => Ok(weights.clone()),
    }
}

impl Problem {
    /// The meaning of edges.
    pub(super) fn weighs(&self) -> &'static str {
        match self {
            Self::Traffic(recorded) => recorded.amounts().1,
            _ => "edges",
        }
    }

    pub(super) fn vertices(&self) -> usize {
        match self {
            Self::Grid(grid) => grid.vertices(),
            Self::Graph { graph, .. } => graph.vertices(),
            Self::Traffic(recorded) => recorded.recording.size as usize,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grid(grid) => {
                write!(f, "grid {}", sides_text(grid.dims()))?;
                let periodic = grid.periodic();
                if periodic.iter().any(|periodic| *periodic) {
                    let bits: String =
                        periodic.iter().map(|p| if *p { '1' } else { '0' }).collect();
                    write!(f, ", periodic {bits}")?;
                }
                Ok(())
            }
            Self::Graph { graph, file } => {
                f.write_str("graph ")?;
                if file.as_os_str() != "-" {
                    let name = file.file_name().unwrap_or(file.as_os_str());
                    write!(f, "{} ", name.to_string_lossy())?;
                }
                write!(f, "of {} vertices and {} edges", graph.vertices(), graph.len())
            }
            Self::Traffic(recorded) => {
                let recording = &recorded.recording;
                write!(
                    f,
                    "the traffic of {}, {}",
                    recording.program,
                    processes(recording.size as usize)
                )
            }
        }
    }
}

fn graph(file: &Path) -> Result<Problem> {
    let graph = metis::read(&output::read(file)?)
        .map_err(|error| Failure::new(format!("{} is not a graph: {error}", file.display())))?;
    match graph.vertices() {
        0 => Err(Failure::new(format!("{} has no vertices; nothing to place", file.display()))),
        vertices if vertices > MOST_RANKS => Err(Failure::new(format!(
            "{} has {vertices} vertices; at most {MOST_RANKS} can be placed",
            file.display()
        ))),
        _ => Ok(Problem::Graph { graph, file: file.to_owned() }),
    }
}

fn recorded(file: &Path) -> Result<Problem> {
    let recording = traffic::read(file)?;
    Ok(Problem::Traffic(Box::new(Recorded { recording, graph: OnceCell::new() })))
}
