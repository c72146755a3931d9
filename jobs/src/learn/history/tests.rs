use cartograph_traffic::Work;

use super::*;
use crate::learn::{Guess, Seen};

fn entry() -> Entry {
    let mut entry = Entry::new("app", 16);
    let work = Work { messages: 1000, bytes: 1_000_000, collectives: 5 };
    entry.note(Seen { work, ..Seen::default() }, &Guess::default());
    entry
}

fn run(order: &str, shape: u64, seconds: f64) -> Past {
    let order = order.to_owned();
    Past { order, predicted: 1.2, shape, nodes: 2, seconds, units: 1.0, ..Past::default() }
}

fn blocks() -> Placement {
    Placement { kind: 0, order: "blocks".into() }
}

#[test]
fn other_nodes_show_the_accuracy_of_forecasts() {
    let mut entry = entry();
    for (order, shape, seconds) in [("", 1, 10.0), ("blocks", 1, 8.0), ("", 2, 5.0)] {
        entry.add(run(order, shape, seconds));
    }
    let [(predicted, found)] = entry.experience(0, 2)[..] else { panic!() };
    assert!((predicted - 1.2).abs() < 1e-9 && (found - 1.25).abs() < 1e-9);
    assert!(entry.experience(0, 1).is_empty());
    assert_eq!(entry.runs_of(0, 1, &[blocks()]).len(), 2);
    assert_eq!(entry.runs_of(0, 2, &[blocks()]).len(), 1);
    // A placement of the same name that was made for another kind is another one.
    assert_eq!(entry.runs_of(0, 1, &[Placement { kind: 1, ..blocks() }]).len(), 1);
    assert_eq!(entry.placements(), [blocks()]);
}

#[test]
fn first_runs_are_not_evidence() {
    let mut entry = entry();
    entry.add(Past { is_first: true, ..run("", 1, 30.0) });
    entry.add(run("blocks", 1, 8.0));
    entry.add(run("", 1, 10.0));
    assert!((median_times(&entry.runs_in(&blocks()), 1).unwrap() - 1.25).abs() < 1e-9);
}

#[test]
fn runs_of_other_lengths_are_compared_by_work_unless_their_lengths_recur() {
    let mut entry = entry();
    for (units, order, seconds) in [(1.0, "", 10.0), (2.0, "blocks", 10.0), (3.0, "", 30.0)] {
        entry.add(Past { units, ..run(order, 1, seconds) });
    }
    assert!((median_times(&entry.runs_in(&blocks()), 1).unwrap() - 2.0).abs() < 1e-9);
    // Long runs are compared with long runs: short ones take longer for their work.
    entry.add(Past { units: 2.0, ..run("", 1, 12.0) });
    let of_two = |run: &Run| run.group == 0;
    let runs: Vec<Run> = entry.runs_of(0, 1, &[blocks()]).into_iter().filter(of_two).collect();
    assert!((median_times(&runs, 1).unwrap() - 1.2).abs() < 1e-9, "{runs:?}");
}

#[test]
fn hours_count_as_saved_only_if_compared_but_as_lost_at_once() {
    let mut entry = entry();
    let is = |entry: &Entry, saved: f64, lost: f64| {
        let hours = entry.hours();
        assert!((hours.0 - saved).abs() < 1e-9 && (hours.1 - lost).abs() < 1e-9, "{hours:?}");
    };
    entry.add(run("", 7, 7200.0));
    entry.add(run("blocks", 7, 3600.0));
    is(&entry, 0.0, 0.0);
    entry.add(run("", 7, 7200.0));
    entry.add(run("blocks", 7, 3600.0));
    is(&entry, 4.0, 0.0);
    // On other nodes, it is slower.
    entry.add(run("", 8, 3600.0));
    entry.add(run("blocks", 8, 7200.0));
    is(&entry, 4.0, 2.0);
    // A machine on which it has become slower is noticed.
    for _ in 0..6 {
        entry.add(run("", 7, 3600.0));
        entry.add(run("blocks", 7, 7200.0));
    }
    assert!(entry.hours().1 >= 2.0 + 3.0 * 2.0, "{:?}", entry.hours());
    // Runs that are not kept have their hours.
    for _ in 0..400 {
        entry.add(run("", 7, 3600.0));
    }
    assert!(entry.runs.iter().all(|run| run.order.is_empty()));
    assert!(entry.hours().1 >= 2.0 + 3.0 * 2.0, "{:?}", entry.hours());
}
