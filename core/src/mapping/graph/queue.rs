//! A priority queue of vertices whose priorities change.

const OUT: u32 = u32::MAX;

/// A binary heap of vertices by gain. Of equal gains, the one that came or changed last is first:
/// moves then stay close together, which finds better cuts.
#[derive(Debug, Default)]
pub(super) struct Queue {
    heap: Vec<(i64, u32, u32)>,
    /// The position of each vertex in the heap.
    place: Vec<u32>,
    clock: u32,
}

impl Queue {
    /// An empty queue for vertices `0..vertices`.
    pub(super) fn new(vertices: usize) -> Self {
        Self { heap: Vec::new(), place: vec![OUT; vertices], clock: 0 }
    }

    pub(super) fn clear(&mut self) {
        for (_, _, vertex) in self.heap.drain(..) {
            self.place[vertex as usize] = OUT;
        }
    }

    /// The gain of the first, and which it is.
    pub(super) fn first(&self) -> Option<(i64, usize)> {
        self.heap.first().map(|(gain, _, vertex)| (*gain, *vertex as usize))
    }

    /// Puts a vertex in, or changes its gain.
    pub(super) fn set(&mut self, vertex: usize, gain: i64) {
        self.clock = self.clock.wrapping_add(1);
        let entry = (gain, self.clock, vertex as u32);
        match self.place[vertex] {
            OUT => {
                self.heap.push(entry);
                self.rise(self.heap.len() - 1);
            }
            at => {
                let at = at as usize;
                let before = self.heap[at];
                self.heap[at] = entry;
                if entry > before { self.rise(at) } else { self.sink(at) }
            }
        }
    }

    /// Takes a vertex out, if it is in.
    pub(super) fn remove(&mut self, vertex: usize) {
        let at = self.place[vertex];
        if at == OUT {
            return;
        }
        let at = at as usize;
        self.place[vertex] = OUT;
        let last = self.heap.pop().expect("it has the vertex");
        if at < self.heap.len() {
            let before = self.heap[at];
            self.heap[at] = last;
            if last > before { self.rise(at) } else { self.sink(at) }
        }
    }

    fn rise(&mut self, mut at: usize) {
        let entry = self.heap[at];
        while at > 0 {
            let above = (at - 1) / 2;
            if self.heap[above] >= entry {
                break;
            }
            self.put(at, self.heap[above]);
            at = above;
        }
        self.put(at, entry);
    }

    fn sink(&mut self, mut at: usize) {
        let entry = self.heap[at];
        loop {
            let mut below = 2 * at + 1;
            if below >= self.heap.len() {
                break;
            }
            if below + 1 < self.heap.len() && self.heap[below + 1] > self.heap[below] {
                below += 1;
            }
            if self.heap[below] <= entry {
                break;
            }
            self.put(at, self.heap[below]);
            at = below;
        }
        self.put(at, entry);
    }

    fn put(&mut self, at: usize, entry: (i64, u32, u32)) {
        self.heap[at] = entry;
        self.place[entry.2 as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::rng::Rng;

    #[test]
    fn gives_the_largest_gain_first_whatever_changed() {
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
