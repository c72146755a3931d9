use cartograph_traffic::Work;

use super::*;
use crate::learn::{Guess, Seen};

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
