//! `cartograph plan` with switches, or with a file that describes where processes run.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::plan::numbers;
use crate::run::{Directory, cartograph};
use crate::traffic::record_on;

#[test]
fn plans_use_and_print_switches() {
    let plan = |arguments: &str| -> Value {
        let json = cartograph(&format!("plan --json {arguments}")).stdout();
        serde_json::from_str(&json).unwrap()
    };
    let level = |plan: &Value, at: usize| {
        let level = &plan["levels"][at];
        let number = |value: &Value| value.as_i64().unwrap();
        let (before, after) = (&level["before"], &level["after"]);
        (
            level["name"].as_str().unwrap().to_owned(),
            number(&level["groups"]),
            [before, after].map(|costs| (number(&costs["edges"]), number(&costs["worst_group"]))),
            number(&level["lower_bound"]),
        )
    };
    // Four switches of 8 nodes of 32, each of which is a row of the grid.
    let answer = plan("--dims 32x32 --weights 1,1 --layout 4x8x32");
    assert_eq!(level(&answer, 0), ("switches".into(), 4, [(192, 64), (128, 32)], 128));
    assert_eq!(level(&answer, 1).2[1].0, 640);
    let weighted = &answer["weighted"];
    assert_eq!(numbers(&weighted["distances"]), [1, 10, 30]);
    let sums = ["lower_bound", "before", "after"].map(|name| weighted[name].as_i64().unwrap());
    assert_eq!(sums, [12288, 25664, 12288]);
    // The same machine in other notations, and with other distances.
    let by_layout = plan("--dims 32x32 --weights 1,1 --layout 4x8x32 --level-weights 1,2");
    assert_eq!(by_layout["levels"], answer["levels"]);
    assert_eq!(numbers(&by_layout["weighted"]["distances"]), [1, 2, 6]);
    let deep = plan("--dims 8x8 --layout 2x2x4x4");
    let names: Vec<String> = (0..3).map(|at| level(&deep, at).0).collect();
    assert_eq!(names, ["switches 2", "switches 1", "nodes"]);

    let text = cartograph("plan --dims 32x32 --weights 1,1 --layout 4x8x32").stdout();
    assert!(text.starts_with("grid 32x32 on 32 nodes of 32, 4 switches\n"), "{text}");
    let row = text.lines().find(|line| line.starts_with("edges between switches")).unwrap();
    assert_eq!(row.split_whitespace().skip(3).collect::<Vec<_>>(), ["192", "128", "128"]);
    let row = text.lines().find(|line| line.starts_with("edges weighed by distance")).unwrap();
    assert_eq!(row.split_whitespace().skip(4).collect::<Vec<_>>(), ["25664", "12288", "12288"]);
    let svg = cartograph("plan --dims 32x32 --weights 1,1 --layout 4x8x32 --svg -").stdout();
    assert!(svg.contains("between switches 192 → 128"), "{svg}");
    // Borders of nodes, and borders of switches twice as thick, in both pictures.
    let nodes = svg.matches("stroke-width=\"2.5\"").count();
    assert_eq!((nodes, svg.matches("stroke-width=\"5\"").count()), (2, 2));
}

#[test]
fn a_layout_file_may_contain_paths() {
    let directory = Directory::new("plan-paths");
    let (places, ranks) = (directory.join("places"), directory.join("ranks"));
    // Nodes a and c share a switch.
    fs::write(&places, "s1/a\ns1/a\ns2/b\ns2/b\ns1/c\ns1/c\ns2/d\ns2/d\n").unwrap();
    let run = cartograph("plan --dims 8 --json --layout").arg(&places);
    let json = run.arg("--rankfile").arg("slurm").arg(&ranks).stdout();
    let plan: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(plan["levels"][0]["before"]["edges"], 6);
    assert_eq!(plan["levels"][0]["after"]["edges"], 2);
    // In a row, the nodes of one switch are consecutive, by their names.
    let names = fs::read_to_string(&ranks).unwrap().replace('\n', "");
    let halves =
        [&names[..4], &names[4..]].map(|half| half.replace("cc", "aa").replace("bb", "dd"));
    assert!(halves.contains(&"aaaa".into()) && halves.contains(&"dddd".into()), "{names}");
    fs::write(&places, "s1/a s1/a s2/b s2/b s1/c s1/c s2/c s2/c\n").unwrap();
    let wrong = cartograph("plan --dims 8 --layout").arg(&places);
    wrong.fails(2, "line 1 of the file: node c is in s1 and in s2");
}

