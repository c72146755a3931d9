//! Slurm's topology.yaml, in the form in which Slurm's documents write it: a line for each key, lists by dashes,
//! values on the line of their key.

use super::network::Network;
use super::{LayoutError, wrong};
use crate::mapping::layout::Kind;

/// Keys that begin a group.
const GROUPS: [(&str, Kind); 5] = [
    ("switch", Kind::Switch),
    ("block", Kind::Block),
    ("ring", Kind::Ring),
    ("torus", Kind::Torus),
    // Of a torus, where it is the only key of this name.
    ("name", Kind::Torus),
];

/// Keys that are known and say nothing here.
const PASSED: [&str; 22] = [
    "flat",
    "tree",
    "switches",
    "blocks",
    "block_sizes",
    "rings",
    "torus3d",
    "toruses",
    "dims",
    "x",
    "y",
    "z",
    "placements",
    "regions",
    "anchor",
    "anchor_seed",
    "anchor_spacing",
    "link_speed",
    "ring",
    "block",
    "config",
    "topologies",
];

/// Whether the first line that is no comment is one of this file.
pub(super) fn begins(first: &str) -> bool {
    first == "---" || first.starts_with("- topology:")
}

/// A key and its value in a line; a value without a key is of a list that says nothing here.
fn key(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once(':')?;
    let value = value.trim();
    let quoted = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    Some((key.trim(), quoted('"').or_else(|| quoted('\'')).unwrap_or(value)))
}

/// The topology that Slurm takes by default: the first that is marked as such, else the first of all.
pub(super) fn read(text: &str) -> Result<Network, LayoutError> {
    let mut found: Vec<(Network, bool)> = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        // A comment begins a line or follows a space.
        let end = text.find(" #").unwrap_or(text.len());
        let text = text[..end].trim();
        if text.is_empty() || text.starts_with('#') || text == "---" || text == "..." {
            continue;
        }
        let item = text.strip_prefix('-').map(str::trim_start);
        if item.is_some_and(|item| item.parse::<i64>().is_ok()) {
            continue;
        }
        let Some((key, value)) = key(item.unwrap_or(text)) else {
            return Err(wrong(line, format!("'{text}' is no key with a value")));
        };
        if value.starts_with(['{', '&', '*', '|', '>'])
            || (value.starts_with('[') && key != "block_sizes")
        {
            return Err(wrong(
                line,
                format!("'{text}': only values on one line are read, without braces"),
            ));
        }
        if key == "topology" {
            found.push((Network::default(), false));
            continue;
        }
        let Some((network, is_default)) = found.last_mut() else {
            return Err(wrong(line, format!("'{text}' is in no topology")));
        };
        match (key, value) {
            ("cluster_default", value) => *is_default = value.eq_ignore_ascii_case("true"),
            ("children", list) => network.list(line, Some(list), None),
            ("nodes", list) => network.list(line, None, Some(list)),
            (key, value) if item.is_some() && GROUPS.iter().any(|(known, _)| key == *known) => {
                if value.is_empty() {
                    return Err(wrong(line, format!("a {key} without a name")));
                }
                let (_, kind) = GROUPS.iter().find(|(known, _)| key == *known).expect("found");
                network.group(line, *kind, value.to_owned());
            }
            (key, _) if PASSED.contains(&key) => {}
            _ => network.fault(line, format!("'{text}' is nothing that is known here")),
        }
    }
    let at = found.iter().position(|(_, is_default)| *is_default).unwrap_or(0);
    if found.is_empty() {
        return Err(wrong(1, "no topology is in the file"));
    }
    Ok(found.swap_remove(at).0)
}
