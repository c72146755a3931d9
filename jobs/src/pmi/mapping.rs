//! `PMI_process_mapping`: the node of each rank, in a compressed form.

use std::fmt::Write;

/// The most ranks of a job; a launcher that names more is not believed.
pub const MOST_RANKS: usize = 1 << 24;

/// The node of each rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    node_of: Vec<u32>,
}

impl Mapping {
    /// A mapping with the node of each rank.
    pub fn new(node_of: Vec<u32>) -> Self {
        Self { node_of }
    }

    /// Reads the value for a job of `size` ranks: in `(vector,(2,3,4),1,[0,(1,1,2)]x5)`, four ranks on each of the nodes 2
    /// to 4, a rank on node 1, and five times a rank on node 0 and two on node 1. If ranks are left, the blocks repeat from
    /// the first that begins with node 0. `None` if it is not of this form.
    pub fn parse(text: &str, size: usize) -> Option<Self> {
        if size > MOST_RANKS {
            return None;
        }
        let mut rest = text.trim().strip_prefix("(vector")?.strip_suffix(')')?;
        let mut groups = Vec::new();
        while !rest.is_empty() {
            let (group, after) = Group::first(rest.strip_prefix(',')?.trim_start())?;
            groups.push(group);
            rest = after;
        }
        let starts = |group: &Group| group.blocks.iter().any(|[first, ..]| *first == 0);
        let start = groups.iter().position(starts).unwrap_or(groups.len());
        let all = groups.iter().chain(groups[start..].iter().cycle());
        let node_of: Vec<u32> = all.flat_map(Group::nodes).take(size).collect();
        (node_of.len() == size).then_some(Self { node_of })
    }

    /// The node of each rank.
    pub fn nodes(&self) -> &[u32] {
        &self.node_of
    }

    /// The value that [`Mapping::parse`] reads. It names each rank: Intel MPI does not start again if ranks are left.
    pub fn text(&self) -> String {
        // Consecutive nodes with equally many consecutive ranks are one block.
        let mut blocks: Vec<[u32; 3]> = Vec::new();
        for run in self.node_of.chunk_by(|one, next| one == next) {
            let (node, count) = (run[0], run.len() as u32);
            match blocks.last_mut() {
                Some([first, nodes, ranks]) if *ranks == count && *first + *nodes == node => {
                    *nodes += 1;
                }
                _ => blocks.push([node, 1, count]),
            }
        }
        let mut text = "(vector".to_owned();
        for [node, nodes, ranks] in blocks {
            let _ = write!(text, ",({node},{nodes},{ranks})");
        }
        text + ")"
    }

    /// True if ranks share nodes as in another mapping, whatever the numbers of the nodes.
    pub fn is_like(&self, other: &[u32]) -> bool {
        numbered(&self.node_of) == numbered(other)
    }
}

/// Blocks of ranks that are repeated. Each has ranks.
struct Group {
    /// The first node, the number of nodes, and the number of ranks on each.
    blocks: Vec<[u32; 3]>,
    count: usize,
}

impl Group {
    /// The group that a text begins with, and the rest of the text.
    fn first(text: &str) -> Option<(Self, &str)> {
        let Some(inner) = text.strip_prefix('[') else {
            let (block, rest) = Self::block(text)?;
            return Some((Self { blocks: vec![block], count: 1 }, rest));
        };
        let (first, mut rest) = Self::block(inner)?;
        let mut blocks = vec![first];
        while let Some(after) = rest.strip_prefix(',') {
            let (next, after) = Self::block(after.trim_start())?;
            blocks.push(next);
            rest = after;
        }
        let (count, rest) = Self::number(rest.strip_prefix("]x")?)?;
        (count > 0).then_some((Self { blocks, count: count as usize }, rest))
    }

    /// The block that a text begins with: a node with one rank, or three numbers.
    fn block(text: &str) -> Option<([u32; 3], &str)> {
        let Some(inner) = text.strip_prefix('(') else {
            let (node, rest) = Self::number(text)?;
            return Some(([node, 1, 1], rest));
        };
        let (first, rest) = Self::number(inner)?;
        let (nodes, rest) = Self::number(rest.strip_prefix(',')?)?;
        let (ranks, rest) = Self::number(rest.strip_prefix(',')?)?;
        let is_right = nodes > 0 && ranks > 0 && first.checked_add(nodes).is_some();
        Some(([first, nodes, ranks], rest.strip_prefix(')')?)).filter(|_| is_right)
    }

