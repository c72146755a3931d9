//! Reports on topologies, collected on `MPI_COMM_SELF` and written as they come.
//!
//! Each process reports only what it knows, and nothing is sent for reports: others may not have this library. The host
//! frees the collection at the start of `MPI_Finalize`, when the numbers are updated.

mod output;

use std::ffi::{c_int, c_void};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use output::Output;

use super::attributes::key::{Key, no_copy};
use super::process::eprint_line;
use super::settings::{Settings, note_start, set};
use super::sys::{self, MPI_Comm};
use super::{HostComm, family, machine};
use crate::engine::Comm;
use crate::engine::assign_ranks::Placement;
use crate::engine::create::Created;
use crate::host::constants;
use crate::report::{
    Job, Origin, Reason, Record, ReorderOrigin, Report, foreign_launcher, launched,
    short_periodic_sides,
};
use crate::settings;
use crate::topology::{Topology, TopologySummary};

/// The [`Collector`] of a process.
static COLLECTOR: Key = Key::new(no_copy, finish);

/// True once a topology was created, whether this process or another reports it.
static HAS_CREATED: AtomicBool = AtomicBool::new(false);

/// The report of one process.
struct Collector {
    report: Report,
    output: Output,
    origin: Option<Origin>,
    /// True if the facts about the job are final.
    knows_job: AtomicBool,
}

impl Collector {
    /// Changes the report, and writes it if due.
    fn tell(&self, act: impl FnOnce(&Report) -> bool) {
        if act(&self.report) {
            self.learn_job();
            self.output.write(&self.report, false);
        }
    }

    /// Finds out where the job runs, which only a later constructor may know. Asks the host, so no lock is held.
    fn learn_job(&self) {
        if self.knows_job.load(Ordering::Relaxed) {
            return;
        }
        let world = HostComm::world();
        let (Ok(rank), Ok(processes)) = (world.rank(), world.size()) else { return };
        let machine = machine::known(&world).unwrap_or(None).map(|runs| runs.machine());
        self.knows_job.store(machine.is_some(), Ordering::Relaxed);
        let nodes = machine.as_ref().map(Into::into);
        let origin = self.origin.clone();
        self.report.job(Job { mpi: family::version(), processes, rank, nodes, origin });
    }
}

/// This process's collector, if there is to be a report. Without the world model there is no report: the end of the job
/// would go unnoticed.
fn collector<'a>() -> Option<&'a Collector> {
    let target = Settings::get().report.as_ref()?;
    // SAFETY: asks the host for its state, which is allowed at any time.
    if unsafe { sys::cg_is_active() } == 0 {
        return None;
    }
    let comm_self = constants::comm_self();
    let found = || COLLECTOR.get(comm_self).ok().flatten();
    let value = found().or_else(|| {
        let world = HostComm::world();
        let output = Output::new(target, world.rank().ok()?);
        let report = Report::new();
        if let Some(warning) = foreign_launcher(world.size().ok()?, |name| std::env::var(name).ok())
        {
            report.warn(warning);
        }
        let knows_job = AtomicBool::new(false);
        let origin = target.origin().cloned();
        let made = Box::new(Collector { report, output, origin, knows_job });
        let made = Box::into_raw(made);
        if matches!(COLLECTOR.put_if_absent(comm_self, made.cast()), Ok(true)) {
            return Some(made.cast());
        }
        // SAFETY: the host has not taken the value, so it is still ours.
        drop(unsafe { Box::from_raw(made) });
        found()
    });
    // SAFETY: the value of our key, which is never replaced and lives until MPI_Finalize deletes it; meanwhile, a
    // program in MPI_Finalize creates no topologies.
    value.map(|value| unsafe { &*value.cast::<Collector>() })
}

