//! A sparse exchange: routes items to the ranks that they name, without a table of all ranks.
//!
//! In round k, every rank sends all items with 2^k in their remaining distance to the rank 2^k further on. So each item
//! arrives after at most log2(P) hops, and each rank sends log2(P) messages however few items there are (Bruck et al.,
//! 1997, for the index operation). The host needs only a send and a receive.

use super::comm::Comm;

/// A message of `N` words to another rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item<const N: usize> {
    /// The rank it goes to.
    pub to: i32,
    /// The rank that sent it.
    pub from: i32,
    /// Its words.
    pub words: [i32; N],
}

impl<const N: usize> Item<N> {
    fn flatten(items: &[Self]) -> Vec<i32> {
        items.iter().flat_map(|item| [item.to, item.from].into_iter().chain(item.words)).collect()
    }

    fn unflatten(words: &[i32]) -> impl Iterator<Item = Self> {
        words.chunks_exact(N + 2).map(|chunk| Self {
            to: chunk[0],
            from: chunk[1],
            words: chunk[2..].try_into().expect("a chunk of two more"),
        })
    }
}

/// Delivers the items of all ranks. Returns those for this rank, ordered by sender, and for one sender in the
/// order sent. Collective.
///
/// # Errors
///
/// The errors of the communicator's own methods.
pub fn deliver<C: Comm, const N: usize>(
    comm: &C,
    items: Vec<Item<N>>,
) -> Result<Vec<Item<N>>, C::Error> {
    let (rank, size) = (i64::from(comm.rank()?), i64::from(comm.size()?));
    let mut here = items;
    let mut hop = 1;
    while hop < size {
        let distance = |item: &Item<N>| (i64::from(item.to) - rank).rem_euclid(size);
        let (going, staying): (Vec<_>, Vec<_>) =
            here.into_iter().partition(|item| distance(item) & hop != 0);
        let to = (rank + hop).rem_euclid(size) as i32;
        let from = (rank - hop).rem_euclid(size) as i32;
        let arrived = comm.send_receive(to, &Item::flatten(&going), from)?;
        here = staying;
        here.extend(Item::unflatten(&arrived));
        hop *= 2;
    }
    // Items from one sender to one receiver all take the same route, so a stable sort keeps their order.
    here.sort_by_key(|item| item.from);
    Ok(here)
}

#[cfg(test)]
mod tests {
    use super::super::sim;
    use super::*;

    #[test]
    fn everything_arrives_once_in_the_order_of_its_sender() {
        for size in 1..=17 {
            // Rank r sends to rank d the numbers 0..(3 r + 5 d) % 4, counted over all its items.
            let amount = |from: i32, to: i32| (3 * from + 5 * to) % 4;
            let arrived = sim::run(size, |comm| {
                let rank = comm.rank().unwrap();
                let mut items = Vec::new();
                for n in 0..4 {
                    for to in (0..size).rev().filter(|to| n < amount(rank, *to)) {
                        items.push(Item { to, from: rank, words: [n] });
                    }
                }
                deliver(comm, items).unwrap()
            });
            for (rank, items) in arrived.iter().enumerate() {
                let expected: Vec<_> = (0..size)
                    .flat_map(|from| {
                        let to = rank as i32;
                        (0..amount(from, to)).map(move |n| Item { to, from, words: [n] })
                    })
                    .collect();
                assert_eq!(*items, expected, "rank {rank} of {size}");
            }
        }
    }
}
