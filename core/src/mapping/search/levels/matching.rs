//! From the nodes upward: the parts on nodes stay together, and each goes to the node where it is nearest to the parts
//! that it sends to.

use std::collections::BTreeMap;

use super::multisection::multisect;
use crate::mapping::budget::Budget;
use crate::mapping::distance::distance_model::DistanceModel;
use crate::mapping::model::cost::Adjacency;
use crate::mapping::model::csr::Csr;
use crate::mapping::search::graph::{GraphDivider, STEP, seconds_for};

/// The same parts of a mapping, each on the node, among those with parts of the same size, where it is nearest to the
/// parts that it sends to.
pub(in crate::mapping) fn rematch(
    edges: &impl Adjacency,
    node_of: &[u32],
    model: &DistanceModel,
    budget: &mut Budget,
) -> Vec<u32> {
    let mut takes = vec![0; model.nodes()];
    node_of.iter().for_each(|node| takes[*node as usize] += 1);
    let used: Vec<u32> = (0..takes.len() as u32).filter(|node| takes[*node as usize] > 0).collect();
    let mut part = vec![0; takes.len()];
    used.iter().zip(0..).for_each(|(node, at)| part[*node as usize] = at);
    let part_of: Vec<u32> = node_of.iter().map(|node| part[*node as usize]).collect();
    let takes: Vec<u32> = used.iter().map(|node| takes[*node as usize]).collect();
    let model = &model.select(&used);
    let nodes = used.len();
    let between = Csr::contracted(edges, &part_of, nodes).symmetric();
    // The time for dividing a graph once, without refining it for nodes.
    let mut share = budget.at_most(Budget::seconds(STEP * seconds_for(&between, nodes) / 2.5), 1);
    let mut dividing = GraphDivider::new(&between);
    let wanted = multisect(nodes, model, &vec![1; nodes], &mut dividing, &mut share);
    budget.put_back(share);
    // If nodes differ in size, a part may find no node of its size in its group. Each such part gets one that no other
    // part wanted, in the order of the groups, so that neighbors usually stay neighbors.
    let innermost = model.depth() - 1;
    let group = |node: u32| model.group(innermost, node);
    // By size and group.
    let mut free: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    for node in (0..nodes as u32).rev() {
        free.entry((takes[node as usize], group(node))).or_default().push(node);
    }
    let mut left: Vec<usize> = Vec::new();
    let mut node_of_part = vec![0; nodes];
    for (part, wanted) in wanted.iter().enumerate() {
        match free.get_mut(&(takes[part], group(*wanted))).and_then(Vec::pop) {
            Some(node) => node_of_part[part] = node,
            None => left.push(part),
        }
    }
    left.sort_by_key(|part| wanted[*part]);
    for part in left {
        let mut of_size = free.range_mut((takes[part], 0)..=(takes[part], u32::MAX));
        let node = of_size.find_map(|(_, nodes)| nodes.pop());
        node_of_part[part] = node.expect("as many nodes as parts");
    }
    part_of.into_iter().map(|part| used[node_of_part[part as usize] as usize]).collect()
}
