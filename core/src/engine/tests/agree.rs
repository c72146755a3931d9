//! Tests of the agreement, and of its number of collective calls.

use super::*;
use crate::engine::Reason;
use crate::engine::check::Check;
use crate::engine::policy::Reorder;
use crate::machine::Machine;
use crate::mapping::Scramble;

/// The calls of rank 0.
fn calls(machine: Option<Machine>, size: i32, program: impl Fn(&Sim) + Sync) -> Vec<&'static str> {
    let calls = sim::run_on(machine, size, |comm| {
        program(comm);
        comm.calls()
    });
    calls.into_iter().next().unwrap()
}

#[test]
fn agreement_needs_only_the_split() {
    let row = |comm: &Sim, reorder| {
        cart(comm, &[4], &[false], reorder).unwrap().unwrap();
    };
    assert_eq!(calls(None, 4, |comm| row(comm, false)), ["split"]);
    // Rank 0 decides whether processes may move; on one node none does.
    let one_node = Machine::one_node(4);
    assert_eq!(calls(Some(one_node), 4, |comm| row(comm, true)), ["split", "broadcast"]);
    // A row on two nodes needs no reordering.
    let calls_here = calls(Some(Machine::blocks(&[2, 2])), 4, |comm| row(comm, true));
    assert_eq!(calls_here, ["split", "broadcast", "scatter"]);
    // Round-robin ranks: processes move, which takes another communicator.
    let round_robin = Machine::from_ids(&[0, 1, 0, 1]);
    let expected = ["split", "broadcast", "scatter", "free", "split"];
    assert_eq!(calls(Some(round_robin), 4, |comm| row(comm, true)), expected);
    // Another split leaves processes out.
    let smaller = |comm: &Sim| drop(cart(comm, &[3], &[false], false).unwrap());
    assert_eq!(calls(None, 4, smaller), ["split", "free", "split"]);
    let empty = |comm: &Sim| drop(graph(comm, &[], &[]).unwrap());
    assert_eq!(calls(None, 4, empty), ["split", "free"]);
    // The two ends of each edge are compared only if that is requested.
    let ring = |comm: &Sim, check| {
        let (rank, size) = (comm.rank().unwrap(), comm.size().unwrap());
        let arguments = AdjacentArguments {
            sources: &[(rank + size - 1) % size],
            source_weights: EdgeWeights::Unweighted,
            destinations: &[(rank + 1) % size],
            dest_weights: EdgeWeights::Unweighted,
            reorder: false,
        };
        let settings = CallSettings { check, ..CallSettings::default() };
        dist_graph_create_adjacent(comm, comm, settings, Ok(arguments)).unwrap();
    };
    assert_eq!(calls(None, 5, |comm| ring(comm, Check::default())), ["split"]);
    assert_eq!(calls(None, 5, |comm| ring(comm, Check::ALL)), ["split", "sum"]);
}

#[test]
fn a_failed_constructor_leaves_nothing_behind() {
    let wrong = |comm: &Sim| {
        let dims = if comm.rank() == Ok(1) { [4, 1] } else { [2, 2] };
        cart(comm, &dims, &[false; 2], false).err().unwrap();
    };
    let lonely = |comm: &Sim| {
        let destinations: &[i32] = if comm.rank() == Ok(1) { &[0] } else { &[] };
        let arguments = AdjacentArguments {
            sources: &[],
            source_weights: EdgeWeights::Unweighted,
            destinations,
            dest_weights: EdgeWeights::Unweighted,
            reorder: false,
        };
        let settings = CallSettings { check: Check::ALL, ..CallSettings::default() };
        dist_graph_create_adjacent(comm, comm, settings, Ok(arguments)).err().unwrap();
    };
    let grid = Cart::new(&[2, 2], &[false; 2], 4).unwrap();
    let parted = |comm: &Sim| {
        let remain = [true, comm.rank() == Ok(2)];
        cart_sub(comm, comm, Ok((&grid, &remain))).err().unwrap();
    };
    for program in [&wrong as &(dyn Fn(&Sim) + Sync), &lonely, &parted] {
        // A communicator of some of the ranks has its own rank 0.
        let calls = calls(None, 4, program);
        let count = |name| calls.iter().filter(|call| **call == name).count();
        assert!(count("free") >= count("split"), "{calls:?}");
    }
}

