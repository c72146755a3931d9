mod unasked;

use proptest::prelude::*;

use super::*;

const SLOW: Link = Link { latency: 60e-6, bandwidth: 25e6 };

fn send(to: usize, bytes: u64) -> Op {
    Op::Send { to: to as u32, bytes, tag: 0, request: false }
}

fn recv(from: usize) -> Op {
    Op::Recv { from: Some(from as u32), tag: Some(0), request: false }
}

fn program(ranks: Vec<Vec<Op>>) -> Program {
    let event = |op| Event { work: 0.0, op };
    let events = |ops: Vec<Op>| ops.into_iter().map(event).collect();
    Program { ranks: ranks.into_iter().map(events).collect(), ..Program::default() }
}

fn time(program: &Program, node_of: &[u32]) -> f64 {
    let places = RankLocations { node_of, above: &[] };
    replay(program, places, &Network::new(SLOW), &[]).seconds
}

/// Steps on a grid: a halo exchange, or a sweep from the first corner to the last.
fn grid(rows: usize, columns: usize, steps: usize, bytes: u64, sweep: bool) -> Program {
    let neighbors = |rank: usize| {
        let (row, column) = (rank / columns, rank % columns);
        let before = [(row > 0, rank.wrapping_sub(columns)), (column > 0, rank.wrapping_sub(1))];
        let after = [(row + 1 < rows, rank + columns), (column + 1 < columns, rank + 1)];
        [before, after].map(|all| all.into_iter().filter(|n| n.0).map(|n| n.1).collect::<Vec<_>>())
    };
    let of_rank = |rank: usize| {
        let [before, after] = neighbors(rank);
        let mut ops = Vec::new();
        for _ in 0..steps {
            if sweep {
                ops.extend(before.iter().map(|other| recv(*other)));
                ops.extend(after.iter().map(|other| send(*other, bytes)));
                continue;
            }
            let all = || before.iter().chain(&after).map(|other| *other as u32);
            ops.extend(all().map(|from| Op::Recv { from: Some(from), tag: None, request: true }));
            ops.extend(all().map(|to| Op::Send { to, bytes, tag: 0, request: true }));
            let count = 2 * all().count() as u32;
            ops.push(Op::Wait { back: count, count });
        }
        ops
    };
    program((0..rows * columns).map(of_rank).collect())
}

fn rows(count: u32, size: u32) -> Vec<u32> {
    (0..count * size).map(|rank| rank / size).collect()
}

fn squares() -> Vec<u32> {
    (0..16).map(|rank| rank / 8 * 2 + rank % 4 / 2).collect()
}

#[test]
fn a_message_takes_the_latency_and_its_bytes() {
    let one = program(vec![vec![send(1, 25_000)], vec![recv(0)]]);
    let apart = time(&one, &[0, 1]);
    assert!((apart - (60e-6 + 1e-3)).abs() < 1e-6, "{apart}");
    assert!(time(&one, &[0, 0]) < 1e-5);
    // Two messages from one node share its link, and two to one node; two between other nodes do not.
    let two =
        program(vec![vec![send(2, 25_000)], vec![send(3, 25_000)], vec![recv(0)], vec![recv(1)]]);
    assert!((time(&two, &[0, 0, 1, 2]) - 2.06e-3).abs() < 2e-6);
    assert!((time(&two, &[0, 1, 2, 2]) - 2.06e-3).abs() < 2e-6);
    assert!((time(&two, &[0, 1, 2, 3]) - 1.06e-3).abs() < 2e-6);
}

#[test]
fn switches_add_latency() {
    let one = program(vec![vec![send(1, 0)], vec![recv(0)]]);
    let run = |above: &[Vec<u32>]| {
        replay(&one, RankLocations { node_of: &[0, 1], above }, &Network::new(SLOW), &[]).seconds
    };
    assert!((run(&[vec![0, 1]]) - run(&[vec![0, 0]]) - 20e-6).abs() < 1e-9);
}

#[test]
fn messages_are_matched_in_order_and_by_tag() {
    let tagged = |tag, bytes| Op::Send { to: 1, bytes, tag, request: true };
    let by_tag = |tag| Op::Recv { from: Some(0), tag, request: false };
    // The second tag first: both messages have arrived before the receiver continues.
    let crossed =
        program(vec![vec![tagged(7, 1000), tagged(8, 0)], vec![by_tag(Some(8)), by_tag(Some(7))]]);
    let run = |program: &Program| {
        replay(program, RankLocations { node_of: &[0, 1], above: &[] }, &Network::new(SLOW), &[])
    };
    assert_eq!(run(&crossed).calls, [2, 2]);
    let any =
        program(vec![vec![tagged(7, 1000), tagged(8, 0)], vec![by_tag(None), by_tag(Some(7))]]);
    // The wildcard takes the first message, so that nothing is left for the second receive.
    let stuck = run(&any);
    assert_eq!(stuck.calls, [2, 2]);
    assert!((stuck.seconds - 100e-6).abs() < 2e-6, "{stuck:?}");
    let wrong = program(vec![vec![tagged(7, 0)], vec![by_tag(Some(8)), by_tag(Some(7))]]);
    assert_eq!(run(&wrong).calls, [1, 1]);
}

