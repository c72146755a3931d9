//! Where processes run: asked of the host once, and cached on communicators.
//!
//! Every process of a communicator keeps its layout, 4 bytes a rank, because `MPI_Cart_map` is local.
//! That of `MPI_COMM_WORLD` is gathered when MPI starts, if our `MPI_Init` is called, else by the first
//! constructor that needs it; that of another communicator is a part of it, if all its processes are.

use std::ffi::c_int;
use std::sync::{Arc, Once};

use super::key::{Key, drop_arc, no_copy};
use super::settings::Settings;
use super::sys;
use super::{HostComm, Result, domain, errors::check, report};
use crate::engine::{Comm, Knowledge};
use crate::mapping::Layout;

/// A communicator's [`Layout`].
static LAYOUT: Key = Key::new(no_copy, drop_arc::<Layout>);

/// What is known of a communicator without asking others. Local.
pub(crate) fn known(comm: &HostComm) -> Result<Option<Arc<Layout>>> {
    if let Some(layout) = cached(comm)? {
        return Ok(Some(layout));
    }
    // SAFETY: asks the host for its state, which is allowed at any time.
    if unsafe { sys::cg_world_is_initialized() } == 0 {
        return Ok(None);
    }
    let world = HostComm::world();
    let layout = match cached(&world)? {
        Some(layout) => layout,
        None => match written(&world)? {
            Some(layout) => keep(&world, layout)?,
            None => return Ok(None),
        },
    };
    if comm.0 == world.0 {
        return Ok(Some(layout));
    }
    match ranks_in_world(comm)? {
        Some(ranks) => keep(comm, layout.select(ranks.iter().map(|rank| *rank as usize))).map(Some),
        None => Ok(None),
    }
}

/// [`known`], for an agreement: there it must not fail on one rank alone.
pub(super) fn knowledge(comm: &HostComm) -> Knowledge {
    Settings::get().complain();
    match known(comm) {
        Ok(Some(layout)) if layout.is_flat() => Knowledge::OneNode,
        Ok(Some(_)) => Knowledge::Known,
        Ok(None) | Err(_) => Knowledge::Unknown,
    }
}

/// Asks all processes of a communicator where they run, and caches the answer. `None` where the
/// host cannot tell. Collective.
pub(super) fn gather(comm: &HostComm) -> Result<Option<Arc<Layout>>> {
    let Some(words) = place_of_this_process(comm)? else { return Ok(None) };
    let all = comm.gather(&words)?;
    // Rank 0 numbers the nodes, so that others need four bytes for each.
    let mut layout = Layout::from_ids(&column(&all, 0));
    for level in 1..=domain::LEVELS {
        let ids = column(&all, level);
        if ids.iter().all(|id| *id != domain::UNKNOWN) {
            layout = layout.with_level(&ids);
        }
    }
    share(comm, layout).map(Some)
}

/// The layout of `MPI_COMM_WORLD`, when MPI has just started: asked for by rank 0 of all.
pub(crate) fn gather_world() -> Result {
    const NOTHING: u8 = 0;
    const ASK: u8 = 1;
    const WRITTEN: u8 = 2;
    const REPORTED: u8 = 4;
    let world = HostComm::world();
    let mut written_layout = None;
    let mut what = [NOTHING];
    if world.rank()? == 0 {
        let settings = Settings::get();
        settings.complain();
        if settings.terms().reporting || settings.may_move() {
            written_layout = written(&world)?;
            what = [if written_layout.is_some() { WRITTEN } else { ASK }];
            if settings.report.is_some() {
                what[0] |= REPORTED;
            }
        }
    }
    // Settings may differ from rank to rank; what is collective must not depend on that.
    world.broadcast(0, &mut what)?;
    if what[0] & REPORTED != 0 {
        report::start()?;
    }
    match what[0] & !REPORTED {
        ASK => gather(&world).map(|_| ()),
        WRITTEN => {
            let layout = written_layout.unwrap_or_else(|| Layout::one_node(0));
            share(&world, layout).map(|_| ())
        }
        _ => Ok(()),
    }
}

