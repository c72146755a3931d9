//! Grids of the same processes: with other periods, and created from a grid.

use std::collections::BTreeMap;

use super::*;
use crate::engine::Reason;
use crate::engine::assign_ranks::Placement;
use crate::engine::history::Order;
use crate::engine::policy::Policy;
use crate::machine::Machine;
use crate::mapping::Options;

/// 16 nodes of 8: a grid of 8 x 16 keeps its ranks without periods, and is reordered if it is periodic along the second
/// dimension.
fn sixteen() -> Machine {
    Machine::blocks(&[8; 16])
}

/// 16 processes, round-robin on four nodes: a row of them is reordered.
fn round_robin() -> Machine {
    Machine::from_ids(&(0..16).map(|rank| rank % 4).collect::<Vec<_>>())
}

fn of_word(word: &str) -> CallSettings {
    let Policy { reorder, scramble, .. } = word.parse().unwrap();
    let options = Options { scramble, ..Options::default() };
    CallSettings { reorder, options, reporting: true, ..CallSettings::default() }
}

/// Creates a grid: the new communicator and the placement that rank 0 reports.
fn make(
    comm: &Sim,
    settings: CallSettings,
    dims: &[i32],
    periods: &[bool],
) -> (Option<Sim>, Option<Placement>) {
    let arguments = CartArguments { dims, periods, reorder: true };
    let made = cart_create(comm, comm, settings, Ok(arguments)).unwrap();
    (made.member.map(|(made, _)| made), made.placement)
}

fn rank_of(made: &Option<Sim>) -> Option<i32> {
    made.as_ref().map(|made| made.rank().unwrap())
}

fn split(comm: &Sim, color: Option<i32>, key: i32) -> Option<Sim> {
    comm.split(color, key).unwrap()
}

#[test]
fn the_first_grid_decides_for_all_periods() {
    let (open, other) = ([false, false], [false, true]);
    let dims = [8, 16];
    let alone = |periods: [bool; 2]| -> Vec<i32> {
        sim::run_on(Some(sixteen()), 128, |comm| {
            rank_of(&make(comm, of_word("on"), &dims, &periods).0).unwrap()
        })
    };
    let (kept, moved) = (alone(open), alone(other));
    assert!(kept.is_sorted() && !moved.is_sorted(), "they are to differ");
    for (first, second, expected, anonymous) in
        [(open, other, &kept, false), (other, open, &moved, false), (other, open, &moved, true)]
    {
        let ranks = sim::run_on(Some(sixteen()), 128, |comm| {
            sim::ANONYMOUS.set(anonymous);
            let settings = of_word("on");
            let rank = comm.rank().unwrap();
            let of = |comm: &Sim, periods: &[bool]| {
                let (made, placement) = make(comm, settings, &dims, periods);
                (rank_of(&made).unwrap(), placement)
            };
            let (own, placement) = of(comm, &first);
            if let Some(placement) = placement {
                let has_moved = placement.kept.is_none();
                assert_eq!(has_moved, first == other);
                assert_ne!(placement.kept, Some(Reason::AsBefore));
            }
            // The same communicator, and others of these processes in this order.
            let copy = split(comm, Some(0), rank).unwrap();
            for on in [comm, &copy, comm] {
                let (again, placement) = of(on, &second);
                assert_eq!(again, own);
                if let Some(Placement { plan, kept, .. }) = placement {
                    // Costs are those of this grid.
                    let grid = Cart::new(&dims, &second, 128).unwrap();
                    let grid = crate::mapping::Grid::from(&grid);
                    let plan = plan.unwrap();
                    let node_of: Vec<u32> =
                        plan.old_ranks().map(|old| sixteen().nodes()[old as usize]).collect();
                    use crate::mapping::Adjacency;
                    assert_eq!(plan.after, grid.cost(&node_of));
                    let as_before = kept == Some(Reason::AsBefore);
                    assert!(as_before || kept.is_none());
                    assert_eq!(as_before, first == open);
                }
            }
            // Creating the first grid again gives the same result.
            assert_eq!(of(comm, &first).0, own);
            // The process remembers its new rank without a message.
            let order = Order::of_all(0..128);
            use crate::engine::Advisor;
            let known = comm.history().new_rank(order, 128, &dims, comm.process());
            assert_eq!(known, Some(Some(own)));
            own
        });
        assert_eq!(ranks, *expected);
    }
}

