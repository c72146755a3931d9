//! `cartograph show`, `plan` and `exec` with recorded runs.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::run::{Directory, cartograph};

/// A job of 8 processes, round-robin on two nodes. Each process sends 1000 bytes in 10 messages to the process four
/// ranks above or below it, and 1 byte to itself.
pub(crate) fn record(directory: &Path) -> PathBuf {
    let hosts = ["alpha", "alpha", "alpha", "alpha", "beta", "beta", "beta", "beta"];
    let traffic = record_on(directory, &hosts, |rank| {
        vec![
            json!({"sent": {"to": (rank + 4) % 8, "messages": 10, "bytes": 1000}}),
            json!({"sent": {"to": rank, "messages": 1, "bytes": 1}}),
            json!({"grid": {
                "function": "MPI_Cart_create", "dims": [2, 4], "periodic": [false, false],
                "reorder": false, "rank": rank, "first": 0
            }}),
            json!({"collective": {"function": "MPI_Bcast", "calls": 3, "nanoseconds": 500_000}}),
            json!({"waited": {"on": 3, "nanoseconds": 1_000_000 * rank}}),
        ]
    });
    // Unrelated content.
    fs::write(traffic.join("notes"), "hello").unwrap();
    traffic
}

/// A job with a process for each of these hosts, and its recorded lines, in a file for each process.
pub(crate) fn record_on(
    directory: &Path,
    hosts: &[&str],
    lines: impl Fn(usize) -> Vec<Value>,
) -> PathBuf {
    let traffic = directory.join("run.traffic");
    fs::create_dir_all(&traffic).unwrap();
    for (rank, host) in hosts.iter().enumerate() {
        let lines = lines(rank);
        // In JSON objects, too, the process's line comes first.
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
        "  CARTOGRAPH_WEIGHTS=1,0",
        "  MPI_Bcast                  24, 4.00 ms",
        "time in receives and waits: 28.0 ms; longest:",
        "  7 for 3          7.00 ms",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line}\n{text}");
    }
    // All parts in one file are equivalent.
    let whole = directory.join("whole");
    let parts =
        (0..8).map(|rank| fs::read_to_string(traffic.join(format!("{rank}.jsonl"))).unwrap());
    fs::write(&whole, parts.collect::<String>()).unwrap();
    assert_eq!(cartograph("show").arg(&whole).stdout(), text);

    let drawn = cartograph("show --svg -").arg(&traffic).stdout();
    assert!(drawn.starts_with("<svg") && drawn.contains("Row: sending rank."), "{drawn}");
    assert_eq!(drawn.matches("\n1000\n").count(), 8, "{drawn}");

    // A process that was killed before it wrote anything.
    fs::remove_file(traffic.join("5.jsonl")).unwrap();
    let text = cartograph("show").arg(&traffic).stdout();
    assert!(text.contains("1 of 8 parts are missing (the first: rank 5)"), "{text}");
    assert!(!text.contains("inside nodes"), "{text}");
}

/// A job of 16 processes in a 4 x 4 grid on four nodes; `steps` returns the calls of a step, given a rank and the ranks
/// before and after it in the grid.
pub(crate) fn record_grid(
    directory: &Path,
    steps: usize,
    calls: impl Fn(&[usize], &[usize]) -> Vec<Value>,
) -> PathBuf {
    let nodes: Vec<String> = (0..16).map(|rank| format!("n{}", rank / 4)).collect();
    let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
    record_on(directory, &nodes, |rank| {
        let (row, column) = (rank / 4, rank % 4);
        let next = |there: bool, other: usize| there.then_some(other);
        let before = [next(row > 0, rank.wrapping_sub(4)), next(column > 0, rank.wrapping_sub(1))];
        let after = [next(row < 3, rank + 4), next(column < 3, rank + 1)];
        let [before, after] =
            [before, after].map(|all| all.into_iter().flatten().collect::<Vec<_>>());
        let calls = calls(&before, &after);
        let step: Vec<Value> = (0..calls.len()).map(|call| json!([call, 1000])).collect();
        let mut lines: Vec<Value> = calls
            .iter()
            .filter_map(|call| call.get("send").or(call.get("isend")))
            .map(|sent| {
                json!({"sent": {
                    "to": sent[0], "messages": steps, "bytes": steps as u64 * sent[1].as_u64().unwrap()
                }})
            })
            .collect();
        lines.push(json!({"window": {
            "nanoseconds": 1_000_000, "cut": false, "calls": calls,
            "steps": [{"times": steps, "steps": step}]
        }}));
        lines
    })
}

