//! Which constructors reorder ranks, by `c_tests/reorder/policy.c`: the messages, and ranks whose environments differ.

use super::Outcome;
use crate::session::{Session, word};

const THREE_NODES: &str = "CARTOGRAPH_LAYOUT=c_tests/reorder/three_nodes.layout";
const REPORT: &str = "CARTOGRAPH_REPORT=1";
const ON: &str = "CARTOGRAPH_REORDER=on";

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    let program = session.compile("policy", "c_tests/reorder/policy.c", &["-Wall"]);
    let program = word(&program).to_owned();
    let way = |session: &mut Session<'_>, processes, way: &str, expected, settings: &[&str]| {
        session.runs(
            &format!("{way} {expected}, {settings:?}"),
            processes,
            settings,
            &[&program, way, expected],
        );
    };
    let always = "CARTOGRAPH_REORDER=always";
    let forced = r"ranks reordered despite reorder = 0 \(CARTOGRAPH_REORDER=always\)";
    way(&mut session, 8, "minimd", "wrong", &[THREE_NODES, always]);
    session.check(
        "one line reports forced reordering",
        session.said(&format!("cartograph: MPI_Cart_create: {forced}")) == 1,
    );
    let equal = "CARTOGRAPH_WEIGHTS=1,1";
    way(&mut session, 8, "careful", "moves", &[THREE_NODES, always, equal]);
    session.check("no message is printed", session.said("cartograph") == 0);
    way(&mut session, 8, "minimd", "stays", &["CARTOGRAPH_LAYOUT=1x8", always]);
    session.check("no message is printed if no rank moves", session.said("cartograph") == 0);

    let reasons: [(&str, &[&str], &str, &str); 3] = [
        (
            "lammps",
            &[THREE_NODES, REPORT],
            "MPI_Cart_create",
            "the program is not known to follow new ranks; use cartograph run, or check it with cartograph try",
        ),
        (
            "petsc",
            &[THREE_NODES, REPORT],
            "MPI_Dist_graph_create_adjacent",
            "distributed graphs need CARTOGRAPH_REORDER=all, or cartograph_reorder = true in the info",
        ),
        (
            "petsc-refused",
            &[THREE_NODES, REPORT, "CARTOGRAPH_REORDER=all"],
            "MPI_Dist_graph_create_adjacent",
            "cartograph_reorder = false in the info",
        ),
    ];
    for (program, settings, function, reason) in reasons {
        way(&mut session, 8, program, "stays", settings);
        let lines: Vec<&str> = session.err.lines().collect();
        let head = format!("{function}: ");
        let told = lines.windows(2).any(|pair| {
            pair[0].starts_with(&head)
                && pair.iter().any(|line| line.contains(&format!("ranks kept: {reason}")))
        });
        session.check(&format!("{program} gets the reason"), told);
    }
    stale(&mut session, &program);
    way(&mut session, 6, "careful", "moves", &["CARTOGRAPH_REORDER=scramble:9", REPORT]);
    session.check(
        "random reordering is reported",
        session.said("^  ranks reordered by scramble; ") > 0,
    );
    // Texts are the same on all hosts.
    let values = ["scramble", "scramble:x", "scramble:1:cart_sub", "on,off", "ON"];
    let number = if session.host.checks_all { values.len() } else { 1 };
    for wrong in &values[..number] {
        way(
            &mut session,
            8,
            "careful",
            "stays",
            &[THREE_NODES, &format!("CARTOGRAPH_REORDER={wrong}")],
        );
        let words = format!(
            "CARTOGRAPH_REORDER: invalid value '{wrong}' (expected off, known, on, all, always and \
             scramble[0]:SEED[:CONSTRUCTOR+...]); using off"
        );
        let said = session.err.lines().filter(|line| line.contains(&words)).count();
        session.check(&format!("{wrong} is printed"), said == 1);
    }
    if session.host.checks_all {
        weights(&mut session, &program);
    }
    differ(&mut session, &program);
    session.verdict()
}