#[test]
fn grids_with_other_dims_or_orders_do_not_match() {
    let made = sim::run_on(Some(round_robin()), 16, |comm| {
        let settings = of_word("on");
        let rank = comm.rank().unwrap();
        let backwards = split(comm, Some(0), -rank).unwrap();
        let (first, _) = make(&backwards, settings, &[8, 2], &[true; 2]);
        let (second, _) = make(comm, settings, &[8, 2], &[false; 2]);
        let (third, _) = make(comm, settings, &[8, 2, 1], &[false; 3]);
        [first, second, third].map(|made| rank_of(&made).unwrap())
    });
    let fresh = sim::run_on(Some(round_robin()), 16, |comm| {
        rank_of(&make(comm, of_word("on"), &[8, 2], &[false; 2]).0).unwrap()
    });
    let column = |i: usize| made.iter().map(|ranks| ranks[i]).collect::<Vec<_>>();
    assert_eq!(column(1), fresh);
    assert_ne!(column(0), column(1));
    assert_eq!(column(2), fresh);
}

#[test]
fn processes_left_out_of_a_grid_are_left_out_again() {
    let made = sim::run_on(Some(round_robin()), 16, |comm| {
        let of = |periods: [bool; 2]| rank_of(&make(comm, of_word("on"), &[6, 2], &periods).0);
        [of([true, false]), of([false, true]), of([false, false])]
    });
    assert!(made.iter().all(|ranks| ranks[0] == ranks[1] && ranks[0] == ranks[2]));
    assert_eq!(made.iter().filter(|ranks| ranks[0].is_none()).count(), 4);
}

#[test]
fn rank_0_decides_also_if_others_have_forgotten() {
    let made = sim::run_on(Some(round_robin()), 16, |comm| {
        let rank = comm.rank().unwrap();
        let settings = of_word("on");
        let (first, _) = make(comm, settings, &[8, 2], &[false, true]);
        // Half of the processes create many more grids, each with one neighbor only.
        let pair =
            split(comm, Some(if rank < 8 { rank / 2 } else { -1 }).filter(|c| *c >= 0), rank);
        for number in 1..100 {
            if let Some(pair) = &pair {
                make(pair, of_word("all"), &[2], &[number % 2 == 0]);
                make(pair, of_word("all"), &vec![1; number], &vec![false; number]);
            }
        }
        let (second, _) = make(comm, settings, &[8, 2], &[true, false]);
        [first, second].map(|made| rank_of(&made).unwrap())
    });
    let mut seconds: Vec<i32> = made.iter().map(|ranks| ranks[1]).collect();
    seconds.sort_unstable();
    assert_eq!(seconds, (0..16).collect::<Vec<_>>());
}

#[test]
fn random_orders_are_shared_as_well() {
    let made = sim::run_on(None, 12, |comm| {
        let of = |periods: [bool; 2]| {
            rank_of(&make(comm, of_word("scramble:3"), &[4, 3], &periods).0).unwrap()
        };
        [of([false; 2]), of([true; 2])]
    });
    assert!(made.iter().all(|ranks| ranks[0] == ranks[1]));
    assert!(!made.is_sorted());
}

