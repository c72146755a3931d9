//! `cartograph known DIR`.

use std::fs;

use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Distances, Grid, Plan};
use cartograph_core::report::{Job, Origin, Reason, Record, ReorderOrigin, Report};
use cartograph_core::topology::Cart;

use crate::run::{Directory, cartograph};

/// The report of a job whose grid could have `best` instead of 6 edges of the busiest node.
fn report(id: &str, best: Option<i64>, kept: Option<Reason>) -> String {
    let report = Report::new();
    let origin = Origin {
        id: id.into(),
        user: "ann".into(),
        host: "n1".into(),
        program: "app".into(),
        date: "2026-11-25T01:53:00Z".into(),
    };
    report.job(Job {
        mpi: "some MPI".into(),
        processes: 8,
        rank: 0,
        nodes: None,
        origin: Some(origin),
    });
    if let Some(best) = best {
        let grid = Cart::new(&[4, 2], &[false; 2], 8).unwrap();
        let layout = Machine::parse("2x4", 8).unwrap();
        let mut plan = Plan {
            old_rank: Some([0, 4, 1, 5, 2, 6, 3, 7].into()),
            ..Plan::identity(&Grid::from(&grid), &layout, &Distances::default(), |_| 2)
        };
        (plan.before.max_node_edges, plan.after.max_node_edges) = (6, best);
        let record =
            Record::planned("MPI_Cart_create", &grid, ReorderOrigin::Asked, &layout, &plan);
        report.add(match kept {
            Some(kept) => record.kept(kept),
            None => record,
        });
    }
    report.short_json(1 << 15) + "\n"
}

#[test]
fn jobs_are_sorted_by_their_predicted_gain() {
    let directory = Directory::new("reports");
    for (name, text) in [
        ("a.json", report("1", Some(6), Some(Reason::NothingToGain))),
        ("b.json", report("2.0", Some(2), Some(Reason::NotAsked))),
        ("c.json", report("3", Some(3), Some(Reason::Off))),
        ("d.json", report("4", Some(2), None)),
        ("e.json", report("5", None, None)),
        // The report of a killed job, and an unrelated file.
        ("f.json", report("6", None, None)[..40].into()),
        ("g.txt", "nothing of ours".into()),
    ] {
        fs::write(directory.join(name), text).unwrap();
    }
    let output = cartograph("known").arg(directory.path()).output();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 6, "{text}");
    assert!(lines[0].contains("gain") && lines[0].contains("program"), "{text}");
    for (line, words) in [
        (1, ["67 %", "6 -> 2", "2.0", "ranks kept: reorder = 0"]),
        (2, ["50 %", "6 -> 3", "3", "ranks kept: disabled by CARTOGRAPH_REORDER"]),
        (3, ["-", "8", "1", "nothing to gain"]),
        (4, ["-", "8", "4", "ranks reordered in 1 kinds of topologies"]),
        (5, ["-", "8", "5", "no topology"]),
    ] {
        for word in words {
            assert!(lines[line].contains(word), "{word}: {text}");
        }
    }
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("1 of 6 files are not reports"), "{said}");
    let least = cartograph("known --least 60").arg(directory.path()).output();
    assert_eq!(String::from_utf8(least.stdout).unwrap().lines().count(), 2);
    cartograph("known /nowhere").fails(1, "cannot read /nowhere");
    cartograph("known --least 60").fails(2, "REPORTS");
}
