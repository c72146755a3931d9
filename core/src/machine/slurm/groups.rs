//! Named groups of nodes and of other groups.

use std::collections::HashMap;

use super::hostlist::{self, MOST_NAMES};
use crate::machine::address::{Address, host_number};
use crate::machine::network_map::{MOST_FAULTS, NetworkMap, NetworkMapFile, wrong};
use crate::machine::{LayoutError, LevelKind, MOST_LEVELS};

/// The contents of a file, in order.
#[derive(Debug, Default)]
pub(in crate::machine) struct Network {
    groups: Vec<Group>,
    faults: Vec<LayoutError>,
    /// The number of names in the lists so far.
    names: usize,
}

#[derive(Debug)]
struct Group {
    line: usize,
    kind: LevelKind,
    name: String,
    /// The groups in it, and the lines that name them.
    children: Vec<(usize, String)>,
    nodes: Vec<(usize, String)>,
}

/// The parents of groups.
struct Tree {
    /// The parent of each group, if it has one.
    parents: Vec<Option<usize>>,
    /// The number of levels below each group.
    heights: Vec<usize>,
    /// The number of consistent levels.
    levels: usize,
}

impl Network {
    /// Records a line that is skipped.
    pub(super) fn fault(&mut self, line: usize, what: String) {
        if self.faults.len() < MOST_FAULTS {
            self.faults.push(wrong(line, what));
        }
    }

    /// Starts a group; lists that follow belong to it.
    pub(super) fn group(&mut self, line: usize, kind: LevelKind, name: String) {
        self.groups.push(Group { line, kind, name, children: Vec::new(), nodes: Vec::new() });
    }

    /// Adds lists to the last group.
    pub(super) fn list(&mut self, line: usize, children: Option<&str>, nodes: Option<&str>) {
        for (list, is_nodes) in [(children, false), (nodes, true)] {
            let Some(list) = list else { continue };
            let names = match hostlist::names(list, MOST_NAMES - self.names) {
                Ok(names) => names,
                Err(what) => {
                    self.fault(line, what);
                    continue;
                }
            };
            self.names += names.len();
            let Some(group) = self.groups.last_mut() else {
                self.fault(line, "names outside any group".to_owned());
                continue;
            };
            let into = if is_nodes { &mut group.nodes } else { &mut group.children };
            into.extend(names.into_iter().map(|name| (line, name)));
        }
    }

    /// The number of each group by its name, which must be unique.
    fn numbers(&self) -> Result<HashMap<&str, usize>, LayoutError> {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        for (at, group) in self.groups.iter().enumerate() {
            if let Some(first) = numbers.insert(&group.name, at) {
                let what = format!("{} is already on line {}", group.name, self.groups[first].line);
                return Err(wrong(group.line, what));
            }
        }
        Ok(numbers)
    }

    /// Finds the parent of each group. If a group has two parents, no level above it is used.
    fn tree(&mut self) -> Result<Tree, LayoutError> {
        let number = self.numbers()?;
        let mut faults = Vec::new();
        let mut parents: Vec<Option<usize>> = vec![None; self.groups.len()];
        let mut shared = Vec::new();
        for (at, group) in self.groups.iter().enumerate() {
            for (line, child) in &group.children {
                let Some(child) = number.get(&child[..]).copied() else {
                    faults.push((*line, format!("{child} is not described")));
                    continue;
                };
                match parents[child] {
                    Some(other) if other != at => {
                        let (name, other) = (&self.groups[child].name, &self.groups[other].name);
                        let what = format!(
                            "{name} is in {other} and in {}: no level above it is used",
                            group.name
                        );
                        faults.push((*line, what));
                        shared.push(child);
                    }
                    _ => parents[child] = Some(at),
                }
            }
        }
        faults.into_iter().for_each(|(line, what)| self.fault(line, what));
        let mut heights = vec![0; self.groups.len()];
        for at in 0..self.groups.len() {
            let (mut inner, mut height) = (at, 0);
            while let Some(outer) = parents[inner] {
                height += 1;
                if height >= MOST_LEVELS {
                    let what = format!(
                        "{} is within itself, or more than {MOST_LEVELS} levels deep",
                        self.groups[at].name
                    );
                    return Err(wrong(self.groups[at].line, what));
                }
                heights[outer] = heights[outer].max(height);
                inner = outer;
            }
        }
        let highest = shared.iter().map(|child| heights[*child]).min().unwrap_or(MOST_LEVELS);
        let levels = heights.iter().copied().filter(|height| *height <= highest).max();
        let levels = levels.map_or(0, |highest| highest + 1);
        Ok(Tree { parents, heights, levels })
    }

