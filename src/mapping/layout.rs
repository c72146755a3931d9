//! Where processes run: which of them share a node and, below it, a package or a NUMA domain.

use std::io;

/// Why a layout cannot be what somebody wrote.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Neither "4x16" nor "16,16,8".
    #[error(
        "'{0}' is no layout: write NODESxRANKS (4x16), a list of node sizes (40*48,16,8), or a file's path"
    )]
    Malformed(String),
    /// Not of that form, and no file that can be read either.
    #[error(
        "'{name}' is neither NODESxRANKS (4x16) nor a list of node sizes (40*48,16,8), and as a file it cannot be read: {why}"
    )]
    Unreadable {
        /// What was written.
        name: String,
        /// What the system says of the file.
        why: String,
    },
    /// The nodes have another number of places than there are processes.
    #[error("the layout '{text}' has {places} places, but there are {ranks} processes")]
    OtherSize {
        /// What was written.
        text: String,
        /// How many processes it speaks of.
        places: usize,
        /// How many there are.
        ranks: usize,
    },
}

/// The place of every rank of a communicator: a tree of levels, of which the first are the nodes.
///
/// A level gives every rank the number of the group it is in. Groups of a level are numbered
/// `0..groups` by the lowest rank in each, and never reach over two groups of the level above.
/// Memory: four bytes a rank and level.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Layout {
    levels: Vec<Box<[u32]>>,
}

impl Layout {
    /// A layout by the node of each rank. Any numbers do: ranks with the same one share a node.
    pub fn from_ids(ids: &[u64]) -> Self {
        Self { levels: vec![numbered(ids.iter().map(|id| (0, *id)))] }
    }

    /// A layout by its levels, which nest and are numbered as [`Layout`] says.
    pub(super) fn of_levels(levels: Vec<Box<[u32]>>) -> Self {
        Self { levels }
    }

    /// Nodes of given sizes, in ranks, filled one after the other.
    pub fn blocks(sizes: &[usize]) -> Self {
        let ids = sizes.iter().enumerate().flat_map(|(node, size)| (0..*size).map(move |_| node));
        Self { levels: vec![ids.map(|node| node as u32).collect()] }
    }

    /// All ranks on one node.
    pub fn one_node(ranks: usize) -> Self {
        Self::blocks(&[ranks])
    }

    /// Reads what people write: sizes as [`parse`](Self::parse) takes them or, where it
    /// [is not of that form](names_a_file), the name of a file for [`from_names`](Self::from_names).
    /// `read` gives the file's text.
    ///
    /// # Errors
    ///
    /// [`LayoutError`].
    pub fn written(
        text: &str,
        ranks: usize,
        read: impl FnOnce(&str) -> io::Result<String>,
    ) -> Result<Self, LayoutError> {
        if !names_a_file(text) {
            return Self::parse(text, ranks);
        }
        let names = read(text).map_err(|error| LayoutError::Unreadable {
            name: text.to_owned(),
            why: error.to_string(),
        })?;
        Self::from_names(&names, ranks)
    }

    /// Reads "4x16" (4 nodes of 16), or node sizes such as "16,16,8" or "40*48,10*30".
    ///
    /// # Errors
    ///
    /// [`LayoutError`]. A node without processes is malformed.
    pub fn parse(text: &str, ranks: usize) -> Result<Self, LayoutError> {
        let sizes =
            parse_sizes(text, ranks).ok_or_else(|| LayoutError::Malformed(text.to_owned()))?;
        let places = sizes.iter().fold(0usize, |sum, size| sum.saturating_add(*size));
        if places != ranks {
            return Err(LayoutError::OtherSize { text: text.to_owned(), places, ranks });
        }
        Ok(Self::blocks(&sizes))
    }

    /// Reads a file's text: a word for each rank, in the order of ranks. Ranks with the same word
    /// share a node.
    ///
    /// # Errors
    ///
    /// [`LayoutError::OtherSize`].
    pub fn from_names(text: &str, ranks: usize) -> Result<Self, LayoutError> {
        let places = text.split_whitespace().count();
        if places != ranks {
            let text = "one word a rank, from a file".to_owned();
            return Err(LayoutError::OtherSize { text, places, ranks });
        }
        let mut known = std::collections::HashMap::new();
        let ids = text.split_whitespace().map(|name| {
            let next = known.len() as u64;
            *known.entry(name).or_insert(next)
        });
        Ok(Self::from_ids(&ids.collect::<Vec<_>>()))
    }

    /// Adds a level below the last: ranks of one of its groups with the same number share a group.
    #[must_use]
    pub fn with_level(mut self, ids: &[u64]) -> Self {
        debug_assert_eq!(ids.len(), self.ranks());
        let above = &self.levels[self.levels.len() - 1];
        let level = numbered(above.iter().zip(ids).map(|(group, id)| (*group, *id)));
        self.levels.push(level);
        self
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.levels[0].len()
    }

    /// The node of each rank.
    pub fn nodes(&self) -> &[u32] {
        &self.levels[0]
    }

    /// The group of each rank, level by level; the first are the nodes.
    pub fn levels(&self) -> &[Box<[u32]>] {
        &self.levels
    }

