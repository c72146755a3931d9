//! Creates, publishes and attaches communicators: from the agreement of a constructor to the program's handle.

use std::time::Instant;

use super::attributes::private::Private;
use super::sys::MPI_Comm;
use super::{HostComm, Result, attributes, neighbor, report};
use crate::engine::agree::Collectives;
use crate::engine::arguments::Function;
use crate::engine::create::Created;
use crate::engine::{Comm, keep};
use crate::host::constants;
use crate::topology::Topology;

/// A call of a constructor.
pub(crate) struct Call<'a> {
    function: Function,
    comm: &'a HostComm,
    /// The caller's place for the new communicator.
    place: *mut MPI_Comm,
    started: Instant,
}

impl<'a> Call<'a> {
    pub(crate) fn new(function: Function, comm: &'a HostComm, place: *mut MPI_Comm) -> Self {
        Self { function, comm, place, started: Instant::now() }
    }

    /// Reports the new communicator and returns it to the caller, with its topology cached.
    pub(crate) fn publish(self, made: Created<HostComm>) -> Result {
        report::add(self.function.name(), self.comm, &made, self.started);
        let shared = made.keeps_ranks.then_some(self.comm.0);
        let handle = match made.member {
            None => constants::comm_null(),
            Some((comm, topology)) => attach(comm, topology, shared, made.collectives)?.0,
        };
        if let Some(old_rank) = made.watched
            // SAFETY: the program does not have the communicator yet.
            && let Ok(Some(attached)) = unsafe { attributes::attached(handle) }
        {
            attached.watch.set(old_rank);
        }
        // SAFETY: the constructor has checked that the place is not null before it created anything.
        unsafe { self.place.write(handle) };
        Ok(())
    }
}

/// Gives a new communicator its topology, and declares its neighbors to the host if all processes agreed on native
/// collectives; this may replace the communicator. On failure the communicator is freed. `old` is the communicator on
/// which it was created, if that has the same processes with the same ranks.
fn attach(
    mut comm: HostComm,
    topology: Topology,
    old: Option<MPI_Comm>,
    collectives: Collectives,
) -> Result<HostComm> {
    let attached = attach_to(&mut comm, topology, old, collectives);
    keep(comm, attached).map(|(comm, ())| comm)
}

/// Collective calls come first: if a local call fails on one process, no other process waits.
fn attach_to(
    comm: &mut HostComm,
    topology: Topology,
    old: Option<MPI_Comm>,
    collectives: Collectives,
) -> Result {
    let rank = comm.rank()?;
    let topology = match topology {
        Topology::Cart(grid) => Topology::Cart(grid.seen_from(rank)?),
        graph => graph,
    };
    let before = match collectives.host_graph {
        true => neighbor::via_neighbor::declare(comm, &topology, rank)?,
        false => None,
    };
    let collectives = Collectives { host_graph: before.is_some(), ..collectives };
    let late = attributes::makes_late();
    let private = match before {
        Some(before) if late => before.free().map(|()| None)?,
        Some(before) => Some(Private::of_one(before.into_private()?)),
        None if late => None,
        None => make_private(comm, old)?,
    };
    let attached = attributes::prepare(comm, topology, rank, collectives, private)?;
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
