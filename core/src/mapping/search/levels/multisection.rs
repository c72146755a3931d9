//! From the top down: vertices are divided among the outermost groups, then those of each group among its subgroups.

use crate::mapping::budget::Budget;
use crate::mapping::distance::distance_model::DistanceModel;
use crate::mapping::search::subject::Divide;

/// The node of each of `0..vertices`. Node `i` of the model gets `takes[i]` of them; these numbers are not 0, and their
/// sum is `vertices`.
pub(in crate::mapping) fn multisect(
    vertices: usize,
    model: &DistanceModel,
    takes: &[u32],
    dividing: &mut impl Divide,
    budget: &mut Budget,
) -> Vec<u32> {
    let all: Vec<u32> = (0..vertices as u32).collect();
    let nodes: Vec<u32> = (0..takes.len() as u32).collect();
    let mut node_of = vec![0; vertices];
    let mut search = Multisection { model, takes, dividing, node_of: &mut node_of };
    search.descend(&all, &nodes, 0, budget);
    node_of
}

struct Multisection<'a, D> {
    model: &'a DistanceModel,
    takes: &'a [u32],
    dividing: &'a mut D,
    node_of: &'a mut [u32],
}

impl<D: Divide> Multisection<'_, D> {
    /// Assigns vertices to nodes in one group of the level above `level`.
    fn descend(&mut self, vertices: &[u32], nodes: &[u32], level: usize, budget: &mut Budget) {
        if let [node] = nodes {
            vertices.iter().for_each(|vertex| self.node_of[*vertex as usize] = *node);
            return;
        }
        let innermost = level == self.model.depth();
        if innermost && vertices.len() == nodes.len() {
            // One vertex each, and all nodes are equally far apart.
            let places = vertices.iter().zip(nodes);
            places.for_each(|(vertex, node)| self.node_of[*vertex as usize] = *node);
            return;
        }
        let group = |node: u32| if innermost { node } else { self.model.group(level, node) };
        let mut children: Vec<Vec<u32>> = Vec::new();
        let mut number = std::collections::HashMap::new();
        for node in nodes {
            let child = *number.entry(group(*node)).or_insert(children.len());
            if child == children.len() {
                children.push(Vec::new());
            }
            children[child].push(*node);
        }
        if children.len() == 1 {
            return self.descend(vertices, nodes, level + 1, budget);
        }
        let size = |nodes: &Vec<u32>| {
            nodes.iter().map(|node| self.takes[*node as usize] as usize).sum::<usize>()
        };
        let sizes: Vec<usize> = children.iter().map(size).collect();
        // Levels above are set once, levels below for every group again.
        let levels = self.model.depth() + 1 - level;
        let mut share = budget.split(levels as i64);
        let part = self.dividing.divide(vertices, &sizes, &mut share);
        budget.put_back(share);
        let mut divided: Vec<Vec<u32>> =
            sizes.iter().map(|size| Vec::with_capacity(*size)).collect();
        for (vertex, part) in vertices.iter().zip(&part) {
            divided[*part as usize].push(*vertex);
        }
        drop(part);
        let mut left = vertices.len();
        for (nodes, vertices) in children.iter().zip(divided) {
            let mut share = budget.portion(vertices.len(), left);
            left -= vertices.len();
            self.descend(&vertices, nodes, level + 1, &mut share);
            budget.put_back(share);
        }
    }
}