/// Like EPOCH: a grid, then a row of all processes of that grid.
#[test]
fn a_grid_on_a_grid_keeps_its_ranks() {
    let words = [("on", true), ("on,scramble:1", true), ("all", false), ("scramble:1", false)];
    for ((word, stays), anonymous) in words.iter().flat_map(|word| [(*word, false), (*word, true)])
    {
        let ranks = sim::run_on(Some(round_robin()), 16, |comm| {
            sim::ANONYMOUS.set(anonymous);
            let (grid, _) = make(comm, of_word(word), &[16, 1], &[true; 2]);
            let grid = grid.unwrap();
            let own = grid.rank().unwrap();
            let moved = own != comm.rank().unwrap();
            // With a topology, like duplicates, and without one, like the results of MPI_Comm_split.
            let copy = split(&grid, Some(0), own).unwrap();
            let mut same = true;
            for on in [grid.with_topology(), copy] {
                let (made, placement) = make(&on, of_word(word), &[2, 8], &[true; 2]);
                same &= rank_of(&made) == Some(own);
                let is_kept = |placement: Placement| placement.kept == Some(Reason::InPlace);
                assert!(placement.is_none_or(|placement| is_kept(placement) == stays), "{word}");
            }
            (moved, same)
        });
        assert!(ranks.iter().any(|(moved, _)| *moved), "{word}");
        assert_eq!(ranks.iter().all(|(_, same)| *same), stays, "{word}");
    }
}

#[test]
fn parts_of_one_grid_keep_ranks_and_parts_of_several_are_reordered() {
    let ranks = sim::run_on(Some(round_robin()), 16, |comm| {
        let rank = comm.rank().unwrap();
        let settings = of_word("on");
        let half = split(comm, Some(rank / 8), rank).unwrap();
        // Parts of two grids.
        let (grid, _) = make(&half, settings, &[8, 1], &[true; 2]);
        let grid = grid.unwrap();
        let own = grid.rank().unwrap();
        let moved = own != half.rank().unwrap();
        let across = split(comm, Some(i32::from(rank % 8 < 4)), rank).unwrap();
        let (made, _) = make(&across, settings, &[8, 1], &[true; 2]);
        let of_several = rank_of(&made) == Some(across.rank().unwrap());
        // A part of one grid, every second process first.
        let part = split(&grid, Some(own / 4), 10 * (own % 2) + own).unwrap();
        let (made, placement) = make(&part, settings, &[4, 1], &[false; 2]);
        assert!(placement.is_none_or(|placement| placement.kept == Some(Reason::InPlace)));
        let of_one = rank_of(&made) == Some(part.rank().unwrap());
        let (made, _) = make(&part, of_word("all"), &[4], &[false]);
        let insisted = rank_of(&made) == Some(part.rank().unwrap());
        (moved, of_several, of_one, insisted)
    });
    assert!(ranks.iter().any(|(moved, ..)| *moved));
    assert!(!ranks.iter().all(|(_, of_several, ..)| *of_several));
    assert!(ranks.iter().all(|(_, _, of_one, _)| *of_one));
    assert!(!ranks.iter().all(|(.., insisted)| *insisted));
}

#[test]
fn graphs_on_a_grid_keep_their_ranks() {
    let cycle = |comm: &Sim, settings| {
        let index: Vec<i32> = (1..=16).collect();
        let edges: Vec<i32> = (0..16).map(|vertex| (vertex + 1) % 16).collect();
        let arguments = GraphArguments { index: &index, edges: &edges, reorder: true };
        graph_create(comm, comm, settings, Ok(arguments)).unwrap().keeps_ranks
    };
    let kept = sim::run_on(Some(round_robin()), 16, |comm| {
        let on = of_word("on");
        let alone = cycle(comm, on);
        let in_place = cycle(&comm.with_topology(), on);
        [alone, in_place, cycle(&comm.with_topology(), of_word("all"))]
    });
    assert!(kept.into_iter().all(|kept| kept == [false, true, false]));
}

