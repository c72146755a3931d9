//! Decides whether nonblocking and persistent collectives are [native](super::via_neighbor) or [an
//! all-to-all](super::via_alltoallw): one route per communicator, on which its processes agree when they create it.
//!
//! On large communicators an all-to-all takes longer, since it looks at each process. On small ones it takes less, but
//! has one block for each process: if a process is a neighbor more than once, its blocks would be one datatype, which
//! hosts pack instead of copying contiguous blocks, and which is wrong if a receive buffer is larger than the message.

use super::via_neighbor;
use crate::host::settings::Settings;
use crate::settings::Neighbor;

/// The fewest processes for which the native route is the default. On MPICH 4.0.2 and 5.0.2, Open MPI 4.1.4 and 5.0.11, it
/// takes fewer instructions than an all-to-all from 16 on: `PARTS=neighbor_count make lab-bench`.
const FEWEST: i32 = 64;

/// True if this process wants native collectives on a new communicator of `processes`; `repeated` is true if a process
/// is a neighbor of a process more than once. Local.
pub(in crate::host) fn wanted(processes: i32, repeated: &dyn Fn() -> bool) -> bool {
    let wanted = match Settings::get().neighbor {
        _ if processes < 2 => false,
        Neighbor::AllToAll => false,
        Neighbor::Graph => true,
        Neighbor::ByNeighbors => processes >= FEWEST || repeated(),
    };
    wanted && via_neighbor::is_right()
}