#[test]
fn a_network_file_lists_hosts_of_a_switch() {
    let directory = Directory::new("plan-network");
    let file = |name: &str, text: &str| {
        fs::write(directory.join(name), text).unwrap();
        directory.join(name).display().to_string()
    };
    // Alternate nodes of a job on n0 to n3 share a switch; other nodes do not matter.
    let conf = file(
        "topology.conf",
        "SwitchName=left Nodes=n[0,2,7]\nSwitchName=right Nodes=n[1,3]\nSwitchName=top Switches=left,right\n",
    );
    let blocks =
        file("blocks.conf", "BlockName=a Nodes=n[0,2]\nBlockName=b Nodes=n[1,3]\nBlockSizes=2\n");
    let hosts = file("hosts", "n0:2\nn[1-2] slots=2 # two of them\nn3.cluster:2\n");
    // One line per process, as in PBS; more than the slots of Open MPI; the output of `scontrol show hostnames`.
    let pbs = file("pbs", "n0\nn0\nn1\nn2\nn2\nn1\nn3\nn3\n");
    let slots = file("slots", "n0 slots=2 max_slots=4\nn[1-2] slots = 2\nn3 max_slots=9 slots=2\n");
    for (arguments, kind) in [
        (format!("{conf} --hosts {pbs}"), "switches"),
        (format!("{conf} --hosts {slots}"), "switches"),
        (format!("{conf} --hosts n[0-3] --ppn 2"), "switches"),
        (format!("{conf} --hosts n0,n1,n2,n3 --nodes 4 --ppn 2"), "switches"),
        (format!("{blocks} --hosts n[0-3] --node-sizes 4*2"), "blocks"),
        (format!("{conf} --hosts {hosts}"), "switches"),
    ] {
        let json = cartograph(&format!("plan --dims 8 --json --layout {arguments}")).stdout();
        let plan: Value = serde_json::from_str(&json).unwrap();
        let level = &plan["levels"][0];
        assert_eq!(level["name"], kind, "{arguments}");
        assert_eq!((&level["before"]["edges"], &level["after"]["edges"]), (&6.into(), &2.into()));
    }
    // The rank file uses the same names.
    let ranks = file("ranks", "");
    let plan = format!("plan --dims 8 --layout {conf} --hosts {hosts} --rankfile slurm {ranks}");
    cartograph(&plan).stdout();
    assert!(fs::read_to_string(&ranks).unwrap().contains("n3.cluster\n"));
    // Faults are reported, and the rest is used.
    let text = fs::read_to_string(&conf).unwrap().replace("n[1,3]", "n[1,3] Colour=red");
    let coloured = file("coloured", &text);
    let run = cartograph(&format!("plan --dims 8 --layout {coloured} --hosts n[0-3] --ppn 2"));
    let done = run.spawn().wait_with_output().unwrap();
    let [out, said] = [done.stdout, done.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(done.status.success() && out.contains("on 4 nodes of 2, 2 switches"), "{out}");
    assert!(
        said.starts_with("cartograph: --layout: line 2 of the file: unknown keyword 'Colour=red'"),
        "{said}"
    );
    for (arguments, words) in [
        (conf.clone(), "pass --hosts with the job's nodes"),
        (format!("{conf} --nodes 4 --ppn 2"), "pass --hosts with the job's nodes"),
        (format!("{conf} --hosts n[0-3]"), "their processes by"),
        (format!("{conf} --hosts n[0-3] --ppn 1"), "needs 8 processes"),
        (format!("{conf} --hosts n[0-3] --nodes 5 --ppn 2"), "5 nodes, but 4 names"),
        (format!("{conf} --hosts n[0-3 --ppn 2"), "unmatched brackets"),
        (format!("{conf} --hosts n[0-3],n2 --ppn 2"), "n2 given twice"),
        (format!("{conf} --hosts n[3-6] --ppn 2"), "the host n4 is not in it"),
    ] {
        cartograph(&format!("plan --dims 8 --layout {arguments}")).fails(2, words);
    }
}

#[test]
fn hosts_of_a_recording_are_found_in_a_network_file() {
    let directory = Directory::new("plan-recorded-network");
    let file = |name: &str, text: &str| {
        fs::write(directory.join(name), text).unwrap();
        directory.join(name)
    };
    let conf = file(
        "topology.conf",
        "SwitchName=left Nodes=n[0,2,7-9]\nSwitchName=right Nodes=n[1,3]\nSwitchName=top Switches=left,right\n",
    );
    // A row of processes that send 1000 bytes to each of their neighbors. Consecutive nodes are never on the same
    // switch.
    let hosts = ["n1", "n1", "n0.cluster", "n0.cluster", "n3", "n3", "n2", "n2"];
    let traffic = record_on(directory.path(), &hosts, |rank| {
        let neighbors = [rank.checked_sub(1), Some(rank + 1).filter(|right| *right < hosts.len())];
        let sent = |to| json!({"sent": {"to": to, "messages": 1, "bytes": 1000}});
        neighbors.into_iter().flatten().map(sent).collect()
    });
    let plan = |layout: &PathBuf, arguments: &str| {
        let run = cartograph(&format!("plan {arguments} --traffic")).arg(&traffic);
        run.arg("--layout").arg(layout)
    };
    let bytes = |level: &Value| ["before", "after"].map(|when| level[when]["edges"].clone());
    // On the recorded nodes, and elsewhere: then the file has other hosts.
    for arguments in ["", "--hosts n[0-3] --ppn 2", "--hosts n0:1,n[1-2]:2,n3:3"] {
        let answer = plan(&conf, &format!("--json {arguments}")).stdout();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let level = &answer["levels"][0];
        assert_eq!((&level["name"], &level["groups"]), (&"switches".into(), &2.into()));
        assert_eq!(bytes(level), [6000, 2000], "{arguments}");
        assert_eq!(bytes(&answer["levels"][1]), [6000, 6000], "{arguments}");
    }
    // Two of four nodes have space for all, and these two share a switch.
    let answer = plan(&conf, "--json --hosts n7,n1,n8 --ppn 4").stdout();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(bytes(&answer["levels"][0]), [2000, 0]);
    // With a single switch there is nothing above the nodes.
    let answer = plan(&conf, "--json --hosts n[7-9] --ppn 4").stdout();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["levels"].as_array().unwrap().len(), 1, "{answer}");
    let told = plan(&conf, "").stdout();
    let begin = "the traffic of ./app -x, 8 processes on 4 nodes of 2, 2 switches\n";
    assert!(told.starts_with(begin) && told.contains("bytes between switches"), "{told}");

    // Each half of the row has the hosts of one switch, by the recorded names.
    let ranks = directory.join("ranks");
    plan(&conf, "").arg("--rankfile").arg("slurm").arg(&ranks).stdout();
    let text = fs::read_to_string(&ranks).unwrap();
    let hosts: Vec<&str> = text.lines().collect();
    let on = |half: &[&str], host| half.iter().filter(|on| **on == host).count();
    for (half, other) in [(&hosts[..4], &hosts[4..]), (&hosts[4..], &hosts[..4])] {
        assert_eq!(on(half, "n0.cluster"), on(half, "n2"), "{text}");
        assert_eq!(on(half, "n1"), on(half, "n3"), "{text}");
        assert_eq!(on(half, "n1") + on(other, "n1"), 2, "{text}");
    }

    let few = file("few", "SwitchName=left Nodes=n[0,2]\nSwitchName=right Nodes=n1\n");
    plan(&few, "").fails(2, "the host n3 is not in it");
    let twice = file("twice", "SwitchName=left Nodes=n[0-2]\nSwitchName=right Nodes=n[2-3]\n");
    plan(&twice, "").fails(2, "n2 ");
    plan(&conf, "--nodes 4 --ppn 2").fails(2, "pass --hosts with the job's nodes");
    plan(&conf, "--hosts n[0-3] --ppn 1").fails(2, "needs 8 processes");
    // The node of a process without a part is unknown.
    fs::remove_file(traffic.join("5.jsonl")).unwrap();
    plan(&conf, "").fails(1, "parts of the recording are missing");
    plan(&conf, "--hosts n[0-3] --ppn 2").stdout();
}
