//! `cartograph plan`.

use std::fs;

use serde_json::Value;

use crate::run::{Directory, cartograph};

pub(crate) fn numbers(value: &Value) -> Vec<i64> {
    value.as_array().unwrap().iter().map(|number| number.as_i64().unwrap()).collect()
}

/// J_sum and J_max of a grid without periodic dimensions, counted directly.
fn cost(dims: &[i64], node_of: &[usize]) -> (i64, i64) {
    let mut leaving = vec![0; node_of.len()];
    for cell in 0..node_of.len() {
        let mut stride = 1;
        for side in dims.iter().rev() {
            let coordinate = cell as i64 / stride % side;
            for by in [-1, 1] {
                if (0..*side).contains(&(coordinate + by)) {
                    let to = (cell as i64 + by * stride) as usize;
                    leaving[node_of[cell]] += i64::from(node_of[to] != node_of[cell]);
                }
            }
            stride *= side;
        }
    }
    (leaving.iter().sum(), *leaving.iter().max().unwrap())
}

#[test]
fn plans_are_permutations_with_the_printed_figures() {
    for (arguments, dims, sizes) in [
        ("--dims 10x6 --nodes 5 --ppn 12", vec![10, 6], vec![12; 5]),
        (
            "--dims 4x4x6 --node-sizes 2*30,20,16 --objective max",
            vec![4, 4, 6],
            vec![30, 30, 20, 16],
        ),
        ("--dims 3x5 --node-sizes 4*5", vec![3, 5], vec![5; 4]),
        ("--dims 24 --nodes 1 --ppn 24", vec![24], vec![24]),
    ] {
        let json = cartograph(&format!("plan --json {arguments}")).stdout();
        let plan: Value = serde_json::from_str(&json).unwrap();
        let fields: Vec<&String> = plan.as_object().unwrap().keys().collect();
        let known = [
            "after",
            "algorithm",
            "before",
            "dims",
            "levels",
            "lower_bound",
            "node_sizes",
            "old_rank",
            "periodic",
            "predicted",
            "ranks",
            "seconds",
            "unit",
            "weighted",
        ];
        let mut sorted = fields.clone();
        sorted.sort();
        assert_eq!(sorted, known);
        assert_eq!(numbers(&plan["dims"]), dims);
        assert_eq!(numbers(&plan["node_sizes"]), sizes);
        let ranks: i64 = sizes.iter().sum();
        assert_eq!(plan["ranks"], ranks);
        let old_rank = numbers(&plan["old_rank"]);
        assert_eq!(old_rank.len() as i64, dims.iter().product::<i64>());
        let mut once = old_rank.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), old_rank.len(), "{arguments}");
        assert!(once[0] >= 0 && once[once.len() - 1] < ranks, "{arguments}");

        let places: Vec<usize> =
            sizes.iter().enumerate().flat_map(|(node, size)| vec![node; *size as usize]).collect();
        let after: Vec<usize> = old_rank.iter().map(|old| places[*old as usize]).collect();
        for (name, nodes) in [("before", &places[..old_rank.len()]), ("after", &after)] {
            let (sum, max) = cost(&dims, nodes);
            assert_eq!(plan[name]["inter_node_edges"], sum, "{arguments}: {name}");
            assert_eq!(plan[name]["max_node_edges"], max, "{arguments}: {name}");
        }
        assert!(
            plan["lower_bound"].as_i64().unwrap()
                <= plan["after"]["inter_node_edges"].as_i64().unwrap()
        );
        assert!(plan["seconds"].as_f64().unwrap() >= 0.0);
        // Without switches the nodes are the only level.
        let levels = plan["levels"].as_array().unwrap();
        assert_eq!(levels.len(), 1);
        assert_eq!((&levels[0]["name"], &plan["weighted"]), (&"nodes".into(), &Value::Null));
        assert_eq!(levels[0]["after"]["edges"], plan["after"]["inter_node_edges"]);
    }
}

