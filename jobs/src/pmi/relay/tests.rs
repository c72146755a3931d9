use cartograph_shim::splitmix::mix;

use super::*;
use crate::pmi::agreement::{Version, agree};
use crate::pmi::fake::Job;
use crate::pmi::mapping::Mapping;
use crate::pmi::order::Order;

/// The relays of a job with this mapping, whose processes get these ranks.
fn relays(mapping: &str, order: &Order) -> Vec<Relay> {
    relays_by(Version::One, mapping, order)
}

/// The same if processes speak this version of PMI with the launcher.
fn relays_by(version: Version, mapping: &str, order: &Order) -> Vec<Relay> {
    let orders = vec![Some(order.clone()); order.size()];
    let all = Job::new(mapping)
        .run(orders, |server, process, order| agree(server, version, process, order));
    all.into_iter().map(|one| Relay::new(one.unwrap())).collect()
}

/// The bytes that the program and the launcher get after bytes from an end.
fn passed(relay: &mut Relay, from: End, bytes: &str) -> (String, String) {
    relay.receive(from, bytes.as_bytes());
    let [program, launcher] = [End::Program, End::Launcher].map(|to| {
        let text = String::from_utf8(relay.unsent(to).to_vec()).unwrap();
        relay.sent(to, text.len());
        text
    });
    (program, launcher)
}

fn order() -> Order {
    Order { new_ranks: vec![0, 2, 1, 3], node_of_rank: vec![0, 1, 0, 1], pretends: false }
}

fn of_four() -> Relay {
    relays("(vector,(0,2,2))", &order()).remove(1)
}

const MAPPING: &str = "cmd=get kvsname=kvs key=PMI_process_mapping\n";

#[test]
fn known_requests_are_answered_by_the_relay() {
    let mut relay = of_four();
    let answers = |text: &str| (text.to_owned(), String::new());
    let begin = "cmd=init pmi_version=1 pmi_subversion=1\n";
    assert_eq!(passed(&mut relay, End::Program, begin), answers("cmd=response_to_init rc=0\n"));
    assert_eq!(
        passed(&mut relay, End::Program, MAPPING),
        answers("cmd=get_result rc=0 msg=success value=(vector,(0,2,1),(0,2,1))\n")
    );
    assert!(!relay.program_ended());
}

#[test]
fn other_bytes_are_passed_on_unchanged() {
    let mut relay = of_four();
    for text in [
        "cmd=get kvsname=kvs key=P0-businesscard\n",
        "cmd=barrier_in\n",
        // Arguments of a spawned program may look like requests.
        "mcmd=spawn\nnprocs=2\ncmd=get kvsname=kvs key=PMI_process_mapping\nendcmd\n",
        "cmd=abort exitcode=3\n",
        "\u{e9}\n",
    ] {
        let (program, launcher) = passed(&mut relay, End::Program, text);
        assert_eq!((&*program, &*launcher), ("", text));
        let (program, launcher) = passed(&mut relay, End::Launcher, text);
        assert_eq!((&*program, &*launcher), (text, ""));
    }
    // A message in two parts, and bytes that are not a message.
    assert_eq!(passed(&mut relay, End::Program, "cmd=bar").1, "");
    assert_eq!(passed(&mut relay, End::Program, "rier_in\n123x56").1, "cmd=barrier_in\n123x56");
    assert_eq!(passed(&mut relay, End::Program, "cmd=").1, "cmd=");
}

#[test]
fn the_last_bytes_are_passed_on_when_the_program_ends() {
    let mut relay = of_four();
    passed(&mut relay, End::Program, "cmd=barrier_in\ncmd=fin");
    assert!(!relay.program_ended());
    assert_eq!(relay.unsent(End::Launcher), b"cmd=fin");
}

#[test]
fn a_program_without_mpi_ends_like_one_that_has_never_begun() {
    let mut relay = of_four();
    assert!(relay.program_ended());
    assert_eq!(relay.unsent(End::Launcher), b"cmd=finalize\n");
}

#[test]
fn requests_have_the_ranks_of_the_launcher() {
    let mut relay = of_four();
    let group = "cmd=barrier_in group=0,2\n";
    assert_eq!(passed(&mut relay, End::Program, group).1, "cmd=barrier_in group=0,1\n");
    let node = "cmd=barrier_in group=NODE\n";
    assert_eq!(passed(&mut relay, End::Program, node).1, node);
    passed(&mut relay, End::Program, "cmd=get kvsname=kvs key=PMI_dead_processes\n");
    let dead = "cmd=get_result rc=0 msg=success value=2-3\n";
    assert_eq!(
        passed(&mut relay, End::Launcher, dead).0,
        "cmd=get_result rc=0 msg=success value=1,3\n"
    );
    // The same answer to another request.
    assert_eq!(passed(&mut relay, End::Launcher, dead).0, dead);
}

