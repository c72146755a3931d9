//! The placements that were found for a kind of work on nodes of a shape: kept, since the search for them and their
//! replay would delay each job.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;

use cartograph_core::machine::Machine;
use cartograph_shim::splitmix::digest;

use super::arms::{Arm, Means};
use super::domains::Domains;
use crate::learn::Traffic;
use crate::store::{FORECASTS, Store};

/// The placements that `find` finds for a traffic on a machine, or as it found them in an earlier job.
pub(super) fn kept(
    store: &Store,
    (traffic, machine, domains): (&Traffic, &Machine, &Domains),
    means: &Means,
    devices: u32,
    find: impl FnOnce() -> Vec<Arm>,
) -> Vec<Arm> {
    let file = file((traffic, machine, domains), means, devices);
    let read = || serde_json::from_str::<Vec<Arm>>(&store.read(&file)?).ok();
    if let Some(found) = read().filter(|found| found.iter().all(|arm| is_right(arm, machine))) {
        return found;
    }
    let found = find();
    let text = serde_json::to_string(&found).expect("all keys are strings");
    let _ = store.folder(FORECASTS).and_then(|_| store.note(&file, &text));
    found
}

/// The name of the file: all that the placements depend on, the command with its search too.
fn file(
    (traffic, machine, domains): (&Traffic, &Machine, &Domains),
    means: &Means,
    devices: u32,
) -> String {
    let traffic = serde_json::to_string(traffic).expect("all keys are strings");
    let command = fs::metadata("/proc/self/exe").ok();
    let command = command.map(|file| (file.len(), file.mtime(), file.mtime_nsec()));
    let relays = matches!(means, Means::Relays(_));
    let text = format!("{traffic} {machine:?} {domains:?} {relays} {devices} {command:?}");
    format!("{FORECASTS}/{:016x}.json", digest(text.as_bytes()))
}

/// True if a placement is one of the ranks on the nodes of a machine: files may be damaged.
fn is_right(arm: &Arm, machine: &Machine) -> bool {
    let sizes_of = machine.node_sizes();
    let mut sizes = sizes_of.clone();
    let mut takes = |node: &u32| {
        let left = sizes.get_mut(*node as usize).filter(|left| **left > 0);
        left.map(|left| *left -= 1).is_some()
    };
    let mut taken = HashSet::new();
    let mut has_own = |(node, slot): (&u32, &u32)| {
        (*slot as usize) < sizes_of[*node as usize] && taken.insert((*node, *slot))
    };
    arm.node_of.len() == machine.ranks()
        && arm.node_of.iter().all(&mut takes)
        && (arm.slots.is_empty() || arm.slots.len() == machine.ranks())
        && arm.node_of.iter().zip(&arm.slots).all(&mut has_own)
        && arm.predicted.is_none_or(|gain| gain.is_finite() && gain > 0.0)
        && !arm.order.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::tests::{by_launcher, by_relays};

    #[test]
    fn placements_are_searched_for_once_per_traffic_nodes_means_and_devices() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::at(directory.path().to_owned()).unwrap();
        let arm = |node_of: &[u32]| Arm {
            order: "some order".into(),
            predicted: Some(1.3),
            busiest: Some(7),
            node_of: node_of.to_vec(),
            slots: Vec::new(),
        };
        let (traffic, machine) = (Traffic::default(), Machine::blocks(&[2, 2]));
        let searched_for = |traffic: &Traffic, machine: &Machine, means: &Means, devices: u32| {
            let mut is_searched = false;
            let find = || {
                is_searched = true;
                vec![arm(&[0, 1, 1, 0])]
            };
            assert_eq!(
                kept(&store, (traffic, machine, &[]), means, devices, find),
                [arm(&[0, 1, 1, 0])]
            );
            is_searched
        };
        let searched = |traffic: &Traffic, machine: &Machine, means: &Means| {
            searched_for(traffic, machine, means, 0)
        };
        let launcher = &by_launcher();
        assert!(searched(&traffic, &machine, launcher));
        assert!(!searched(&traffic, &machine, launcher));
        assert!(searched(&traffic, &Machine::from_ids(&[0, 1, 0, 1]), launcher));
        assert!(searched(&traffic, &machine, &by_relays()));
        assert!(searched_for(&traffic, &machine, launcher, 2));
        let text = |arm: Arm| serde_json::to_string(&[arm]).unwrap();
        let mut other = Traffic::default();
        other.network = Some((1e-6, 1e9));
        assert!(searched(&other, &machine, launcher));
        // A damaged file, and one whose placement would not fit.
        let damaged = store.directory.join(file((&traffic, &machine, &[]), launcher, 0));
        let twice = Arm { slots: vec![0, 0, 1, 0], ..arm(&[0, 1, 1, 0]) };
        for text in ["[", &text(arm(&[0, 0, 0, 1])), &text(twice)] {
            fs::write(&damaged, text).unwrap();
            assert!(searched(&traffic, &machine, launcher), "{text}");
            assert!(!searched(&traffic, &machine, launcher));
        }
    }
}