#[test]
fn the_option_sets_the_distances_of_levels() {
    let directory = Directory::new("traffic-distances");
    let nodes: Vec<String> = (0..16).map(|rank| format!("n{}", rank / 4)).collect();
    let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
    // A ring of every fourth rank, which round-robin puts on one node.
    let traffic = record_on(directory.path(), &nodes, |rank| {
        let (to, from) = ((rank + 4) % 16, (rank + 12) % 16);
        let calls = json!([{"irecv": [from, 0]}, {"isend": [to, 65536, 0]}, {"wait": [2, 2]}]);
        vec![
            json!({"sent": {"to": to, "messages": 50, "bytes": 50 * 65536}}),
            json!({"window": {
                "nanoseconds": 1_000_000, "cut": false, "calls": calls,
                "steps": [{"times": 50, "steps": [[0, 1000], [1, 1000], [2, 1000]]}]
            }}),
        ]
    });
    let plan = cartograph("plan --json --layout 2x2x4 --level-weights 1,2 --traffic").arg(&traffic);
    let plan: Value = serde_json::from_str(&plan.stdout()).unwrap();
    assert!(["bricks", "round-robin"].contains(&plan["algorithm"].as_str().unwrap()), "{plan}");
    assert_eq!(plan["weighted"]["distances"], json!([1, 2, 6]));
    // Columns are not adjacent, however much was sent.
    let text = cartograph("plan --traffic").arg(&traffic).stdout();
    let row = text.lines().find(|line| line.starts_with("bytes between nodes")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>()[3..5], ["52.4", "MB"]);
}

#[test]
fn bytes_decide_unless_the_calls_of_all_ranks_are_recorded() {
    let directory = Directory::new("traffic-sample");
    let nodes: Vec<String> = (0..16).map(|rank| format!("n{}", rank / 4)).collect();
    let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
    let traffic = record_on(directory.path(), &nodes, |rank| {
        let to = (rank + 4) % 16;
        let mut lines = vec![json!({"sent": {"to": to, "messages": 50, "bytes": 50 * 65536}})];
        let calls = json!([{"isend": [to, 65536, 0]}, {"wait": [1, 1]}]);
        let window = json!({"window": {
            "nanoseconds": 1_000_000, "cut": true, "calls": calls, "steps": [[0, 1000], [1, 1000]]
        }});
        lines.extend((rank < 4).then_some(window));
        lines
    });
    let text = cartograph("plan --traffic").arg(&traffic).stdout();
    let said = "the first calls of 4 of 16 ranks were recorded, too few to replay; minimizing bytes instead";
    assert!(text.lines().any(|line| line == said), "{text}");
    let row = text.lines().find(|line| line.starts_with("bytes between nodes")).unwrap();
    // Each of four columns is on one node.
    assert_eq!(row.split_whitespace().collect::<Vec<_>>()[3..6], ["52.4", "MB", "0"], "{row}");
}