#[test]
fn periods_and_weights_have_the_right_costs() {
    let before = |arguments: &str| {
        let json = cartograph(&format!("plan --json --nodes 4 --ppn 4 {arguments}")).stdout();
        let plan: Value = serde_json::from_str(&json).unwrap();
        (plan["before"]["inter_node_edges"].as_i64().unwrap(), plan["periodic"].to_string())
    };
    // Each node is a row of a 4 x 4 grid.
    assert_eq!(before("--dims 4x4"), (24, "[false,false]".into()));
    assert_eq!(before("--dims 4x4 --periodic 10"), (32, "[true,false]".into()));
    assert_eq!(before("--dims 4x4 --weights 5,1").0, 120);
}

#[test]
fn plan_prints_tables_and_pictures() {
    let directory = Directory::new("plan-pictures");
    let svg = directory.join("plan.svg");
    let text =
        cartograph("plan --dims 4x4 --nodes 4 --ppn 4 --weights 1,1 --svg").arg(&svg).stdout();
    assert!(text.starts_with("grid 4x4 on 4 nodes of 4\n"), "{text}");
    assert!(text.contains("edges between nodes") && text.contains("at least"), "{text}");
    assert!(!text.contains('\x1b'), "no colors where no terminal is: {text}");
    // Before and after side by side, each with the number of its row.
    let rows = ["0 0 0 0 0                    0 0 0 1 1", "1 1 1 1 1                    1 0 0 1 1"];
    let drawn: Vec<&str> = text.lines().map(str::trim_end).collect();
    assert!(drawn.windows(2).any(|lines| lines == rows), "{text}");
    assert!(text.contains("before: default rank order   after: bricks"), "{text}");
    let drawn = fs::read_to_string(&svg).unwrap();
    assert!(drawn.starts_with("<svg") && drawn.trim_end().ends_with("</svg>"));
    for words in
        ["<title>grid 4x4 on 4 nodes of 4</title>", "between nodes 24 → 16 (-33 %), at least 16"]
    {
        assert!(drawn.contains(words), "{words}: {drawn}");
    }
    // On stdout, it replaces all other output.
    let out = cartograph("plan --dims 2x3x4 --periodic 111 --nodes 2 --ppn 12 --svg -").stdout();
    assert!(out.starts_with("<svg"), "{out}");
    assert!(cartograph("plan --dims 400x400 --nodes 400 --ppn 400").stdout().contains("--svg"));
}

#[test]
fn rank_files_start_each_rank_on_the_node_of_its_place() {
    let directory = Directory::new("plan-rankfiles");
    let hosts = directory.join("hosts");
    fs::write(&hosts, "# nodes\nalpha:3\nbeta slots=3\n").unwrap();
    let file = directory.join("file");
    let arguments = "plan --dims 2x3 --nodes 2 --ppn 3 --json --rankfile";
    let write = |launcher: &str| {
        let run = cartograph(&format!("{arguments} {launcher}")).arg(&file);
        let json = run.arg("--hosts").arg(&hosts).stdout();
        let plan: Value = serde_json::from_str(&json).unwrap();
        let old_rank = numbers(&plan["old_rank"]);
        (
            old_rank.iter().map(|old| old / 3).collect::<Vec<i64>>(),
            fs::read_to_string(&file).unwrap(),
        )
    };
    let name = |node: &i64| ["alpha", "beta"][*node as usize];

    let (nodes, text) = write("slurm");
    assert_eq!(text.lines().collect::<Vec<_>>(), nodes.iter().map(name).collect::<Vec<_>>());
    let (nodes, text) = write("openmpi");
    for (rank, (line, node)) in text.lines().zip(&nodes).enumerate() {
        let slot = nodes[..rank].iter().filter(|other| *other == node).count();
        assert_eq!(line, format!("rank {rank}={} slot={slot}", name(node)));
    }
    assert_eq!(text.lines().count(), 6);
    let told =
        cartograph("plan --dims 2x3 --nodes 2 --ppn 3 --rankfile openmpi").arg(&file).stdout();
    assert!(told.contains("--rankfile") && told.contains("n1, ... are placeholders"), "{told}");
    assert!(fs::read_to_string(&file).unwrap().contains("=n1 slot=0\n"));
    let run = cartograph(&format!("{arguments} slurm")).arg(&file).arg("--hosts").arg("a,b,c");
    run.fails(2, "2 nodes, but 3 names");
    // Slurm's effect on MPICH is reported with the rank file; given names are not called placeholders.
    let run = cartograph("plan --dims 2x3 --nodes 2 --ppn 3 --rankfile slurm").arg(&file);
    // In the format of `scontrol show hostnames`.
    let told = run.arg("--hosts").arg("a\nb\n").stdout();
    assert!(
        told.contains("not for MPICH with srun --mpi=pmi2") && !told.contains("placeholders"),
        "{told}"
    );
    // Several at once.
    let other = directory.join("other");
    let run = cartograph(&format!("{arguments} slurm")).arg(&file);
    run.arg("--rankfile").arg("openmpi").arg(&other).stdout();
    assert!(fs::read_to_string(&file).unwrap().starts_with("n"));
    assert!(fs::read_to_string(&other).unwrap().starts_with("rank 0=n"));
    cartograph(&format!("{arguments} pbs")).arg(&file).fails(2, "openmpi, slurm, cray");
}

