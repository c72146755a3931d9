use cartograph_traffic::{Count, Edge, Recording, Work, partner_weight};

use super::*;
use crate::learn::{Guess, Placement, Seen, Traffic};

fn run(order: &str, shape: u64, seconds: f64) -> Past {
    let order = order.to_owned();
    Past { order, predicted: 1.2, shape, nodes: 2, seconds, units: 1.0, ..Past::default() }
}

fn entry() -> Entry {
    let mut entry = Entry::new("app", 16);
    let work = Work { messages: 1000, bytes: 1_000_000, collectives: 5 };
    entry.note(Seen { work, digest: Some(1 << 60), ..Seen::default() }, &Guess::default());
    entry
}

#[test]
fn an_entry_is_written_and_read() {
    let mut entry = entry();
    entry.add(run("", 7, 3600.0));
    entry.add(run("blocks", 7, 1800.0));
    assert_eq!(Entry::parse(&entry.json()), Ok(entry.clone()));
    assert_eq!(entry.totals.runs, 2);
    let refused = |text: &str| Entry::parse(text).unwrap_err().to_string();
    assert!(refused(&entry.json().replace("\"schema\":4", "\"schema\":1")).contains("version 1"));
    assert!(refused(&entry.json().replace("app", "\\u001b[2J")).contains("control"));
    assert!(refused(&entry.json().replace("1800.0", "-1.0")).contains("invalid run"));
    assert!(refused(&entry.json().replace("\"kind\":0", "\"kind\":9")).contains("invalid run"));
    assert!(refused("hello").contains("not an entry"));
}

#[test]
fn an_entry_of_the_previous_format_keeps_what_was_learned() {
    let edge = |from, to, bytes| Edge { from, to, count: Count { messages: 1, bytes } };
    let edges = vec![edge(0, 1, 700), edge(1, 0, 300)];
    let traffic = Traffic::new(&Recording { size: 2, edges, ..Recording::default() });
    let traffic = serde_json::to_string(&traffic).unwrap();
    let past = |order: &str, work, seconds| {
        format!(
            r#"{{"order":"{order}","predicted":1.2,"work":{work},"shape":7,"nodes":2,"seconds":{seconds}}}"#
        )
    };
    let runs = [past("", 0, 30.0), past("blocks", 0, 8.0), past("", 1, 5.0), past("", 0, 10.0)];
    let text = format!(
        r#"{{"schema":2,"program":"app","build":"abc","processes":2,"mpi":"MPICH 4","traffic":{traffic},
        "works":[{{"messages":2,"bytes":1000,"collectives":1}},{{"messages":9,"bytes":9,"collectives":9}}],
        "runs":[{}],"totals":{{"runs":4,"saved":1.5,"lost":0.5}},"failed":[["blocks",2]]}}"#,
        runs.join(",")
    );
    let mut entry = Entry::parse(&text).unwrap();
    assert_eq!(Entry::parse(&entry.json()), Ok(entry.clone()));
    assert_eq!(
        (entry.totals.runs, &entry.mpi[..], entry.is_blamed("blocks")),
        (4, "MPICH 4", false)
    );
    assert!(entry.hours().0 >= 1.5);
    let blocks = Placement { kind: 0, order: "blocks".into() };
    // The first run is a warm-up.
    assert_eq!(entry.runs_of(0, of_build(7, 0xabc), &[blocks]).len(), 2);
    assert!(entry.kind(0).unwrap().traffic.is_some() && entry.kind(1).unwrap().traffic.is_none());
    // Its pattern is known.
    let work = Work { messages: 2, bytes: 1000, collectives: 1 };
    let weighted = [700 * partner_weight(0, 1), 300 * partner_weight(1, 0)];
    let guess = Guess::default();
    assert_eq!(entry.note(Seen { work, sums: &weighted, ..Seen::default() }, &guess).kind, 0);
    let others = [700 * partner_weight(0, 1) + 2_000_000, 300 * partner_weight(1, 0)];
    assert_eq!(entry.note(Seen { work, sums: &others, ..Seen::default() }, &guess).kind, 2);
}

#[test]
fn entries_of_builds_become_one() {
    let traffic = Some(Traffic::default());
    let work = Work { messages: 1000, bytes: 1_000_000, collectives: 5 };
    let of = |build: &str, work, order: &str| {
        let mut entry = Entry { build: build.into(), ..Entry::new("app", 16) };
        let seen = Seen { work, digest: Some(1), traffic: traffic.clone(), ..Seen::default() };
        entry.note(seen, &Guess::default());
        entry.add(run(order, 7, 3600.0));
        entry.totals.saved = 1.0;
        Entry::parse(&entry.json().replace("\"schema\":4", "\"schema\":3")).unwrap()
    };
    let other = Work { bytes: 9_000_000, ..work };
    let mut entry = of("a", work, "");
    entry.absorb(of("b", work, "blocks"));
    entry.absorb(of("c", other, "blocks"));
    assert_eq!(Entry::parse(&entry.json()), Ok(entry.clone()));
    assert_eq!((entry.totals.runs, entry.totals.saved), (3, 3.0));
    assert_eq!(entry.runs.iter().map(|run| run.kind).collect::<Vec<_>>(), [0, 0, 1]);
    assert_eq!(entry.runs[2].made_for, 1);
    // Runs of different builds are not compared.
    let shapes = [0xa, 0xb, 0xc].map(|build| of_build(7, build));
    assert_eq!(entry.runs.iter().map(|run| run.shape).collect::<Vec<_>>(), shapes);
    let guess = |id| entry.guess(Some(1), Build { id, place: 0xf }).kinds;
    assert_eq!((guess(0xa), guess(0xd)), (vec![0, 1], vec![]));
}

#[test]
fn a_placement_that_fails_is_not_used_until_the_program_fails_without_it() {
    let mut entry = entry();
    entry.fail("blocks");
    entry = Entry::parse(&entry.json()).unwrap();
    assert!(entry.is_blamed("blocks") && !entry.is_blamed("other"));
    // A run in the default order was completed, so the placement gets another chance.
    entry.add(run("", 1, 1.0));
    assert!(!entry.is_blamed("blocks"));
    entry.fail("blocks");
    entry.add(run("", 1, 1.0));
    assert!(entry.is_blamed("blocks"));
    entry.fail("");
    assert!(!entry.is_blamed("blocks"));
}

#[test]
fn shapes_have_no_names() {
    assert_eq!(shape(&[0, 0, 1, 1], 7), shape(&[5, 5, 3, 3], 7));
    assert_ne!(shape(&[0, 0, 1, 1], 7), shape(&[0, 1, 0, 1], 7));
    assert_ne!(shape(&[0, 0, 1, 1], 7), shape(&[0, 0, 1], 7));
    assert_ne!(shape(&[0, 0, 1, 1], 7), shape(&[0, 0, 1, 1], 8));
}

#[test]
fn only_the_last_runs_are_kept() {
    let mut entry = entry();
    for _ in 0..2 * MOST_RUNS {
        entry.add(run("", 1, 1.0));
    }
    assert_eq!((entry.runs.len(), entry.totals.runs), (MOST_RUNS, 600));
}
