//! Grids whose processes get their ranks from an earlier grid.

use super::subject::Subject;
use crate::machine::Machine;
use crate::mapping::model::grid::Grid;
use crate::mapping::plan::{Options, Plan};

impl Plan {
    /// The algorithm of a plan that uses the order of another.
    pub const FOLLOWED: &str = "the order of an earlier grid";
}

/// The plan for a grid with these old ranks, or with all ranks kept, whatever it costs.
pub fn follow_cart(
    grid: &Grid,
    machine: &Machine,
    options: &Options,
    old_rank: Option<Box<[i32]>>,
) -> Plan {
    let bound = |sizes: &[usize]| grid.lower_bound(sizes);
    let plan = Plan::identity(grid, machine, &options.distances, bound);
    match old_rank {
        Some(old_rank) => plan.with_order(grid, machine, old_rank, Plan::FOLLOWED),
        None => plan,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::plan_grid;
    use crate::mapping::tests::nearest;

    #[test]
    fn a_follower_has_the_order_of_the_other_and_its_own_costs() {
        let machine = Machine::from_ids(&(0..16).map(|rank| rank % 4).collect::<Vec<_>>());
        let options = Options::default();
        let [open, closed] = [[false; 2], [true; 2]].map(|periods| nearest(&[4, 4], &periods));
        let first = plan_grid(&open, &machine, &options);
        let moved = first.old_rank.clone().expect("round-robin ranks are moved");
        let second = follow_cart(&closed, &machine, &options, Some(moved.clone()));
        assert_eq!(second.old_rank, Some(moved.clone()));
        let node_of: Vec<u32> = moved.iter().map(|rank| machine.nodes()[*rank as usize]).collect();
        use crate::mapping::Adjacency;
        assert_eq!(second.after, closed.cost(&node_of));
        assert!(second.after != first.after && second.algorithm == Plan::FOLLOWED);
        let kept = follow_cart(&closed, &machine, &options, None);
        assert_eq!((kept.old_rank, kept.after), (None, kept.before));
    }
}
