//! `cartograph show`, `plan` and `exec` with recorded runs.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::run::{Directory, cartograph};

/// A job of 8 processes, dealt out to two nodes, in which each process sends to the one four above or below
/// it, 1000 bytes in 10 messages, and 1 byte to itself.
fn record(directory: &Path) -> PathBuf {
    let hosts = ["alpha", "alpha", "alpha", "alpha", "beta", "beta", "beta", "beta"];
    let traffic = record_on(directory, &hosts, |rank| {
        vec![
            json!({"sent": {"to": (rank + 4) % 8, "messages": 10, "bytes": 1000}}),
            json!({"sent": {"to": rank, "messages": 1, "bytes": 1}}),
            json!({"grid": {
                "function": "MPI_Cart_create", "dims": [2, 4], "periodic": [false, false],
                "reorder": false, "rank": rank, "first": 0
            }}),
            json!({"collective": {"function": "MPI_Bcast", "calls": 3}}),
        ]
    });
    // What a process was writing when it was killed.
    fs::write(traffic.join("3.new"), "{\"process\":").unwrap();
    traffic
}

/// A job with a process for each of these hosts, and what is recorded of each, as the recorder writes it.
pub(crate) fn record_on(
    directory: &Path,
    hosts: &[&str],
    lines: impl Fn(usize) -> Vec<Value>,
) -> PathBuf {
    let traffic = directory.join("run.traffic");
    fs::create_dir_all(&traffic).unwrap();
    for (rank, host) in hosts.iter().enumerate() {
        let lines = lines(rank);
        // The line of the process comes first in its object as well.
        let mut text = format!(
            "{{\"process\":{{\"schema\":1,\"rank\":{rank},\"size\":{},\"host\":\"{host}\",\
             \"program\":\"./app -x\",\"mpi\":\"some MPI\",\"complete\":true,\"lines\":{}}}}}\n",
            hosts.len(),
            lines.len()
        );
        lines.iter().for_each(|line| text += &format!("{line}\n"));
        fs::write(traffic.join(format!("{rank}.jsonl")), text).unwrap();
    }
    traffic
}

#[test]
fn recordings_are_shown_and_drawn() {
    let directory = Directory::new("traffic-show");
    let traffic = record(directory.path());
    let text = cartograph("show").arg(&traffic).stdout();
    for line in [
        "./app -x: 8 processes on 2 nodes of 4, some MPI",
        "sent to others: 80 messages, 8.00 kB",
        "sent to themselves: 8 messages, 8 B",
        "inside nodes: 0 messages, 0 B (0 %)",
        "between nodes: 80 messages, 8.00 kB (100 %)",
        "  alpha            40 messages, 4.00 kB",
        "  0 -> 4           10 messages, 1.00 kB, alpha -> beta",
        "MPI_Cart_create: grid 2x4",
        "  along dimension 0: 80 messages, 8.00 kB",
        "  along dimension 1: 0 messages, 0 B",
        "other collectives, calls of all processes: MPI_Bcast 24",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line}\n{text}");
    }
    // All parts in one file are as good.
    let whole = directory.join("whole");
    let parts =
        (0..8).map(|rank| fs::read_to_string(traffic.join(format!("{rank}.jsonl"))).unwrap());
    fs::write(&whole, parts.collect::<String>()).unwrap();
    assert_eq!(cartograph("show").arg(&whole).stdout(), text);

    let drawn = cartograph("show --svg -").arg(&traffic).stdout();
    assert!(drawn.starts_with("<svg") && drawn.contains("the rank that sends"), "{drawn}");
    assert_eq!(drawn.matches("\n1000\n").count(), 8, "{drawn}");

    // A process that was killed before it wrote anything.
    fs::remove_file(traffic.join("5.jsonl")).unwrap();
    let text = cartograph("show").arg(&traffic).stdout();
    assert!(text.contains("1 of the 8 parts are missing, the first that of rank 5"), "{text}");
    assert!(!text.contains("inside nodes"), "{text}");
}

