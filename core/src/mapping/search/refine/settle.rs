//! Makes sizes exact: vertices move from part to part along the cheapest path from each part that is too large to one
//! that is too small.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::mapping::budget::Budget;
use crate::mapping::model::csr::Csr;

/// The fraction of a surplus that is moved at once: one divided by this number.
const AT_ONCE: usize = 4;

/// Moves vertices until each part has its number of vertices; `excess` is the number beyond that, and its sum is 0.
/// `graph` is symmetric: see [`super`].
pub(in crate::mapping) fn settle(
    graph: &Csr,
    part: Vec<u32>,
    excess: Vec<i64>,
    budget: &mut Budget,
) -> Vec<u32> {
    let mut members = vec![Vec::new(); excess.len()];
    // Vertex 0 stays.
    (1..).zip(&part[1..]).for_each(|(vertex, part)| members[*part as usize].push(vertex));
    // The cost of leaving each part, computed when needed, and again when the part has changed.
    let mut costs: Vec<Option<Costs>> = vec![None; excess.len()];
    let mut parts = Parts { graph, gains: Gains::new(excess.len()), part, excess, members };
    while let Some(from) = parts.excess.iter().position(|excess| *excess > 0) {
        let path = parts.path(from as u32, &mut costs, budget);
        let room = path.last().map_or(0, |end| -parts.excess[*end as usize]);
        // Only a fraction, since each move changes the costs of others.
        let mut count = (parts.excess[from].min(room) as usize).div_ceil(AT_ONCE);
        let mut at = from as u32;
        for to in path {
            count = parts.shift((at, to), count, budget);
            costs[at as usize] = None;
            costs[to as usize] = None;
            at = to;
        }
    }
    parts.part
}

/// The same parts, but with vertex 0 in part 0: this swaps names with the part of vertex 0, and then both get their
/// sizes back.
pub(in crate::mapping) fn first_on_first(
    graph: &Csr,
    mut part: Vec<u32>,
    parts: usize,
    budget: &mut Budget,
) -> Vec<u32> {
    let own = part[0];
    if own == 0 {
        return part;
    }
    let mut excess = vec![0; parts];
    for part in &mut part {
        *part = match *part {
            0 => own,
            part if part == own => 0,
            part => part,
        };
        let sign = i64::from(*part == 0) - i64::from(*part == own);
        excess[0] += sign;
        excess[own as usize] -= sign;
    }
    settle(graph, part, excess, budget)
}

/// The other parts, ascending, and the cost of the cheapest move to each.
type Costs = Vec<(u32, i64)>;

struct Parts<'a> {
    graph: &'a Csr,
    gains: Gains,
    part: Vec<u32>,
    excess: Vec<i64>,
    members: Vec<Vec<u32>>,
}

