//! A priority queue of vertices whose priorities change.

use std::collections::BinaryHeap;

/// Vertices by gain. Among equal gains, the one that was added or changed last is first: moves then stay close
/// together, which finds better cuts.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// The entries: the gain, an increasing number, and the vertex. Outdated entries are skipped.
    heap: BinaryHeap<(i64, u64)>,
    /// The number of each vertex's last entry; 0 if it is not queued.
    latest: Vec<u32>,
    clock: u32,
}

impl Queue {
    /// An empty queue for vertices `0..vertices`.
    pub(super) fn new(vertices: usize) -> Self {
        Self { heap: BinaryHeap::new(), latest: vec![0; vertices], clock: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.heap.drain().for_each(|(_, entry)| self.latest[entry as u32 as usize] = 0);
    }

    /// The largest gain, and its vertex.
    pub(super) fn first(&mut self) -> Option<(i64, usize)> {
        while let Some((gain, entry)) = self.heap.peek() {
            let vertex = *entry as u32 as usize;
            if self.latest[vertex] == (*entry >> 32) as u32 {
                return Some((*gain, vertex));
            }
            self.heap.pop();
        }
        None
    }

    /// Adds a vertex, or changes its gain.
    pub(super) fn set(&mut self, vertex: usize, gain: i64) {
        self.clock += 1;
        self.latest[vertex] = self.clock;
        self.heap.push((gain, u64::from(self.clock) << 32 | vertex as u64));
    }

    /// Removes a vertex, if it is queued.
    pub(super) fn remove(&mut self, vertex: usize) {
        self.latest[vertex] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::search::rng::Rng;

    #[test]
    fn the_largest_gain_comes_first_after_changes() {
        let (mut queue, mut rng) = (Queue::new(100), Rng::new(1));
        let mut gains = [None; 100];
        for _ in 0..10_000 {
            let vertex = rng.below(100);
            if rng.below(3) == 0 {
                queue.remove(vertex);
                gains[vertex] = None;
            } else {
                let gain = rng.below(50) as i64 - 25;
                queue.set(vertex, gain);
                gains[vertex] = Some(gain);
            }
            assert_eq!(queue.first().map(|(gain, _)| gain), gains.iter().flatten().max().copied());
            assert!(queue.first().is_none_or(|(gain, vertex)| gains[vertex] == Some(gain)));
        }
        queue.set(3, 100);
        queue.set(4, 100);
        assert_eq!(queue.first(), Some((100, 4)));
        queue.clear();
        assert_eq!(queue.first(), None);
    }
}
