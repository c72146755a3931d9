//! `cartograph_plan`: the mapping for programs that call it themselves. It calls no MPI. include/cartograph.h has the
//! contract.

use std::ffi::c_int;

use super::pointers::{flags, input, output};
use crate::machine::{LevelKind, MOST_LEVELS, Machine};
use crate::mapping::{Csr, Grid, Options, Plan, plan_graph, plan_grid};
use crate::topology::Cart;

/// `cartograph_problem`.
#[repr(C)]
struct Problem {
    size: usize,
    ndims: c_int,
    dims: *const c_int,
    periods: *const c_int,
    vertices: c_int,
    edges: i64,
    from: *const c_int,
    to: *const c_int,
    weights: *const i64,
    processes: c_int,
    levels: c_int,
    places: *const i64,
}

/// The codes of the header.
#[derive(Clone, Copy)]
#[repr(i32)]
enum Fault {
    Size = 1,
    Null,
    Grid,
    Graph,
    Weights,
    Places,
    Large,
}

type Checked<T> = Result<T, Fault>;

/// The most processes, as for `cartograph plan`.
const MOST_PROCESSES: usize = 1 << 25;

/// The largest sum of the weights of a graph, with space for the sums of a search.
const MOST_WEIGHT: i64 = 1 << 55;

#[unsafe(no_mangle)]
unsafe extern "C" fn cartograph_plan(problem: *const Problem, process: *mut c_int) -> c_int {
    // SAFETY: the caller's problem; only its size is read before that is found to be right.
    match unsafe { solve(problem, process) } {
        Ok(()) => 0,
        Err(fault) => fault as c_int,
    }
}

/// # Safety
///
/// As the header demands: each pointer is null or has as many entries as the problem says.
unsafe fn solve(problem: *const Problem, process: *mut c_int) -> Checked<()> {
    if problem.is_null() || process.is_null() {
        return Err(Fault::Null);
    }
    // SAFETY: the first member, which every version of the problem has.
    if unsafe { problem.cast::<usize>().read() } != size_of::<Problem>() {
        return Err(Fault::Size);
    }
    // SAFETY: not null, and of this version; it is not written during the call.
    let problem = unsafe { &*problem };
    // SAFETY: as the caller promises.
    let plan = unsafe {
        let machine = problem.machine()?;
        match problem.ndims {
            0 => problem.graph_plan(&machine)?,
            _ => problem.grid_plan(&machine)?,
        }
    };
    // SAFETY: the caller's array, with an entry for each vertex.
    let process = unsafe { array(output("process", process, plan.vertices as usize))? };
    process.iter_mut().zip(plan.old_ranks()).for_each(|(to, from)| *to = from);
    Ok(())
}

/// An array of the caller, which can only be faulty by being null.
fn array<T, E>(array: Result<T, E>) -> Checked<T> {
    array.map_err(|_| Fault::Null)
}

impl Problem {
    unsafe fn machine(&self) -> Checked<Machine> {
        let levels = usize::try_from(self.levels).ok().filter(|n| (1..=MOST_LEVELS).contains(n));
        let ranks = usize::try_from(self.processes).ok().filter(|ranks| *ranks > 0);
        let (levels, ranks) = levels.zip(ranks).ok_or(Fault::Places)?;
        if ranks > MOST_PROCESSES {
            return Err(Fault::Large);
        }
        // SAFETY: as the caller promises.
        let places = unsafe { array(input("places", self.places, levels * ranks))? };
        let ids = |level: &[i64]| level.iter().map(|id| *id as u64).collect::<Vec<u64>>();
        let mut inward = places.chunks_exact(ranks).rev().map(ids);
        let nodes = Machine::from_ids(&inward.next().unwrap_or_default());
        let machine = inward.try_fold(nodes, |machine, ids| machine.under(LevelKind::Group, &ids));
        Ok(machine.ok_or(Fault::Places)?.without_idle_levels())
    }

    unsafe fn grid_plan(&self, machine: &Machine) -> Checked<Plan> {
        let ndims = usize::try_from(self.ndims).map_err(|_| Fault::Grid)?;
        // SAFETY: as the caller promises.
        let (dims, periods, weights) = unsafe {
            let periods = match self.periods.is_null() {
                true => vec![false; ndims],
                false => array(flags("periods", self.periods, ndims))?,
            };
            (array(input("dims", self.dims, ndims))?, periods, self.weights(ndims)?)
        };
        if dims.iter().any(|side| *side < 1) {
            return Err(Fault::Grid);
        }
        let cart = Cart::new(dims, &periods, self.processes).map_err(|_| Fault::Places)?;
        let most = Grid::most_weight(cart.size() as usize);
        if weights.is_some_and(|weights| weights.iter().any(|weight| *weight > most)) {
            return Err(Fault::Weights);
        }
        Ok(plan_grid(&Grid::of_cart(&cart, weights), machine, &Options::default()))
    }

    unsafe fn graph_plan(&self, machine: &Machine) -> Checked<Plan> {
        let vertices = usize::try_from(self.vertices).ok().filter(|vertices| *vertices > 0);
        let vertices = vertices.ok_or(Fault::Graph)?;
        let edges = usize::try_from(self.edges).map_err(|_| Fault::Graph)?;
        // SAFETY: as the caller promises.
        let (from, to, weights) = unsafe {
            let ends = |ends| array(input("from or to", ends, edges));
            (ends(self.from)?, ends(self.to)?, self.weights(edges)?)
        };
        let exists = |end: &c_int| (0..self.vertices).contains(end);
        if !from.iter().chain(to).all(exists) {
            return Err(Fault::Graph);
        }
        let sum = |weights: &[i64]| weights.iter().try_fold(0i64, |sum, w| sum.checked_add(*w));
        if weights.is_some_and(|weights| sum(weights).is_none_or(|sum| sum > MOST_WEIGHT)) {
            return Err(Fault::Weights);
        }
        if vertices > machine.ranks() {
            return Err(Fault::Places);
        }
        let weight = |edge: usize| weights.map_or(1, |weights| weights[edge]);
        let ends = from.iter().zip(to).enumerate();
        let edges = ends.map(|(edge, (from, to))| (*from as u32, *to as u32, weight(edge)));
        let graph = Csr::from_edges(vertices, edges);
        Ok(plan_graph(&graph, machine, &Options::default()))
    }

    /// The weights, if there are any.
    unsafe fn weights(&self, count: usize) -> Checked<Option<&[i64]>> {
        if self.weights.is_null() {
            return Ok(None);
        }
        // SAFETY: as the caller promises.
        let weights = unsafe { array(input("weights", self.weights, count))? };
        match weights.iter().any(|weight| *weight < 0) {
            true => Err(Fault::Weights),
            false => Ok(Some(weights)),
        }
    }
}
