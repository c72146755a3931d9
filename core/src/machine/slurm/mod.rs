//! Slurm's topology.conf: a line for each switch, block or ring; and topology.yaml, which replaces it.

mod groups;
pub(super) mod hostlist;
pub(super) mod yaml;

use super::network_map::wrong;
use super::{LayoutError, LevelKind};

pub(super) use groups::Network;

/// The key and kind of the object that a line describes.
const GROUPS: [(&str, LevelKind); 3] = [
    ("switchname", LevelKind::Switch),
    ("blockname", LevelKind::Block),
    ("ringname", LevelKind::Ring),
];

/// Known keywords that are irrelevant here.
const PASSED: [&str; 2] = ["blocksizes", "linkspeed"];

/// True if the first line that is not a comment belongs to this format.
pub(super) fn begins(first: &str) -> bool {
    let key = first.split_once('=').map(|(key, _)| key.trim().to_ascii_lowercase());
    key.is_some_and(|key| key == PASSED[0] || GROUPS.iter().any(|(known, _)| key == *known))
}

pub(super) fn read(text: &str) -> Result<Network, LayoutError> {
    let mut network = Network::default();
    let mut whole = String::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.split('#').next().unwrap_or_default().trim();
        // A backslash at the end continues a line.
        if let Some(part) = text.strip_suffix('\\') {
            whole = whole + part + " ";
            continue;
        }
        whole += text;
        let mut group = None;
        let (mut children, mut nodes) = (None, None);
        for word in std::mem::take(&mut whole).split_whitespace() {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let key = key.to_ascii_lowercase();
            let place = match key.as_str() {
                "switches" => &mut children,
                "nodes" => &mut nodes,
                key if PASSED.contains(&key) => continue,
                key => match GROUPS.iter().find(|(known, _)| key == *known) {
                    Some((_, kind)) => {
                        group = Some((*kind, value.to_owned()));
                        continue;
                    }
                    None => {
                        network.fault(line, format!("unknown keyword '{word}'"));
                        continue;
                    }
                },
            };
            *place = Some(value.to_owned());
        }
        match group {
            Some((kind, name)) if !name.is_empty() => {
                network.group(line, kind, name);
                network.list(line, children.as_deref(), nodes.as_deref());
            }
            Some(_) => return Err(wrong(line, "a switch, block or ring has no name")),
            None if children.is_some() || nodes.is_some() => {
                network
                    .fault(line, "nodes or switches without the switch that connects them".into());
            }
            None => {}
        }
    }
    Ok(network)
}
