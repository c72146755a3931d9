//! Random calls on every rank, right and wrong: results are compared with the arguments.

use proptest::prelude::*;

use super::*;
use crate::engine::calls::{ConstructorCall, fits, make};
use crate::machine::Machine;
use crate::mapping::{Options, Scramble};

/// Numbers near the valid ones on few processes.
fn few(most: usize, range: std::ops::RangeInclusive<i32>) -> impl Strategy<Value = Vec<i32>> {
    prop::collection::vec(range, 0..=most)
}

/// A call that is usually valid on `size` processes.
fn any_call(size: i32) -> impl Strategy<Value = ConstructorCall> {
    let cart = (few(3, 1..=3), any::<bool>(), any::<bool>(), 0..20).prop_map(
        move |(mut dims, periodic, reorder, spoil)| {
            if spoil == 0 {
                dims.push(-1);
            }
            ConstructorCall::Cart { periods: vec![periodic; dims.len()], dims, reorder }
        },
    );
    let graph = (few(size as usize, 0..=2), any::<bool>(), -1..=size, 0..20).prop_map(
        move |(degrees, reorder, to, spoil)| {
            let mut index: Vec<i32> = degrees
                .iter()
                .scan(0, |sum, degree| {
                    *sum += degree;
                    Some(*sum)
                })
                .collect();
            let most = degrees.len() as i32 - 1;
            // Out of range now and then.
            let to = if spoil == 0 { to } else { to.clamp(0, most.max(0)) };
            let edges = vec![to; index.last().map_or(0, |edges| *edges as usize)];
            if spoil == 1 {
                index.push(-1);
            }
            ConstructorCall::Graph { index, edges, reorder }
        },
    );
    let node = move || prop_oneof![30 => 0..size, 1 => Just(size), 1 => Just(-1)];
    let weight = || prop_oneof![30 => 0..4, 1 => Just(-1)];
    let weighted = || prop_oneof![Just(None), Just(Some(false)), Just(Some(true))];
    let edge = (node(), node(), weight()).prop_map(|(from, to, weight)| [from, to, weight]);
    let edges = (prop::collection::vec(edge, 0..4), weighted(), any::<bool>())
        .prop_map(|(edges, weighted, reorder)| ConstructorCall::Edges { edges, weighted, reorder });
    let end = move || prop::collection::vec((node(), weight()).prop_map(|(n, w)| [n, w]), 0..4);
    let adjacent =
        (end(), end(), weighted(), any::<bool>()).prop_map(|(into, away, weighted, reorder)| {
            ConstructorCall::Adjacent { into, away, weighted, reorder }
        });
    let sub = any::<[bool; 2]>().prop_map(|remain| ConstructorCall::Sub { remain });
    prop_oneof![cart, graph, edges, adjacent, sub]
}

/// Returns whether a rank can find a fault in its own call.
fn is_wrong(call: &ConstructorCall, size: i32) -> bool {
    let outside = |node: &i32| !(0..size).contains(node);
    match call {
        ConstructorCall::Cart { dims, .. } => {
            dims.iter().any(|side| *side < 1) || dims.iter().product::<i32>() > size
        }
        ConstructorCall::Graph { index, edges, .. } => {
            index.len() as i32 > size
                || index.first().is_some_and(|first| *first < 0)
                || index.windows(2).any(|pair| pair[1] < pair[0])
                || edges.iter().any(|to| !(0..index.len() as i32).contains(to))
        }
        ConstructorCall::Sub { .. } => false,
        ConstructorCall::Edges { edges, weighted, .. } => edges.iter().any(|[from, to, weight]| {
            outside(from) || outside(to) || (*weighted == Some(true) && *weight < 0)
        }),
        ConstructorCall::Adjacent { into, away, weighted, .. } => {
            let ends = || into.iter().chain(away);
            ends().any(|[node, _]| outside(node))
                || *weighted == Some(true) && ends().any(|[_, weight]| *weight < 0)
            // `MPI_UNWEIGHTED` on one side, if there are edges, fits a null pointer on the other.
        }
    }
}

/// Returns whether weights or `MPI_UNWEIGHTED` are chosen; `None` for a null pointer without edges.
fn choice(call: &ConstructorCall) -> Option<bool> {
    match call {
        ConstructorCall::Edges { edges, weighted: None, .. } => {
            (!edges.is_empty()).then_some(false)
        }
        ConstructorCall::Adjacent { into, away, weighted: None, .. } => {
            (!into.is_empty() || !away.is_empty()).then_some(false)
        }
        ConstructorCall::Edges { weighted, .. } | ConstructorCall::Adjacent { weighted, .. } => {
            *weighted
        }
        _ => None,
    }
}

