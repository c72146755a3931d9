//! The counts of one process, without an MPI.

use std::thread::sleep;
use std::time::Duration;

use cartograph_traffic::Call;

use super::*;
use crate::tally::requests::{Does, Persistent};
use crate::work::Amount;

fn fetched(bytes: u64) -> Block {
    Block { fetched: true, ..Block::to(0, bytes) }
}

fn count(messages: u64, bytes: u64) -> Count {
    Count { messages, bytes }
}

fn lines(tally: &mut Tally) -> Vec<Line> {
    let (lines, window) = tally.take(false);
    assert!(window.is_none());
    lines
}

#[test]
fn counts_are_written_once_and_by_rank() {
    let mut tally = Tally::new();
    let [far, near] = [7, 2].map(|rank| tally.other(rank));
    assert_eq!((tally.other(7), tally.rank(near)), (far, 2));
    for (other, block) in [
        (far, Block::to(0, 10)),
        (far, Block::to(0, 5)),
        (near, fetched(3)),
        (near, Block::to(0, u64::MAX)),
        (near, Block::to(0, 1)),
    ] {
        tally.add(other, block);
    }
    let expected = [
        Line::Sent { to: 2, count: count(2, u64::MAX) },
        Line::Sent { to: 7, count: count(2, 15) },
        Line::Got { from: 2, count: count(1, 3) },
    ];
    assert_eq!(lines(&mut tally), expected);
    // A later part has the later counts.
    assert!(lines(&mut tally).is_empty());
    tally.add(far, fetched(4));
    assert_eq!(lines(&mut tally), [Line::Got { from: 7, count: count(1, 4) }]);
}

#[test]
fn a_grid_is_written_in_one_part_only() {
    let mut tally = Tally::new();
    let grid = |side| Grid {
        function: "MPI_Cart_create".into(),
        dims: vec![side],
        periodic: vec![false],
        reorder: true,
        rank: 0,
        first: 0,
    };
    tally.grids.push(grid(4));
    assert_eq!(lines(&mut tally), [Line::Grid(grid(4))]);
    tally.grids.push(grid(8));
    assert_eq!(lines(&mut tally), [Line::Grid(grid(8))]);
    assert!(lines(&mut tally).is_empty());
}

#[test]
fn calls_of_collectives_are_summed_by_function() {
    let mut tally = Tally::new();
    for function in ["MPI_Bcast", "MPI_Barrier", "MPI_Bcast"] {
        tally.call(function, 0);
    }
    let calls = |function: &str, calls| Line::Collective {
        function: function.into(),
        calls,
        nanoseconds: 0,
    };
    assert_eq!(lines(&mut tally), [calls("MPI_Barrier", 1), calls("MPI_Bcast", 2)]);
}

#[test]
fn waiting_counts_for_the_sender_if_it_is_known() {
    ticks::start();
    sleep(Duration::from_millis(1));
    let mut tally = Tally::new();
    let other = tally.other(5);
    tally.wait(Some(other), 1 << 40);
    tally.wait(Some(other), 1 << 40);
    tally.wait(None, 1 << 40);
    let waited = lines(&mut tally);
    let [
        Line::Waited { on: Some(5), nanoseconds: twice },
        Line::Waited { on: None, nanoseconds: once },
    ] = waited[..]
    else {
        panic!("{waited:?}")
    };
    assert!(twice > once && once > 0, "{waited:?}");
}

#[test]
fn requests_complete_once() {
    let mut tally = Tally::new();
    tally.post(Some(40), Some(Some(3)), None);
    tally.post(Some(41), Some(None), None);
    // A send is not awaited outside the window.
    tally.post(Some(42), None, Some(Call::Isend(1, 8, 0)));
    let mut source = |request| tally.requests.finish(request).map(|done| done.receives);
    assert_eq!(source(40), Some(Some(Some(3))));
    assert_eq!(source(40), None);
    assert_eq!(source(41), Some(Some(None)));
    assert_eq!(source(42), None);
}

#[test]
fn persistent_requests_are_kept_until_they_are_freed() {
    let mut tally = Tally::new();
    let does = Does::Call("MPI_Barrier_init");
    tally.requests.keep(9, Persistent { amount: Amount::default(), does });
    for _ in 0..2 {
        let kept = tally.requests.kept(9).map(|kept| kept.does);
        assert!(matches!(kept, Some(Does::Call("MPI_Barrier_init"))));
    }
    tally.requests.forget(9);
    assert!(tally.requests.kept(9).is_none());
}

#[test]
fn tables_of_freed_communicators_are_emptied_and_reused() {
    let mut tally = Tally::new();
    let [one, other] = [100, 200].map(|handle| tally.tables.of(handle));
    assert!(one != other && tally.tables.of(100) == one);
    tally.tables.table(one).ranks.insert(3, Some(0));
    assert_eq!(tally.tables.find(one, 3), Some(Some(0)));
    assert!(tally.tables.remove(100) && !tally.tables.remove(100));
    assert_eq!(tally.tables.of(300), one);
    assert_eq!(tally.tables.find(one, 3), None);
}
