use super::*;

/// A node of two processes for each address.
fn machine_of(known: &[ReportedAddress]) -> Result<Machine, Contradiction> {
    let ids: Vec<u64> = (0..2 * known.len() as u64).map(|rank| rank / 2).collect();
    let of_ranks = known.iter().flat_map(|known| [*known; 2]);
    // In the form in which they are sent.
    let sent = of_ranks.map(|known| ReportedAddress::from_words(&known.words()));
    Machine::from_ids(&ids).addressed(sent).map(Machine::without_idle_levels)
}

fn slurm_of(addresses: &[&str], pattern: &str) -> Result<Machine, Contradiction> {
    let known = addresses.iter().map(|text| ReportedAddress::slurm(Some(text), Some(pattern)));
    machine_of(&known.collect::<Vec<_>>())
}

/// The group of each node at each level above, the outermost first.
fn groups(machine: &Machine) -> Vec<Vec<u32>> {
    let levels = machine.above().iter();
    levels.map(|level| level.group_of.iter().step_by(2).copied().collect()).collect()
}

#[test]
fn every_form_of_an_address_is_read() {
    let tree = ["s0.s4.s8.tux1", "s0.s4.s9.tux2", "s0.s5.s8.tux3", "s0.s5.s8.tux4"];
    let machine = slurm_of(&tree, "switch.switch.switch.node").unwrap();
    assert_eq!(machine.names(), ["switches 2", "switches 1", "nodes"]);
    // A single switch for all is not a level; s8 below s5 differs from s8 below s4.
    assert_eq!(groups(&machine), [[0, 0, 1, 1], [0, 1, 2, 2]]);
    let machine = slurm_of(&["b8.tux1", "b9.tux2", "b8.tux3"], "block.node").unwrap();
    assert_eq!(
        (machine.names(), groups(&machine)),
        (vec!["blocks".into(), "nodes".into()], vec![vec![0, 1, 0]])
    );
    let machine = slurm_of(&["r8:2.tux1", "r8:0.tux2", "r1:2.tux3"], "ring:position.node").unwrap();
    assert_eq!((machine.names()[0].as_str(), groups(&machine)), ("rings", vec![vec![0, 0, 1]]));
    let pods = ["pod1:0:1:2.a", "pod2:0:1:2.b", "pod1:3:1:2.c"];
    let machine = slurm_of(&pods, "torus:x:y:z.node").unwrap();
    assert_eq!((machine.names()[0].as_str(), groups(&machine)), ("tori", vec![vec![0, 1, 0]]));
    // Unknown kinds group nodes too; a list of hosts is an ordinary name.
    let machine = slurm_of(&["s[0-3].a", "s[0-3].b", "s[4-7].c"], "plane.node").unwrap();
    assert_eq!((machine.names()[0].as_str(), groups(&machine)), ("groups", vec![vec![0, 0, 1]]));
    for address in ["node1", "tux1"] {
        assert!(slurm_of(&[address, "tux2"], "node").unwrap().above().is_empty());
    }
}

#[test]
fn a_node_without_a_group_shares_none_with_others() {
    let pattern = "switch.switch.switch.node";
    let nodes = [".ib-core.tors-1.gpu1", ".ib-core.tors-1.gpu2", ".ib-core.tors-2.gpu3"];
    assert_eq!(groups(&slurm_of(&nodes, pattern).unwrap()), [[0, 0, 1]]);
    // Two leaves of the root, and two of a switch in between.
    let nodes = ["r..l1.a", "r..l1.b", "r..l2.c", "r..l2.d", "r.m.l3.e", "r.m.l3.f", "r.m.l4.g"];
    let machine = slurm_of(&nodes, pattern).unwrap();
    assert_eq!(groups(&machine), [[0, 0, 1, 1, 2, 2, 2], [0, 0, 1, 1, 2, 2, 3]]);
    // Nodes without a switch.
    let machine = slurm_of(&["s1.a", "s1.b", ".c", ".d"], "switch.node").unwrap();
    assert_eq!(groups(&machine), [[0, 0, 1, 2]]);
    // A group differs from one with the same name inside a nameless group.
    let machine = slurm_of(&["x.x.a", ".x.b", "x.x.c", ".x.d"], "switch.switch.node").unwrap();
    assert_eq!(groups(&machine), [[0, 1, 0, 1]]);
}