/// The arguments that must be the same on all ranks, whatever is checked.
fn exact(call: &ConstructorCall) -> (usize, Vec<i32>, bool) {
    match call {
        ConstructorCall::Cart { dims, reorder, .. } => (0, dims.clone(), *reorder),
        ConstructorCall::Graph { index, reorder, .. } => (1, vec![index.len() as i32], *reorder),
        ConstructorCall::Sub { remain } => (2, remain.map(i32::from).to_vec(), false),
        ConstructorCall::Edges { reorder, .. } => (3, vec![], *reorder),
        ConstructorCall::Adjacent { .. } => (4, vec![], false),
    }
}

/// The arguments that must be the same on all ranks if they are checked.
fn checked(call: &ConstructorCall) -> (Vec<i32>, bool) {
    match call {
        ConstructorCall::Cart { periods, .. } => {
            (periods.iter().map(|p| i32::from(*p)).collect(), false)
        }
        ConstructorCall::Graph { index, edges, .. } => ([&index[..], edges].concat(), false),
        ConstructorCall::Adjacent { reorder, .. } => (vec![], *reorder),
        _ => (vec![], false),
    }
}

/// Returns whether both ends of each edge pass it alike.
fn edges_match(calls: &[&ConstructorCall]) -> bool {
    let (mut arriving, mut leaving) = (Vec::new(), Vec::new());
    for (rank, call) in (0..).zip(calls) {
        if let ConstructorCall::Adjacent { into, away, weighted, .. } = call {
            let weight = |weight: i32| if *weighted == Some(true) { weight } else { 0 };
            arriving.extend(into.iter().map(|[from, w]| (*from, rank, weight(*w))));
            leaving.extend(away.iter().map(|[to, w]| (rank, *to, weight(*w))));
        }
    }
    arriving.sort_unstable();
    leaving.sort_unstable();
    arriving == leaving
}

/// Returns whether the calls of all ranks together create communicators.
fn succeeds(calls: &[&ConstructorCall], check: bool) -> bool {
    let all_alike =
        |differ: &dyn Fn(&ConstructorCall) -> bool| calls.iter().all(|call| !differ(call));
    let size = calls.len() as i32;
    let mixed = calls.iter().any(|call| choice(call) == Some(true))
        && calls.iter().any(|call| choice(call) == Some(false));
    !calls.iter().any(|call| is_wrong(call, size))
        && all_alike(&|call| exact(call) != exact(calls[0]))
        && (!check || all_alike(&|call| checked(call) != checked(calls[0])))
        && !(mixed && (check || matches!(calls[0], ConstructorCall::Edges { .. })))
        && (!check || edges_match(calls))
}

/// The expected topology of rank `rank` if no process moves.
fn topology(calls: &[&ConstructorCall], grid: &Cart, rank: i32) -> Option<Topology> {
    let size = calls.len() as i32;
    let is_weighted = {
        let chosen = calls.iter().find_map(|call| choice(call));
        let mixed = calls.iter().any(|call| choice(call).is_some_and(|way| Some(way) != chosen));
        // A rank that fits both follows the others, and counts as weighted if these differ.
        let of_others = if mixed { true } else { chosen.unwrap_or(true) };
        choice(calls[rank as usize]).unwrap_or(of_others)
    };
    let made = match calls[rank as usize] {
        ConstructorCall::Cart { dims, periods, .. } => {
            Topology::Cart(Cart::new(dims, periods, size).unwrap())
        }
        ConstructorCall::Graph { index, edges, .. } => {
            Topology::Graph(Graph::new(index, edges).unwrap())
        }
        ConstructorCall::Sub { remain } => Topology::Cart(grid.sub(remain, rank).unwrap().grid),
        ConstructorCall::Edges { .. } => {
            let given: Vec<[i32; 4]> = (0..)
                .zip(calls)
                .flat_map(|(giver, call)| match call {
                    ConstructorCall::Edges { edges, .. } => edges
                        .iter()
                        .map(|[from, to, weight]| [giver, *from, *to, *weight])
                        .collect::<Vec<_>>(),
                    _ => vec![],
                })
                .collect();
            Topology::DistGraph(expected(&given, rank, size, is_weighted))
        }
        ConstructorCall::Adjacent { into, away, .. } => {
            let edges = |ends: &[[i32; 2]]| topology::Edges {
                ranks: ends.iter().map(|end| end[0]).collect(),
                weights: ends.iter().filter(|_| is_weighted).map(|end| end[1]).collect(),
            };
            Topology::DistGraph(DistGraph {
                sources: edges(into),
                destinations: edges(away),
                weighted: is_weighted,
            })
        }
    };
    let vertices = match &made {
        Topology::Cart(_) if matches!(calls[0], ConstructorCall::Sub { .. }) => size,
        Topology::Cart(grid) => grid.size(),
        Topology::Graph(graph) => graph.nnodes(),
        Topology::DistGraph(_) => size,
    };
    (rank < vertices).then_some(made)
}