#[test]
fn dims_with_less_traffic_are_shown() {
    let directory = Directory::new("traffic-dims");
    let shown = |name: &str, face: u64| {
        let place = directory.join(name);
        fs::create_dir(&place).unwrap();
        // Faces of `face` bytes between rows, and of 100 between columns.
        let traffic = record_on(&place, &["n"; 16], |rank| {
            let (row, column) = (rank / 4, rank % 4);
            let sent =
                |to: usize, bytes: u64| json!({"sent": {"to": to, "messages": 1, "bytes": bytes}});
            let mut lines = vec![json!({"grid": {
                "function": "MPI_Cart_create", "dims": [4, 4], "periodic": [false, false],
                "reorder": false, "rank": rank, "first": 0
            }})];
            lines.extend((row > 0).then(|| sent(rank - 4, face)));
            lines.extend((row < 3).then(|| sent(rank + 4, face)));
            lines.extend((column > 0).then(|| sent(rank - 1, 100)));
            lines.extend((column < 3).then(|| sent(rank + 1, 100)));
            lines
        });
        cartograph("show").arg(&traffic).stdout()
    };
    let long = shown("long", 1000);
    let wanted = "dims 4x4 -> 1x16: 2.2 times fewer bytes between neighbors; CARTOGRAPH_DIMS=1x10 makes \
                  MPI_Dims_create choose them";
    assert!(long.contains(wanted), "{long}");
    assert!(!shown("even", 100).contains("dims 4x4"));
}

#[test]
fn the_grid_of_a_recording_is_placed_as_a_grid() {
    let directory = Directory::new("traffic-grid");
    // Faces of 8 bytes along the last dimension, of 1 along the others.
    let neighbors = |rank: usize| {
        let along = move |(side, step, bytes): (usize, usize, u64)| {
            let at = rank / step % side;
            let before = (at > 0).then(|| (rank - step, bytes));
            before.into_iter().chain((at + 1 < side).then(|| (rank + step, bytes)))
        };
        [(10, 72, 1), (9, 8, 1), (8, 1, 8)].into_iter().flat_map(along)
    };
    let nodes: Vec<String> = (0..720).map(|rank| format!("n{}", rank / 36)).collect();
    let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
    let traffic = record_on(directory.path(), &nodes, |rank| {
        let sent = |(to, bytes)| json!({"sent": {"to": to, "messages": 1, "bytes": bytes}});
        let grid = json!({"grid": {
            "function": "MPI_Cart_create", "dims": [10, 9, 8], "periodic": [false, false, false],
            "reorder": false, "rank": rank, "first": 0
        }});
        neighbors(rank).map(sent).chain([grid]).collect()
    });
    let costs = |run: crate::run::Run| -> [[i64; 2]; 2] {
        let plan: Value = serde_json::from_str(&run.stdout()).unwrap();
        ["before", "after"].map(|when| {
            ["inter_node_edges", "max_node_edges"].map(|which| plan[when][which].as_i64().unwrap())
        })
    };
    let known = "plan --json --node-sizes 20*36 --dims 10x9x8 --weights 1,1,8";
    let [_, grid] = costs(cartograph(known));
    let recorded = cartograph("plan --json --node-sizes 20*36 --traffic").arg(&traffic);
    let [before, after] = costs(recorded);
    assert!(after[0] <= grid[0] && grid[0] < before[0], "{before:?} {after:?} {grid:?}");
    assert!(after[1] <= before[1], "{before:?} {after:?}");
}

