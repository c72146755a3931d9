use cartograph_traffic::partner_weight;

use super::*;
use crate::learn::entry::Past;

/// The weighted sums of a program in which each rank sends bytes to these distances.
fn sums(size: u32, steps: &[(u32, i64)]) -> Vec<i64> {
    let sum = |rank: u32| {
        let to = |step: u32| partner_weight(rank, (rank + step) % size);
        steps.iter().map(|(step, bytes)| bytes * to(*step)).sum()
    };
    (0..size).map(sum).collect()
}

fn seen(sums: &[i64], bytes: u64) -> Seen<'_> {
    let work = Work { messages: bytes / 100, bytes, collectives: 10 };
    Seen { work, sums, ..Seen::default() }
}

fn with_digest(digest: u64, seen: Seen<'_>) -> Seen<'_> {
    Seen { digest: Some(digest), traffic: Some(Traffic::default()), ..seen }
}

#[test]
fn a_kind_is_recognized_by_its_pattern() {
    for size in [4, 16, 1000] {
        let mut entry = Entry::new("app", size);
        let bytes = u64::from(size) * 1000;
        let mut note = |sums: &[i64], bytes| {
            let noted = entry.note(seen(sums, bytes), &Guess::default());
            (noted.kind, noted.is_new)
        };
        let first = sums(size, &[(1, 800), (2, 200)]);
        assert_eq!(note(&first, bytes), (0, true));
        assert_eq!(note(&first, bytes), (0, false));
        // A turned mesh has the same totals.
        assert_eq!(note(&sums(size, &[(1, 200), (2, 800)]), bytes), (1, true), "{size}");
        assert_eq!(note(&sums(size, &[(1, 795), (2, 205)]), bytes), (0, false), "{size}");
        // So has a job in which only some bytes go elsewhere.
        assert_eq!(note(&sums(size, &[(1, 700), (2, 300)]), bytes), (2, true), "{size}");
    }
}

#[test]
fn runs_of_other_lengths_are_of_the_same_kind() {
    let mut entry = Entry::new("app", 8);
    let first = sums(8, &[(1, 800), (2, 200)]);
    let longer: Vec<i64> = first.iter().map(|sum| 3 * sum).collect();
    entry.note(seen(&first, 8000), &Guess::default());
    let mut note = |messages, collectives| {
        let work = Work { messages, bytes: 24_000, collectives };
        entry.note(Seen { work, ..seen(&longer, 24_000) }, &Guess::default())
    };
    let noted = note(240, 30);
    assert_eq!((noted.kind, noted.is_new, noted.units), (0, false, 3.0));
    // Larger messages have other gains.
    let noted = note(80, 10);
    assert_eq!((noted.kind, noted.is_new), (1, true));
}

#[test]
fn the_kind_is_guessed_by_the_input() {
    let mut entry = Entry::new("app", 8);
    let (one, other) = (sums(8, &[(1, 800), (2, 200)]), sums(8, &[(1, 200), (2, 800)]));
    let noted = |entry: &mut Entry, digest, sums: &[i64]| {
        entry.note(with_digest(digest, seen(sums, 8000)), &Guess::default());
        [digest, 99].map(|digest| {
            let guess = entry.guess(Some(digest), Build::default());
            (guess.kinds, guess.is_known)
        })
    };
    // No input was noted, as by `cartograph tune`.
    entry.note(Seen { traffic: Some(Traffic::default()), ..seen(&one, 8000) }, &Guess::default());
    assert_eq!(entry.guess(Some(1), Build::default()).kinds, [0]);
    let nothing = (vec![], false);
    assert_eq!(noted(&mut entry, 1, &one), [(vec![0], true), nothing.clone()]);
    assert_eq!(noted(&mut entry, 2, &one), [(vec![0], true), nothing.clone()]);
    // Unknown inputs have always been of one kind.
    assert_eq!(noted(&mut entry, 3, &one), [(vec![0], true), (vec![0], true)]);
    assert_eq!(noted(&mut entry, 4, &other), [(vec![1], true), nothing.clone()]);
    // The same input, but another kind.
    assert_eq!(noted(&mut entry, 4, &one), [(vec![0, 1], true), nothing.clone()]);
    for _ in 0..MISSES - 2 {
        assert_eq!(noted(&mut entry, 4, &one)[0], (vec![0, 1], true));
    }
    assert_eq!(noted(&mut entry, 4, &one)[0], (vec![0], true));
    // With three kinds, one placement may be best for all.
    assert_eq!(noted(&mut entry, 5, &sums(8, &[(3, 1000)]))[1], (vec![0, 1, 2], false));
}

#[test]
fn a_build_starts_with_the_kinds_of_earlier_ones() {
    let mut entry = Entry::new("app", 8);
    let (one, other) = (sums(8, &[(1, 800), (2, 200)]), sums(8, &[(1, 200), (2, 800)]));
    let note = |entry: &mut Entry, build, sums: &[i64]| {
        let seen = Seen { build, ..with_digest(1, seen(sums, 8000)) };
        entry.note(seen, &Guess::default()).kind
    };
    let guess = |entry: &Entry, build| entry.guess(Some(1), build).kinds;
    let build = |id| Build { id, place: 100 };
    assert_eq!(note(&mut entry, build(1), &one), 0);
    assert_eq!(guess(&entry, build(2)), [0]);
    // Another program of the same name, at another path or in place of the first: the two are distinguished.
    assert!(guess(&entry, Build { id: 2, place: 101 }).is_empty());
    assert_eq!(note(&mut entry, build(2), &other), 1);
    for _ in 0..2 * MISSES {
        assert_eq!([1, 2].map(|id| guess(&entry, build(id))), [[0], [1]]);
        note(&mut entry, build(1), &one);
        note(&mut entry, build(2), &other);
    }
    assert_eq!(guess(&entry, build(3)), [0, 1]);
    // The digests of all builds do not displace that of the input.
    for id in 10..10 + 2 * MOST_DIGESTS as u64 {
        note(&mut entry, build(id), &one);
    }
    assert_eq!(guess(&entry, build(3)), [0]);
    assert_eq!(entry.kind(0).unwrap().of_builds.len(), MOST_DIGESTS);
}

#[test]
fn a_kind_without_traffic_is_recorded() {
    let mut entry = Entry::new("app", 8);
    let sums = sums(8, &[(1, 1000)]);
    let noted = entry.note(Seen { digest: Some(1), ..seen(&sums, 8000) }, &Guess::default());
    assert!(noted.is_new && !noted.is_recorded);
    assert!(entry.guess(Some(1), Build::default()).kinds.is_empty());
    let noted = entry.note(with_digest(1, seen(&sums, 8000)), &Guess::default());
    assert!(!noted.is_new && noted.is_recorded);
    assert_eq!(entry.guess(Some(1), Build::default()).kinds, [0]);
    assert!(!entry.note(with_digest(1, seen(&sums, 8000)), &Guess::default()).is_recorded);
}

#[test]
fn a_run_without_sums_gets_the_guessed_kind() {
    let mut entry = Entry::new("app", 8);
    for step in [1, 2] {
        let sums = sums(8, &[(step, 1000)]);
        entry.note(with_digest(u64::from(step), seen(&sums, 8000)), &Guess::default());
    }
    for kind in [0, 1] {
        let guess = Guess { kinds: vec![kind], is_known: true };
        assert_eq!(entry.note(seen(&[], 8000), &guess).kind, kind);
        assert_eq!(entry.note(Seen::default(), &guess).kind, kind);
        let work = Work { messages: 160, bytes: 16_000, collectives: 20 };
        assert_eq!(entry.note(Seen { work, ..Seen::default() }, &guess).units, 2.0);
    }
    assert_eq!(entry.kinds.len(), 2);
}

#[test]
fn kinds_and_inputs_are_forgotten_in_time() {
    let mut entry = Entry::new("app", 64);
    let note = |entry: &mut Entry, step, digest| {
        let sums = sums(64, &[(step, 1000)]);
        entry.note(with_digest(digest, seen(&sums, 64_000)), &Guess::default())
    };
    for step in 1..=40 {
        let noted = note(&mut entry, step, u64::from(step));
        assert!(noted.is_new);
        let kind = noted.kind;
        entry.add(Past { kind, units: 1.0, seconds: 1.0, predicted: 1.0, ..Past::default() });
        assert!(entry.kinds.len() <= MOST_KINDS && entry.runs.len() <= MOST_KINDS);
        assert!(Entry::parse(&entry.json()).is_ok());
    }
    assert_eq!(entry.kinds.last().unwrap().id, 39);
    for digest in 100..300 {
        note(&mut entry, 40, digest);
    }
    assert_eq!(entry.kind(39).unwrap().digests.len(), MOST_DIGESTS);
}

#[test]
fn the_patterns_of_large_jobs_are_small() {
    let size = 10_000;
    let mut entry = Entry::new("app", size);
    for step in 1..=MOST_KINDS as u32 {
        let steps = [(step, 500), (step + 100, 500), (size - step, 500), (size - step - 100, 500)];
        let bytes = u64::from(size) * 2000;
        entry.note(seen(&sums(size, &steps), bytes), &Guess::default());
    }
    assert_eq!(entry.kinds.len(), MOST_KINDS);
    assert!(entry.json().len() < MOST_BYTES, "{}", entry.json().len());
}
