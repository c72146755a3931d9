//! Creates, publishes and attaches communicators: from the agreement of a constructor to the program's handle.

use std::time::Instant;

use super::advisor::HostAdvisor;
use super::attributes::private::Private;
use super::sys::MPI_Comm;
use super::{HostComm, Result, attributes, neighbor, report};
use crate::engine::arguments::Function;
use crate::engine::create::Created;
use crate::engine::{Comm, keep};
use crate::host::constants;
use crate::topology::Topology;

/// Creates a communicator, reports it, and returns it to the caller. A fault in the arguments must reach the agreement
/// in `make`, not return early.
pub(crate) fn construct(
    function: Function,
    comm: &HostComm,
    place: *mut MPI_Comm,
    make: impl FnOnce(&HostAdvisor<'_>) -> Result<Created<HostComm>>,
) -> Result {
    let started = Instant::now();
    let made = make(&HostAdvisor(comm))?;
    report::add(function.name(), comm, &made, started);
    publish(made, comm, place)
}

/// Returns a new communicator, which was created on `old`, to the caller, with its topology cached.
pub(crate) fn publish(made: Created<HostComm>, old: &HostComm, place: *mut MPI_Comm) -> Result {
    let shared = made.keeps_ranks.then_some(old.0);
    let handle = match made.member {
        None => constants::comm_null(),
        Some((comm, topology)) => {
            attach(comm, topology, shared, (made.host_graph, made.pairing))?.0
        }
    };
    if let Some(old_rank) = made.watched
        // SAFETY: the program does not have the communicator yet.
        && let Ok(Some(attached)) = unsafe { attributes::attached(handle) }
    {
        attached.watch.set(old_rank);
    }
    // SAFETY: the constructor has checked that the place is not null before it created anything.
    unsafe { place.write(handle) };
    Ok(())
}

/// Gives a new communicator its topology, and declares its neighbors to the host if all processes agreed on native
/// collectives; this may replace the communicator. On failure the communicator is freed. `old` is the communicator on
/// which it was created, if that has the same processes with the same ranks.
fn attach(
    mut comm: HostComm,
    topology: Topology,
    old: Option<MPI_Comm>,
    agreed: (bool, i32),
) -> Result<HostComm> {
    let attached = attach_to(&mut comm, topology, old, agreed);
    keep(comm, attached).map(|(comm, ())| comm)
}

/// Collective calls come first: if a local call fails on one process, no other process waits.
fn attach_to(
    comm: &mut HostComm,
    topology: Topology,
    old: Option<MPI_Comm>,
    (host_graph, pairing): (bool, i32),
) -> Result {
    let rank = comm.rank()?;
    let topology = match topology {
        Topology::Cart(grid) => Topology::Cart(grid.seen_from(rank)?),
        graph => graph,
    };
    let before =
        if host_graph { neighbor::via_neighbor::declare(comm, &topology, rank)? } else { None };
    let host_graph = before.is_some();
    let late = attributes::makes_late();
    let private = match before {
        Some(before) if late => before.free().map(|()| None)?,
        Some(before) => Some(Private::of_one(before.into_private()?)),
        None if late => None,
        None => make_private(comm, old)?,
    };
    let attached = attributes::prepare(comm, topology, rank, (host_graph, private), pairing)?;
    if !late {
        neighbor::prepare(&attached);
    }
    attributes::put(comm, attached)
}

/// Creates the private communicator of a new topology, or shares that of others created on `old`. Collective.
fn make_private(comm: &HostComm, old: Option<MPI_Comm>) -> Result<Option<Private>> {
    // A process's messages to itself need no tags.
    if let Some(old) = old
        && comm.size()? > 1
    {
        if old == HostComm::world().0 {
            return Private::of_world(comm);
        }
        // SAFETY: the program is in a call on the communicator.
        if let Some(attached) = unsafe { attributes::attached(old)? } {
            return attached.private_of_next(comm);
        }
    }
    Ok(comm.private()?.map(Private::of_one))
}
