//! The traffic of a recorded run of the program: `CARTOGRAPH_TRAFFIC`, read when a process first plans.

use std::ffi::c_int;
use std::sync::{Once, OnceLock};

use cartograph_traffic::{Recording, Scale};

use crate::engine::Comm;
use crate::host::process::eprint_line;
use crate::host::settings::Settings;
use crate::host::{HostComm, machine, sys};
use crate::mapping::{Adjacency, Csr, Grid, weights};

/// The recording, if it is for the job's number of processes. A fault in it is reported once, by rank 0 of `comm`.
fn recording(comm: &HostComm) -> Option<&'static Recording> {
    static READ: OnceLock<Result<Recording, String>> = OnceLock::new();
    static SAID: Once = Once::new();
    let path = Settings::get().traffic.as_ref()?;
    // SAFETY: asks the host for its state, which is allowed at any time.
    let is_active = unsafe { sys::cg_is_active() } != 0;
    // Without a world, there are no ranks as in the recording.
    let size = if is_active { HostComm::world().size().ok()? } else { return None };
    let read = READ.get_or_init(|| {
        let recording = Recording::open(path).map_err(|error| error.to_string())?;
        if recording.size != size as u32 {
            let recorded = recording.size;
            return Err(format!("is for {recorded} processes, but this job has {size}"));
        }
        match recording.first_missing() {
            None => Ok(recording),
            Some(rank) => {
                let count = recording.missing();
                Err(format!("lacks the parts of {count} processes, such as that of rank {rank}"))
            }
        }
    });
    let complain = |error: &String| {
        if matches!(comm.rank(), Ok(0)) {
            SAID.call_once(|| {
                eprint_line!("CARTOGRAPH_TRAFFIC: {} {error}; ignored", path.display());
            });
        }
    };
    read.as_ref().inspect_err(|error| complain(error)).ok()
}

/// The weight of an edge along each dimension of a grid of these sides, from the recording of `CARTOGRAPH_TRAFFIC`.
pub(in crate::host) fn weights(comm: &HostComm, dims: &[c_int]) -> Option<Vec<i64>> {
    let sides: Vec<u32> = dims.iter().map(|side| *side as u32).collect();
    let cells = sides.iter().map(|side| *side as usize).product();
    recording(comm)?.weights(&sides, weights::MOST.min(Grid::most_weight(cells)))
}

/// A graph with the bytes sent along its edges as weights. It is unchanged if these are unknown or 0, or if the ranks
/// of `comm` are not in the order of `MPI_COMM_WORLD`: ranks may have been reordered, unlike in the recorded run.
pub(in crate::host) fn weighed(comm: &HostComm, graph: Csr) -> Csr {
    let Some(recording) = recording(comm) else { return graph };
    let Ok(Some(ranks)) = machine::ranks_in_world(comm) else { return graph };
    if !ranks.is_sorted() {
        return graph;
    }
    let vertices = graph.vertices();
    let mut edges = Vec::new();
    for from in 0..vertices {
        graph.for_each_edge(from, |to, _| {
            let bytes = recording.sent(ranks[from] as u32, ranks[to] as u32).bytes;
            edges.push((from as u32, to as u32, bytes));
        });
    }
    let scale = Scale::of(edges.iter().map(|(.., bytes)| *bytes));
    if edges.iter().all(|(.., bytes)| *bytes == 0) {
        return graph;
    }
    let weigh = |(from, to, bytes): &(u32, u32, u64)| (*from, *to, scale.weight(*bytes));
    Csr::from_edges(vertices, edges.iter().map(weigh))
}