/// One call or a few different ones, and the choice of each rank.
fn any_calls() -> impl Strategy<Value = (Vec<ConstructorCall>, Vec<usize>)> {
    (1..=6).prop_flat_map(|size| {
        let calls = (any_call(size), any_call(size), any_call(size));
        // Most ranks make the first.
        let pick = prop_oneof![6 => Just(0), 1 => Just(1), 1 => Just(2)];
        let picks = prop_oneof![
            prop::collection::vec(Just(0), size as usize),
            prop::collection::vec(pick, size as usize),
            prop::collection::vec(Just(1), size as usize).prop_map(|mut all| {
                all[0] = 3;
                all
            }),
        ];
        (calls, picks).prop_map(|((first, second, third), picks)| {
            // The fourth call is the second one with a change in arguments that may differ between ranks.
            let mut fourth = second.clone();
            match &mut fourth {
                ConstructorCall::Cart { periods, .. } => periods.iter_mut().for_each(|p| *p = !*p),
                ConstructorCall::Graph { edges, .. } => edges.reverse(),
                ConstructorCall::Adjacent { into, weighted, .. } => {
                    into.pop();
                    *weighted = Some(true);
                }
                ConstructorCall::Edges { edges, .. } => edges.reverse(),
                ConstructorCall::Sub { .. } => {}
            }
            (vec![first, second, third, fourth], picks)
        })
    })
}

/// The grid that `MPI_Cart_sub` splits.
fn grid_of(size: i32) -> Cart {
    let row = if size % 2 == 0 { 2 } else { 1 };
    Cart::new(&[row, size / row], &[true, false], size).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_rank_gets_the_result_of_its_arguments((calls, picks) in any_calls(), check in any::<bool>()) {
        let calls: Vec<&ConstructorCall> = picks.iter().map(|pick| &calls[*pick]).collect();
        let size = calls.len() as i32;
        let grid = grid_of(size);
        let settings = CallSettings { check: if check { Check::ALL } else { Check::default() }, ..CallSettings::default() };
        let results = sim::run(size, |comm| {
            let rank = comm.rank().unwrap();
            make(comm, settings, &grid, calls[rank as usize]).map(|made| made.map(|(made, topology)| {
                (fits(&made, &topology, size), topology)
            }))
        });
        if succeeds(&calls, check) {
            for (rank, result) in (0..).zip(results) {
                let made = result.unwrap();
                prop_assert!(made.as_ref().is_none_or(|(fits, _)| *fits));
                prop_assert_eq!(made.map(|(_, topology)| topology), topology(&calls, &grid, rank));
            }
        } else {
            let error = results[0].clone().err();
            prop_assert!(error.is_some() && results.iter().all(|result| result.clone().err() == error), "{:?}", results);
            let first_wrong = calls.iter().position(|call| is_wrong(call, size));
            if let (Some(rank), Some(Error::OnRank { rank: named, .. })) = (first_wrong, error) {
                prop_assert_eq!(rank as i32, named);
            }
        }
    }

    #[test]
    fn no_rank_waits_forever(
        (calls, picks) in any_calls(),
        environments in prop::collection::vec((0..4usize, any::<bool>(), any::<bool>()), 6),
        infos in prop::collection::vec((any::<Option<bool>>(), any::<Option<(u64, bool)>>()), 6),
        nodes in prop::collection::vec(0..3u64, 6),
        known in any::<bool>(),
    ) {
        use crate::engine::policy::Reorder;
        let calls: Vec<&ConstructorCall> = picks.iter().map(|pick| &calls[*pick]).collect();
        let size = calls.len() as i32;
        let grid = grid_of(size);
        let machine = known.then(|| Machine::from_ids(&nodes[..calls.len()]));
        sim::run_on(machine, size, |comm| {
            COLLIDING.set(true);
            let rank = comm.rank().unwrap();
            let (reorder, reporting, check) = environments[rank as usize];
            let (info, scramble) = infos[rank as usize];
            let scramble = scramble.map(|(seed, rank_zero)| Scramble { seed, rank_zero });
            let settings = CallSettings {
                reorder: [Reorder::Off, Reorder::On, Reorder::All, Reorder::Always][reorder],
                info,
                reporting,
                check: if check { Check::ALL } else { Check::default() },
                options: Options { scramble, ..Options::default() },
            };
            if let Ok(Some((made, topology))) = make(comm, settings, &grid, calls[rank as usize]) {
                assert!(fits(&made, &topology, size));
                // All members enter a call on it.
                made.min(&mut [0]).unwrap();
            }
            comm.min(&mut [0]).unwrap();
        });
    }
}
