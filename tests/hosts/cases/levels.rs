//! Machines with levels other than nodes: packages below them, switches and other groups above, which the library
//! detects and uses to place neighbors.

use super::Outcome;
use crate::session::{Session, word};

/// The edges of a 4x2 grid between two groups, for the order printed by the last run.
fn crossing(session: &Session<'_>, group: fn(usize) -> usize) -> Option<usize> {
    let groups: Vec<usize> = order(session)?.into_iter().map(group).collect();
    let edges = (0..8).step_by(2).map(|i| (i, i + 1)).chain((0..6).map(|i| (i, i + 2)));
    (groups.len() == 8).then(|| edges.filter(|&(a, b)| groups[a] != groups[b]).count())
}

/// The old ranks of the 4x2 grid without periodic dimensions.
fn order(session: &Session<'_>) -> Option<Vec<usize>> {
    let ranks =
        session.out.lines().find_map(|line| Some(line.split_once(" order cart 4x2 00: ")?.1))?;
    ranks.split(' ').map(|rank| rank.parse().ok()).collect()
}

/// Below the node: neighbors are placed in the same package, on a machine with two packages of one CPU each
/// (c_tests/reorder/machine.c), over which ranks are distributed round-robin.
pub(super) fn domains(mut session: Session<'_>) -> Outcome {
    let program = session.compile("reorder", "c_tests/reorder/reorder.c", &["-Wall"]);
    let shown = session.compile_with(
        "gcc",
        "machine.so",
        "c_tests/reorder/machine.c",
        &["-shared", "-fPIC", "-ldl"],
    );
    session.preloaded.insert(0, shown);
    for cpu in ["0", "1"] {
        let topology = format!("machine/cpu/cpu{cpu}/topology");
        std::fs::create_dir_all(session.work(&topology)).map_err(|error| error.to_string())?;
        session.write(&format!("{topology}/package_cpus_list"), &format!("{cpu}\n"));
    }
    let machine = format!("TEST_MACHINE={}", session.work("machine").display());
    let run = |session: &mut Session<'_>, binding: &str| {
        let bound = format!("exec taskset -c {binding} {}", word(&program));
        session.runs(
            &bound,
            8,
            &[&machine, "CARTOGRAPH_REPORT=1", "CARTOGRAPH_REORDER=on"],
            &["sh", "-c", &bound],
        );
    };
    run(&mut session, "$((PMI_RANK % 2))");
    session.check("two edges of four cross", crossing(&session, |rank| rank % 2) == Some(2));
    session.check("the program's checks", session.out.trim_end().ends_with(" 0 failed"));
    session.check(
        "the report shows the packages",
        session.says("between 2 packages 8 -> 4 (-50 %), at least 4"),
    );
    run(&mut session, "0,1");
    session.check("unbound ranks stay", order(&session).is_some_and(|order| order.is_sorted()));
    session.check("unbound ranks are not in the report", !session.says("packages"));
    session.verdict()
}

const TREE: &str = "SLURM_TOPOLOGY_ADDR_PATTERN=switch.switch.node SLURM_TOPOLOGY_ADDR=";