    /// The number that a text begins with, perhaps between spaces.
    fn number(text: &str) -> Option<(u32, &str)> {
        let text = text.trim_start();
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        Some((text[..end].parse().ok()?, text[end..].trim_start()))
    }

    /// The nodes of its ranks.
    fn nodes(&self) -> impl Iterator<Item = u32> {
        let block = |[first, nodes, ranks]: &[u32; 3]| {
            let ranks = *ranks as usize;
            (*first..*first + *nodes).flat_map(move |node| std::iter::repeat_n(node, ranks))
        };
        (0..self.count).flat_map(move |_| self.blocks.iter().flat_map(block))
    }
}

/// The nodes of ranks, numbered in the order of their lowest ranks.
fn numbered(node_of: &[u32]) -> Vec<u32> {
    let mut numbers = std::collections::HashMap::new();
    let number = |node: &u32| {
        let next = numbers.len() as u32;
        *numbers.entry(*node).or_insert(next)
    };
    node_of.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nodes(text: &str, size: usize) -> Option<Vec<u32>> {
        Mapping::parse(text, size).map(|mapping| mapping.node_of)
    }

    #[test]
    fn mappings_of_launchers_are_read() {
        assert_eq!(nodes("(vector,(0,2,2))", 4), Some(vec![0, 0, 1, 1]));
        // Ranks that are left start again.
        assert_eq!(nodes("(vector,(0,2,1))", 5), Some(vec![0, 1, 0, 1, 0]));
        assert_eq!(nodes("(vector,(0,1,3),(1,1,1))", 4), Some(vec![0, 0, 0, 1]));
        assert_eq!(nodes(" (vector,(2,1,1),(0, 2, 1)) ", 3), Some(vec![2, 0, 1]));
        assert_eq!(nodes("(vector,(2,1,1),(0,2,1))", 6), Some(vec![2, 0, 1, 0, 1, 0]));
        // MPICH 5.
        assert_eq!(nodes("(vector,(0,1,3),1)", 4), Some(vec![0, 0, 0, 1]));
        assert_eq!(nodes("(vector,0,(1,1,2),0)", 4), Some(vec![0, 1, 1, 0]));
        assert_eq!(nodes("(vector,[(0,2,1)]x2)", 4), Some(vec![0, 1, 0, 1]));
        assert_eq!(nodes("(vector,2,[0, (1,1,2)]x2,4)", 8), Some(vec![2, 0, 1, 1, 0, 1, 1, 4]));
        for wrong in [
            "",
            "(vector)",
            "(vector,(0,0,1))",
            "(vector,(0,1))",
            "(vector,(0,1,1,1))",
            "(vector,(0,1,1)",
            "(vector,(-1,1,1))",
            "(vector,(4294967295,1,1))",
            "(matrix,(0,1,1))",
            "(vector,(0,1,1)x)",
            "(vector,[0]x0)",
            "(vector,[0,[1]x2]x2)",
            "(vector,[0x2)",
            "(vector,[]x2)",
            // Ranks are left, but no block begins with node 0.
            "(vector,1)",
        ] {
            assert_eq!(nodes(wrong, 2), None, "{wrong}");
        }
    }

    #[test]
    fn mappings_are_written_compactly() {
        let text = |nodes: &[u32]| Mapping::new(nodes.to_vec()).text();
        assert_eq!(text(&[0, 0, 1, 1]), "(vector,(0,2,2))");
        assert_eq!(text(&[0, 1, 0, 1, 0]), "(vector,(0,2,1),(0,2,1),(0,1,1))");
        assert_eq!(text(&[0, 0, 1, 1, 0, 0, 1]), "(vector,(0,2,2),(0,1,2),(1,1,1))");
        assert_eq!(text(&[1, 0, 0]), "(vector,(1,1,1),(0,1,2))");
        assert_eq!(text(&[]), "(vector)");
    }

    proptest! {
        #[test]
        fn a_written_mapping_is_read_again(node_of in prop::collection::vec(0u32..5, 1..60)) {
            let mapping = Mapping::new(node_of);
            prop_assert_eq!(Mapping::parse(&mapping.text(), mapping.nodes().len()), Some(mapping));
        }
    }

    #[test]
    fn the_numbering_of_nodes_does_not_matter() {
        let mapping = Mapping::new(vec![3, 3, 1, 1]);
        assert!(mapping.is_like(&[0, 0, 1, 1]) && !mapping.is_like(&[0, 1, 0, 1]));
        assert!(!mapping.is_like(&[0, 0, 1]) && !mapping.is_like(&[0, 0, 1, 2]));
    }
}