#[test]
fn environments_may_differ() {
    let machine = Machine::from_ids(&[0, 1, 0, 1]);
    for (odd, moved) in [
        (Reorder::Off, false),
        (Reorder::Known, false),
        (Reorder::On, true),
        (Reorder::Always, true),
    ] {
        for reporting in [false, true] {
            let made = sim::run_on(Some(machine.clone()), 4, |comm| {
                let mut settings = known();
                if comm.rank() == Ok(2) {
                    (settings.reorder, settings.reporting) = (odd, reporting);
                }
                let arguments = CartArguments { dims: &[4], periods: &[false], reorder: true };
                let made = cart_create(comm, comm, settings, Ok(arguments)).unwrap();
                let (new, _) = made.member.unwrap();
                assert_eq!(new.size(), Ok(4));
                (new.rank().unwrap(), made.placement.is_some())
            });
            let ranks: Vec<i32> = made.iter().map(|(rank, _)| *rank).collect();
            assert_eq!(ranks != [0, 1, 2, 3], moved);
            // Only rank 0 decides whether there is a report.
            assert!(made.iter().all(|(_, placement)| !placement));
        }
    }
}

/// The new ranks on round-robin nodes, in a ring of which each process passes its own edges.
fn ring(
    machine: Option<Machine>,
    size: i32,
    settings: impl Fn(i32) -> CallSettings + Sync,
) -> Vec<i32> {
    sim::run_on(machine, size, |comm| {
        let rank = comm.rank().unwrap();
        let arguments = AdjacentArguments {
            sources: &[(rank + size - 1) % size],
            source_weights: EdgeWeights::Unweighted,
            destinations: &[(rank + 1) % size],
            dest_weights: EdgeWeights::Unweighted,
            reorder: true,
        };
        let made = dist_graph_create_adjacent(comm, comm, settings(rank), Ok(arguments)).unwrap();
        made.member.unwrap().0.rank().unwrap()
    })
}

#[test]
fn distributed_graphs_are_moved_if_the_setting_or_info_asks() {
    let round_robin = || Some(Machine::from_ids(&[0, 1, 0, 1]));
    let settings = |reorder, info| CallSettings { reorder, info, ..CallSettings::default() };
    let moves = |settings: &(dyn Fn(i32) -> CallSettings + Sync)| {
        ring(round_robin(), 4, settings) != [0, 1, 2, 3]
    };
    for (reorder, info, moved) in [
        (Reorder::On, None, false),
        (Reorder::On, Some(true), true),
        (Reorder::All, None, true),
        (Reorder::All, Some(false), false),
        (Reorder::Off, Some(true), false),
    ] {
        assert_eq!(moves(&|_| settings(reorder, info)), moved, "{reorder:?} {info:?}");
        // One rank without the info key, or with a more cautious environment, keeps all ranks.
        let odd =
            |rank| if rank == 2 { settings(Reorder::On, None) } else { settings(reorder, info) };
        assert!(!moves(&odd), "{reorder:?} {info:?}");
    }
}

#[test]
fn processes_are_scrambled_on_any_nodes() {
    let scrambled = |seed| {
        let mut settings = CallSettings { reorder: Reorder::All, ..CallSettings::default() };
        settings.options.scramble = Some(Scramble { seed, rank_zero: true });
        settings
    };
    let round_robin = Machine::from_ids(&[0, 1, 0, 1, 0, 1]);
    let first = ring(None, 6, |_| scrambled(7));
    assert!((0..).zip(&first).all(|(old, new)| old != *new), "{first:?}");
    for machine in [Some(Machine::one_node(6)), Some(round_robin)] {
        assert_eq!(ring(machine, 6, |_| scrambled(7)), first);
    }
    // The seed of rank 0 counts; ranks without a seed take part if their setting allows reordering.
    assert_eq!(ring(None, 6, |rank| scrambled(if rank == 0 { 7 } else { 8 })), first);
    assert_ne!(ring(None, 6, |_| scrambled(8)), first);
    let some = |reorder| {
        move |rank| {
            if rank == 3 {
                CallSettings { reorder, ..CallSettings::default() }
            } else {
                scrambled(7)
            }
        }
    };
    assert_eq!(ring(None, 6, some(Reorder::All)), first);
    for reorder in [Reorder::On, Reorder::Off] {
        assert_eq!(ring(None, 6, some(reorder)), [0, 1, 2, 3, 4, 5]);
    }
}

#[test]
fn rank_0_reports_ranks_moved_despite_reorder_0() {
    let round_robin = Machine::from_ids(&[0, 1, 0, 1]);
    for (reorder, asked, told) in [
        (Reorder::Always, false, true),
        (Reorder::Always, true, false),
        (Reorder::All, false, false),
    ] {
        let made = sim::run_on(Some(round_robin.clone()), 4, |comm| {
            let arguments = CartArguments { dims: &[4], periods: &[false], reorder: asked };
            let settings = CallSettings { reorder, ..CallSettings::default() };
            cart_create(comm, comm, settings, Ok(arguments))
                .unwrap()
                .placement
                .map(|placement| (placement.kept, placement.forced))
        });
        assert_eq!(made[0], told.then_some((None, true)));
        assert_eq!(made[1..], [None, None, None]);
    }
}

