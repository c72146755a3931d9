use proptest::prelude::*;

use super::*;

const SIZE: u32 = 6;

/// A call of a rank: a message, or a collective of all ranks, of a half, or of the even or odd ones.
fn call(rank: u32, (kind, other, number): (u32, u32, u32)) -> Call {
    let (other, bytes, tag) = (other % SIZE, u64::from(number), number as i32 % 3);
    match kind {
        0 => Call::Send(other, bytes, tag),
        1 => Call::Isend(other, bytes, tag),
        2 => Call::Recv(Some(other), Some(tag)),
        3 => Call::Irecv(Some(other), None),
        4 => Call::Irecv(None, None),
        5 => Call::Wait(number, other),
        _ => {
            let (group, size) = match kind {
                6 => (7, SIZE),
                7 => (u64::from(rank / 3) + 100, SIZE / 2),
                _ => (u64::from(rank % 2) + 200, SIZE / 2),
            };
            let root = (number % 2 == 0).then_some(other);
            let function = "MPI_Bcast".into();
            Call::Collective(Collective { function, group, size, root, bytes })
        }
    }
}

/// Calls with normalized groups and tags.
fn renamed(windows: &BTreeMap<u32, Window>) -> Vec<Vec<(Call, u64)>> {
    let mut numbers: HashMap<(u64, u32), u64> = HashMap::new();
    let mut tags: HashMap<(u32, u32), Vec<i32>> = HashMap::new();
    let mut windows: Vec<Window> = windows.values().cloned().collect();
    let mut all: Vec<(u32, &mut Call)> = Vec::new();
    for (rank, window) in (0..).zip(&mut windows) {
        all.extend(window.calls.iter_mut().map(|call| (rank, call)));
    }
    for (rank, call) in &mut all {
        if let Call::Collective(Collective { group, size, .. }) = call {
            let next = numbers.len() as u64;
            *group = *numbers.entry((*group, *size)).or_insert(next);
        }
        if let Ok(Some((pair, tag))) = tag(*rank, call) {
            tags.entry(pair).or_default().push(*tag);
        }
    }
    for (rank, call) in all {
        if let Ok(Some((pair, tag))) = tag(rank, call) {
            // Tags keep their order.
            let smaller: std::collections::BTreeSet<&i32> =
                tags[&pair].iter().filter(|other| **other < *tag).collect();
            *tag = smaller.len() as i32;
        }
    }
    let events = |window: &Window| {
        let events = window.events().unwrap().into_iter();
        events.map(|(call, gap)| (call.clone(), gap)).collect()
    };
    windows.iter().map(events).collect()
}

proptest! {
    /// Stored windows are restored, with their times if these fit.
    #[test]
    fn windows_are_packed_and_unpacked(
        calls in prop::collection::vec(
            prop::collection::vec((0..9u32, 0..SIZE, 0..20u32), 1..8), SIZE as usize),
        order in prop::collection::vec((0..8usize, 0..1000u64), 0..60),
        alike in any::<bool>(),
    ) {
        let of = |rank: u32| {
            let own = &calls[if alike { 0 } else { rank as usize }];
            let mut known: Vec<Call> = Vec::new();
            for one in own {
                let call = call(rank, *one);
                if !known.contains(&call) {
                    known.push(call);
                }
            }
            let events: Vec<(u32, u64)> =
                order.iter().map(|(at, gap)| ((at % known.len()) as u32, *gap)).collect();
            (rank, Window::new(&known, &events, 1000, rank == 3))
        };
        let windows: BTreeMap<u32, Window> = (0..SIZE).map(of).collect();
        let packed = Windows::new(&windows, SIZE);
        let text = serde_json::to_string(&packed).unwrap();
        let packed: Windows = serde_json::from_str(&text).unwrap();
        let found = packed.unpack(SIZE).unwrap();
        prop_assert_eq!(renamed(&found), renamed(&windows));
        let rest = |window: &Window| (window.cut, window.nanoseconds);
        prop_assert!(found.values().map(rest).eq(windows.values().map(rest)));
        // Without their own times, all ranks get the same work.
        let average = Relative::new(windows.values().cloned().collect()).pack(true).unwrap();
        let average = average.unpack(SIZE).unwrap();
        let calls = |all: &BTreeMap<u32, Window>| -> Vec<Vec<Call>> {
            renamed(all).into_iter().map(|calls| calls.into_iter().map(|one| one.0).collect()).collect()
        };
        prop_assert_eq!(calls(&average), calls(&windows));
        for (one, other) in average.values().zip(windows.values()) {
            let [one, other] = [one, other].map(|window| work(&window.steps) as f64);
            prop_assert!((one - other).abs() <= other / 100.0 + 60.0, "{} {}", one, other);
        }
    }
}