#[test]
fn invalid_arguments_are_reported_in_one_line() {
    for (arguments, words) in [
        ("--dims 4x4", "--nodes"),
        ("--nodes 4 --ppn 4", "--dims"),
        ("--dims 4x4 --graph x --nodes 4 --ppn 4", "cannot be used with"),
        ("--dims 4x --nodes 4 --ppn 4", "such as 50x48"),
        ("--dims 4x0 --nodes 4 --ppn 4", "at least 1"),
        ("--dims 99999x99999 --nodes 4 --ppn 4", "at most"),
        ("--dims 4x4 --nodes 4", "--ppn"),
        ("--dims 4x4 --nodes 0 --ppn 4", "at least 1"),
        ("--dims 4x4 --ppn 4", "--ppn needs --nodes"),
        ("--dims 4x4 --layout 4x4 --nodes 4 --ppn 4", "--layout cannot be used with --nodes"),
        ("--dims 4x4 --layout 4x4 --node-sizes 4*4", "--layout cannot be used with --node-sizes"),
        ("--dims 4x4 --layout 4x4 --hosts a,b,c,d", "--hosts needs a --layout file of the network"),
        ("--dims 4x4 --nodes 3 --ppn 5", "needs 16 processes, but the nodes have 15"),
        ("--dims 4x4 --node-sizes 4,,4", "40*48"),
        ("--dims 4x4 --node-sizes 999999999*99", "more than"),
        ("--dims 4x4 --nodes 4 --ppn 4 --periodic 1", "2 dimensions"),
        ("--dims 4x4 --nodes 4 --ppn 4 --periodic 12", "0 or 1"),
        ("--dims 4x4 --nodes 4 --ppn 4 --weights 1", "--weights"),
        ("--dims 4x4 --nodes 4 --ppn 4 --seconds inf", "--seconds"),
        ("--graph x --nodes 4 --ppn 4 --weights 1", "cannot be used with"),
        ("--graph x --nodes 4 --ppn 4 --periodic 1", "cannot be used with"),
        ("--dims 4x4 --nodes 4 --ppn 4 --svg - --json", "stdout"),
        ("--dims 4x4 --nodes 4 --ppn 4 --svg - --rankfile slurm -", "stdout"),
        ("--dims 4x4 --nodes 4 --ppn 4 --rankfile slurm x --hosts nofile", "no such file"),
        ("--dims 4x4 --nodes 4 --ppn 4 --rankfile slurm x --hosts a,b,a,c", "a given twice"),
        ("--dims 4x4 --nodes 4 --ppn 4 --weights 1,-2", "-2 must be from 0"),
        ("--dims 4x4 --nodes 4 --ppn 4 --weights 1,9223372036854775807", "must be from 0"),
        (
            "--dims 4x4 --nodes 4 --ppn 4 --rankfile cray x --hosts a,b,c,d",
            "cray and flux number nodes",
        ),
        ("--dims 4x4 --nodes 4 --ppn 4 --rankfile cray x --svg x", "x given twice"),
        ("--dims 4x4 --nodes 4 --ppn 4 --level-weights 1,2", "needs a machine with switches"),
        ("--dims 4x4 --nodes 99999999999 --ppn 4", "more than"),
        ("--dims 4x4 --nodes 4 --ppn 18446744073709551615", "more than"),
    ] {
        cartograph(&format!("plan {arguments}")).fails(2, words);
    }
    // Checked before any search.
    for (file, words) in [("/nowhere/x", "cannot write /nowhere/x"), ("/", "it is a directory")] {
        for option in ["--svg", "--rankfile slurm"] {
            let long = "plan --dims 1000x1000 --nodes 1000 --ppn 1000 --seconds 1000";
            cartograph(&format!("{long} {option}")).arg(file).fails(1, words);
        }
    }
    let many = format!("plan --dims 2{} --nodes 2 --ppn 1", "x1".repeat(1024));
    cartograph(&many).fails(2, "not 1025");
}