    /// How many ranks each node has, none of them 0.
    pub fn node_sizes(&self) -> Vec<usize> {
        let groups = self.nodes().iter().max().map_or(0, |most| *most as usize + 1);
        let mut sizes = vec![0; groups];
        for node in self.nodes() {
            sizes[*node as usize] += 1;
        }
        sizes
    }

    /// The layout of some of the ranks, in the order given: rank `i` of it is `ranks[i]` here.
    ///
    /// # Panics
    ///
    /// If a rank is not one of this layout's.
    #[must_use]
    pub fn select(&self, ranks: impl Iterator<Item = usize> + Clone) -> Self {
        let level = |ids: &[u32]| numbered(ranks.clone().map(|rank| (0, u64::from(ids[rank]))));
        Self { levels: self.levels.iter().map(|ids| level(ids)).collect() }
    }

    /// Whether there is nothing to gain: one group at every level.
    pub fn is_flat(&self) -> bool {
        self.levels.iter().all(|level| level.iter().all(|group| *group == 0))
    }
}

/// Numbers pairs in the order in which they first occur.
fn numbered(pairs: impl Iterator<Item = (u32, u64)>) -> Box<[u32]> {
    let mut numbers = std::collections::HashMap::new();
    let mut last = None;
    pairs
        .map(|pair| match last {
            // Neighbors in rank mostly share a group.
            Some((same, number)) if same == pair => number,
            _ => {
                let next = numbers.len() as u32;
                let number = *numbers.entry(pair).or_insert(next);
                last = Some((pair, number));
                number
            }
        })
        .collect()
}

/// Whether the text of a layout is taken for the name of a file: what is of the form of sizes is not,
/// whatever files there are.
pub fn names_a_file(text: &str) -> bool {
    parse_sizes(text, 0).is_none()
}

/// Node sizes as [`Layout::parse`] reads them; `None` if they are malformed. No more of them than
/// `ranks` allows and one, so that a typing error takes no memory.
pub fn parse_sizes(text: &str, ranks: usize) -> Option<Vec<usize>> {
    let number = |word: &str| word.trim().parse::<usize>().ok().filter(|number| *number > 0);
    let mut sizes = Vec::new();
    for part in text.split(',') {
        let (count, size) = match part.split_once(['x', '*']) {
            Some((count, size)) => (number(count)?, number(size)?),
            None => (1, number(part)?),
        };
        let room = (ranks + 1).saturating_sub(sizes.len());
        sizes.extend(std::iter::repeat_n(size, count.min(room)));
    }
    Some(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_read() {
        assert_eq!(Layout::parse("4x16", 64).unwrap().node_sizes(), [16; 4]);
        assert_eq!(Layout::parse("16, 16,8", 40).unwrap().node_sizes(), [16, 16, 8]);
        assert_eq!(Layout::parse("2*3,1", 7).unwrap().nodes(), [0, 0, 0, 1, 1, 1, 2]);
        for text in ["", "x", "4x", "0x4", "4x0", "a,b", "-1", "3,,3", "4x4x4"] {
            assert_eq!(Layout::parse(text, 16), Err(LayoutError::Malformed(text.into())), "{text}");
        }
        for text in ["4x4", "18446744073709551615x1", "9999999999x9999999999"] {
            assert!(
                matches!(Layout::parse(text, 15), Err(LayoutError::OtherSize { .. })),
                "{text}"
            );
        }
    }

    #[test]
    fn sizes_come_before_files() {
        let file = |_: &str| Ok("a b a".to_owned());
        assert_eq!(Layout::written("1,2", 3, file), Ok(Layout::blocks(&[1, 2])));
        assert_eq!(Layout::written("4x16", 3, file), Layout::parse("4x16", 3));
        assert_eq!(Layout::written("dealt", 3, file).unwrap().nodes(), [0, 1, 0]);
        let none = |_: &str| Err(io::Error::from(io::ErrorKind::NotFound));
        let error = Layout::written("4xfour", 3, none).unwrap_err().to_string();
        assert!(
            error.contains("'4xfour' is neither") && error.contains("cannot be read"),
            "{error}"
        );
        assert!(names_a_file("./4x16") && !names_a_file("40*48, 1"));
    }

    #[test]
    fn groups_are_numbered_by_their_lowest_rank_and_nest() {
        let layout = Layout::from_ids(&[7, 3, 7, 3]).with_level(&[0, 0, 1, 0]);
        assert_eq!(layout.nodes(), [0, 1, 0, 1]);
        // The 0 on node 7 and the 0 on node 3 are two groups.
        assert_eq!(layout.levels()[1][..], [0, 1, 2, 1]);
        assert_eq!(Layout::from_names("b a\nb", 3).unwrap().nodes(), [0, 1, 0]);
        assert!(Layout::from_names("b a\nb", 4).is_err());
        let part = layout.select([3, 2, 0].into_iter());
        assert_eq!(part.nodes(), [0, 1, 1]);
        assert_eq!(part.levels()[1][..], [0, 1, 2]);
        assert!(!layout.is_flat());
        assert!(Layout::one_node(5).is_flat());
        assert!(!Layout::one_node(2).with_level(&[1, 2]).is_flat());
    }
}
