//! The devices of nodes that a program's ranks use, and whether ranks choose them by their numbers: `rank % devices` is
//! right in the default order, and not in all placements.

use std::collections::HashMap;

use cartograph_traffic::{Device, Recording};
use serde::{Deserialize, Serialize};

/// The most placements that are known to be crowded.
const MOST_CROWDED: usize = 100;

/// The facts about a program's devices.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Devices {
    /// The number of devices that each process may use; 0 if it differs.
    count: u32,
    /// True if ranks choose devices by their numbers, and false if they choose otherwise; `None` if both would be the
    /// same in all jobs so far.
    by_rank: Option<bool>,
    /// The most ranks of a node that used one device in the default order.
    on_one: u32,
    /// The placements in which more did.
    crowded: Vec<String>,
}

impl Devices {
    /// The number of devices of which each node must have as many ranks of each remainder as in the default order; 0 if
    /// all placements are right.
    pub fn limit(&self) -> u32 {
        if self.by_rank == Some(false) { 0 } else { self.count }
    }

    /// True if more ranks of a node used one device in this placement than in the default order.
    pub fn are_crowded(&self, order: &str) -> bool {
        self.crowded.iter().any(|known| known == order)
    }

    /// The same for jobs of other users, or with other numbers of processes.
    pub(super) fn of_others(self) -> Self {
        Self { on_one: 0, crowded: Vec::new(), ..self }
    }

    /// Notes the devices of a job, whose placement is empty in the default order. If more ranks of a node used one device
    /// than in the default order, the result is both numbers.
    pub fn note(
        &mut self,
        recording: &Recording,
        node_of: &[u32],
        order: &str,
    ) -> Option<(u32, u32)> {
        let used = &recording.devices;
        let first = used.values().next()?;
        let is_same = |device: &Device| device.visible == first.visible;
        self.count = if used.values().all(is_same) { first.visible } else { 0 };
        let (mut local, mut places) = (HashMap::new(), Vec::with_capacity(node_of.len()));
        for node in node_of {
            let next = local.entry(node).or_insert(0u32);
            places.push(*next);
            *next += 1;
        }
        let mut ranks: HashMap<(u32, &str), u32> = HashMap::new();
        let (mut by_rank, mut by_place) = (true, true);
        for (rank, device) in used {
            let place = *places.get(*rank as usize)?;
            by_rank &= device.number == rank % device.visible.max(1);
            by_place &= device.number == place % device.visible.max(1);
            *ranks.entry((node_of[*rank as usize], &device.bus)).or_default() += 1;
        }
        if by_rank != by_place || !by_rank {
            self.by_rank = Some(by_rank);
        }
        let most = ranks.into_values().max()?;
        if order.is_empty() {
            self.on_one = most;
        } else if self.on_one > 0 && most > self.on_one {
            if !self.are_crowded(order) && self.crowded.len() < MOST_CROWDED {
                self.crowded.push(order.to_owned());
            }
            return Some((most, self.on_one));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job whose ranks use devices by this function of their number and of their place on their node.
    fn job(node_of: &[u32], number: impl Fn(u32, u32) -> u32) -> Recording {
        let place = |rank: usize| {
            node_of[..rank].iter().filter(|node| **node == node_of[rank]).count() as u32
        };
        let device = |rank: usize| {
            let number = number(rank as u32, place(rank));
            (rank as u32, Device { number, visible: 2, bus: format!("0000:0{number}:00.0") })
        };
        let devices = (0..node_of.len()).map(device).collect();
        Recording { size: node_of.len() as u32, devices, ..Recording::default() }
    }

    const BLOCKS: [u32; 8] = [0, 0, 0, 0, 1, 1, 1, 1];
    const MIXED: [u32; 8] = [0, 1, 1, 0, 0, 1, 1, 0];
    const EVEN: [u32; 8] = [0, 1, 0, 1, 0, 1, 0, 1];

    #[test]
    fn ranks_that_choose_by_number_limit_placements() {
        let by_rank = |rank: u32, _| rank % 2;
        let mut devices = Devices::default();
        assert_eq!((devices.note(&job(&BLOCKS, by_rank), &BLOCKS, ""), devices.limit()), (None, 2));
        // Nodes with even and odd ranks: both devices are used, in another order of ranks.
        assert_eq!(devices.note(&job(&MIXED, by_rank), &MIXED, "mixed"), None);
        assert_eq!(devices.by_rank, Some(true));
        // Nodes with even or odd ranks.
        assert_eq!(devices.note(&job(&EVEN, by_rank), &EVEN, "even"), Some((4, 2)));
        assert!(devices.are_crowded("even") && !devices.are_crowded("mixed"));
        assert_eq!(devices.limit(), 2);
    }

    #[test]
    fn ranks_that_choose_by_place_do_not_limit_placements() {
        let by_place = |_, place: u32| place % 2;
        let mut devices = Devices::default();
        assert_eq!(devices.note(&job(&BLOCKS, by_place), &BLOCKS, ""), None);
        // In the default order, both rules choose the same devices.
        assert_eq!(devices.limit(), 2);
        assert_eq!(devices.note(&job(&EVEN, by_place), &EVEN, "even"), None);
        assert_eq!(devices.limit(), 0);
        let mut others = Devices::default();
        others.note(&job(&BLOCKS, |rank, _| u32::from(rank > 3)), &BLOCKS, "");
        assert_eq!(others.limit(), 0);
    }

    #[test]
    fn processes_with_one_visible_device_have_no_limit() {
        let mut recording = job(&BLOCKS, |_, _| 0);
        recording.devices.values_mut().for_each(|device| device.visible = 1);
        let mut devices = Devices::default();
        assert_eq!((devices.note(&recording, &BLOCKS, ""), devices.limit()), (None, 1));
        recording.devices.clear();
        let mut none = Devices::default();
        assert_eq!((none.note(&recording, &BLOCKS, ""), none), (None, Devices::default()));
    }
}