impl Parts<'_> {
    /// The parts after `from` on the cheapest path to a part that is too small.
    fn path(&mut self, from: u32, costs: &mut [Option<Costs>], budget: &mut Budget) -> Vec<u32> {
        let mut reached: Vec<Option<(i64, u32)>> = vec![None; costs.len()];
        reached[from as usize] = Some((0, from));
        let mut next = BinaryHeap::from([(Reverse(0), from)]);
        while let Some((Reverse(cost), part)) = next.pop() {
            if self.excess[part as usize] < 0 {
                let before = |at: &u32| reached[*at as usize].map(|(_, before)| before);
                let back = std::iter::successors(Some(part), before);
                let mut path: Vec<u32> = back.take_while(|at| *at != from).collect();
                path.reverse();
                return path;
            }
            let of_part = costs[part as usize].get_or_insert_with(|| self.costs(part, budget));
            for (to, change) in of_part.iter() {
                // A move that gains counts as free.
                let cost = cost + change.max(&0) + 1;
                if reached[*to as usize].is_none_or(|(least, _)| cost < least) {
                    reached[*to as usize] = Some((cost, part));
                    next.push((Reverse(cost), *to));
                }
            }
        }
        // No part has edges to it.
        let room = self.excess.iter().position(|excess| *excess < 0);
        room.map(|part| part as u32).into_iter().collect()
    }

    /// The cost of the cheapest move out of a part, by target.
    fn costs(&mut self, part: u32, budget: &mut Budget) -> Costs {
        let mut costs = Costs::new();
        for vertex in &self.members[part as usize] {
            budget.spend(1 + self.graph.row(*vertex as usize).len());
            let gains = self.gains.of(self.graph, &self.part, *vertex as usize);
            costs.extend(gains.map(|(part, gain)| (part, -gain)));
        }
        costs.sort_unstable();
        costs.dedup_by_key(|(part, _)| *part);
        costs
    }

    /// Moves this number of vertices, or all at the border if these are fewer, from a part to an adjacent one, cheapest
    /// first. Returns the number moved.
    fn shift(&mut self, (from, to): (u32, u32), count: usize, budget: &mut Budget) -> usize {
        let mut choices: Vec<(i64, u32)> = Vec::new();
        for vertex in &self.members[from as usize] {
            budget.spend(1 + self.graph.row(*vertex as usize).len());
            let gains = self.gains.of(self.graph, &self.part, *vertex as usize);
            let moves = gains.filter(|(part, _)| *part == to).map(|(_, gain)| (-gain, *vertex));
            choices.extend(moves.min());
        }
        choices.sort_unstable();
        // A part without edges to others can be reached directly.
        if choices.is_empty() {
            choices.extend(self.members[from as usize].first().map(|vertex| (0, *vertex)));
        }
        choices.truncate(count);
        for (_, vertex) in &choices {
            self.part[*vertex as usize] = to;
            self.members[to as usize].push(*vertex);
        }
        self.excess[from as usize] -= choices.len() as i64;
        self.excess[to as usize] += choices.len() as i64;
        let part = &self.part;
        self.members[from as usize].retain(|member| part[*member as usize] == from);
        choices.len()
    }
}

/// Scratch space for finding the gains of moves.
pub(in crate::mapping) struct Gains {
    /// The weight of a vertex's edges to each other part, all 0 between uses.
    weight_to: Vec<i64>,
    /// The parts to which there are edges.
    touched: Vec<u32>,
}

impl Gains {
    pub(in crate::mapping) fn new(parts: usize) -> Self {
        Self { weight_to: vec![0; parts], touched: Vec::new() }
    }

    /// The other parts to which a vertex has edges, and the decrease of the cut by moving it there. A part may occur
    /// again, with a smaller value, if there are negative weights.
    pub(in crate::mapping) fn of(
        &mut self,
        graph: &Csr,
        part: &[u32],
        vertex: usize,
    ) -> impl Iterator<Item = (u32, i64)> + '_ {
        let own = part[vertex];
        let mut inside = 0;
        for (to, weight) in graph.edges(vertex) {
            if part[to] == own {
                inside += weight;
            } else {
                let weight_to = &mut self.weight_to[part[to] as usize];
                if *weight_to == 0 {
                    self.touched.push(part[to]);
                }
                *weight_to += weight;
            }
        }
        let weight_to = &mut self.weight_to;
        let others = self.touched.drain(..);
        others.map(move |part| (part, std::mem::take(&mut weight_to[part as usize]) - inside))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_the_order_of_vertices_and_sizes_stay() {
        let path = (0..9).flat_map(|v| [(v, v + 1, 1), (v + 1, v, 1)]);
        let path = Csr::from_edges(10, path);
        let mut budget = Budget::seconds(1.0);
        let mut moved = |part: &[u32]| first_on_first(&path, part.to_vec(), 3, &mut budget);
        assert_eq!(moved(&[0, 0, 0, 1, 1, 1, 1, 1, 2, 2]), [0, 0, 0, 1, 1, 1, 1, 1, 2, 2]);
        assert_eq!(moved(&[1, 1, 1, 2, 2, 2, 2, 0, 0, 0]), [0, 0, 0, 2, 2, 2, 2, 1, 1, 1]);
        // Two vertices of the long part go to its neighbor, and two of that one to the short part.
        assert_eq!(moved(&[2, 2, 2, 2, 2, 1, 1, 0, 0, 0]), [0, 0, 0, 1, 1, 2, 2, 2, 2, 2]);
    }
}
