//! With `reorder = 1`, the order of every new communicator is exactly the one that `cartograph plan` prints for the
//! first grid of its dims and the same nodes, whether the nodes come from `CARTOGRAPH_LAYOUT` or from the host; and the
//! report shows the same figures.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use serde_json::Value;

use super::Outcome;
use crate::session::{Session, word};
use crate::testlist::top;

/// Equal weights for grids of one to three dimensions.
const ALIKE: &str = "CARTOGRAPH_WEIGHTS=1;1,1;1,1,1";

/// The setting that reorders ranks in an unknown program.
const ON: &str = "CARTOGRAPH_REORDER=on";

/// The command.
fn cartograph() -> Command {
    Command::new(top().join("build/bin/cartograph"))
}

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    let program = session.compile("reorder", "c_tests/reorder/reorder.c", &["-Wall"]);
    let program = [word(&program)];
    session.runs("4x2 by CARTOGRAPH_LAYOUT", 8, &["CARTOGRAPH_LAYOUT=4x2", ON], &program);
    agrees(&mut session, "4*2");
    session.runs("uneven by CARTOGRAPH_LAYOUT", 12, &["CARTOGRAPH_LAYOUT=5,4,3", ON], &program);
    agrees(&mut session, "5,4,3");
    let settings = ["CARTOGRAPH_LAYOUT=5,4,3", ALIKE, ON];
    session.runs("uneven, dimensions alike", 12, &settings, &program);
    let moved = agrees_weighed(&mut session, "5,4,3");
    session.check("some grids are reordered", moved > 0);

    let unequal = ["CARTOGRAPH_LAYOUT=4x2", "CARTOGRAPH_WEIGHTS=8,1", ON];
    session.runs("dimensions of unequal weights", 8, &unequal, &program);

    // The report shows the figures of the plan.
    let report = session.work("report.json");
    let setting = format!("CARTOGRAPH_REPORT={}", report.display());
    session.runs("with a report", 8, &["CARTOGRAPH_LAYOUT=4x2", &setting, ON], &program);
    let shown = session.finish(cartograph().arg("show").arg(&report));
    session.check("cartograph show prints the report", shown);
    let told =
        std::fs::read(&report).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    let told = told.unwrap_or_default();
    let none = Vec::new();
    let grid = told["topologies"].as_array().unwrap_or(&none).iter().find(|made| {
        made["topology"]["dims"] == serde_json::json!([4, 2])
            && made["topology"]["periodic"] == serde_json::json!([true, false])
    });
    session.finish(
        cartograph().args("plan --json --dims 4x2 --periodic 10 --node-sizes 4*2".split(' ')),
    );
    let plan = serde_json::from_str::<Value>(&session.out).unwrap_or_default();
    for figure in ["before", "after"] {
        let same = grid.is_some_and(|grid| find(grid, figure) == find(&plan, figure));
        session.check(
            &format!("4x2 costs as planned {figure}"),
            same && find(&plan, figure).is_some(),
        );
    }

    // No rank moves if that is not requested, if the program is unknown, or on one node.
    for settings in [
        ["CARTOGRAPH_LAYOUT=4x2", "CARTOGRAPH_REORDER=off"],
        ["CARTOGRAPH_LAYOUT=4x2", ALIKE],
        ["CARTOGRAPH_LAYOUT=1x8", ON],
    ] {
        session.runs(&format!("{settings:?}"), 8, &settings, &program);
        let orders = orders(&session.out);
        let kept = |ranks: &[usize]| ranks.iter().enumerate().all(|(rank, old)| rank == *old);
        let whole = orders.iter().filter(|(what, _)| !what.starts_with("part"));
        let stays = whole.clone().all(|(_, ranks)| kept(ranks))
            && whole.clone().any(|(_, ranks)| ranks.len() == 8);
        session.check(&format!("{settings:?} keeps ranks"), stays);
    }

    mistakes(&mut session, program[0]);

    // Nodes that the host itself sees.
    if ["mpich", "mpich5", "abi"].contains(&&*session.host.name) {
        let mut command = session.launcher(8);
        let mut words: Vec<String> =
            command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        let number = words.len() - 2;
        words.splice(
            number..number,
            "-launcher fork -hosts a:3,b:3,c:2".split(' ').map(str::to_owned),
        );
        command = Command::new("timeout");
        command
            .args(words)
            .envs(session.host.settings())
            .arg("env")
            .arg(session.preload())
            .args([ALIKE, ON])
            .args(program);
        let ran = session.finish(&mut command);
        session.check("the host's own nodes", ran);
        let moved = agrees_weighed(&mut session, "3,3,2");
        session.check("some grids are reordered", moved > 0);
    }
    session.verdict()
}