#[test]
fn ranks_are_placed_by_what_they_sent() {
    let directory = Directory::new("traffic-plan");
    let traffic = record(directory.path());
    let file = directory.join("ranks");
    let plan = |arguments: &str| -> Value {
        let run = cartograph(&format!("plan --json {arguments} --traffic")).arg(&traffic);
        serde_json::from_str(&run.stdout()).unwrap()
    };
    // Partners share a node, wherever the job is to run.
    for arguments in ["", "--nodes 2 --ppn 4", "--node-sizes 4,2,2", "--layout 2x4"] {
        let plan = plan(arguments);
        assert_eq!(plan["before"]["inter_node_edges"], 8000, "{arguments}");
        assert_eq!(plan["after"]["inter_node_edges"], 0, "{arguments}");
        let mut once: Vec<i64> = plan["old_rank"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rank| rank.as_i64().unwrap())
            .collect();
        once.sort_unstable();
        assert_eq!(once, [0, 1, 2, 3, 4, 5, 6, 7], "{arguments}");
    }
    let told = cartograph("plan --traffic").arg(&traffic).stdout();
    assert!(told.starts_with("the traffic of ./app -x, 8 processes on 2 nodes of 4\n"), "{told}");
    assert!(told.contains("bytes between nodes"), "{told}");

    // The nodes keep their names, and each rank is started beside its partner.
    let ranks = |launcher: &str| {
        let run = cartograph(&format!("plan --rankfile {launcher}")).arg(&file);
        let told = run.arg("--traffic").arg(&traffic).stdout();
        (told, fs::read_to_string(&file).unwrap())
    };
    let (told, text) = ranks("slurm");
    assert!(told.contains("SLURM_HOSTFILE"), "{told}");
    let hosts: Vec<&str> = text.lines().collect();
    assert_eq!(hosts[..4], hosts[4..]);
    assert_eq!(hosts.iter().filter(|host| **host == "alpha").count(), 4);
    let (told, text) = ranks("cray");
    assert!(told.contains("MPICH_RANK_REORDER_METHOD=3"), "{told}");
    for line in text.lines() {
        let ranks: Vec<u32> = line.split(',').map(|rank| rank.parse().unwrap()).collect();
        assert_eq!(ranks.len(), 4);
        assert!(ranks.iter().all(|rank| ranks.contains(&((rank + 4) % 8))), "{text}");
    }
    let (told, text) = ranks("flux");
    assert!(told.contains("--taskmap=manual:"), "{told}");
    let blocks: Vec<[usize; 4]> = serde_json::from_str(&text).unwrap();
    let nodes: Vec<usize> =
        blocks.iter().flat_map(|[node, _, tasks, _]| vec![*node; *tasks]).collect();
    assert_eq!(nodes[..4], nodes[4..]);

    // A layout's file names the nodes as well.
    let layout = directory.join("layout");
    fs::write(&layout, "x y x y x y x y").unwrap();
    let run = cartograph("plan --rankfile slurm").arg(&file).arg("--traffic").arg(&traffic);
    run.arg("--layout").arg(&layout).stdout();
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().filter(|host| *host == "x").count(), 4, "{text}");
}

#[test]
fn what_is_no_recording_is_told_in_one_line() {
    let directory = Directory::new("traffic-wrong");
    let traffic = record(directory.path());
    let plan = |arguments: &str| cartograph(&format!("plan {arguments} --traffic")).arg(&traffic);
    plan("--nodes 1 --ppn 4").fails(2, "needs 8 processes, but the nodes have 4");
    plan("--layout 3x4").fails(2, "12 places, but there are 8 processes");
    plan("--layout 2x4 --nodes 2 --ppn 4").fails(2, "cannot be used with");
    plan("--dims 2x4").fails(2, "cannot be used with");
    plan("--rankfile pbs").fails(2, "cray");
    cartograph("plan --nodes 2 --ppn 4 --traffic /nowhere").fails(1, "/nowhere cannot be read");
    cartograph("show --topology 1").arg(&traffic).fails(2, "--topology");

    let part = traffic.join("2.jsonl");
    let text = fs::read_to_string(&part).unwrap();
    for (wrong, words) in [
        (&text[..text.len() / 2], "is not a recording"),
        (text.lines().next().unwrap(), "the part of rank 2 is cut off: 0 lines of 4"),
        ("hello", "line 11"),
        (&text.replace("\"rank\":2", "\"rank\":3"), "two parts of rank 3"),
        (&text.replace("\"size\":8", "\"size\":9"), "of a job of 8 and of a job of 9"),
        (&text.replace("\"schema\":1", "\"schema\":7"), "version 7"),
        (&text.replace("\"to\":6", "\"to\":66"), "rank 66, but the job has 8"),
    ] {
        fs::write(&part, wrong).unwrap();
        cartograph("show").arg(&traffic).fails(1, words);
        plan("--nodes 2 --ppn 4").fails(1, words);
    }
    let empty = directory.join("empty");
    fs::create_dir(&empty).unwrap();
    cartograph("show").arg(&empty).fails(1, "no process has written anything");
    // A recording without all parts does not say where everybody runs.
    fs::remove_file(&part).unwrap();
    plan("").fails(1, "say them by --nodes");
    plan("--nodes 2 --ppn 4").stdout();
}