#[test]
fn messages_of_pmi_2_have_the_right_ranks() {
    let mut relay = of_four();
    for (from, before, after) in [
        (End::Program, "cmd=fullinit;pmirank=2;threaded=F;", "cmd=fullinit;pmirank=1;threaded=F;"),
        (End::Program, "cmd=kvs-get;jobid=a;srcid=1;key=b;", "cmd=kvs-get;jobid=a;srcid=2;key=b;"),
        (
            End::Program,
            "cmd=kvs-get;jobid=a;srcid=-1;key=b;",
            "cmd=kvs-get;jobid=a;srcid=-1;key=b;",
        ),
        (
            End::Launcher,
            "cmd=fullinit-response;rank=1;size=4;",
            "cmd=fullinit-response;rank=2;size=4;",
        ),
        (
            End::Launcher,
            "cmd=info-getjobattr-response;found=TRUE;value=(vector,(0,2,2));rc=0;",
            "cmd=info-getjobattr-response;found=TRUE;value=(vector,(0,2,1),(0,2,1));rc=0;",
        ),
    ] {
        let (program, launcher) = passed(&mut relay, from, &counted(before));
        assert_eq!(program + &launcher, counted(after));
    }
    // The launcher started several programs as one.
    relay.agreement.runs(1);
    let full = counted("cmd=fullinit-response;rank=1;size=4;appnum=0;");
    let answer = counted("cmd=fullinit-response;rank=2;size=4;appnum=1;");
    assert_eq!(passed(&mut relay, End::Launcher, &full).0, answer);
}

fn counted(text: &str) -> String {
    format!("{:6}{text}", text.len())
}

#[test]
fn programs_of_both_versions_learn_their_ranks_from_a_pmi_2_launcher() {
    let new = || relays_by(Version::Two, "(vector,(0,2,2))", &order()).remove(1);
    let mut relay = new();
    let answers = |text: String| (text, String::new());
    let begin = "cmd=init pmi_version=2 pmi_subversion=0\n";
    let begun = "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n".to_owned();
    assert_eq!(passed(&mut relay, End::Program, begin), answers(begun));
    let full = counted("cmd=fullinit;pmijobid=kvs;pmirank=2;threaded=TRUE;");
    let rank = counted("cmd=fullinit-response;rc=0;rank=2;size=4;appnum=-1;");
    assert_eq!(passed(&mut relay, End::Program, &full), answers(rank));
    let put = counted("cmd=kvs-put;key=a;value=b;");
    assert_eq!(passed(&mut relay, End::Program, &put), (String::new(), put));
    let done = counted("cmd=kvs-put-response;rc=0;");
    assert_eq!(passed(&mut relay, End::Launcher, &done).0, done);

    let mut relay = new();
    let all = [
        (
            "cmd=init pmi_version=1 pmi_subversion=1",
            "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1",
        ),
        ("cmd=get_maxes", "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024"),
        ("cmd=get_universe_size", "cmd=universe_size rc=0 size=4"),
        ("cmd=get_appnum", "cmd=appnum rc=0 appnum=-1"),
        ("cmd=get_my_kvsname", "cmd=my_kvsname rc=0 kvsname=kvs"),
        (MAPPING.trim(), "cmd=get_result rc=0 value=(vector,(0,2,1),(0,2,1))"),
        (
            "cmd=init pmi_version=1 pmi_subversion=2",
            "cmd=response_to_init rc=-1 pmi_version=2 pmi_subversion=0",
        ),
    ];
    for (request, answer) in all {
        let passed = passed(&mut relay, End::Program, &format!("{request}\n"));
        assert_eq!(passed, answers(format!("{answer}\n")));
    }
    for (from, before, after) in [
        (End::Program, "cmd=barrier_in\n".to_owned(), counted("cmd=kvs-fence;")),
        (End::Launcher, counted("cmd=kvs-fence-response;rc=0;"), "cmd=barrier_out rc=0\n".into()),
        // Arguments of a spawned program may look like requests.
        (End::Program, "mcmd=spawn\nexecname=a\ncmd=get_maxes\n".into(), String::new()),
        (
            End::Program,
            "endcmd\n".into(),
            counted("cmd=spawn;ncmds=1;preputcount=0;subcmd=a;maxprocs=0;argc=0;infokeycount=0;"),
        ),
        (End::Launcher, counted("cmd=spawn-response;rc=0;"), "cmd=spawn_result rc=0\n".into()),
    ] {
        let (program, launcher) = passed(&mut relay, from, &before);
        assert_eq!(program + &launcher, after);
    }
}

