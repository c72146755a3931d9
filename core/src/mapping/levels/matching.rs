//! From the nodes upward: what is together on a node stays so, and goes to the node where it is nearest to
//! what it sends to.

use std::collections::BTreeMap;

use super::multisection::multisect;
use crate::mapping::distance_model::DistanceModel;
use crate::mapping::refine::Budget;
use crate::mapping::subject::Divide;

/// The node for each of the parts that a mapping has made, one a node: part `i` has `takes[i]` vertices and
/// is meant for node `i`, and may go to any other that takes as many. `dividing` divides the graph of the
/// parts.
pub(in crate::mapping) fn match_parts_to_nodes(
    model: &DistanceModel,
    takes: &[u32],
    dividing: &mut impl Divide,
    budget: &mut Budget,
) -> Vec<u32> {
    let nodes = takes.len();
    let wanted = multisect(nodes, model, &vec![1; nodes], dividing, budget);
    // Where nodes differ in size, a part may find none of its own in the group that it was given. Each such
    // part gets one that no other part wanted, in the order of the groups, so that neighbors mostly stay so.
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
    node_of_part
}