/// Adds the result of a constructor to the report. `started` is when the constructor was called.
pub(crate) fn add(
    function: &'static str,
    comm: &HostComm,
    made: &Created<HostComm>,
    started: Instant,
) {
    HAS_CREATED.store(true, Ordering::Relaxed);
    let Some(placement) = &made.placement else { return };
    say_if_forced(function, placement);
    let (Some(collector), Ok(size)) = (collector(), comm.size()) else { return };
    let record = record(function, placement.summary.clone(), size, placement);
    let record = record
        .host_graph(made.collectives.host_graph)
        .took(placement.seconds, started.elapsed().as_secs_f64());
    let broken = placement.broken.iter().map(|rule| rule.broken(function));
    let warnings = machine::take_notes().into_iter().chain(broken);
    collector.tell(|report| {
        warnings.fold(report.add(record), |is_due, warning| report.warn(warning) || is_due)
    });
}

/// Warns once, on rank 0 of a communicator, that ranks were reordered although the program passed `reorder = 0`.
fn say_if_forced(function: &str, placement: &Placement) {
    static SAID: Once = Once::new();
    if placement.forced {
        SAID.call_once(|| {
            eprint_line!(
                "{function}: ranks reordered despite reorder = 0 (CARTOGRAPH_REORDER=always); results are \
                 wrong if the program keeps its old ranks"
            );
        });
    }
}

/// Reports once, after `MPI_Finalize`, that rank 0 created no topology, if a report is requested: other ranks do not.
///
/// None of our functions may have been called, so this runs when the process ends; or the library for every MPI, which
/// then loads this one, calls it. MPI can no longer be called, so the rank comes from the launcher's variables.
fn tell_of_nothing() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    // SAFETY: asks the host for its state, which is allowed at any time.
    let is_over = || unsafe { sys::cg_world_is_initialized() != 0 && sys::cg_is_active() == 0 };
    if HAS_CREATED.load(Ordering::Relaxed) || set(settings::REPORT.name).is_none() || !is_over() {
        return;
    }
    let launched = launched(|name| std::env::var(name).ok());
    let (rank, processes) = launched.unwrap_or((0, 1));
    if let Some(target) = &Settings::get().report
        && rank == 0
        && !TOLD.swap(true, Ordering::Relaxed)
    {
        let report = Report::new();
        let origin = target.origin().cloned();
        report.job(Job { mpi: family::version(), processes, rank, nodes: None, origin });
        output::write_all(target, &report);
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = {
    extern "C" fn at_load() {
        note_start();
        tell_of_nothing();
    }
    at_load
};

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = {
    extern "C" fn at_exit() {
        tell_of_nothing();
    }
    at_exit
};

fn record(
    function: &'static str,
    summary: TopologySummary,
    size: c_int,
    placement: &Placement,
) -> Record {
    let kept = placement.kept;
    let reorder = match kept {
        None if placement.forced => ReorderOrigin::Forced,
        Some(Reason::NotAsked) => ReorderOrigin::No,
        _ => ReorderOrigin::Asked,
    };
    match (&placement.machine, &placement.plan) {
        (Some(machine), Some(plan)) => {
            let record = Record::planned(function, summary, reorder, machine, plan);
            match kept {
                Some(kept) => record.kept(kept),
                None => record,
            }
        }
        (None, Some(plan)) if plan.old_rank.is_some() => {
            Record::moved(function, summary, size, reorder)
        }
        _ => Record::new(function, summary, size, reorder, kept.unwrap_or(Reason::NoLayout)),
    }
}

/// Records the first neighborhood collective on a communicator, if hosts are wrong on its topology, and why blocks are
/// paired as by the host if they are. Rank 0 does this for all.
pub(super) fn note_neighbors(topology: &Topology, as_host: Option<&str>) {
    if Settings::get().report.is_some()
        && let Topology::Cart(grid) = topology
        && grid.own_rank() == 0
        && let Some(warning) = short_periodic_sides("a neighborhood collective", grid, as_host)
        && let Some(collector) = collector()
    {
        collector.tell(|report| report.warn(warning));
    }
}

/// The host calls this in `MPI_Finalize`.
unsafe extern "C" fn finish(
    _comm: MPI_Comm,
    _keyval: c_int,
    value: *mut c_void,
    _extra_state: *mut c_void,
) -> c_int {
    // SAFETY: the value comes from `collector`, and its attribute is gone with this call.
    let collector = unsafe { Box::from_raw(value.cast::<Collector>()) };
    collector.learn_job();
    collector.output.write(&collector.report, true);
    sys::CG_SUCCESS
}
