//! The order of MPI_COMM_WORLD in a profile.

use std::collections::HashMap;

use serde::Deserialize;

/// The second line of a profile.
#[derive(Deserialize)]
struct Line {
    /// The new rank of each process, in start order.
    new_ranks: Vec<u32>,
    /// The node of each new rank.
    node_of_rank: Vec<u32>,
}

/// A valid order: each rank occurs once, and rank 0 is first.
#[derive(Debug)]
pub struct Order {
    /// The new rank of each process, in start order.
    pub new_ranks: Vec<i32>,
    /// The node of each new rank.
    pub node_of_rank: Vec<u32>,
}

impl Order {
    /// Reads the order of `size` processes from the text of a profile's file.
    ///
    /// # Errors
    ///
    /// Why the profile is not used, as text that follows the file's name.
    pub fn parse(text: &str, size: usize) -> Result<Self, String> {
        let line = text.split_once('\n').map_or("", |(_, line)| line);
        let Line { new_ranks, node_of_rank } = serde_json::from_str(line)
            .map_err(|error| format!("has no order of ranks in its second line: {error}"))?;
        if new_ranks.len() != size {
            return Err(format!("is for {} processes, but the job has {size}", new_ranks.len()));
        }
        let mut is_taken = vec![false; size];
        let all_differ = new_ranks.iter().all(|rank| {
            is_taken.get_mut(*rank as usize).is_some_and(|taken| !std::mem::replace(taken, true))
        });
        if !all_differ || node_of_rank.len() != size || new_ranks.first() != Some(&0) {
            return Err("has no order in which rank 0 stays and each rank comes once".to_owned());
        }
        // Each new rank is less than the number of processes.
        let new_ranks = new_ranks.into_iter().map(|rank| rank as i32).collect();
        Ok(Self { new_ranks, node_of_rank })
    }

    /// True if processes were started on nodes like those for which the order was made, regardless of their names.
    /// `lowest` has the lowest rank on the node of each process.
    pub fn is_for(&self, lowest: &[i32]) -> bool {
        let mut lowest_of = HashMap::new();
        let nodes = self.new_ranks.iter().map(|new| self.node_of_rank[*new as usize]);
        let alike = nodes.zip(lowest).all(|(node, lowest)| {
            let first = *lowest_of.entry(node).or_insert(*lowest);
            first == *lowest
        });
        let nodes = (0..).zip(lowest).filter(|(old, lowest)| old == *lowest).count();
        alike && nodes == lowest_of.len()
    }
}