/// If rank 0 knows the others, no message is needed.
#[test]
fn the_number_of_sums_is_minimal() {
    let sums = |machine: Machine, word: &str, anonymous: bool| -> usize {
        let calls = sim::run_on(Some(machine), 16, |comm| {
            sim::ANONYMOUS.set(anonymous);
            let settings = CallSettings { reporting: false, ..of_word(word) };
            for periods in [[false; 2], [true; 2]] {
                make(comm, settings, &[16, 1], &periods);
            }
            comm.calls()
        });
        calls[0].iter().filter(|call| **call == "sum").count()
    };
    for (machine, word, anonymous, expected) in [
        (round_robin(), "on", false, 0),
        (round_robin(), "on", true, 4),
        (Machine::blocks(&[4; 4]), "on", false, 0),
        (Machine::blocks(&[4; 4]), "on", true, 2),
        (Machine::one_node(16), "on", true, 0),
        (round_robin(), "off", true, 0),
    ] {
        assert_eq!(sums(machine, word, anonymous), expected, "{word} {anonymous}");
    }
}

/// The order of processes inside a node is kept, so a device chosen by the rank on the node remains right.
mod inside_nodes {
    use proptest::prelude::*;

    use super::*;
    use crate::mapping::{Csr, Grid, Objective, Plan, plan_graph, plan_grid};

    /// The position of each vertex's process: ranks ascend on each node, and the first processes of the node take part.
    fn keeps_order(plan: &Plan, machine: &Machine) -> bool {
        let mut taken: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for old in plan.old_ranks() {
            taken.entry(machine.nodes()[old as usize]).or_default().push(old as usize);
        }
        taken.iter().all(|(node, ranks)| {
            let all = (0..machine.ranks()).filter(|rank| machine.nodes()[*rank] == *node);
            let is_moved = plan.old_rank.is_some();
            ranks.is_sorted() && (!is_moved || all.take(ranks.len()).eq(ranks.iter().copied()))
        })
    }

    fn layouts() -> impl Strategy<Value = Machine> {
        let ids = prop::collection::vec(0..6u64, 1..40);
        let round_robin = (1..40usize, 1..7u64)
            .prop_map(|(ranks, nodes)| (0..ranks as u64).map(|rank| rank % nodes).collect());
        prop_oneof![ids, round_robin].prop_map(|ids: Vec<u64>| Machine::from_ids(&ids))
    }

    proptest! {
        #[test]
        fn plans_of_grids_keep_the_order_on_a_node(
            machine in layouts(),
            sides in prop::collection::vec(1..7usize, 1..4),
            periodic in prop::collection::vec(any::<bool>(), 3),
            weights in prop::option::of(prop::collection::vec(1..20i64, 3)),
            objective in prop::sample::select(&Objective::NAMED).prop_map(|(_, objective)| objective),
        ) {
            let mut sides = sides;
            while sides.iter().product::<usize>() > machine.ranks() {
                sides.pop();
            }
            let dims: Vec<i32> = sides.iter().map(|side| *side as i32).collect();
            let cart = Cart::new(&dims, &periodic[..dims.len()], machine.ranks() as i32).unwrap();
            let grid = Grid::of_cart(&cart, weights.as_ref().map(|weights| &weights[..dims.len()]));
            let options = Options { objective, ..Options::default() };
            let plan = plan_grid(&grid, &machine, &options);
            prop_assert!(keeps_order(&plan, &machine), "{plan:?}");
        }

        #[test]
        fn plans_of_graphs_keep_the_order_on_a_node(
            machine in layouts(),
            edges in prop::collection::vec((0..40u32, 0..40u32, 1..9i64), 0..100),
        ) {
            let ranks = machine.ranks() as u32;
            let edges = edges.into_iter().map(|(from, to, weight)| (from % ranks, to % ranks, weight));
            let graph = Csr::from_edges(ranks as usize, edges);
            let options = Options { seconds: Some(2e-3), ..Options::default() };
            let plan = plan_graph(&graph, &machine, &options);
            prop_assert!(keeps_order(&plan, &machine), "{plan:?}");
        }
    }
}