/// Above the nodes: eight processes see four nodes (c_tests/reorder/nodes.c), distributed round-robin over two
/// switches, from Slurm's variables or a file with host names. Everything runs on one machine: reading and dropping
/// sources does not depend on the host; exchanging them between processes does.
pub(super) fn run(mut session: Session<'_>) -> Outcome {
    let options = ["-Wall", "-shared", "-fPIC"];
    let nodes = session.compile("nodes.so", "c_tests/reorder/nodes.c", &options);
    session.preloaded.insert(0, nodes);
    session.compile("reorder", "c_tests/reorder/reorder.c", &["-Wall"]);
    session.compile("reported", "c_tests/reorder/reported.c", &["-Wall"]);
    let conf = "SwitchName=left Nodes=n[0,2]\nSwitchName=right Nodes=n[1,3]\nSwitchName=top Switches=left,right\n";
    session.write("topology.conf", conf);
    session.write("coloured.conf", &conf.replace("left,right", "left,right Colour=red"));
    session.write("partial.conf", &conf.replace("[1,3]", "[1,5]"));
    session.write("other.conf", &conf.replace("n[", "m["));
    session.write("twice.conf", &conf.replace("n[0,2]", "n[0,2],n1"));
    let work = session.work("");
    let file = |name: &str| format!("CARTOGRAPH_LAYOUT={}{name}", work.display());

    if !session.host.shortened {
        reported(&mut session);
    }
    let tree = |address: &str| format!("{TREE}{address}");
    let mapped_by = |session: &mut Session<'_>, kind: &str, settings: &str| {
        run_with(session, "reorder", settings);
        session.check(
            &format!("{settings}: two edges cross"),
            crossing(session, |rank| rank / 2 % 2) == Some(2),
        );
        session.check(
            &format!("{settings}: the program's checks"),
            session.out.trim_end().ends_with(" 0 failed"),
        );
        let told = format!("between 2 {kind} 12 -> 4 (-67 %), at least 4");
        session.check(&format!("{settings}: the report"), session.says(&told));
    };
    // Unused sources: the report gives the reason, or has no message if none is listed.
    let dropped = |session: &mut Session<'_>, words: &str, settings: &str| {
        run_with(session, "reorder", settings);
        session.check(
            &format!("{settings}: stays"),
            order(session).is_some_and(|order| order.is_sorted()),
        );
        session.check(
            &format!("{settings}: no levels"),
            session.said("^  between .*(switches|blocks)") == 0,
        );
        let holds =
            if words.is_empty() { session.said("warning") == 0 } else { session.said(words) > 0 };
        session.check(&format!("{settings}: the report says '{words}'"), holds);
    };
    let one_for_all = "warning: SLURM_TOPOLOGY_ADDR is the same for ranks [0-7] and [0-7], which are on two nodes: \
                       switches ignored";
    mapped_by(&mut session, "switches", &tree("root.s$((node % 2)).n$node"));
    mapped_by(&mut session, "switches", &file("topology.conf"));
    dropped(&mut session, one_for_all, &tree("root.s0.n0"));
    if !session.host.checks_all {
        return session.verdict();
    }
    mapped_by(&mut session, "switches", &tree(".s$((node % 2)).n$node"));
    for (kind, pattern, address) in [
        ("blocks", "block", "b$((node % 2))"),
        ("rings", "ring:position", "r$((node % 2)):$node"),
        ("tori", "torus:x:y:z", "p$((node % 2)):0:$node:1"),
    ] {
        let settings = format!(
            "SLURM_TOPOLOGY_ADDR_PATTERN={pattern}.node SLURM_TOPOLOGY_ADDR={address}.n$node"
        );
        mapped_by(&mut session, kind, &settings);
    }
    // A file takes precedence over the launcher's variables.
    mapped_by(&mut session, "switches", &format!("{} {TREE}root.s0.n0", file("topology.conf")));
    mapped_by(&mut session, "switches", &file("coloured.conf"));
    let said = "CARTOGRAPH_LAYOUT: line 3 of the file: unknown keyword 'Colour=red'; ignored";
    session
        .check("a wrong word in a file is reported once", session.err.matches(said).count() == 1);
    let knows_better = format!("{} {}", file("twice.conf"), tree("root.s$((node % 2)).n$node"));
    mapped_by(&mut session, "switches", &knows_better);
    let said = "CARTOGRAPH_LAYOUT: line 2 of the file: n1 is in left and in right; file ignored";
    session
        .check("a node on two switches is reported once", session.err.matches(said).count() == 1);

    dropped(&mut session, "", "SLURM_TOPOLOGY_ADDR_PATTERN=node SLURM_TOPOLOGY_ADDR=n$node");
    dropped(&mut session, "", "SLURM_NODEID=$node");
    let pairs = "0 and 1|2 and 3|4 and 5|6 and 7|1 and 0|3 and 2|5 and 4|7 and 6";
    dropped(
        &mut session,
        &format!(
            r"warning: SLURM_TOPOLOGY_ADDR differs between ranks ({pairs}), which share a node"
        ),
        &tree("root.s$((node % 2)).n$rank"),
    );
    dropped(
        &mut session,
        "warning: SLURM_TOPOLOGY_ADDR of rank [23] does not fit its pattern",
        &tree("root.s$((node % 2))$([ $node = 1 ] || echo .n$node)"),
    );
    dropped(
        &mut session,
        "warning: SLURM_TOPOLOGY_ADDR is unknown for rank [67]",
        &tree("$([ $node = 3 ] || echo root.s$((node % 2)).n$node)"),
    );
    dropped(
        &mut session,
        "CARTOGRAPH_LAYOUT: the node's address in the file is unknown for rank [67]: switches ignored",
        &file("partial.conf"),
    );
    dropped(
        &mut session,
        "CARTOGRAPH_LAYOUT: the file lists none of the job's nodes",
        &file("other.conf"),
    );
    session.verdict()
}

/// Runs a program with settings that the shell expands for each process, whose node is `$node`, and counts its success
/// as a check.
fn run_with(session: &mut Session<'_>, program: &str, settings: &str) {
    let each = format!(
        "rank=${{PMI_RANK:-${{OMPI_COMM_WORLD_RANK:-$PMIX_RANK}}}}\nnode=$((rank / 2))\n\
         export TEST_NODE=$node CARTOGRAPH_REORDER=on {settings}\nexec {}/{program}\n",
        session.work("").display()
    );
    let each = session.write("each", &each);
    session.runs(settings, 8, &["CARTOGRAPH_REPORT=1"], &["sh", word(&each)]);
}

/// Nodes with equal names, and a node for each process, as Slurm reports to MPICH through PMI-2 if a file places ranks;
/// and advice for a program that passes `reorder = 0`.
fn reported(session: &mut Session<'_>) {
    let apart = "warning: the MPI reports each of 8 processes on a separate node, but their names are those of";
    run_with(session, "reorder", "TEST_NODE=$rank TEST_HOST=0");
    session.check(
        "several nodes on one host are reported",
        session.says(&format!("{apart} one host: ")),
    );
    run_with(session, "reorder", "TEST_NODE=$rank TEST_HOST=$node");
    session.check(
        "several nodes on four hosts are reported",
        session.says(&format!("{apart} 4 hosts: ")),
    );
    run_with(session, "reorder", "TEST_NODE=$rank");
    session.check(
        "a node for each of eight hosts is not reported",
        !session.says("on a separate node"),
    );

    run_with(session, "reported kept", "TEST_NODE=$((rank % 4))");
    let advice = "to get this placement from the launcher, use cartograph run";
    session.check("the report advises to place ranks by the launcher", session.says(advice));
}
