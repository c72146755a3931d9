//! Networks, and forecasts of small recordings.

use std::sync::atomic::AtomicBool;

use cartograph_traffic::{Call, Count, Edge, Topology};

use super::*;

#[test]
fn replays_of_large_jobs_have_fewer_calls_and_candidates() {
    assert_eq!(shares(16, 20, 15, 8_000_000), (20, 8_000_000 / 20 / 16));
    // The steps of a halo exchange with 6 neighbors and with 26.
    for (step, candidates) in [(15, 10), (55, 4)] {
        let (kept, each) = shares(10_000, 25, step, MOST_CALLS);
        assert!(kept >= candidates && each >= 2 * step && each >= LEAST_CALLS, "{kept} {each}");
    }
    for (size, candidates) in [(2, 2), (1000, 25), (10_000, 25), (100_000, 25), (1 << 25, 25)] {
        let (kept, each) = shares(size, candidates, 15, MOST_CALLS);
        assert!(kept >= 2 && kept * each * size <= MOST_CALLS, "{size}");
    }
}

/// 50 exchanges of each rank with the one of half the job away.
fn pairs(bytes: u64) -> Recording {
    let mut recording = Recording { size: 8, ..Recording::default() };
    for rank in 0..recording.size {
        let to = (rank + recording.size / 2) % recording.size;
        let count = Count { messages: 50, bytes: 50 * bytes };
        recording.edges.push(Edge { from: rank, to, count });
        let calls = [Call::Irecv(Some(to), Some(0)), Call::Isend(to, bytes, 0), Call::Wait(2, 2)];
        let events: Vec<(u32, u64)> = (0..50).flat_map(|_| [0, 1, 2]).map(|at| (at, 9)).collect();
        recording.windows.insert(rank, Window::new(&calls, &events, 1_000_000, true));
    }
    recording
}

#[test]
fn searches_share_the_time() {
    let topology = |dims: &[u32]| Topology::new("MPI_Cart_create", dims, &vec![false; dims.len()]);
    let topologies = vec![topology(&[2, 4]), topology(&[4])];
    let recording = Recording { size: 8, topologies, ..Recording::default() };
    // Three searches of graphs, and one of the grid that has all processes.
    let seconds = |seconds| {
        let options = Options::default().with_seconds(seconds);
        candidates::for_each_search(&options, 3, &recording).seconds
    };
    assert_eq!([seconds(Some(6.0)), seconds(None)], [Some(1.5), None]);
}

#[test]
fn no_pair_gains_by_leaving_its_node() {
    let forecast = |node_of: &[u64]| {
        let machine = Machine::from_ids(node_of);
        let options = Options::default();
        let recording = pairs(1 << 20);
        Forecast::new(&recording, &machine, &options, None, MOST_CALLS).unwrap()
    };
    assert!(forecast(&[0, 1, 2, 3, 0, 1, 2, 3]).gaining().is_empty());
    assert!(!forecast(&[0, 0, 1, 1, 2, 2, 3, 3]).gaining().is_empty());
}

#[test]
fn an_interrupted_replay_ends_with_rank_order() {
    static STOPPED: AtomicBool = AtomicBool::new(true);
    let recording = pairs(1 << 16);
    let machine = Machine::blocks(&[4, 4]);
    let predicted = |stop| {
        let options = Options::default().with_stop(stop);
        let link = parse_network("2us,50Gbit").ok();
        let found = Forecast::new(&recording, &machine, &options, link, MOST_CALLS);
        found.unwrap().all.len()
    };
    assert!(predicted(Stop::default()) > 1);
    assert_eq!(predicted(Stop(Some(&STOPPED))), 1);
}

#[test]
fn networks_are_written_with_units() {
    let link = parse_network("60us, 200Mbit/s").unwrap();
    assert!((link.latency - 60e-6).abs() < 1e-12 && (link.bandwidth - 25e6).abs() < 1e-3);
    for wrong in ["60us", "60,200Mbit", "1us,200", "-1us,1Gbit", "1us,0Gbit", "infus,1Gbit"] {
        assert!(parse_network(wrong).is_err(), "{wrong}");
    }
}
