//! Checks that both ends of every edge of an adjacent distributed graph agree.

use cartograph_shim::splitmix::mix;

use super::arguments::{AdjacentArguments, EdgeWeights};
use super::comm::Comm;
use super::error::Error;
use super::exchange::{Item, deliver};
use super::faults::first_fault;
use crate::topology::Class;

/// The contribution of a rank's edges to a sum over all ranks: hashes of edges are added where they arrive and
/// subtracted where they leave. They have far fewer than 63 bits, so that a sum over a million ranks fits.
pub(super) fn imbalance(rank: i32, arguments: &AdjacentArguments<'_>) -> i64 {
    let add = |ranks: &[i32], weights: EdgeWeights<'_>, edge: &dyn Fn(i32) -> (i32, i32)| {
        let weight = |i: usize| weights.entries().get(i).copied().unwrap_or(0);
        let numbers = ranks.iter().enumerate().map(|(i, other)| number(edge(*other), weight(i)));
        numbers.fold(0u64, u64::wrapping_add)
    };
    let arriving = add(arguments.sources, arguments.source_weights, &|other| (other, rank));
    let leaving = add(arguments.destinations, arguments.dest_weights, &|other| (rank, other));
    arriving.wrapping_sub(leaving) as i64 & BALANCE
}

/// The bits of an imbalance.
const BALANCE: i64 = (1 << 40) - 1;

/// True if, by the sum of all imbalances, every edge is the same at both ends. If edges differ, one of 2^40 cases
/// passes.
pub(super) fn is_balanced(sum: i64) -> bool {
    sum & BALANCE == 0
}

/// A hash of an edge.
fn number((source, destination): (i32, i32), weight: i32) -> u64 {
    mix(mix((source as u64) << 32 | destination as u64).wrapping_add(weight as u64))
}

/// Checks that both ends of every edge agree, with one small reduction. `comm` is one of our own.
pub(super) fn check_edges<C: Comm>(
    comm: &C,
    arguments: &AdjacentArguments<'_>,
) -> Result<(), C::Error> {
    let mut sum = [imbalance(comm.rank()?, arguments)];
    comm.sum(&mut sum)?;
    match is_balanced(sum[0]) {
        true => Ok(()),
        false => Err(name_mismatch(comm, arguments)?.into()),
    }
}

/// Finds an edge on which its ends differ. Called only if there is one, and on a communicator of our own. O(degree log
/// degree) plus the messages.
fn name_mismatch<C: Comm>(comm: &C, arguments: &AdjacentArguments<'_>) -> Result<Error, C::Error> {
    let rank = comm.rank()?;
    let listed = |ranks: &[i32], weights: EdgeWeights<'_>| -> Vec<(i32, i32)> {
        let weight = |i: usize| weights.entries().get(i).copied().unwrap_or(0);
        ranks.iter().enumerate().map(|(i, other)| (*other, weight(i))).collect()
    };
    let items = listed(arguments.destinations, arguments.dest_weights)
        .into_iter()
        .map(|(to, weight)| Item { to, from: rank, words: [weight] })
        .collect();
    let arrived = deliver(comm, items)?;
    let theirs = arrived.iter().map(|item| (item.from, item.words[0])).collect();
    let own = listed(arguments.sources, arguments.source_weights);
    let fault = first_mismatch(own, theirs).map(|((from, weight), [own, theirs])| {
        let weight = match arguments.source_weights.weighted() {
            Some(true) => format!(" of weight {weight}"),
            _ => String::new(),
        };
        format!(
            "sources name rank {from} {own} times{weight}, but destinations on rank {from} name rank {rank} {theirs} times{weight}; each edge must be given at both ends"
        )
    });
    Ok(first_fault(comm, fault)?.unwrap_or(Error::OnRank {
        rank: 0,
        class: Class::Arg,
        text: "sources and destinations do not name the same edges".into(),
    }))
}

/// The least entry whose number in two lists differs, and its number in each.
fn first_mismatch(
    mut own: Vec<(i32, i32)>,
    mut theirs: Vec<(i32, i32)>,
) -> Option<((i32, i32), [usize; 2])> {
    own.sort_unstable();
    theirs.sort_unstable();
    let at = own.iter().zip(&theirs).take_while(|(own, theirs)| own == theirs).count();
    let edge = [own.get(at), theirs.get(at)].into_iter().flatten().min().copied()?;
    let count = |list: &[(i32, i32)]| {
        list.partition_point(|entry| *entry <= edge) - list.partition_point(|entry| *entry < edge)
    };
    Some((edge, [count(&own), count(&theirs)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_mismatch_is_found_and_counted() {
        let edges = |ranks: &[i32]| ranks.iter().map(|rank| (*rank, 0)).collect::<Vec<_>>();
        let found = |own: &[i32], theirs: &[i32]| {
            first_mismatch(edges(own), edges(theirs)).map(|((rank, _), counts)| (rank, counts))
        };
        assert_eq!(found(&[], &[]), None);
        assert_eq!(found(&[3, 1, 2], &[2, 3, 1]), None);
        assert_eq!(found(&[1], &[]), Some((1, [1, 0])));
        assert_eq!(found(&[5, 1, 5], &[5, 1]), Some((5, [2, 1])));
        assert_eq!(found(&[5, 1, 5], &[5, 1, 4]), Some((4, [0, 1])));
        assert_eq!(found(&[2, 2, 9], &[2, 2, 2, 9]), Some((2, [2, 3])));
        assert_eq!(found(&[7, 8], &[8, 9]), Some((7, [1, 0])));
    }
}
