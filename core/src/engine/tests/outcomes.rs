//! Tests of the reason and the plan that a constructor reports.

use super::*;
use crate::engine::Reason;
use crate::engine::assign_ranks::{Placement, PlacementInput, assign_ranks};
use crate::engine::create::Created;
use crate::engine::decision::ReorderDecision;
use crate::engine::planned::Shape;
use crate::machine::Machine;
use crate::mapping::{Options, Scramble};
use crate::topology::{Cart, TopologySummary};

/// Why rank 0 kept all ranks of a grid with these sides, if it did. Weights are 1, or unknown.
fn reason(
    machine: Option<Machine>,
    scramble: Option<Scramble>,
    dims: &[i32],
    weights: Option<&[i64]>,
) -> Option<Reason> {
    let decision = ReorderDecision {
        moving: true,
        planning: true,
        reporting: true,
        scramble: scramble.is_some(),
        keeps_in_place: true,
        surveys: false,
        known: true,
        kept: None,
        forced: false,
    };
    let size = dims.iter().product();
    let reasons = sim::run_on(machine, size, |comm| {
        let grid = Cart::new(dims, &vec![false; dims.len()], size).unwrap();
        let shape = Shape::Cart { grid: &grid, dims, weights: weights.map(Into::into) };
        let options = Options { scramble, ..Options::default() };
        let input = PlacementInput { decision, broken: Vec::new(), options, shape };
        let (_, placement) = assign_ranks(comm, comm, input).unwrap();
        placement.map(|placement| placement.kept)
    });
    assert!(reasons[1..].iter().all(Option::is_none));
    reasons[0].unwrap()
}

#[test]
fn a_placement_gives_the_reason_if_all_ranks_stay() {
    let row = |machine, scramble| reason(machine, scramble, &[4], Some(&[1]));
    assert_eq!(row(None, None), Some(Reason::NoLayout));
    assert_eq!(row(Some(Machine::one_node(4)), None), Some(Reason::OneNode));
    let nodes = Some(Machine::from_ids(&[0, 0, 1, 1]));
    assert_eq!(row(nodes, None), Some(Reason::NothingToGain));
    let nodes = Some(Machine::blocks(&[4; 4]));
    assert_eq!(reason(nodes, None, &[4, 4, 1], None), Some(Reason::RejectedAsRisky));
    let round_robin = Some(Machine::from_ids(&[0, 1, 0, 1]));
    assert_eq!(row(round_robin, None), None);
    // Random reordering moves processes on any nodes.
    assert_eq!(row(None, Some(Scramble { seed: 3, rank_zero: true })), None);
}

/// The placement that rank 0 reports, and whether all ranks report that ranks are kept, on two nodes with round-robin
/// ranks.
fn placed(
    settings: CallSettings,
    call: &(dyn Fn(&Sim, CallSettings) -> Result<Created<Sim>> + Sync),
) -> (Option<Placement>, bool) {
    let mut all = sim::run_on(Some(Machine::from_ids(&[0, 1, 0, 1])), 4, |comm| {
        let made = call(comm, settings).unwrap();
        (made.placement, made.keeps_ranks)
    });
    assert!(all.iter().all(|(_, keeps_ranks)| *keeps_ranks == all[0].1));
    assert!(all[1..].iter().all(|(placement, _)| placement.is_none()));
    all.swap_remove(0)
}

/// Creates a graph with edges between 0 and 1, and between 2 and 3; rank 3 passes all of them.
fn edges(comm: &Sim, settings: CallSettings, reorder: bool) -> Result<Created<Sim>> {
    let count = if comm.rank() == Ok(3) { 4 } else { 0 };
    let arguments = EdgeArguments {
        sources: &[0, 1, 2, 3][..count],
        degrees: &[1; 4][..count],
        destinations: &[1, 0, 3, 2][..count],
        weights: EdgeWeights::Given(&[1, 2, 3, 4][..count]),
        reorder,
    };
    dist_graph_create(comm, comm, settings, Ok(arguments))
}

/// Creates the same graph, each process by its own edges.
fn own_edges(comm: &Sim, settings: CallSettings, reorder: bool) -> Result<Created<Sim>> {
    let rank = comm.rank().unwrap();
    let other = [rank ^ 1];
    let [into, away] = [[(rank ^ 1) + 1], [rank + 1]];
    let arguments = AdjacentArguments {
        sources: &other,
        source_weights: EdgeWeights::Given(&into),
        destinations: &other,
        dest_weights: EdgeWeights::Given(&away),
        reorder,
    };
    dist_graph_create_adjacent(comm, comm, settings, Ok(arguments))
}

#[test]
fn distributed_graphs_are_planned_by_the_edges_of_all() {
    let calls = [edges, own_edges];
    for call in calls {
        let settings = CallSettings { reorder: Reorder::All, ..CallSettings::default() };
        let reporting = CallSettings { reporting: true, ..settings };
        let (placement, keeps_ranks) = placed(reporting, &|comm, how| call(comm, how, true));
        let placement = placement.unwrap();
        assert_eq!((placement.kept, placement.forced), (None, false));
        let summary = TopologySummary::DistGraph { edges: Some(4), weighted: true };
        assert_eq!(placement.summary, summary);
        let plan = placement.plan.unwrap();
        assert_eq!((plan.before.inter_node_edges, plan.after.inter_node_edges), (10, 0));
        assert!(placement.broken.is_empty());
        assert!(!keeps_ranks);
        // Nothing is reported unless requested.
        let (placement, keeps_ranks) = placed(settings, &|comm, how| call(comm, how, true));
        assert!(placement.is_none() && !keeps_ranks);
        let always = CallSettings { reorder: Reorder::Always, ..CallSettings::default() };
        let (placement, keeps_ranks) = placed(always, &|comm, how| call(comm, how, false));
        let placement = placement.expect("it was not asked for");
        assert_eq!((placement.kept, placement.forced), (None, true));
        assert!(!keeps_ranks);
        let (placement, keeps_ranks) = placed(settings, &|comm, how| call(comm, how, false));
        assert!(placement.is_none() && keeps_ranks);
    }
}

#[test]
fn graphs_are_planned_by_their_edges() {
    let settings = CallSettings { reporting: true, ..known() };
    let (placement, keeps_ranks) = placed(settings, &|comm, settings| {
        let (index, edges) = (&[1, 2, 3, 4], &[1, 0, 3, 2]);
        graph_create(comm, comm, settings, Ok(GraphArguments { index, edges, reorder: true }))
    });
    let Placement { plan, summary, .. } = placement.unwrap();
    let plan = plan.unwrap();
    assert_eq!((plan.before.inter_node_edges, plan.after.inter_node_edges), (4, 0));
    assert_eq!(summary, TopologySummary::Graph { nnodes: 4, edges: 4 });
    assert!(!keeps_ranks);
}
