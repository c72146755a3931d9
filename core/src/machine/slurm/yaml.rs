//! Slurm's topology.yaml, since 25.05: several topologies, of which the default one counts.

use saphyr_parser::{Event, Parser, ScanError};

use super::groups::Network;
use crate::machine::network_map::wrong;
use crate::machine::{LayoutError, LevelKind};

/// The keys of each kind of topology, of its list, and of the name of a group there.
const KINDS: [([&str; 3], LevelKind); 3] = [
    (["tree", "switches", "switch"], LevelKind::Switch),
    (["block", "blocks", "block"], LevelKind::Block),
    (["ring", "rings", "ring"], LevelKind::Ring),
];

/// The texts of an empty value.
const NOTHING: [&str; 3] = ["", "~", "null"];

/// What Slurm takes for true.
const TRUE: [&str; 6] = ["true", "t", "yes", "y", "on", "1"];

/// No such file has more lists and maps within each other.
const DEEPEST: usize = 16;

/// True if a text is of this format: each topology begins with its name.
pub(in crate::machine) fn begins(text: &str) -> bool {
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let first = lines.filter(|line| {
        let is_mark = line.starts_with("---") || line.starts_with('%');
        !(line.is_empty() || line.starts_with('#') || is_mark)
    });
    // The name may be on the line after the dash.
    let first: String = first.take(2).flat_map(|line| [line, " "]).collect();
    let is_quote = |c: char| c.is_whitespace() || ['{', '"', '\''].contains(&c);
    let first = first.strip_prefix('-');
    let rest = first.and_then(|first| first.trim_start_matches(is_quote).strip_prefix("topology"));
    rest.is_some_and(|rest| rest.trim_start_matches(is_quote).starts_with(':'))
}

/// The groups of the default topology, or of the first one.
pub(in crate::machine) fn read(text: &str) -> Result<Network, LayoutError> {
    let mut events = Events(Parser::new_from_str(text));
    let first = events.next()?;
    let all = events.node(first, DEEPEST)?;
    let is_true = |text: &str| TRUE.contains(&&*text.to_ascii_lowercase());
    let is_default = |one: &&Node| one.text("cluster_default").is_some_and(is_true);
    let topology = all.list().iter().find(is_default).or(all.list().first());
    let topology = topology.ok_or_else(|| wrong(all.line, "there is no topology"))?;
    let mut network = Network::default();
    let mut has_groups = false;
    for ([of, several, name], kind) in KINDS {
        let groups = topology.get(of).and_then(|of| of.get(several));
        for group in groups.map_or(&[][..], Node::list) {
            let own = group.text(name).filter(|own| !own.is_empty());
            let own = own.ok_or_else(|| wrong(group.line, format!("a {name} has no name")))?;
            network.group(group.line, kind, own.to_owned());
            has_groups = true;
            for (key, value) in group.map().iter().filter(|(key, _)| key != name) {
                match (&**key, &value.value) {
                    (_, Value::Text(text)) if NOTHING.contains(&&**text) => {}
                    ("children", Value::Text(list)) => network.list(value.line, Some(list), None),
                    ("nodes", Value::Text(list)) => network.list(value.line, None, Some(list)),
                    _ => network.fault(
                        value.line,
                        format!("unknown key '{key}', or its value is no list of names"),
                    ),
                }
            }
        }
    }
    if !has_groups {
        let what = "the topology has no switches, blocks or rings; for a torus, give coordinates in another file";
        network.fault(topology.line, what.to_owned());
    }
    Ok(network)
}

/// A value, and its line.
struct Node {
    line: usize,
    value: Value,
}

enum Value {
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Node {
    fn map(&self) -> &[(String, Self)] {
        match &self.value {
            Value::Map(map) => map,
            _ => &[],
        }
    }

    /// The value of a key, the last one if there are several.
    fn get(&self, key: &str) -> Option<&Self> {
        self.map().iter().rev().find(|(known, _)| known == key).map(|(_, node)| node)
    }

    fn text(&self, key: &str) -> Option<&str> {
        match &self.get(key)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    fn list(&self) -> &[Self] {
        match &self.value {
            Value::List(list) => list,
            _ => &[],
        }
    }
}

struct Events<'a>(Parser<'a, saphyr_parser::StrInput<'a>>);

impl<'a> Events<'a> {
    /// The next part of a value, and its line.
    fn next(&mut self) -> Result<(Event<'a>, usize), LayoutError> {
        loop {
            let next = self.0.next().ok_or_else(|| wrong(1, "the file ends too early"))?;
            let fault = |error: ScanError| wrong(error.marker().line(), error.info());
            let (event, place) = next.map_err(fault)?;
            if !matches!(event, Event::StreamStart | Event::DocumentStart(_)) {
                return Ok((event, place.start.line()));
            }
        }
    }

    fn node(
        &mut self,
        (event, line): (Event<'a>, usize),
        left: usize,
    ) -> Result<Node, LayoutError> {
        let deeper = left.checked_sub(1).ok_or_else(|| wrong(line, "the lists are too deep"))?;
        let value = match event {
            Event::Scalar(text, ..) => Value::Text(text.into_owned()),
            Event::SequenceStart(..) => {
                let mut list = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break Value::List(list),
                        next => list.push(self.node(next, deeper)?),
                    }
                }
            }
            Event::MappingStart(..) => {
                let mut map = Vec::new();
                loop {
                    match self.next()? {
                        (Event::MappingEnd, _) => break Value::Map(map),
                        (Event::Scalar(key, ..), _) => {
                            let value = self.next()?;
                            map.push((key.into_owned(), self.node(value, deeper)?));
                        }
                        (_, line) => return Err(wrong(line, "a key is no word")),
                    }
                }
            }
            _ => return Err(wrong(line, "a word, a list or keys with values are expected")),
        };
        Ok(Node { line, value })
    }
}

#[cfg(test)]
mod tests {
    use super::super::groups::tests::levels;
    use crate::machine::network_map::NetworkMapFile;