#[test]
fn windows_that_are_too_different_become_shorter() {
    // Every rank does something else, and no call repeats.
    let of = |rank: u32| {
        let calls: Vec<Call> = (0..200)
            .map(|at| Call::Isend((rank + at) % 150, u64::from(rank * 1000 + at), 0))
            .collect();
        let events: Vec<(u32, u64)> = (0..200).map(|at| (at, 5)).collect();
        (rank, Window::new(&calls, &events, 1000, false))
    };
    let windows: BTreeMap<u32, Window> = (0..150).map(of).collect();
    let found = Windows::new(&windows, 150).unpack(150).unwrap();
    let lengths = || found.values().map(|window| window.events().unwrap().len());
    assert!(found.len() == 150 && found.values().all(|window| window.cut));
    assert!(lengths().all(|length| (FEWEST_CALLS..200).contains(&length)), "{:?}", lengths().max());
    // Far too different.
    let many: BTreeMap<u32, Window> =
        (0..1500).map(|rank| (rank, of(rank % 150 + 1000 * (rank / 150)).1)).collect();
    assert!(Windows::new(&many, 1500).unpack(1500).unwrap().is_empty());
    // A rank has no calls.
    assert!(Windows::new(&windows, 151).unpack(151).unwrap().is_empty());
}

#[test]
fn untrusted_windows_take_no_memory() {
    let windows = |rank: u32| -> BTreeMap<u32, Window> {
        let calls = [Call::Isend(1 - rank, 8, 0), call(rank, (6, 0, 2))];
        (0..2).map(|rank| (rank, Window::new(&calls, &[(0, 1), (1, 1)], 9, false))).collect()
    };
    let good = Windows::new(&windows(0), 2);
    assert!(good.unpack(2).is_some() && good.unpack(3).is_none());
    let change = |change: &dyn Fn(&mut Windows)| {
        let mut windows = good.clone();
        change(&mut windows);
        windows.unpack(2)
    };
    assert!(change(&|all| all.class_of = vec![(0, u32::MAX)]).is_none());
    assert!(change(&|all| all.class_of = vec![(i64::MAX, 1), (1, 1)]).is_none());
    assert!(change(&|all| all.class_of = vec![(9, 1), (0, 1)]).is_none());
    assert!(change(&|all| all.groups = vec![vec![(0, 2)]]).is_none());
    assert!(change(&|all| all.groups.clear()).is_none());
    assert!(change(&|all| all.work = vec![1]).is_none());
    assert!(change(&|all| all.classes[0].calls[0] = Call::Isend(2, 8, 0)).is_none());
    assert!(change(&|all| all.classes[0].steps[0] = Step::Call(7, 0)).is_none());
    let long = Window::new(&windows(0)[&0].calls, &[(0, 1); 3000], 9, false);
    let many = Windows { classes: vec![long], class_of: vec![(0, 1 << 22)], ..good.clone() };
    assert!(many.unpack(1 << 22).is_none());
    let groups = Windows { groups: vec![vec![(1, 1 << 22)]; 1000], ..many };
    assert!(groups.unpack(1 << 22).is_none());
}
