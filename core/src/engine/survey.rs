//! Facts about the processes of a communicator that rank 0 cannot know without the others: all processes determine them
//! together.

use super::advisor::Advisor;
use super::comm::Comm;
use super::history::{Order, seat};

/// True if rank 0 must ask the others for their identities, or for the topologies in which they have ranks. Only on
/// rank 0.
pub(super) fn needs_survey<C: Comm>(advisor: &impl Advisor<C>) -> bool {
    let (history, process) = (advisor.history(), advisor.process());
    advisor.identities().is_none_or(|known| {
        let size = known.of_ranks.len() as i32;
        !known.are_part(history, process) && history.has_place(process, size + 1)
    })
}

/// Facts about the processes of a communicator that all of them determine together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Survey {
    pub(super) order: Order,
    /// True if all of them have ranks in one topology that also has other processes.
    pub(super) is_part: bool,
}

/// The number of topologies of rank 0 that others are asked about.
const ASKED: usize = 8;

impl Survey {
    /// Collective.
    pub(super) fn of<C: Comm>(comm: &C, advisor: &impl Advisor<C>) -> Result<Self, C::Error> {
        let (rank, size) = (comm.rank()?, comm.size()?);
        let own: Vec<u64> = advisor.history().larger(advisor.process(), size).collect();
        let mut asked = [[0; 8]; ASKED];
        if rank == 0 {
            asked.iter_mut().zip(&own).for_each(|(to, id)| *to = id.to_le_bytes());
        }
        comm.broadcast(0, asked.as_flattened_mut())?;
        let [low, high] = seat(advisor.identity(), rank);
        let has = |id: &[u8; 8]| i64::from(own.contains(&u64::from_le_bytes(*id)));
        let mut words = [low, high].into_iter().chain(asked.iter().map(has)).collect::<Vec<_>>();
        comm.sum(&mut words)?;
        let is_part = words[2..].contains(&i64::from(size));
        Ok(Self { order: Order::of_sum([words[0], words[1]]), is_part })
    }
}

/// The order of the processes of `comm` by their new ranks, without processes that have none. Collective.
pub(super) fn order_of_new_ranks<C: Comm>(
    comm: &C,
    identity: u64,
    new_rank: Option<i32>,
) -> Result<Order, C::Error> {
    let mut words = new_rank.map_or([0; 2], |rank| seat(identity, rank));
    comm.sum(&mut words)?;
    Ok(Order::of_sum(words))
}