#[test]
fn a_plan_predicted_to_be_slower_is_not_proposed() {
    let directory = Directory::new("traffic-predicted");
    let plan = |traffic: &Path| -> Value {
        let run = cartograph("plan --json --network 60us,200Mbit --traffic").arg(traffic);
        serde_json::from_str(&run.stdout()).unwrap()
    };
    let of = |plan: &Value, order: &str| -> f64 {
        let all = plan["predicted"].as_array().unwrap();
        let one = all.iter().find(|one| one["order"] == order).unwrap_or_else(|| panic!("{all:?}"));
        one["seconds"].as_f64().unwrap()
    };
    // For halos, squares are best.
    let halo = record_grid(&directory.join("halo"), 50, |before, after| {
        let others = || before.iter().chain(after);
        let count = 2 * others().count();
        let receives = others().map(|from| json!({"irecv": [from, 0]}));
        let sends = others().map(|to| json!({"isend": [to, 65536, 0]}));
        receives.chain(sends).chain([json!({"wait": [count, count]})]).collect()
    });
    let found = plan(&halo);
    assert_eq!(found["before"]["max_node_edges"], 8 * 50 * 65536);
    assert_eq!(found["after"]["max_node_edges"], 4 * 50 * 65536);
    let gain = of(&found, "default order") / of(&found, "fewest bytes between nodes");
    assert!((1.6..2.1).contains(&gain), "{gain}");
    // For a sweep they are not, although its bytes are 24 and 16 faces as well.
    let sweep = record_grid(&directory.join("sweep"), 200, |before, after| {
        let receives = before.iter().map(|from| json!({"recv": [from, 0]}));
        receives.chain(after.iter().map(|to| json!({"send": [to, 8192, 0]}))).collect()
    });
    let found = plan(&sweep);
    // Squares of 2x2: the search for fewest bytes finds them before the bricks.
    let gain = of(&found, "default order") / of(&found, "fewest bytes between nodes");
    assert!((0.9..1.03).contains(&gain), "{gain}");
    assert_eq!(found["old_rank"], json!((0..16).collect::<Vec<i32>>()));
    let told = cartograph("plan --network 60us,200Mbit --traffic").arg(&sweep).stdout();
    assert!(
        told.contains("no rank order is predicted to be at least 3 % faster; ranks unchanged"),
        "{told}"
    );
    // The time of the run reveals its network.
    let told = cartograph("plan --traffic").arg(&halo).stdout();
    assert!(told.contains("between nodes (fitted to the recorded run)"), "{told}");
    cartograph("plan --network 60us --traffic").arg(&halo).fails(2, "expected a latency");
}

#[test]
fn ranks_are_placed_by_their_traffic() {
    let directory = Directory::new("traffic-plan");
    let traffic = record(directory.path());
    let file = directory.join("ranks");
    let plan = |arguments: &str| -> Value {
        let run = cartograph(&format!("plan --json {arguments} --traffic")).arg(&traffic);
        serde_json::from_str(&run.stdout()).unwrap()
    };
    // Partners share a node, wherever the job will run.
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

    // The nodes keep their names, and each rank is started with its partner.
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
fn recorded_switches_are_used() {
    let directory = Directory::new("traffic-switches");
    // Neighbors in a row of eight processes are never on one switch.
    let hosts = ["n1", "n1", "n0", "n0", "n3", "n3", "n2", "n2"];
    let row = |rank: usize| {
        let neighbors = [rank.checked_sub(1), Some(rank + 1).filter(|right| *right < 8)];
        let sent = |to| json!({"sent": {"to": to, "messages": 1, "bytes": 1000}});
        neighbors.into_iter().flatten().map(sent).collect()
    };
    let traffic = record_on(directory.path(), &hosts, row);
    let plan = || cartograph("plan --traffic").arg(&traffic);
    assert!(!plan().stdout().contains("switches"));
    let address_of = |host: &str, switch: &str| {
        json!({"path": format!("top.{switch}.{host}"), "pattern": "switch.switch.node"}).to_string()
    };
    for (rank, host) in hosts.iter().enumerate() {
        let file = traffic.join(format!("{rank}.jsonl"));
        let switch = if ["n0", "n2"].contains(host) { "left" } else { "right" };
        let (name, address) = (format!("\"host\":\"{host}\""), address_of(host, switch));
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace(&name, &format!("{name},\"address\":{address}"))).unwrap();
    }
    let text = plan().stdout();
    assert!(text.contains("on 4 nodes of 2, 2 switches\n"), "{text}");
    let answer = plan().arg("--json").stdout();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["levels"][0]["before"]["edges"], 6000, "{answer}");
    assert_eq!(answer["levels"][0]["after"]["edges"], 2000, "{answer}");
    // Other nodes on the command line take precedence.
    let answer = plan().arg("--json").arg("--layout").arg("2x2x2").stdout();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["levels"][0]["before"]["edges"], 2000, "{answer}");

    let file = traffic.join("7.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("top.left.n2", "n2")).unwrap();
    let told = plan().output();
    let said = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(told.status.success(), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("cartograph: SLURM_TOPOLOGY_ADDR in the recording "), "{said}");
    assert!(!String::from_utf8_lossy(&told.stdout).contains("switches"));
}
