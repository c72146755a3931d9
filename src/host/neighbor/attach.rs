//! What a new communicator is given beside its processes.

use super::combine::Combined;
use super::ends::Ends;
use super::{Alone, MPI_Comm, Neighborhood, TopologyAttribute, attr, graph, pairing};
use crate::engine::Comm;
use crate::engine::agree::keep;
use crate::engine::combine::Combine;
use crate::host::private::Private;
use crate::host::{HostComm, Result};
use crate::topology::Topology;

/// Gives a new communicator its topology, and tells the host its neighbors if any collectives are to be the host's own,
/// which all processes agreed on; then the communicator may become another one. On failure the communicator is freed.
/// `old` is the communicator that it was made on, if it has the same processes with the same ranks.
pub(crate) fn put(
    mut comm: HostComm,
    topology: Topology,
    old: Option<MPI_Comm>,
    host_graph: bool,
    combine: Combine,
) -> Result<HostComm> {
    let attached = attach(&mut comm, topology, old, host_graph, combine);
    keep(comm, attached).map(|(comm, ())| comm)
}

/// What is collective comes first: where a local call fails on one process alone, the others wait for nothing.
fn attach(
    comm: &mut HostComm,
    topology: Topology,
    old: Option<MPI_Comm>,
    host_graph: bool,
    combine: Combine,
) -> Result {
    let rank = comm.rank()?;
    let topology = match topology {
        Topology::Cart(grid) => Topology::Cart(grid.seen_from(rank)?),
        graph => graph,
    };
    pairing::learn();
    let before = host_graph.then(|| graph::give(comm, &topology, rank)).flatten();
    let host_graph = before.is_some();
    let late = attr::makes_late();
    let private = match before {
        Some(before) if late => before.free().map(|()| None)?,
        Some(before) => Some(Private::of_one(before.into_private()?)),
        None if late => None,
        None => make_private(comm, old.filter(|_| combine == Combine::Off))?,
    };
    let attached = attr::prepare(comm, topology, rank, (host_graph, private), combine)?;
    match if late { Ok(()) } else { get_ready(comm, &attached) } {
        Ok(()) => attr::put(comm, attached),
        Err(error) => attached.discard().and(Err(error)),
    }
}

/// Makes the private communicator of a new topology, or takes the one of others that were made on `old`. Collective.
fn make_private(comm: &HostComm, old: Option<MPI_Comm>) -> Result<Option<Private>> {
    match old {
        // What a process alone sends to itself has no tags.
        Some(old) if comm.size()? > 1 => Private::of_several(old, comm),
        _ => Ok(comm.private().map(Private::of_one)),
    }
}

/// Makes what collectives on a new topology need further communicators for. Collective.
fn get_ready(comm: &HostComm, attached: &TopologyAttribute) -> Result {
    let ends = Ends::new(&attached.topology, attached.rank());
    if attached.combine != Combine::Off
        && let Some(private) = attached.private(comm.0)
    {
        let of = Neighborhood { comm: comm.0, attached, cache: attached.kept(), ends: &ends };
        Combined::of(&of, &private.comm())?;
    }
    if !ends.own().is_empty() && attached.size() > 1 {
        Alone::of_process(true)?;
    }
    Ok(())
}
