//! A file with the location of each rank: a name, or a path of names.

use std::collections::HashMap;

use super::torus::{self, At};
use super::tree::numbered;
use super::{LayoutError, Level, LevelKind, MOST_LEVELS, Machine};

/// The parts of a path that are below the node: the word before the number.
const BELOW: [(&str, LevelKind); 3] =
    [("package", LevelKind::Package), ("numa", LevelKind::Numa), ("l3", LevelKind::Cache)];

/// The kind of a part of a path, if it is below the node.
fn below(part: &str) -> Option<LevelKind> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let of = |(word, kind): &(&str, LevelKind)| {
        part.strip_prefix(word).is_some_and(is_number).then_some(*kind)
    };
    BELOW.iter().find_map(of)
}

/// The sides of a torus in its name, such as "torus8x8x4" or "torus8x8x4:a".
fn rings(part: &str) -> Option<At> {
    let sides = part.strip_prefix("torus")?.split(':').next()?;
    torus::numbers(sides, 'x').filter(|sides| sides[0] > 0)
}

/// The name of a node and its coordinates, as in "n5@3,0,1".
fn place(node: &str) -> (&str, Option<At>) {
    node.split_once('@').map_or((node, None), |(name, at)| (name, torus::numbers(at, ',')))
}

/// The name of the node in a path of [`Machine::from_names`].
pub fn node_of_path(path: &str) -> &str {
    let mut rest = path;
    loop {
        match rest.rsplit_once('/') {
            Some((outer, last)) if below(last).is_some() => rest = outer,
            Some((_, node)) => return place(node).0,
            None => return place(rest).0,
        }
    }
}

/// The kinds of the levels that a path names.
fn kinds(path: &str) -> Result<Vec<LevelKind>, String> {
    let parts: Vec<&str> = path.split('/').collect();
    if let Some(at) = parts.iter().position(|part| part.is_empty()) {
        return Err(format!("'{path}' has no name at position {}", at + 1));
    }
    if parts.len() > MOST_LEVELS {
        return Err(format!(
            "'{path}' has {} levels; at most {MOST_LEVELS} are supported",
            parts.len()
        ));
    }
    let inside: Vec<LevelKind> = parts[1..].iter().rev().map_while(|part| below(part)).collect();
    let above = &parts[..parts.len() - inside.len() - 1];
    let kind =
        |part: &&str| if rings(part).is_some() { LevelKind::Torus } else { LevelKind::Switch };
    let mut kinds: Vec<LevelKind> = above.iter().map(kind).collect();
    let (node, at) = place(parts[above.len()]);
    if node.len() < parts[above.len()].len() && at.is_none() {
        return Err(format!("'{path}' has no coordinates after @"));
    }
    kinds.push(LevelKind::Node);
    kinds.extend(inside.into_iter().rev());
    match kinds.windows(2).find(|pair| pair[1] > LevelKind::Node && pair[0] >= pair[1]) {
        Some(pair) => Err(format!("'{path}' has {} within {}", pair[1], pair[0])),
        None => Ok(kinds),
    }
}

/// Reads the location of each rank; see [`Machine::from_names`].
pub(super) fn read(text: &str) -> Result<Machine, LayoutError> {
    let lines = (1..).zip(text.lines());
    let words =
        lines.flat_map(|(line, text)| text.split_whitespace().map(move |word| (line, word)));
    let words: Vec<(usize, &str)> = words.collect();
    let kinds = kinds_of_all(&words)?;
    let at = kinds.iter().position(|kind| *kind == LevelKind::Node).expect("every path has a node");
    check_nodes(&words, at)?;
    let level = |(depth, kind): (usize, &LevelKind)| {
        let mut known = HashMap::new();
        let ids = words.iter().map(|(_, path)| {
            let end = path.match_indices('/').nth(depth).map_or(path.len(), |(end, _)| end);
            let next = known.len() as u64;
            (0, *known.entry(&path[..end]).or_insert(next))
        });
        Level { kind: *kind, group_of: numbered(ids) }
    };
    let levels = kinds.iter().enumerate().map(level).collect();
    let machine = Machine::of_levels(levels).expect("kinds in order");
    // The first word of each node counts.
    let mut coordinates = vec![None; machine.levels()[at].groups()];
    let mut sides = At::default();
    for ((_, path), node) in words.iter().zip(machine.nodes()) {
        let parts: Vec<&str> = path.split('/').take(at + 1).collect();
        coordinates[*node as usize] = place(parts[at]).1;
        sides = parts[..at].iter().rev().find_map(|part| rings(part)).unwrap_or_default();
    }
    Ok(machine.with_torus(sides, &coordinates).without_idle_levels())
}

/// The kinds of the levels that all paths name; the words are paths with their lines.
fn kinds_of_all(words: &[(usize, &str)]) -> Result<Vec<LevelKind>, LayoutError> {
    let name =
        |kinds: &[LevelKind]| kinds.iter().map(LevelKind::to_string).collect::<Vec<_>>().join("/");
    let mut first: Option<Vec<LevelKind>> = None;
    // Ranks that share a node usually share the whole word.
    for same in words.chunk_by(|(_, one), (_, next)| one == next) {
        let (line, word) = same[0];
        let kinds = kinds(word).map_err(|what| LayoutError::Line { line, what })?;
        let first = first.get_or_insert_with(|| kinds.clone());
        if kinds != *first {
            let (kinds, first) = (name(&kinds), name(first));
            let what = format!("'{word}' is a path of {kinds}, but the first is one of {first}");
            return Err(LayoutError::Line { line, what });
        }
    }
    Ok(first.unwrap_or_else(|| vec![LevelKind::Node]))
}