#[test]
fn the_outermost_of_many_levels_count_as_one() {
    let nodes = ["a.b.c.1.2.3.4.n1", "a.b.d.1.2.3.4.n2", "a.b.c.1.2.3.4.n3"];
    let machine = slurm_of(&nodes, "switch.switch.switch.switch.switch.switch.switch.node");
    assert_eq!(groups(&machine.unwrap()), [[0, 1, 0]]);
}

#[test]
fn contradictions_are_reported() {
    let at = |text: &str| ReportedAddress::slurm(Some(text), Some("switch.node"));
    let said = |known: &[ReportedAddress]| machine_of(known).unwrap_err().to_string();
    assert_eq!(
        said(&[at("s1.a"), at("s1.a")]),
        "is the same for ranks 0 and 2, which are on two nodes"
    );
    assert_eq!(said(&[at("s1.a"), ReportedAddress::Nothing]), "is unknown for rank 2");
    assert_eq!(said(&[at("s1.a"), at("a")]), "of rank 2 does not fit its pattern");
    let block = ReportedAddress::slurm(Some("b1.c"), Some("block.node"));
    assert_eq!(
        said(&[at("s1.a"), block]),
        "of rank 2 has different levels from those of other ranks"
    );
    let bare = ReportedAddress::slurm(Some("c"), Some("node"));
    assert_eq!(
        said(&[at("s1.a"), bare]),
        "of rank 2 has different levels from those of other ranks"
    );
    let machine = Machine::from_ids(&[0, 1, 0]);
    let error = machine.addressed([at("s1.a"), at("s1.b"), at("s2.a")].into_iter());
    assert_eq!(error, Err(Contradiction::Differs(0, 2)));
    // A single node has nothing above, whatever the addresses.
    let node = Machine::one_node(2);
    assert_eq!(node.addressed([at("s1.a"), at("s1.b")].into_iter()), Ok(node.clone()));
    assert_eq!(machine_of(&[ReportedAddress::Nothing; 3]).unwrap().names(), ["nodes"]);
    // The launch node's address, sent to all, but without levels.
    assert_eq!(machine_of(&[bare; 3]).unwrap().names(), ["nodes"]);
}

#[test]
fn malformed_addresses_are_refused() {
    for (address, pattern) in [
        ("s1.tux1", "switch.switch.node"),
        ("s0.s1.tux1", "switch.node"),
        ("tux1", "switch.node"),
        ("s1.tux1", "node"),
        ("s1.", "switch.node"),
        ("", "node"),
        ("s1.tux1", ""),
        ("s1.tux1", "switch.leaf"),
        ("s1.tux1", ".node"),
        ("r8.tux1", "ring:position.node"),
        ("r8:1:2.tux1", "ring:position.node"),
        ("pod1:1:2.tux1", "torus:x:y:z.node"),
    ] {
        assert_eq!(
            ReportedAddress::slurm(Some(address), Some(pattern)),
            ReportedAddress::Malformed,
            "{address} {pattern}"
        );
    }
    let long = "s".repeat(MOST_BYTES) + ".tux1";
    assert_eq!(
        ReportedAddress::slurm(Some(&long), Some("switch.node")),
        ReportedAddress::Malformed
    );
    assert_eq!(ReportedAddress::slurm(Some("s1.tux1"), None), ReportedAddress::Malformed);
    assert_eq!(ReportedAddress::slurm(None, Some("switch.node")), ReportedAddress::Nothing);
    let odd = |head: u32| ReportedAddress::from_words(&[head, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(odd(7), ReportedAddress::Malformed);
    assert_eq!(odd(2 | (LevelKind::Node as u32) << 8), ReportedAddress::Malformed);
    assert!(matches!(odd(2 | (LevelKind::Switch as u32) << 8), ReportedAddress::At(_)));
}

#[test]
fn hosts_are_compared_by_their_short_names() {
    assert_eq!(host_number("tux1.cluster.example"), host_number("tux1"));
    assert_ne!(host_number("tux1"), host_number("tux2"));
}