/// A program that is not known to follow its ranks gets no layout and no plan.
#[test]
fn reorder_1_costs_an_unknown_program_no_more_than_reorder_0() {
    let round_robin = || Some(Machine::from_ids(&[0, 1, 0, 1]));
    let settings = CallSettings::default();
    let grid = |comm: &Sim, reorder| {
        let arguments = CartArguments { dims: &[4], periods: &[false], reorder };
        drop(cart_create(comm, comm, settings, Ok(arguments)).unwrap());
    };
    let whole_graph = |comm: &Sim, reorder| {
        let (index, edges) = (&[1, 2, 3, 4], &[1, 0, 3, 2]);
        drop(
            graph_create(comm, comm, settings, Ok(GraphArguments { index, edges, reorder }))
                .unwrap(),
        );
    };
    for reorder in [false, true] {
        assert_eq!(calls(round_robin(), 4, |comm| grid(comm, reorder)), ["split"]);
        assert_eq!(calls(round_robin(), 4, |comm| whole_graph(comm, reorder)), ["split"]);
    }
}

#[test]
fn one_process_watches_a_reordered_grid() {
    let watched = |reorder, dims: &[i32]| {
        sim::run_on(Some(Machine::from_ids(&[0, 1, 0, 1])), 4, |comm| {
            let arguments =
                CartArguments { dims, periods: &[false; 2][..dims.len()], reorder: true };
            let weights = CallSettings { reorder, ..CallSettings::default() };
            let made = cart_create(comm, comm, weights, Ok(arguments)).unwrap();
            let (new, _) = made.member.unwrap();
            (new.rank().unwrap(), made.watched)
        })
    };
    let row = watched(Reorder::On, &[4]);
    assert_eq!(row.iter().map(|(rank, _)| *rank).collect::<Vec<_>>(), [0, 2, 1, 3]);
    // Old rank 1 has the new rank of a neighbor, and so has old rank 2.
    assert!(row.iter().all(|(_, watched)| watched.is_none()));
    let square = watched(Reorder::All, &[2, 2]);
    let moved = |(old, (new, _)): &(i32, (i32, Option<i32>))| old != new;
    let square: Vec<_> = (0..).zip(square).collect();
    let watching: Vec<i32> = square.iter().filter_map(|(_, (_, watched))| *watched).collect();
    assert_eq!(watching.len(), usize::from(square.iter().any(moved)), "{square:?}");
    for (old, (new, watched)) in square {
        assert!(watched.is_none_or(|rank| rank == old && rank != new && rank != 0));
    }
    assert!(watched(Reorder::Known, &[2, 2]).iter().all(|(_, watched)| watched.is_none()));
}

#[test]
fn a_report_gives_the_reason_if_all_ranks_stay() {
    for (nodes, reorder, expected) in [
        ([0, 1, 0, 1], Reorder::On, None),
        ([0, 1, 0, 1], Reorder::Known, Some(Reason::UnknownProgram)),
        ([0, 0, 1, 1], Reorder::On, Some(Reason::NothingToGain)),
        ([0, 0, 0, 0], Reorder::On, Some(Reason::OneNode)),
    ] {
        let made = sim::run_on(Some(Machine::from_ids(&nodes)), 4, |comm| {
            let arguments = CartArguments { dims: &[4], periods: &[false], reorder: true };
            let settings = CallSettings { reorder, reporting: true, ..CallSettings::default() };
            let created = cart_create(comm, comm, settings, Ok(arguments)).unwrap();
            created.placement.map(|placement| placement.kept)
        });
        assert_eq!(made, [Some(expected), None, None, None]);
    }
}

#[test]
fn ranks_that_call_different_functions_get_an_error() {
    let grid = Cart::new(&[2, 2], &[false; 2], 4).unwrap();
    for remain in [[true, true], [true, false]] {
        let (rank, class, text) = fault(sim::run(4, |comm| match comm.rank() {
            Ok(1) => cart(comm, &[2, 2], &[false; 2], false),
            _ => cart_sub(comm, comm, Ok((&grid, &remain))).map(|made| made.member),
        }));
        assert_eq!((rank, class), (1, Class::Arg));
        assert_eq!(text, "calls MPI_Cart_create while rank 0 calls MPI_Cart_sub");
    }
}