#[test]
fn collectives_wait_for_the_ranks_they_need() {
    let meet = |kind| Op::Collective { group: 0, kind, bytes: 0 };
    let run = |kind, late: usize| {
        let mut program = program((0..4).map(|_| vec![meet(kind), send(0, 0)]).collect());
        program.groups = vec![vec![0, 1, 2, 3]];
        program.ranks[late][0].work = 1.0;
        let marks: Vec<u32> = vec![1; 4];
        let all = replay(
            &program,
            RankLocations { node_of: &[0, 0, 1, 1], above: &[] },
            &Network::new(SLOW),
            &marks,
        );
        assert_eq!(all.calls, [2; 4]);
        // The number of completed calls before the late one.
        (0..4)
            .filter(|rank| {
                let mut alone = program.clone();
                alone.ranks[late].clear();
                let mut mark = vec![u32::MAX; 4];
                mark[*rank] = 1;
                let places = RankLocations { node_of: &[0, 0, 1, 1], above: &[] };
                replay(&alone, places, &Network::new(SLOW), &mark).calls[*rank] == 2
            })
            .count()
    };
    assert_eq!(run(CollectiveKind::Allreduce, 2), 0);
    assert_eq!(run(CollectiveKind::Bcast(2), 2), 0);
    assert_eq!(run(CollectiveKind::Bcast(0), 2), 3);
    assert_eq!(run(CollectiveKind::Reduce(0), 2), 2);
    assert_eq!(run(CollectiveKind::Reduce(2), 2), 3);
}

#[test]
fn groups_that_call_at_once_share_the_links() {
    let columns: Vec<Vec<u32>> =
        (0..4).map(|at| (0..4).map(|row| 4 * row + at).collect()).collect();
    let rows: Vec<Vec<u32>> = (0..4).map(|row| (4 * row..4 * row + 4).collect()).collect();
    let with = |first: u64, groups: &[Vec<u32>], kind, node_of: &[u32]| {
        let mut program = program(vec![Vec::new(); 16]);
        for (group, members) in (0..).zip(groups) {
            for rank in members {
                let bytes = if group == 0 { first } else { 1 << 16 };
                let op = Op::Collective { group, kind, bytes };
                program.ranks[*rank as usize].push(Event { work: 0.0, op });
            }
        }
        time(&Program { groups: groups.to_vec(), ..program }, node_of)
    };
    let time = |groups: &[Vec<u32>], kind, node_of: &[u32]| with(1 << 16, groups, kind, node_of);
    let of_rows = super::tests::rows(4, 4);
    for kind in [CollectiveKind::Alltoall, CollectiveKind::Allgather] {
        let [one, all] = [&columns[..1], &columns].map(|groups| time(groups, kind, &of_rows));
        assert!((3.5..4.1).contains(&(all / one)), "{kind:?}: {one} {all}");
        let inside = time(&rows, kind, &of_rows);
        assert!(inside < one / 10.0);
        // Rows and columns have common members: they call one after the other.
        let both = time(&[&rows[..], &columns].concat(), kind, &of_rows);
        assert!((both / (all + inside) - 1.0).abs() < 0.01, "{kind:?}: {both}");
        // The first column sends five times as much: the links carry twice as much.
        let uneven = with(5 << 16, &columns, kind, &of_rows);
        assert!((1.9..2.1).contains(&(uneven / all)), "{kind:?}: {uneven} {all}");
    }
}

#[test]
fn some_orders_slow_down_collectives_that_ignore_nodes() {
    let time = |host, kind, bytes, node_of: &[u32]| {
        let mut program = program(vec![vec![Op::Collective { group: 0, kind, bytes }]; 16]);
        program.groups = vec![(0..16).collect()];
        super::tests::time(&Program { host, ..program }, node_of)
    };
    let scattered: Vec<u32> = (0..16).map(|rank| rank % 4).collect();
    let slower = |host, kind, bytes| {
        time(host, kind, bytes, &scattered) / time(host, kind, bytes, &rows(4, 4))
    };
    // Most bytes go between neighbors, or to the farthest half: in a round-robin order, these ranks are on other nodes,
    // or on the same node.
    for (kind, bytes, least) in
        [(CollectiveKind::Allreduce, 1 << 18, 2.0), (CollectiveKind::Reduce(0), 1 << 16, 1.2)]
    {
        assert!(slower(Host::OpenMpi4, kind, bytes) > least, "{kind:?}");
    }
    assert!((0.9..1.1).contains(&slower(Host::Mpich, CollectiveKind::Allreduce, 1 << 18)));
    for host in [Host::Mpich, Host::OpenMpi4] {
        assert!((0.9..1.1).contains(&slower(host, CollectiveKind::Alltoall, 1 << 18)));
    }
}