/// A mistake is reported once, and has no other effect. Rank 0 of a communicator that needs a layout reports a mistake
/// in it: in this program, rank 0 of `MPI_COMM_WORLD` and rank 0 of the reversed world.
fn mistakes(session: &mut Session<'_>, program: &str) {
    let cases: [(&[u8], &str, usize); 4] = [
        (
            b"CARTOGRAPH_LAYOUT=2x4",
            "CARTOGRAPH_LAYOUT: the layout '2x4' has 8 places, but there are 4 processes",
            2,
        ),
        (b"CARTOGRAPH_LAYOUT=\xff", "CARTOGRAPH_LAYOUT is not text in UTF-8", 1),
        (b"CARTOGRAPH_LAYOUT=4xfour", "CARTOGRAPH_LAYOUT: '4xfour' is neither NODESxRANKS", 2),
        (b"CARTOGRAPH_REORDER=maybe", "CARTOGRAPH_REORDER: invalid value 'maybe'", 1),
    ];
    for (setting, words, times) in cases {
        let mut command = session.launcher(4);
        command.arg("env").arg(session.preload()).args(["CARTOGRAPH_LAYOUT=2x2", ON]);
        let ran = session.finish(command.arg(OsStr::from_bytes(setting)).arg(program));
        session.check(&format!("{words}: runs"), ran);
        let said = session.err.lines().filter(|line| line.contains(words)).count();
        session.check(&format!("{words}: is printed"), said == times);
    }
}

/// The orders that the program prints, each by the process that became rank 0: the topology and its old ranks.
fn orders(out: &str) -> Vec<(String, Vec<usize>)> {
    let parse = |line: &str| {
        let (_, rest) = line.strip_prefix("rank ")?.split_once(" order ")?;
        let (what, ranks) = rest.split_once(": ")?;
        Some((
            what.to_owned(),
            ranks.split(' ').map(|rank| rank.parse().ok()).collect::<Option<_>>()?,
        ))
    };
    out.lines().filter_map(parse).collect()
}

/// Checks that every grid of the program has the planned order on nodes of these sizes. Lines for the communicator
/// other than the world begin with "part", and that communicator has other nodes.
fn agrees(session: &mut Session<'_>, sizes: &str) {
    check_orders(session, sizes, false);
}

/// Compares the plans in which all dimensions are [`ALIKE`]; returns the number of reordered grids.
fn agrees_weighed(session: &mut Session<'_>, sizes: &str) -> usize {
    check_orders(session, sizes, true)
}

fn check_orders(session: &mut Session<'_>, sizes: &str, alike: bool) -> usize {
    let grids: Vec<_> =
        orders(&session.out).into_iter().filter(|(what, _)| what.starts_with("cart ")).collect();
    session.check(&format!("there are grids on {sizes}"), !grids.is_empty());
    let (mut moved, mut first) = (0, HashMap::new());
    for (what, ranks) in grids {
        let words: Vec<&str> = what.split(' ').collect();
        // The first grid decides, whatever the periods of the others.
        let periods = first.entry(words[1].to_owned()).or_insert_with(|| words[2].to_owned());
        let mut plan = cartograph();
        plan.args([
            "plan",
            "--json",
            "--dims",
            words[1],
            "--periodic",
            periods,
            "--node-sizes",
            sizes,
        ]);
        if alike {
            let weights = vec!["1"; words[1].split('x').count()];
            plan.args(["--weights", &weights.join(",")]);
        }
        session.finish(&mut plan);
        let plan = serde_json::from_str::<Value>(&session.out).unwrap_or_default();
        let planned = find(&plan, "old_rank").cloned().unwrap_or_default();
        session
            .check(&format!("{what} on {sizes}: {ranks:?}"), planned == serde_json::json!(ranks));
        moved += usize::from(!ranks.is_sorted());
    }
    moved
}

/// The value of a key at any depth.
fn find<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    match value {
        Value::Object(map) => {
            map.get(key).or_else(|| map.values().find_map(|value| find(value, key)))
        }
        Value::Array(values) => values.iter().find_map(|value| find(value, key)),
        _ => None,
    }
}