    /// A cluster of two partitions, each with its own network.
    const TWO: &str = "\
# comment
---
- topology: fast
  cluster_default: false
  block: {block_sizes: [2, 4], blocks: [{block: b1, nodes: 'n[1-2]'}, {nodes: \"n[3-4]\", block: b2}]}
- topology: usual
  cluster_default: true
  tree:
    switches:
      - switch: top   # over both
        children: leaf[1-2]
      - switch: leaf1
        nodes: n[1-2]
      - nodes: n3,n4
        switch: leaf2
";

    #[test]
    fn the_default_topology_is_read() {
        let switches = ("switches".to_owned(), vec![0, 0, 1, 1]);
        assert_eq!(levels(TWO, "n1 n2 n3 n4"), (vec![switches], vec![]));
        let yes = levels(&TWO.replace("default: true", "default: Yes"), "n1 n2 n3 n4");
        assert_eq!(yes.0[0].0, "switches");
        let alone = levels(&TWO.replace("- topology", "-\n  topology"), "n1 n2 n3 n4");
        assert_eq!(alone.0[0].0, "switches");
        let none = TWO.replace("default: true", "default: false");
        let blocks = ("blocks".to_owned(), vec![0, 1, 0]);
        assert_eq!(levels(&none, "n1 n3 n2"), (vec![blocks], vec![]));
        let rings = "- topology: r\n  ring:\n    rings:\n      - ring: a\n        nodes: n[1-2]\n      - {ring: b, nodes: n3}\n";
        assert_eq!(levels(rings, "n1 n2 n3").0, [("rings".to_owned(), vec![0, 0, 1])]);
    }

    #[test]
    fn unreadable_parts_are_named_with_their_lines() {
        for text in [
            "- topology: t\n  flat: true\n",
            "- topology: t\n  torus3d: {toruses: []}\n",
            "- topology: t\n  tree: true\n",
            "\u{feff}%YAML 1.2\n--- # a\n- {\"topology\" : t, tree: {switches: }}\n",
        ] {
            let (levels, faults) = levels(text, "n1 n2");
            assert!(levels.is_empty() && faults[0].contains("no switches, blocks or rings"));
        }
        let tree = |switches: &str| format!("- topology: t\n  tree:\n    switches:\n{switches}");
        let deep = format!("- topology: {}", "[".repeat(100));
        for (text, said) in [
            (tree("      - nodes: n1\n"), "line 4 of the file: a switch has no name"),
            (tree("      - switch: [s]\n"), "line 4 of the file: a switch has no name"),
            (
                tree("      - switch: a\n        children: a\n"),
                "line 4 of the file: a is within itself",
            ),
            (tree("      - switch: a\n     - b"), "of the file: "),
            (tree("      - ? [a]\n        : b\n"), "line 4 of the file: a key is no word"),
            (tree("      - *x\n"), "of the file: "),
            (deep, "line 1 of the file: the lists are too deep"),
        ] {
            let error = NetworkMapFile::read(&text).unwrap().unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
        let text = "      - switch: a\n        children: ~\n        nodes: n[1\n        speed: 1\n      - {switch: b, nodes: [n1]}\n";
        let (_, faults) = levels(&tree(text), "n1");
        assert_eq!(
            faults,
            [
                "line 6 of the file: 'n[1' has unmatched brackets",
                "line 7 of the file: unknown key 'speed', or its value is no list of names",
                "line 8 of the file: unknown key 'nodes', or its value is no list of names",
            ]
        );
    }

    #[test]
    fn many_lists_that_are_too_long_take_little_time() {
        let switch =
            |number: u32| format!("      - {{switch: s{number}, nodes: 'n[0-1048570],n[0-9]'}}\n");
        let text: String = (0..500).map(switch).collect();
        let text = format!("- topology: t\n  tree:\n    switches:\n{text}");
        assert!(!NetworkMapFile::read(&text).unwrap().unwrap().faults.is_empty());
    }
}