#[test]
fn graphs_are_read_and_planned() {
    let directory = Directory::new("plan-graphs");
    let file = directory.join("ring.graph");
    // A ring of six, in an order unsuitable for any layout by blocks.
    fs::write(&file, "% a ring\n6 6\n4 5\n5 6\n6 4\n1 3\n1 2\n2 3\n").unwrap();
    let run = cartograph("plan --json --nodes 2 --ppn 3 --graph").arg(&file);
    let plan: Value = serde_json::from_str(&run.stdout()).unwrap();
    assert_eq!(plan["dims"], Value::Array(Vec::new()));
    assert_eq!(plan["before"]["inter_node_edges"], 12);
    assert_eq!(plan["after"]["inter_node_edges"], 4);
    let mut once = numbers(&plan["old_rank"]);
    once.sort_unstable();
    assert_eq!(once, [0, 1, 2, 3, 4, 5]);
    let svg = cartograph("plan --nodes 2 --ppn 3 --svg - --graph").arg(&file).stdout();
    assert!(svg.contains("graph ring.graph of 6 vertices and 12 edges"), "{svg}");
    assert!(svg.contains("between nodes 12 → 4 (-67 %)\n"), "{svg}");

    // A trivial bound is not shown.
    let text = cartograph("plan --nodes 2 --ppn 3 --graph").arg(&file).stdout();
    assert!(text.lines().any(|line| line.starts_with("edges between") && line.ends_with("-")));

    fs::write(&file, "6 6\n").unwrap();
    cartograph("plan --nodes 2 --ppn 3 --graph").arg(&file).fails(1, "not a graph: line");
    cartograph("plan --nodes 2 --ppn 3 --graph /nowhere/x").fails(1, "cannot read");
    cartograph("plan --nodes 2 --ppn 3 --graph x --dims 6").fails(2, "cannot be used with");
}

/// The output of a command that gets a signal while it searches.
fn interrupted(signal: &str, command: &str) -> std::process::Output {
    let child = cartograph(command).spawn();
    let id = child.id();
    // Once the command handles SIGINT, signal 2, it is searching or about to.
    let handles = || {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & 1 << 1 != 0
    };
    while !handles() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    let killed = std::process::Command::new("kill").args([signal, &id.to_string()]).status();
    assert!(killed.unwrap().success());
    child.wait_with_output().unwrap()
}

#[test]
fn an_interrupted_search_prints_its_best_plan() {
    for signal in ["-INT", "-TERM"] {
        // No bricks tile it, so the search does not end early.
        let output = interrupted(signal, "plan --dims 53x47 --nodes 53 --ppn 47 --seconds 3000");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains(", interrupted\n"), "{text}");
    }
}

#[test]
fn plan_does_not_wait_for_a_pipe_without_a_reader() {
    let directory = Directory::new("plan-pipe");
    let pipe = directory.join("pipe");
    let mkfifo = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(mkfifo.unwrap().success());
    let plan = format!("plan --dims 4x4 --nodes 4 --ppn 4 --rankfile slurm {}", pipe.display());
    let done = cartograph(&plan).output();
    let text = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.code() == Some(1) && text.contains("no process reads this pipe"), "{text}");
    let reader = std::process::Command::new("cat")
        .arg(&pipe)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Until it has opened the pipe, there is no reader.
    let read = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        cartograph(&plan).output().status.success()
    });
    let text = reader.wait_with_output().unwrap().stdout;
    assert!(read && text.starts_with(b"n0\n"), "{text:?}");
}
