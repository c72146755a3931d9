//! What was done, collected on `MPI_COMM_SELF` and written when the host frees that: at the start of
//! `MPI_Finalize`, where MPI still works.

use std::ffi::{c_int, c_void};
use std::fs;
use std::time::Instant;

use super::key::{Key, no_copy};
use super::settings::{Settings, Target};
use super::sys::{self, MPI_Comm};
use super::{HostComm, Result, family, layout};
use crate::engine::Comm;
use crate::engine::create::Made;
use crate::engine::place::{Placed, Verdict};
use crate::report::{Job, Reason, Record, Reorder, Report, Shape, short_periodic_sides};
use crate::topology::Topology;

/// The [`Collector`] of a process.
static COLLECTOR: Key = Key::new(no_copy, write);

/// What one process has to tell.
struct Collector {
    report: Report,
    /// All processes collect, so that at the end rank 0 can ask them all.
    together: bool,
}

/// Starts to collect on all processes of `MPI_COMM_WORLD`. Rank 0 has asked for it.
pub(super) fn start() -> Result {
    put(true).map(|_| ())
}

fn put(together: bool) -> Result<*mut Collector> {
    let value = Box::into_raw(Box::new(Collector { report: Report::new(), together }));
    // SAFETY: a constant of the host.
    let comm_self = unsafe { sys::cg_comm_self() };
    if let Err(error) = COLLECTOR.put(comm_self, value.cast()) {
        // SAFETY: the host refused the value, so it is still ours.
        drop(unsafe { Box::from_raw(value) });
        return Err(error);
    }
    Ok(value)
}

/// Does something with this process' report, if there is to be one. Without the world model there
/// is no end at which to write it.
fn with(act: impl FnOnce(&Report)) {
    // SAFETY: asks the host for its state, which is allowed at any time.
    if unsafe { sys::cg_is_active() } == 0 {
        return;
    }
    // SAFETY: a constant of the host.
    let comm_self = unsafe { sys::cg_comm_self() };
    let found = match COLLECTOR.get(comm_self) {
        Ok(Some(found)) => Ok(found.cast()),
        Ok(None) => put(false),
        Err(error) => Err(error),
    };
    if let Ok(found) = found {
        // SAFETY: the value of our key, which lives until MPI_Finalize deletes it; a program makes
        // no topologies while it is in there.
        act(&unsafe { &*found }.report);
    }
}

/// Adds what a constructor has made. `started` is when the constructor was called.
pub(crate) fn add(
    function: &'static str,
    comm: &HostComm,
    made: &Made<HostComm>,
    started: Instant,
) {
    let Some(placed) = &made.placed else { return };
    let Ok(size) = comm.size() else { return };
    with(|report| {
        let record = record(function, placed.shape.clone(), size, placed);
        report.add(record.took(placed.seconds, started.elapsed().as_secs_f64()));
        placed.broken.iter().for_each(|rule| report.warn(rule.broken(function)));
    });
}

fn record(function: &'static str, shape: Shape, size: c_int, placed: &Placed) -> Record {
    let (reorder, kept) = match placed.verdict {
        Verdict::Applied { forced: false } => (Reorder::Asked, None),
        Verdict::Applied { forced: true } => (Reorder::Forced, None),
        Verdict::NotAsked => (Reorder::No, Some(Reason::NOT_ASKED)),
        Verdict::Off => (Reorder::Asked, Some(Reason::OFF)),
        Verdict::OneNode => (Reorder::Asked, Some(Reason::ONE_NODE)),
        Verdict::Differing => (Reorder::Asked, Some(Reason::DIFFERING)),
        Verdict::NothingGained => (Reorder::Asked, Some(Reason::NOTHING_TO_GAIN)),
        Verdict::NoLayout => (Reorder::Asked, Some(Reason::NO_LAYOUT)),
        Verdict::TooLarge => {
            (Reorder::Asked, Some(Reason::too_large("more edges than rank 0 gathers")))
        }
    };
    match (&placed.layout, &placed.plan) {
        (Some(layout), Some(plan)) => {
            let mut record = Record::planned(function, shape, reorder, layout, plan);
            if let Some(traffic) = placed.traffic.clone() {
                record = record.traffic(traffic);
            }
            match kept {
                Some(kept) => record.kept(kept),
                None => record,
            }
        }
        _ => Record::new(function, shape, size, reorder, kept.unwrap_or(Reason::NO_LAYOUT)),
    }
}

/// Notes the first neighborhood collective on a communicator, if hosts are wrong on its topology.
pub(super) fn note_neighbors(topology: &Topology) {
    if Settings::get().report.is_some()
        && let Topology::Cart(grid) = topology
        && let Some(warning) = short_periodic_sides("a neighborhood collective", grid)
    {
        with(|report| report.warn(warning));
    }
}

/// The host calls this in `MPI_Finalize`.
unsafe extern "C" fn write(
    _comm: MPI_Comm,
    _keyval: c_int,
    value: *mut c_void,
    _extra_state: *mut c_void,
) -> c_int {
    // SAFETY: the value comes from `put`, and its attribute is gone with this call.
    let collector = unsafe { Box::from_raw(value.cast::<Collector>()) };
    // A failure here leaves the program as it is: it is about to end.
    let _ = finish(&collector);
    sys::CG_SUCCESS
}

fn finish(Collector { report, together }: &Collector) -> Result {
    let world = HostComm::world();
    let rank = world.rank()?;
    if *together {
        let own = if rank == 0 || report.is_empty() { Vec::new() } else { pack(&report.json()) };
        for json in unpack(&world.gather(&own)?) {
            report.absorb(&json);
        }
    }
    if rank != 0 {
        return Ok(());
    }
    if let Some(layout) = layout::known(&world)? {
        report.job(Job { mpi: family::version(), nodes: (&*layout).into() });
    }
    match &Settings::get().report {
        None => {}
        Some(Target::Stderr) => eprint!("{}", report.text()),
        Some(Target::File(path)) => {
            let json = path.ends_with(".json");
            let text = if json { report.json() + "\n" } else { report.text() };
            if let Err(error) = fs::write(path, text) {
                eprintln!("cartograph: CARTOGRAPH_REPORT: {path} cannot be written: {error}");
            }
        }
    }
    Ok(())
}

/// A text as words: its length in bytes, and four bytes a word.
fn pack(text: &str) -> Vec<i32> {
    let word = |bytes: &[u8]| {
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        i32::from_ne_bytes(word)
    };
    let words = text.as_bytes().chunks(4).map(word);
    std::iter::once(text.len() as i32).chain(words).collect()
}

/// The texts that several processes packed, one after the other.
fn unpack(words: &[i32]) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = words;
    while let Some((length, words)) = rest.split_first() {
        let length = *length as usize;
        let (words, others) = words.split_at(length.div_ceil(4).min(words.len()));
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes.truncate(length);
        texts.push(String::from_utf8_lossy(&bytes).into_owned());
        rest = others;
    }
    texts
}