/// Checks that names of nodes, the parts of paths at position `at`, are unique: a node in two switches is a mistake, not
/// two nodes.
fn check_nodes(words: &[(usize, &str)], at: usize) -> Result<(), LayoutError> {
    let mut parents = HashMap::new();
    for &(line, path) in words {
        let start = match at {
            0 => 0,
            _ => path.match_indices('/').nth(at - 1).map_or(0, |(slash, _)| slash + 1),
        };
        let (above, rest) = path.split_at(start);
        let node = rest.split('/').next().unwrap_or_default();
        let parent = *parents.entry(node).or_insert(above);
        if parent != above {
            let (one, other) = (parent.trim_end_matches('/'), above.trim_end_matches('/'));
            let what = format!("node {node} is in {one} and in {other}");
            return Err(LayoutError::Line { line, what });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, ranks: usize) -> Result<Machine, LayoutError> {
        Machine::from_names(text, ranks)
    }

    #[test]
    fn words_are_names_of_nodes_or_paths() {
        assert_eq!(read("b a\nb", 3).unwrap().nodes(), [0, 1, 0]);
        assert!(matches!(read("b a\nb", 4), Err(LayoutError::OtherSize { places: 3, .. })));
        let machine = read("s1/n5 s1/n6 s2/n7\ns1/n5\n", 4).unwrap();
        assert_eq!(machine.names(), ["switches", "nodes"]);
        assert_eq!(machine.above()[0].group_of[..], [0, 0, 1, 0]);
        assert_eq!(machine.nodes(), [0, 1, 2, 0]);
        let text = "s1/n5/numa0 s1/n5/numa0 s1/n5/numa1 s2/n6/numa0 s2/n6/numa0 s3/n7/numa9";
        let machine = read(text, 6).unwrap();
        assert_eq!(machine.names(), ["nodes", "NUMA domains"]);
        assert_eq!(machine.below()[0].group_of[..], [0, 0, 1, 2, 2, 3]);
        let text = "a/s1/n1 a/s1/n2 a/s2/n3 b/s3/n4 b/s4/n5 b/s4/n6";
        assert_eq!(read(text, 6).unwrap().names(), ["switches 2", "switches 1", "nodes"]);
        // The first part is never below a node.
        assert_eq!(read("numa0 numa1 numa0", 3).unwrap().nodes(), [0, 1, 0]);
        assert_eq!(read("", 0).unwrap().ranks(), 0);
    }

    #[test]
    fn nodes_may_have_coordinates() {
        let torus = |text: &str| read(text, 3).unwrap().torus().cloned();
        let text = "torus4x4/n1@0,3 torus4x4/n2@1,3 torus4x4/n1@0,3";
        let found = torus(text).unwrap();
        assert_eq!((found.rings, &found.at[..]), ([4, 4, 0], &[[0, 3, 0], [1, 3, 0]][..]));
        assert_eq!(read(text, 3).unwrap().names(), ["nodes"]);
        // Without its size a torus has ends, and two tori may have the same coordinates.
        assert_eq!(torus("n1@0,3 n2@1,3 n3@2,2").unwrap().rings, [0; 3]);
        let two = read("torus4:a/n1@1 torus4:a/n2@2 torus4:b/n3@1", 3).unwrap();
        assert!(two.names() == ["tori", "nodes"] && two.torus().is_none());
        let one = read("torus4:a/n1@1 torus4:a/n2@2 torus4:a/n3@3", 3).unwrap();
        assert_eq!(torus("torus4/n1@1 torus4/n2@2 torus4/n3@1"), None);
        assert_eq!(torus("n1@1 n2@2 n3"), None);
        assert_eq!(one.select([2, 1].into_iter()).torus().unwrap().at[..], [[3, 0, 0], [2, 0, 0]]);
    }

    #[test]
    fn nodes_have_names() {
        for (path, node) in [
            ("n1", "n1"),
            ("a/s1/n1", "n1"),
            ("s1/n1/package0/numa1", "n1"),
            ("n1/l30", "n1"),
            ("t/n1@3,4", "n1"),
        ] {
            assert_eq!(node_of_path(path), node);
        }
    }

    #[test]
    fn a_contradiction_is_named_with_its_line() {
        for (text, line, what) in [
            (
                "s1/n1\ns1/n2\nn3",
                3,
                "'n3' is a path of nodes, but the first is one of switches/nodes",
            ),
            ("s1/n1 s1/n2/numa0", 1, "a path of switches/nodes/NUMA domains"),
            ("s1/n1\n\ns2/n2\ns2/n1", 4, "node n1 is in s1 and in s2"),
            ("s1//n1", 1, "no name at position 2"),
            ("s1/n1@1,x", 1, "no coordinates after @"),
            ("/n1", 1, "no name at position 1"),
            ("s/n/", 1, "no name at position 3"),
            ("n1/numa0/package0", 1, "packages within NUMA domains"),
            ("1/2/3/4/5/6/7/8/9/10/11/12/13", 1, "has 13 levels; at most 12"),
        ] {
            match read(text, 3) {
                Err(LayoutError::Line { line: at, what: said }) => {
                    assert!(at == line && said.contains(what), "{text}: line {at}: {said}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