#[test]
fn a_program_without_mpi_ends_in_the_version_of_its_launcher() {
    let mut relay = relays_by(Version::Two, "(vector,(0,2,2))", &order()).remove(1);
    assert!(relay.program_ended());
    assert_eq!(relay.unsent(End::Launcher), counted("cmd=finalize;").as_bytes());
}

#[test]
fn a_mapping_that_is_too_long_is_replaced_by_names_of_hosts() {
    // Two nodes, and ranks on them without a pattern.
    let node = |rank: u64| if rank == 0 { 0 } else { (mix(rank) % 2) as u32 };
    let node_of_rank: Vec<u32> = (0..400).map(node).collect();
    let mut by_node: Vec<u32> = (0..400).collect();
    by_node.sort_by_key(|rank| node_of_rank[*rank as usize]);
    let first = node_of_rank.iter().filter(|node| **node == 0).count();
    let launched = format!("(vector,(0,1,{first}),(1,1,{}))", 400 - first);
    let order = Order { new_ranks: by_node, node_of_rank: node_of_rank.clone(), pretends: false };
    assert!(order.mapping(&Mapping::parse(&launched, 400).unwrap()).text().len() > 1024);
    let mut relay = relays(&launched, &order).remove(7);
    let mut other = relays_by(Version::Two, &launched, &order).remove(7);
    for (relay, missing, found) in
        [(&mut relay, "rc=-1 ", "rc=0 msg=success"), (&mut other, "rc=1\n", "rc=0")]
    {
        let (program, launcher) = passed(relay, End::Program, MAPPING);
        assert!(program.starts_with(&format!("cmd=get_result {missing}")) && launcher.is_empty());
        for rank in [0, 5, 399] {
            let ask = format!("cmd=get kvsname=kvs key=hostname[{rank}]\n");
            let answer = format!("cmd=get_result {found} value=node{}\n", node_of_rank[rank]);
            assert_eq!(passed(relay, End::Program, &ask), (answer, String::new()));
        }
    }
    // The launcher's own mapping is not withheld from programs that are not placed.
    let unplaced = Agreement { placed: None, ..relay.agreement.clone() };
    let mut relay = Relay::new(unplaced);
    assert!(!relay.withholds_mapping);
    let other = "cmd=get kvsname=kvs key=hostname[1]\n";
    assert_eq!(passed(&mut relay, End::Program, other).1, other);
}

#[test]
fn four_thousand_processes_agree_and_learn_their_nodes() {
    const SIZE: usize = 4096;
    // 64 nodes of 64: blocks of 8x8 in a grid of 64x64.
    let node = |rank: usize| ((rank / 64 / 8) * 8 + rank % 64 / 8) as u32;
    let node_of_rank: Vec<u32> = (0..SIZE).map(node).collect();
    let mut by_node: Vec<u32> = (0..SIZE as u32).collect();
    by_node.sort_by_key(|rank| node_of_rank[*rank as usize]);
    let order = Order { new_ranks: by_node, node_of_rank, pretends: false };
    let all = relays("(vector,(0,64,64))", &order);
    assert_eq!(all.len(), SIZE);
    for mut relay in all.into_iter().step_by(511) {
        let (answer, _) = passed(&mut relay, End::Program, MAPPING);
        let text = value(Format::Line, answer.trim(), "value").unwrap();
        let nodes = Mapping::parse(text, SIZE).unwrap();
        assert_eq!(nodes.nodes(), order.node_of_rank);
    }
}

#[test]
fn lists_of_ranks_are_translated() {
    let other = |rank: u32| 3u32.checked_sub(rank);
    assert_eq!(ranks("0,2-3", &other).as_deref(), Some("0,1,3"));
    for wrong in ["WORLD", "", "0,", "1-4294967295", "-1"] {
        assert_eq!(ranks(wrong, &other), None, "{wrong}");
    }
}
