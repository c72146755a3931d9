//! Layouts in a few characters: "2x4x16".

use super::{LayoutError, LevelKind, MOST_LEVELS, Machine};

/// One part of a list: numbers from the outermost level to the processes of a node.
fn numbers(part: &str) -> Option<Vec<usize>> {
    let number = |word: &str| word.trim().parse::<usize>().ok().filter(|number| *number > 0);
    let mut numbers: Vec<usize> = part.split(['x', '*']).map(number).collect::<Option<_>>()?;
    if numbers.len() == 1 {
        numbers.insert(0, 1);
    }
    Some(numbers)
}

/// The parts of a list, if the whole text has this form.
fn parts(text: &str) -> Option<Vec<Vec<usize>>> {
    text.split(',').map(numbers).collect()
}

/// True if the text of a layout is taken as a file name: any text that does not have the form of sizes.
pub fn names_a_file(text: &str) -> bool {
    parts(text).is_none()
}

/// Node sizes such as "40*48,16,8"; `None` if they are malformed, or there are levels above the nodes. At most one node
/// more than `ranks` allows, so that a typing error takes no memory.
pub fn parse_sizes(text: &str, ranks: usize) -> Option<Vec<usize>> {
    let parts = parts(text)?;
    if parts.iter().any(|part| part.len() > 2) {
        return None;
    }
    Some(nodes(&parts, ranks).0)
}

/// The number of processes on all nodes of a text, at most `usize::MAX`, found without building a layout.
/// `None` if the text is malformed.
pub fn places(text: &str) -> Option<usize> {
    Some(count(&parts(text)?))
}

fn count(parts: &[Vec<usize>]) -> usize {
    let places = |part: &Vec<usize>| part.iter().try_fold(1usize, |all, n| all.checked_mul(*n));
    let all = parts.iter().try_fold(0usize, |sum, part| sum.checked_add(places(part)?));
    all.unwrap_or(usize::MAX)
}

/// The layout described by a text of [`Machine::parse`], which may have more than `ranks` ranks.
pub(super) fn parse(text: &str, ranks: usize) -> Result<Machine, LayoutError> {
    let parts = parts(text).ok_or_else(|| LayoutError::Malformed(text.to_owned()))?;
    let levels = parts[0].len() - 1;
    if let Some(at) = parts.iter().position(|part| part.len() != levels + 1) {
        return Err(LayoutError::OtherDepth {
            text: text.to_owned(),
            part: text.split(',').nth(at).unwrap_or_default().trim().to_owned(),
            levels: parts[at].len() - 1,
            first: levels,
        });
    }
    if levels > MOST_LEVELS {
        return Err(LayoutError::TooDeep { text: text.to_owned(), levels });
    }
    // All ranks are counted before memory is allocated.
    let places = count(&parts);
    if places != ranks {
        return Err(LayoutError::OtherSize { text: text.to_owned(), places, ranks });
    }
    let (sizes, above) = nodes(&parts, ranks);
    let above: Vec<(LevelKind, Vec<u32>)> =
        above.into_iter().map(|of| (LevelKind::Switch, of)).collect();
    Ok(Machine::stacked(&sizes, &above).without_idle_levels())
}

/// The sizes of all nodes and, for each level above, the group of each node. At most one node more than `ranks`.
fn nodes(parts: &[Vec<usize>], ranks: usize) -> (Vec<usize>, Vec<Vec<u32>>) {
    let depth = parts[0].len() - 2;
    let mut sizes = Vec::new();
    let mut above = vec![Vec::new(); depth];
    let mut first = vec![0; depth];
    for part in parts {
        let (size, counts) = part.split_last().expect("two numbers at least");
        let count = counts.iter().fold(1usize, |all, count| all.saturating_mul(*count));
        let room = (ranks + 1).saturating_sub(sizes.len());
        let count = count.min(room);
        for (level, groups) in above.iter_mut().enumerate() {
            // The number of nodes in each group of the level.
            let width = counts[level + 1..].iter().fold(1usize, |all, n| all.saturating_mul(*n));
            groups.extend((0..count).map(|node| first[level] + (node / width) as u32));
            first[level] = groups.last().map_or(0, |last| last + 1);
        }
        sizes.extend(std::iter::repeat_n(*size, count));
    }
    (sizes, above)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_notations_are_read() {
        assert_eq!(Machine::parse("4x16", 64).unwrap().node_sizes(), [16; 4]);
        assert_eq!(Machine::parse("16, 16,8", 40).unwrap().node_sizes(), [16, 16, 8]);
        assert_eq!(Machine::parse("2*3,1", 7).unwrap().nodes(), [0, 0, 0, 1, 1, 1, 2]);
        for text in ["", "x", "4x", "0x4", "4x0", "a,b", "-1", "3,,3", "4x4x", "2xx4", "4:4"] {
            assert_eq!(
                Machine::parse(text, 16),
                Err(LayoutError::Malformed(text.into())),
                "{text}"
            );
        }
        for text in ["4x4", "18446744073709551615x1", "9999999999x9999999999", "99999x99999x9"] {
            assert!(
                matches!(Machine::parse(text, 15), Err(LayoutError::OtherSize { .. })),
                "{text}"
            );
        }
        assert_eq!(parse_sizes("2x3,1", 9), Some(vec![3, 3, 1]));
        assert_eq!(parse_sizes("99999999x3", 9).unwrap().len(), 10);
        assert_eq!(parse_sizes("2x2x3", 12), None);
        assert_eq!(places("999999999*99,1"), Some(98_999_999_902));
        assert_eq!(places("18446744073709551615*2"), Some(usize::MAX));
        assert_eq!(places("2*x"), None);
    }

    #[test]
    fn switches_come_before_nodes() {
        let machine = Machine::parse("2x2x3", 12).unwrap();
        assert_eq!(machine.names(), ["switches", "nodes"]);
        assert_eq!(machine.above()[0].group_of[..], [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]);
        assert_eq!(machine.node_sizes(), [3; 4]);
        let machine = Machine::parse("2x2x1,1x3x2", 10).unwrap();
        assert_eq!(machine.above()[0].sizes(), [2, 2, 6]);
        assert_eq!(machine.node_sizes(), [1, 1, 1, 1, 2, 2, 2]);
        let deep = Machine::parse("2x3x4x5", 120).unwrap();
        assert_eq!(deep.names(), ["switches 2", "switches 1", "nodes"]);
        let groups: Vec<usize> = deep.levels().iter().map(super::super::Level::groups).collect();
        assert_eq!(groups, [2, 6, 24]);
        // A level that divides nothing is dropped.
        assert_eq!(Machine::parse("1x4x16", 64), Machine::parse("4x16", 64));
        assert_eq!(Machine::parse("4x1x16", 64), Machine::parse("4x16", 64));
    }

    #[test]
    fn parts_have_the_same_depth() {
        let error = |text| Machine::parse(text, 24).unwrap_err().to_string();
        assert_eq!(error("2x2x4,2x4"), "'2x2x4,2x4': '2x4' has 1 levels, but the first part has 2");
        assert!(error("24,2x2x4").contains("'2x2x4' has 2 levels"), "{}", error("24,2x2x4"));
        let deep = vec!["1"; 14].join("x");
        assert!(error(&deep).contains("13 levels, but at most 12"), "{}", error(&deep));
    }
}