    /// Builds the map from nodes to groups.
    pub(in crate::machine) fn map(mut self) -> Result<NetworkMapFile, LayoutError> {
        let Tree { parents, heights, levels } = self.tree()?;
        let mut hosts: HashMap<u64, (usize, Address)> = HashMap::new();
        for (at, group) in self.groups.iter().enumerate() {
            if group.kind != self.groups[0].kind {
                let what = format!(
                    "{} is one of the {}, but the first group is one of the {}",
                    group.name, group.kind, self.groups[0].kind
                );
                return Err(wrong(group.line, what));
            }
            let mut names = vec![(group.kind, ""); levels];
            let mut next = Some(at);
            while let Some(outer) = next.filter(|outer| heights[*outer] < levels) {
                names[levels - 1 - heights[outer]].1 = &self.groups[outer].name;
                next = parents[outer];
            }
            for (line, node) in &group.nodes {
                let address = Address::new(&names, node);
                if let Some((other, _)) = hosts.insert(host_number(node), (at, address)) {
                    let what = match &self.groups[other] {
                        same if other == at => format!("{node} is twice in {}", same.name),
                        other => format!("{node} is in {} and in {}", other.name, group.name),
                    };
                    return Err(wrong(*line, what));
                }
            }
        }
        let hosts = hosts.into_iter().map(|(host, (_, address))| (host, address)).collect();
        Ok(NetworkMapFile { network_map: NetworkMap(hosts), faults: self.faults })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use crate::machine::Machine;
    use crate::machine::address::host_number;
    use crate::machine::network_map::*;

    /// The levels of a process on each of these hosts, and the faults in the file.
    pub(in super::super) fn levels(
        text: &str,
        hosts: &str,
    ) -> (Vec<(String, Vec<u32>)>, Vec<String>) {
        let NetworkMapFile { network_map, faults } = NetworkMapFile::read(text).unwrap().unwrap();
        let hosts: Vec<u64> = hosts.split(' ').map(host_number).collect();
        let at = hosts.iter().map(|host| network_map.at(*host));
        let machine = Machine::from_ids(&hosts).addressed(at).unwrap();
        let machine = machine.without_idle_levels();
        let levels = machine.above().iter().map(|level| level.group_of.to_vec());
        (
            machine.names().into_iter().zip(levels).collect(),
            faults.iter().map(ToString::to_string).collect(),
        )
    }

    fn error(text: &str) -> String {
        NetworkMapFile::read(text).unwrap().unwrap_err().to_string()
    }

    const TREE: &str = "\
# A comment
SwitchName=s0 Nodes=dev[0-5] LinkSpeed=100
switchname=s1 nodes=dev[6-11]  # another
SwitchName=s2 Nodes=dev[12-15],tux1
SwitchName=s3 \\
  Switches=s[0-1]
SwitchName=s4 Switches=s[2-3]
";

    #[test]
    fn a_tree_of_switches_is_read() {
        let (levels, faults) = levels(TREE, "dev0 dev7.example.org tux1 dev1 dev6 dev12");
        assert_eq!(faults, [""; 0]);
        assert_eq!(
            levels,
            [
                ("switches 2".into(), vec![0, 0, 1, 0, 0, 1]),
                ("switches 1".into(), vec![0, 1, 2, 0, 1, 2])
            ]
        );
    }

    #[test]
    fn blocks_and_rings_are_read() {
        let (levels_of, faults) = levels(
            "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2,4\n",
            "n1 n3 n2",
        );
        assert_eq!((levels_of, faults), (vec![("blocks".into(), vec![0, 1, 0])], vec![]));
        let (levels_of, _) =
            levels("RingName=r Nodes=n[01-08]\nRingName=q Nodes=n[09-16]\n", "n01 n02 n16");
        assert_eq!(levels_of, [("rings".into(), vec![0, 0, 1])]);
    }

    #[test]
    fn an_error_is_reported_and_the_rest_is_used() {
        let text = "SwitchName=l1 Nodes=a,b\nSwitchName=l2 Nodes=c\nSwitchName=l3 Nodes=d,e\n\
            SwitchName=m1 Switches=l1,l2\nSwitchName=m2 Switches=l2,l3,l9\nSwitchName=top Switches=m1,m2 Colour=red\n";
        let (levels, faults) = levels(text, "a b c d e");
        assert_eq!(levels, [("switches".into(), vec![0, 0, 1, 2, 2])]);
        assert_eq!(
            faults,
            [
                "line 6 of the file: unknown keyword 'Colour=red'",
                "line 5 of the file: l2 is in m1 and in m2: no level above it is used",
                "line 5 of the file: l9 is not described",
            ]
        );
        let many = "SwitchName=s Nodes=a[1\n".repeat(2 * MOST_FAULTS);
        assert!(NetworkMapFile::read(&many).unwrap().is_err());
        let many = (0..2 * MOST_FAULTS)
            .map(|i| format!("SwitchName=s{i} Nodes=a[1\n"))
            .collect::<String>();
        assert_eq!(NetworkMapFile::read(&many).unwrap().unwrap().faults.len(), MOST_FAULTS);
    }

    #[test]
    fn an_unusable_line_is_named() {
        for (text, said) in [
            (
                "SwitchName=s1 Nodes=a\nSwitchName=s2 Nodes=b,a",
                "line 2 of the file: a is in s1 and in s2",
            ),
            ("SwitchName=s1 Nodes=a,a.b", "line 1 of the file: a.b is twice in s1"),
            (
                "SwitchName=s1 Nodes=a\nSwitchName=s1 Nodes=b",
                "line 2 of the file: s1 is already on line 1",
            ),
            (
                "SwitchName=s1 Switches=s2\nSwitchName=s2 Switches=s1",
                "line 1 of the file: s1 is within itself, or more than 12 levels deep",
            ),
            (
                "SwitchName=s1 Switches=s1",
                "line 1 of the file: s1 is within itself, or more than 12 levels deep",
            ),
            (
                "SwitchName=s1 Nodes=a\nBlockName=b1 Nodes=b",
                "line 2 of the file: b1 is one of the blocks, but the first group is one of the switches",
            ),
            ("SwitchName= Nodes=a", "line 1 of the file: a switch, block or ring has no name"),
        ] {
            assert_eq!(error(text), said);
        }
        let lists = "SwitchName=s1 Nodes=a[1-9\nSwitchName=s2 Nodes=b[0-9999999999]\nNodes=c\n";
        let faults = NetworkMapFile::read(lists).unwrap().unwrap().faults;
        let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "line 1 of the file: 'a[1-9' has unmatched brackets",
                "line 2 of the file: 'b[0-9999999999]' has more than 1048576 names",
                "line 3 of the file: nodes or switches without the switch that connects them",
            ]
        );
    }

    #[test]
    fn other_files_list_places_of_ranks() {
        for text in ["", "n1 n1 n2", "s1/n1\ns1/n2\n", "# a\n", "a:\nb:\n"] {
            assert_eq!(NetworkMapFile::read(text), None, "{text}");
        }
    }
}
