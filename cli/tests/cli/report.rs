//! `cartograph show`.

use std::fs;

use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Csr, Distances, Grid, Plan};
use cartograph_core::report::{Job, Reason, Record, ReorderOrigin, Report};
use cartograph_core::topology::Cart;
use cartograph_core::topology::TopologySummary;

use crate::run::{Directory, cartograph};

/// The report of a library with a grid, a graph and an unmapped grid.
fn report() -> Report {
    let layout = Machine::parse("2x4", 8).unwrap();
    let report = Report::new();
    report.job(Job {
        mpi: "some MPI".into(),
        processes: 8,
        rank: 0,
        nodes: Some((&layout).into()),
        ..Job::default()
    });
    let grid = Cart::new(&[4, 2], &[false, true], 8).unwrap();
    let plan = Plan {
        old_rank: Some([0, 4, 1, 5, 2, 6, 3, 7].into()),
        ..Plan::identity(&Grid::from(&grid), &layout, &Distances::default(), |_| 8)
    };
    report.add(Record::planned("MPI_Cart_create", &grid, ReorderOrigin::Asked, &layout, &plan));
    let graph = Csr::from_edges(8, (0..8).map(|from| (from, (from + 3) % 8, 5)));
    let plan = Plan::identity(&graph, &layout, &Distances::default(), |_| 0);
    let shape = TopologySummary::DistGraph { edges: Some(8), weighted: true };
    report.add(Record::planned(
        "MPI_Dist_graph_create",
        shape,
        ReorderOrigin::Asked,
        &layout,
        &plan,
    ));
    report.add(Record::new("MPI_Cart_create", &grid, 8, ReorderOrigin::No, Reason::NotAsked));
    report
}

#[test]
fn reports_are_shown() {
    let directory = Directory::new("show");
    let json = directory.join("report.json");
    let report = report();
    fs::write(&json, report.json()).unwrap();
    assert_eq!(cartograph("show").arg(&json).stdout(), report.news());
    assert_eq!(cartograph("show --json").arg(&json).stdout(), report.json() + "\n");
    cartograph("show --svg -").arg(&json).fails(2, "cartograph plan --svg");
}

#[test]
fn a_plan_is_distinguished_from_a_report() {
    let directory = Directory::new("show-plan");
    let file = directory.join("plan.json");
    fs::write(&file, cartograph("plan --dims 4x4 --nodes 4 --ppn 4 --json").stdout()).unwrap();
    cartograph("show").arg(&file).fails(1, "it is a plan");
    cartograph("show --svg -").arg(&file).fails(1, "cartograph plan --svg");
}

#[test]
fn files_other_than_reports_are_refused() {
    let directory = Directory::new("show-wrong");
    let file = directory.join("file");
    cartograph("show").arg(&file).fails(1, "cannot read");
    for (text, words) in [
        ("", "not a JSON report"),
        ("{\"schema\": 99}", "version 99"),
        ("{\"schema\": 1}", "missing field"),
    ] {
        fs::write(&file, text).unwrap();
        cartograph("show").arg(&file).fails(1, words);
    }
    // Any numbers are printed.
    let json = report().json();
    for (right, wrong) in [
        ("\"dims\":[4,2]", "\"dims\":[-4,2]"),
        ("\"dims\":[4,2]", "\"dims\":[65536,65536,65536,65536,65536]"),
        ("\"nodes\":[[2,4]]", "\"nodes\":[[18446744073709551615,4],[18446744073709551615,2]]"),
        ("\"max_node_edges\":", "\"max_node_edges\":-90000000000000000"),
        ("\"max_node_edges\":", "\"max_node_edges\":90000000000000000"),
        ("\"count\":1", "\"count\":0"),
        ("\"comm_size\":8", "\"comm_size\":-8"),
    ] {
        assert!(json.contains(right), "{right} in {json}");
        fs::write(&file, json.replace(right, wrong)).unwrap();
        assert!(cartograph("show").arg(&file).stdout().contains("MPI_Cart_create"));
    }
}
