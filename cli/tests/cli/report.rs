//! `cartograph show`.

use std::fs;

use cartograph_core::engine::NodeTraffic;
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
    let record =
        Record::planned("MPI_Dist_graph_create", shape, ReorderOrigin::Asked, &layout, &plan);
    report.add(record.traffic(NodeTraffic::new(&graph, &layout, &plan)));
    report.add(Record::new("MPI_Cart_create", &grid, 8, ReorderOrigin::No, Reason::NotAsked));
    report
}

#[test]
fn reports_are_shown_and_drawn() {
    let directory = Directory::new("show");
    let (json, svg) = (directory.join("report.json"), directory.join("report.svg"));
    let report = report();
    fs::write(&json, report.json()).unwrap();
    assert_eq!(cartograph("show").arg(&json).stdout(), report.news());

    assert_eq!(cartograph("show").arg(&json).arg("--svg").arg(&svg).stdout(), "");
    let drawn = fs::read_to_string(&svg).unwrap();
    for words in
        ["MPI_Cart_create: grid 4 x 2", "MPI_Dist_graph_create", "busiest node", "Row: the node"]
    {
        assert!(drawn.contains(words), "{words}");
    }
    let one = cartograph("show --topology 2 --svg -").arg(&json).stdout();
    assert!(one.contains("MPI_Dist_graph_create") && !one.contains("MPI_Cart_create"));

    cartograph("show --topology 3 --svg -").arg(&json).fails(1, "nothing to draw");
    cartograph("show --topology 4").arg(&json).fails(2, "the report has 3");
    cartograph("show --svg /nowhere/x").arg(&json).fails(1, "cannot write /nowhere/x");
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
fn parts_of_several_processes_are_shown_together() {
    let directory = Directory::new("show-parts");
    let part = |name: &str, side: i32| {
        let report = Report::new();
        let grid = Cart::new(&[side], &[false], side).unwrap();
        report.add(Record::new(
            "MPI_Cart_create",
            &grid,
            side,
            ReorderOrigin::No,
            Reason::NotAsked,
        ));
        fs::write(directory.join(name), report.json()).unwrap();
    };
    let all = directory.join("all.json");
    let shown = || {
        let text = cartograph("show").arg(&all).stdout();
        let sides = text.lines().filter_map(|line| line.strip_prefix("MPI_Cart_create: grid "));
        sides.map(|rest| rest.split(',').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // Rank 0 reported nothing.
    part("all.json.10", 10);
    part("all.json.9", 9);
    assert_eq!(shown(), ["9", "10"]);
    part("all.json", 5);
    // No part of it.
    part("all.json.9.old", 7);
    part("all.json.x", 7);
    part("all.json.+1", 7);
    assert_eq!(shown(), ["5", "9", "10"]);
    fs::write(directory.join("all.json.11"), "{").unwrap();
    cartograph("show").arg(&all).fails(1, "all.json.11: it is not a JSON report");
}

#[test]
fn a_file_that_is_no_report_is_refused() {
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
    // Invalid numbers are reported before they are used as sizes or indices.
    let json = report().json();
    for (right, wrong, words) in [
        ("\"node_of\":[0,", "\"node_of\":[4294967295,", "topology 1: node_of has node 4294967295"),
        ("\"old_rank\":[0,4,1,", "\"old_rank\":[0,99,1,", "topology 1: old_rank has rank 99 of 8"),
        ("\"old_rank\":[0,4,1,", "\"old_rank\":[0,-1,1,", "old_rank has rank -1"),
        ("\"old_rank\":[0,4,", "\"old_rank\":[0,", "old_rank has 7 entries for 8 vertices"),
        ("\"before\":[[", "\"before\":[[1],[", "topology 2: traffic"),
        ("\"dims\":[4,2]", "\"dims\":[-4,2]", "dims are [-4, 2]"),
        ("\"dims\":[4,2]", "\"dims\":[65536,65536]", "dims are [65536, 65536]"),
        (
            "\"dims\":[4,2]",
            "\"dims\":[4,4]",
            "grid 4 x 4, periodic along 1 does not fit 8 processes",
        ),
        ("\"dims\":[4,2]", "\"dims\":[4]", "1 dims, but 2 periodic"),
        ("\"nodes\":[[2,4]]", "\"nodes\":[[4294967296,4294967296]]", "at most 2147483647"),
        ("\"count\":1", "\"count\":18446744073709551615", "count is"),
        ("\"comm_size\":8", "\"comm_size\":-8", "comm_size is -8"),
    ] {
        assert!(json.contains(right), "{right} in {json}");
        fs::write(&file, json.replacen(right, wrong, 1)).unwrap();
        for drawn in ["show", "show --svg -"] {
            cartograph(drawn).arg(&file).fails(1, words);
        }
    }
}