#[test]
fn pairs_share_a_link_and_their_messages_follow_each_other() {
    // Ranks 0 to 2 are on one node. Rank 0 sends two messages while rank 1 sends one, and rank 2 a short one.
    let isend = |to, bytes| Op::Send { to, bytes, tag: 0, request: true };
    let program = program(vec![
        vec![isend(3, 25_000), isend(3, 25_000)],
        vec![isend(4, 25_000)],
        vec![isend(5, 250)],
        vec![recv(0), recv(0)],
        vec![recv(1)],
        vec![recv(2)],
    ]);
    let places = RankLocations { node_of: &[0, 0, 0, 1, 2, 3], above: &[] };
    let run = |mark: &[u32]| replay(&program, places, &Network::new(SLOW), mark);
    let ends = run(&[]).ends;
    // Equal shares: the short message waits for two more of its length, the others for each other.
    for (rank, seconds) in [(3, 3.01e-3), (4, 2.01e-3), (5, 0.03e-3)] {
        assert!((ends[rank] - seconds - 60e-6).abs() < 3e-6, "{ends:?}");
    }
    let first = run(&[0, 0, 0, 1, 0, 0]);
    assert!((first.seconds - first.after_mark - 2.07e-3).abs() < 3e-6, "{first:?}");
    // A blocking send of a large message returns once the message has left its share of the link.
    let large = self::program(vec![
        vec![send(2, 250_000)],
        vec![send(3, 250_000)],
        vec![recv(0)],
        vec![recv(1)],
    ]);
    let ends = replay(
        &large,
        RankLocations { node_of: &[0, 0, 1, 2], above: &[] },
        &Network::new(SLOW),
        &[],
    )
    .ends;
    assert!(ends[..2].iter().all(|end| (end - 20e-3).abs() < 3e-6), "{ends:?}");
}

#[test]
fn squares_speed_up_halos_but_not_sweeps() {
    let blocks = rows(4, 4);
    let halo = grid(4, 4, 20, 65_536, false);
    let gain = time(&halo, &blocks) / time(&halo, &squares());
    assert!((1.6..2.1).contains(&gain), "{gain}");
    let sweep = grid(4, 4, 40, 8192, true);
    let gain = time(&sweep, &blocks) / time(&sweep, &squares());
    assert!((0.9..1.1).contains(&gain), "{gain}");
}

proptest! {
    /// A halo exchange takes no less time on slower links, or with more bytes; for all places of ranks, all their calls
    /// are made, and no node's link is faster than its bandwidth.
    #[test]
    fn time_grows_with_bytes_and_slower_links(
        node_of in proptest::collection::vec(0u32..4, 16),
        bytes in 1u64..100_000,
        steps in 1usize..4,
    ) {
        let program = grid(4, 4, steps, bytes, false);
        let places = RankLocations { node_of: &node_of, above: &[] };
        let run = |program: &Program, link| replay(program, places, &Network::new(link), &[]);
        let now = run(&program, SLOW);
        let all: Vec<u32> = program.ranks.iter().map(|events| events.len() as u32).collect();
        prop_assert_eq!(&now.calls, &all);
        let slower = run(&program, Link { bandwidth: SLOW.bandwidth / 2.0, ..SLOW });
        prop_assert!(slower.seconds >= now.seconds * 0.999);
        let more = run(&grid(4, 4, steps, 2 * bytes, false), SLOW);
        prop_assert!(more.seconds >= now.seconds * 0.999);
        let mut leaving = [0u64; 4];
        for (rank, events) in program.ranks.iter().enumerate() {
            for event in events {
                if let Op::Send { to, bytes, .. } = event.op
                    && node_of[to as usize] != node_of[rank]
                {
                    leaving[node_of[rank] as usize] += bytes;
                }
            }
        }
        let busiest = leaving.into_iter().max().unwrap() as f64;
        prop_assert!(now.seconds >= busiest / SLOW.bandwidth * 0.999);
    }

    /// The replay does not depend on the places of ranks if no receive has a wildcard, even if calls are missing.
    #[test]
    fn every_placement_replays_the_same_calls(
        node_of in proptest::collection::vec(0u32..4, 16),
        kept in proptest::collection::vec(0usize..40, 16),
    ) {
        let mut program = grid(4, 4, 8, 100, true);
        program.ranks.iter_mut().zip(&kept).for_each(|(events, kept)| events.truncate(*kept));
        let run = |node_of: &[u32]| {
            replay(&program, RankLocations { node_of, above: &[] }, &Network::new(SLOW), &[]).calls
        };
        prop_assert_eq!(run(&node_of), run(&rows(4, 4)));
    }
}
