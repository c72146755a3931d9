//! Tests of the agreement on native neighborhood collectives.

use super::*;
use crate::engine::create::Created;
use crate::engine::sim::HostGraph;

/// Returns whether collectives are native, given the wishes of the ranks and their calls.
fn host_graph(
    wanted: [HostGraph; 4],
    call: &(dyn Fn(&Sim) -> Result<Created<Sim>> + Sync),
) -> bool {
    let all = sim::run(4, |comm| {
        sim::HOST_GRAPH.set(wanted[comm.rank().unwrap() as usize]);
        call(comm).unwrap().collectives.host_graph
    });
    assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
    all[0]
}

type Construct = dyn Fn(&Sim) -> Result<Created<Sim>> + Sync;

fn grid(
    dims: &'static [i32],
    periods: fn(i32) -> [bool; 2],
) -> impl Fn(&Sim) -> Result<Created<Sim>> {
    move |comm| {
        let periods = periods(comm.rank().unwrap());
        let arguments = CartArguments { dims, periods: &periods, reorder: false };
        cart_create(comm, comm, CallSettings::default(), Ok(arguments))
    }
}

fn all_know(edges: &'static [i32]) -> impl Fn(&Sim) -> Result<Created<Sim>> {
    move |comm| {
        let arguments = GraphArguments { index: &[2, 3, 4, 5], edges, reorder: false };
        graph_create(comm, comm, CallSettings::default(), Ok(arguments))
    }
}

fn sub_grid(remain: &'static [bool]) -> impl Fn(&Sim) -> Result<Created<Sim>> {
    move |comm| {
        let grid = Cart::new(&[4, 1], &[false, true], 4).unwrap();
        cart_sub(comm, comm, Ok((&grid, remain)))
    }
}

/// Each rank has an edge to the next one, and rank 2 another edge to `last`.
fn adjacent(last: i32) -> impl Fn(&Sim) -> Result<Created<Sim>> {
    move |comm| {
        let rank = comm.rank().unwrap();
        let to = [(rank + 1) % 4, last];
        let arguments = AdjacentArguments {
            sources: &[],
            source_weights: EdgeWeights::Unweighted,
            destinations: &to[..if rank == 2 { 2 } else { 1 }],
            dest_weights: EdgeWeights::Unweighted,
            reorder: false,
        };
        dist_graph_create_adjacent(comm, comm, CallSettings::default(), Ok(arguments))
    }
}

/// Rank 3 passes edges from 2 to 0 and from 2 to `last`.
fn edges(last: i32) -> impl Fn(&Sim) -> Result<Created<Sim>> {
    move |comm| {
        let gives = usize::from(comm.rank() == Ok(3));
        let arguments = EdgeArguments {
            sources: &[2][..gives],
            degrees: &[2][..gives],
            destinations: &[0, last][..2 * gives],
            weights: EdgeWeights::Unweighted,
            reorder: false,
        };
        dist_graph_create(comm, comm, CallSettings::default(), Ok(arguments))
    }
}

/// The wishes of ranks; rank 1's differs.
const fn odd(others: HostGraph, odd: HostGraph) -> [HostGraph; 4] {
    [others, odd, others, others]
}

#[test]
fn the_host_runs_collectives_if_all_ranks_allow_it() {
    use HostGraph::{Everywhere, Nowhere, WhereRepeated};
    let all_periodic = |_| [true, true];
    // No neighbors are repeated.
    let calls: [&Construct; 5] = [
        &grid(&[2, 2], |_| [false, false]),
        &all_know(&[1, 0, 2, 3, 0]),
        &sub_grid(&[true, false]),
        &adjacent(2),
        &edges(1),
    ];
    for call in calls {
        for (wanted, agreed) in [(Nowhere, false), (WhereRepeated, false), (Everywhere, true)] {
            assert_eq!(host_graph([wanted; 4], call), agreed);
        }
        for other in [WhereRepeated, Everywhere] {
            assert!(!host_graph(odd(Nowhere, other), call));
            assert!(!host_graph(odd(other, Nowhere), call));
        }
    }
    // Some neighbors are repeated, also on a single rank.
    let calls: [&Construct; 7] = [
        &grid(&[2, 2], all_periodic),
        &grid(&[4, 1], |_| [false, true]),
        &all_know(&[1, 1, 2, 3, 0]),
        &sub_grid(&[true, true]),
        &sub_grid(&[false, true]),
        &adjacent(3),
        &edges(0),
    ];
    for (number, call) in calls.into_iter().enumerate() {
        // Sub-grids of one process have no use for native collectives.
        let agreed = number != 4;
        for wanted in [WhereRepeated, Everywhere] {
            assert_eq!(host_graph([wanted; 4], call), agreed);
            assert!(!host_graph(odd(Nowhere, wanted), call));
            assert!(!host_graph(odd(wanted, Nowhere), call));
        }
        assert!(!host_graph([Nowhere; 4], call));
        assert_eq!(host_graph(odd(WhereRepeated, Everywhere), call), agreed);
        assert_eq!(host_graph(odd(Everywhere, WhereRepeated), call), agreed);
    }
    // Ranks may disagree about the neighbors.
    let differing = grid(&[2, 2], |rank| [rank == 2, false]);
    assert!(!host_graph([WhereRepeated; 4], &differing));
    assert!(host_graph([Everywhere; 4], &differing));
}

/// The pairing of blocks on which all ranks agree, given their calls and the pairing that each wants.
fn pairing(wanted: [i32; 4], call: &Construct) -> i32 {
    let all = sim::run(4, |comm| {
        sim::PAIRING.set(wanted[comm.rank().unwrap() as usize]);
        call(comm).unwrap().collectives.pairing
    });
    assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
    all[0]
}

/// A process that cannot read its program, or test the host, must pair blocks like its neighbors.
#[test]
fn ranks_pair_blocks_alike_if_one_knows_no_pairing() {
    let repeated: [&Construct; 6] = [
        &grid(&[2, 2], |_| [true, true]),
        &grid(&[2, 2], |rank| [rank == 2, false]),
        &all_know(&[1, 1, 2, 3, 0]),
        &sub_grid(&[true, true]),
        &adjacent(3),
        &edges(0),
    ];
    for call in repeated {
        for (wanted, agreed) in [
            ([0; 4], 0),
            ([7; 4], 7),
            ([7, 7, -1, 7], 7),
            ([7, 7, 7, -1], 7),
            ([-1, 7, -1, -1], 7),
            ([-1; 4], 0),
            ([5, 7, 7, 7], 7),
        ] {
            assert_eq!(pairing(wanted, call), agreed, "{wanted:?}");
        }
    }
    assert_eq!(pairing([7; 4], &grid(&[2, 2], |_| [false, false])), 0);
}
