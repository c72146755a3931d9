//! MPICH's coordinates: a header line, then for each rank its group, its switch and its port, as in "3: 0 7 -1"; -1 is
//! unknown.

use std::collections::HashMap;

use super::address::Address;
use super::network_map::{MOST_FAULTS, NetworkMap, NetworkMapFile, wrong};
use super::{LayoutError, LevelKind};

/// The rank and coordinates in a line.
fn line(text: &str) -> Option<(usize, [i64; 3])> {
    let (rank, rest) = text.split_once(':')?;
    let mut numbers = rest.split_whitespace().map(|word| word.parse().ok().filter(|n| *n >= -1));
    let mut next = || numbers.next().flatten();
    let coordinates = [next()?, next()?, next()?];
    let rank = rank.trim().parse().ok()?;
    numbers.next().is_none().then_some((rank, coordinates))
}

/// True if the second line of a file has this form.
pub(super) fn begins(second: &str) -> bool {
    line(second).is_some()
}

pub(super) fn read(text: &str) -> Result<NetworkMapFile, LayoutError> {
    let mut ranks = HashMap::new();
    let mut faults = Vec::new();
    let mut fault = |line, what: String| {
        if faults.len() < MOST_FAULTS {
            faults.push(wrong(line, what));
        }
    };
    // The first nonempty line is the header.
    let lines = text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()).skip(1);
    for (at, text) in lines {
        let Some((rank, [group, switch, _])) = line(text.trim()) else {
            fault(
                at + 1,
                format!("'{}' is not a rank with its group, its switch and its port", text.trim()),
            );
            continue;
        };
        let name = |number: i64| if number < 0 { String::new() } else { number.to_string() };
        let (group, switch) = (name(group), name(switch));
        let groups = [(LevelKind::Group, group.as_str()), (LevelKind::Switch, switch.as_str())];
        // Entries cannot distinguish nodes: ports may be unknown, and a node may have several.
        let address = Address::new(&groups, "?");
        if *ranks.entry(rank).or_insert(address) != address {
            fault(at + 1, format!("rank {rank} has different coordinates above"));
        }
    }
    Ok(NetworkMapFile { network_map: NetworkMap::Ranks(ranks), faults })
}
