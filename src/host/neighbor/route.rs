//! Decides where nonblocking and persistent collectives are the [host's own](super::via_neighbor), and where
//! [an all-to-all](super::via_alltoallw): one way for a communicator, which its processes agree on when they make it.
//!
//! On large communicators an all-to-all takes longer, since it looks at each process. On small ones it takes less, but
//! has one block for each process: where a process is a neighbor more than once, its blocks would be one datatype, which
//! hosts pack where they copy a contiguous block at once, and which is wrong where there is more room than is sent.

use super::via_neighbor;
use crate::host::settings::Settings;
use crate::settings::Neighbor;

/// The fewest processes for which it takes fewer instructions than an all-to-all, on MPICH 4.0.2 and 5.0.2, Open MPI
/// 4.1.4 and 5.0.11: `PARTS=neighbor_count make bench`.
const FEWEST: i32 = 64;

/// Returns whether this process would have them be the host's own on a new communicator of `processes`, on which a
/// process is a neighbor of a process more than once or not. Local.
pub(in crate::host) fn wanted(processes: i32, repeated: &dyn Fn() -> bool) -> bool {
    let wanted = match Settings::get().neighbor {
        _ if processes < 2 => false,
        Neighbor::AllToAll => false,
        Neighbor::Graph => true,
        Neighbor::ByNeighbors => processes >= FEWEST || repeated(),
    };
    wanted && via_neighbor::is_right()
}
