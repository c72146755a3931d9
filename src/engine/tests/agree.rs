//! How ranks agree, and by how many collective calls.

use super::*;
use crate::engine::check::Check;
use crate::engine::place::Reorder;
use crate::mapping::Layout;

/// What rank 0 calls.
fn calls(layout: Option<Layout>, size: i32, program: impl Fn(&Sim) + Sync) -> Vec<&'static str> {
    let calls = sim::run_on(layout, size, |comm| {
        program(comm);
        comm.calls()
    });
    calls.into_iter().next().unwrap()
}

#[test]
fn who_agrees_needs_no_more_than_the_split() {
    let row = |comm: &Sim, reorder| {
        cart(comm, &[4], &[false], reorder).unwrap().unwrap();
    };
    assert_eq!(calls(None, 4, |comm| row(comm, false)), ["split"]);
    // Whether processes may move is for rank 0 to say; on one node none does.
    let one_node = Layout::one_node(4);
    assert_eq!(calls(Some(one_node), 4, |comm| row(comm, true)), ["split", "broadcast"]);
    // A row on two nodes is fine as it is.
    let calls_here = calls(Some(Layout::blocks(&[2, 2])), 4, |comm| row(comm, true));
    assert_eq!(calls_here, ["split", "broadcast", "scatter"]);
    // Dealt in turn it is not: the processes move to another communicator.
    let dealt = Layout::from_ids(&[0, 1, 0, 1]);
    let expected = ["split", "broadcast", "scatter", "free", "split"];
    assert_eq!(calls(Some(dealt), 4, |comm| row(comm, true)), expected);
    // Whoever is left out is so by another split.
    let smaller = |comm: &Sim| drop(cart(comm, &[3], &[false], false).unwrap());
    assert_eq!(calls(None, 4, smaller), ["split", "free", "split"]);
    let nobody = |comm: &Sim| drop(graph(comm, &[], &[]).unwrap());
    assert_eq!(calls(None, 4, nobody), ["split", "free"]);
    // The two ends of each edge are compared only for who asks for it.
    let ring = |comm: &Sim, check| {
        let (rank, size) = (comm.rank().unwrap(), comm.size().unwrap());
        let arguments = AdjacentArguments {
            sources: &[(rank + size - 1) % size],
            source_weights: Weights::Unweighted,
            destinations: &[(rank + 1) % size],
            dest_weights: Weights::Unweighted,
            reorder: false,
        };
        let terms = Terms { check, ..Terms::default() };
        dist_graph_create_adjacent(comm, terms, Ok(arguments)).unwrap();
    };
    assert_eq!(calls(None, 5, |comm| ring(comm, Check::default())), ["split"]);
    assert_eq!(calls(None, 5, |comm| ring(comm, Check::ALL)), ["split", "sum"]);
}

#[test]
fn nothing_is_left_of_a_constructor_that_fails() {
    let wrong = |comm: &Sim| {
        let dims = if comm.rank() == Ok(1) { [4, 1] } else { [2, 2] };
        cart(comm, &dims, &[false; 2], false).err().unwrap();
    };
    let lonely = |comm: &Sim| {
        let destinations: &[i32] = if comm.rank() == Ok(1) { &[0] } else { &[] };
        let arguments = AdjacentArguments {
            sources: &[],
            source_weights: Weights::Unweighted,
            destinations,
            dest_weights: Weights::Unweighted,
            reorder: false,
        };
        let terms = Terms { check: Check::ALL, ..Terms::default() };
        dist_graph_create_adjacent(comm, terms, Ok(arguments)).err().unwrap();
    };
    let grid = Cart::new(&[2, 2], &[false; 2], 4).unwrap();
    let parted = |comm: &Sim| {
        let remain = [true, comm.rank() == Ok(2)];
        cart_sub(comm, Ok((&grid, &remain))).err().unwrap();
    };
    for program in [&wrong as &(dyn Fn(&Sim) + Sync), &lonely, &parted] {
        // Communicators of parts of the ranks have a rank 0 of their own.
        let calls = calls(None, 4, program);
        let count = |name| calls.iter().filter(|call| **call == name).count();
        assert!(count("free") >= count("split"), "{calls:?}");
    }
}

#[test]
fn environments_may_differ() {
    let layout = Layout::from_ids(&[0, 1, 0, 1]);
    for (odd, moved) in [(Reorder::Off, false), (Reorder::On, true), (Reorder::Always, true)] {
        for reporting in [false, true] {
            let made = sim::run_on(Some(layout.clone()), 4, |comm| {
                let mut terms = Terms::default();
                if comm.rank() == Ok(2) {
                    (terms.reorder, terms.reporting) = (odd, reporting);
                }
                let arguments = CartArguments { dims: &[4], periods: &[false], reorder: true };
                let made = cart_create(comm, terms, Ok(arguments)).unwrap();
                let (new, _) = made.member.unwrap();
                assert_eq!(new.size(), Ok(4));
                (new.rank().unwrap(), made.placed.is_some())
            });
            let ranks: Vec<i32> = made.iter().map(|(rank, _)| *rank).collect();
            assert_eq!(ranks != [0, 1, 2, 3], moved);
            // Rank 0 alone says whether anybody wants to know.
            assert!(made.iter().all(|(_, placed)| !placed));
        }
    }
}

#[test]
fn different_functions_meet() {
    let grid = Cart::new(&[2, 2], &[false; 2], 4).unwrap();
    for remain in [[true, true], [true, false]] {
        let (rank, class, text) = fault(sim::run(4, |comm| match comm.rank() {
            Ok(1) => cart(comm, &[2, 2], &[false; 2], false),
            _ => cart_sub(comm, Ok((&grid, &remain))).map(|made| made.member),
        }));
        assert_eq!((rank, class), (1, Class::Arg));
        assert_eq!(text, "calls MPI_Cart_create while rank 0 calls MPI_Cart_sub");
    }
}