/// Node and domains of this process in two words each, or `None` if the host cannot tell. Collective.
fn place_of_this_process(comm: &HostComm) -> Result<Option<Vec<i32>>> {
    let mut node = 0;
    // SAFETY: a place for the number.
    match unsafe { sys::cg_node_id(comm.0, comm.rank()?, &raw mut node) } {
        sys::CG_ABSENT => return Ok(None),
        code => check(code)?,
    }
    let ids = [node as u64].into_iter().chain(domain::of_this_process());
    Ok(Some(ids.flat_map(|id| [id as i32, (id >> 32) as i32]).collect()))
}

/// One of the ids of every rank.
fn column(words: &[i32], level: usize) -> Vec<u64> {
    let id = |words: &[i32]| u64::from(words[0] as u32) | u64::from(words[1] as u32) << 32;
    words.chunks_exact(2 * (1 + domain::LEVELS)).map(|place| id(&place[2 * level..])).collect()
}

/// Gives every process rank 0's layout. Collective.
fn share(comm: &HostComm, layout: Layout) -> Result<Arc<Layout>> {
    let (rank, size) = (comm.rank()?, comm.size()? as usize);
    let mut levels = [layout.levels().len() as u8];
    comm.broadcast(0, &mut levels)?;
    let mut received: Option<Layout> = None;
    for level in 0..usize::from(levels[0]) {
        let mut bytes = vec![0; 4 * size];
        if rank == 0 {
            let ids = layout.levels()[level].iter().flat_map(|id| id.to_ne_bytes());
            bytes.iter_mut().zip(ids).for_each(|(byte, id)| *byte = id);
        }
        comm.broadcast(0, &mut bytes)?;
        let id = |word: &[u8]| u64::from(u32::from_ne_bytes(word.try_into().expect("four bytes")));
        let ids: Vec<u64> = bytes.chunks_exact(4).map(id).collect();
        received = Some(match received {
            None => Layout::from_ids(&ids),
            Some(layout) => layout.with_level(&ids),
        });
    }
    keep(comm, received.unwrap_or(layout))
}

/// What `CARTOGRAPH_LAYOUT` says of `MPI_COMM_WORLD`. A mistake in it is said once.
fn written(world: &HostComm) -> Result<Option<Layout>> {
    static SAID: Once = Once::new();
    match Settings::get().written_layout(world.size()? as usize) {
        None => Ok(None),
        Some(Ok(layout)) => Ok(Some(layout)),
        Some(Err(complaint)) => {
            SAID.call_once(|| eprintln!("{complaint}"));
            Ok(None)
        }
    }
}

/// What a communicator carries.
fn cached(comm: &HostComm) -> Result<Option<Arc<Layout>>> {
    let Some(value) = LAYOUT.get(comm.0)? else { return Ok(None) };
    let value = value.cast_const().cast::<Layout>();
    // SAFETY: a value of our key comes from `keep`; the attribute still holds its own share.
    let layout = unsafe {
        Arc::increment_strong_count(value);
        Arc::from_raw(value)
    };
    // Hosts differ in what they copy to communicators of other groups.
    Ok((layout.ranks() == comm.size()? as usize).then_some(layout))
}

/// Caches a layout. A program of sessions alone may outlive the host's keys, so there it is asked
/// for anew each time.
fn keep(comm: &HostComm, layout: Layout) -> Result<Arc<Layout>> {
    let layout = Arc::new(layout);
    // SAFETY: asks the host for its state, which is allowed at any time.
    if unsafe { sys::cg_world_is_initialized() } != 0 {
        let value = Arc::into_raw(Arc::clone(&layout));
        if let Err(error) = LAYOUT.put(comm.0, value.cast_mut().cast()) {
            // SAFETY: the host refused the value, so this share is still ours.
            drop(unsafe { Arc::from_raw(value) });
            return Err(error);
        }
    }
    Ok(layout)
}

/// The rank in `MPI_COMM_WORLD` of every process, or `None` if one is not there or nobody can tell.
fn ranks_in_world(comm: &HostComm) -> Result<Option<Vec<c_int>>> {
    let size = comm.size()?;
    let mut ranks = vec![0; 2 * size as usize];
    // SAFETY: room for twice as many ranks as the communicator has.
    match unsafe { sys::cg_ranks_in_world(comm.0, size, ranks.as_mut_ptr()) } {
        sys::CG_ABSENT => return Ok(None),
        code => check(code)?,
    }
    ranks.truncate(size as usize);
    Ok(ranks.iter().all(|rank| *rank >= 0).then_some(ranks))
}