/// A program that keeps using its old ranks gets one warning; no other program does.
fn stale(session: &mut Session<'_>, policy: &str) {
    let textbook = session.compile("textbook", "c_tests/reorder/textbook.c", &["-Wall"]);
    let textbook = word(&textbook).to_owned();
    let line = r"^cartograph: \S+ uses its rank in MPI_COMM_WORLD on a reordered grid; .*=off$";
    let equal = "CARTOGRAPH_WEIGHTS=1,1";
    let mut sums = Vec::new();
    for (reorder, told) in [("CARTOGRAPH_REORDER=off", 0), ("CARTOGRAPH_REORDER=known", 0), (ON, 1)]
    {
        session.runs(reorder, 8, &[THREE_NODES, equal, reorder], &[&textbook]);
        session
            .check(&format!("textbook, {reorder}: told {told} times"), session.said(line) == told);
        let sum = session.out.lines().find(|line| line.contains("checksum")).map(str::to_owned);
        session.check("a checksum", sum.is_some());
        sums.push(sum);
    }
    session.check("the default result equals the result without reordering", sums[0] == sums[1]);
    session.check("the result depends on the ranks", sums[0] != sums[2]);
    for (way, expected) in [("gtbench", "wrong"), ("careful", "moves"), ("others", "moves")] {
        session.runs(way, 8, &[THREE_NODES, equal, ON], &[policy, way, expected]);
        let told = usize::from(way == "gtbench");
        session.check(&format!("{way}: told {told} times"), session.said(line) == told);
    }
}

/// Weights of grids: shown in the report, and a fault in them is reported once.
fn weights(session: &mut Session<'_>, program: &str) {
    let four = "CARTOGRAPH_LAYOUT=4x2";
    session.runs(
        "weighted",
        8,
        &[four, "CARTOGRAPH_WEIGHTS=16,1", REPORT, ON],
        &[program, "careful", "moves"],
    );
    let told = session.said(r"; between nodes 256 -> 136 \(-47 %\), at least .*; weighted 16,1$");
    session.check("the report shows this", told > 0);
    session.runs("not weighted", 8, &[four, REPORT, ON], &[program, "careful", "stays"]);
    session.check(
        "the report shows this",
        session.said("; between nodes 16, at least .*; weights assumed equal$") > 0,
    );
    let no_number = r"\(expected whole numbers from 0 to 2147483648\); ";
    for (text, words) in [
        ("16,-1", no_number),
        ("inf,1", no_number),
        ("nan,1", no_number),
        ("16,x", no_number),
        ("16,,1", no_number),
        ("1e99,1", no_number),
        ("0,0", "has no weight above 0; "),
        ("4x2:16", "has 1 weights for 2 dimensions; "),
        ("16,1,1", "no weights for a grid of 2 dimensions; "),
        ("4y2:16,1", r"invalid grid '4y2:16,1' \(expected, for example, 8x8:1,4\); "),
    ] {
        let setting = format!("CARTOGRAPH_WEIGHTS={text}");
        session.runs(&setting, 8, &[four, &setting, ON], &[program, "careful", "stays"]);
        let said = session.said(&format!("^cartograph: CARTOGRAPH_WEIGHTS.* {words}"));
        session.check(&format!("{setting} is printed"), said == 1);
    }
}

/// One rank's environment differs; the most cautious value counts.
fn differ(session: &mut Session<'_>, program: &str) {
    let script = "word=$1; [ \"${PMI_RANK-${OMPI_COMM_WORLD_RANK-}}\" != \"$0\" ] || word=$2
        shift 2; CARTOGRAPH_REORDER=$word exec \"$@\"";
    let mut odd = |rank: &str, word, others, way: &str, expected| {
        let what = format!("{word} on {rank}, {others} on others, {way}");
        session.runs(
            &what,
            8,
            &[THREE_NODES],
            &["sh", "-c", script, rank, others, word, program, way, expected],
        );
    };
    for rank in ["0", "3"] {
        odd(rank, "off", "all", "careful", "stays");
        odd(rank, "on", "all", "petsc", "stays");
        odd(rank, "all", "always", "petsc", "wrong");
        odd(rank, "on", "always", "minimd", "stays");
        odd(rank, "known", "on", "lammps", "stays");
        odd(rank, "known", "all", "careful", "stays");
    }
    odd("0", "scramble:4", "all", "petsc", "wrong");
    odd("3", "on", "scramble:4", "petsc", "stays");
}
