//! The nodes of a job that is about to start, and its start on them.

use std::env;
use std::ffi::OsString;
use std::time::Duration;

use cartograph_core::launcher::{Format, LauncherKind, Role};
use cartograph_core::machine::Machine;
use cartograph_shim::splitmix::digest;

use super::kept::Kept;
use super::learned::{Assumed, Lesson};
use super::surroundings::Surroundings;
use crate::error;
use crate::launch::binding::Binding;
use crate::launch::{Launch, Line, Places, program_word};
use crate::place::{Arm, Means, Placer, Start};
use crate::processes::Question;
use crate::program;

/// The time limit for Flux to print the size of its allocation.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a job is not placed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// No placement is predicted to help on its nodes.
    NothingHelps,
    /// Another reason, for the user.
    Because(String),
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self::Because(why)
    }
}

/// The nodes of a job in the launcher's default order.
pub(super) struct Nodes {
    pub(super) own: Places,
    pub(super) machine: Machine,
    names: Vec<String>,
    pub(super) kept: Kept,
}

/// The message for a job that runs unchanged.
pub(super) fn unchanged(why: &str) -> String {
    format!("{why}; the job ran unchanged")
}

impl Nodes {
    /// Finds the nodes of a job, with the facts kept about them.
    ///
    /// # Errors
    ///
    /// Why the job runs unchanged.
    pub(super) fn find(
        line: &Line,
        mut kept: Kept,
        lesson: &Lesson,
        around: &impl Surroundings,
    ) -> Result<Self, String> {
        // The lines of `cartograph where` would end up in the job's own output files.
        if line.options.iter().any(|given| given.role == Role::Output) {
            return Err(unchanged("the launcher redirects the output to files"));
        }
        let all = allocated(line, around)?;
        // Steps that run at once would wait for each other on the nodes of the first.
        let is_part =
            |nodes: Option<usize>| all.is_some_and(|all| nodes.is_some_and(|own| own < all));
        let part = || {
            unchanged("the nodes of a step on part of the allocation are unknown before it starts")
        };
        if is_part(line.most_nodes(|name| env::var(name).ok())) {
            return Err(part());
        }
        let own = match kept.own() {
            Some(own) => own.clone(),
            None => {
                let mut programs = line.programs.all().map(program_word);
                let checked = programs.try_for_each(program::check_mpi);
                checked.map_err(|failure| unchanged(&failure.text))?;
                // Even for the first job: if nodes lack this command, the job must not be started through it.
                let own = ask(around, Launch::from(line.clone()).of_places(&[]));
                own.map_err(|reason| {
                    let why = format!("the launcher does not start `cartograph where`: {reason}");
                    kept.misses(&lesson.store, &lesson.program, &why);
                    unchanged(&why)
                })?
            }
        };
        let (machine, names) =
            own.machine().ok_or_else(|| unchanged("the nodes of the job are unknown"))?;
        if names.len() < 2 {
            return Err("all processes are on one node; nothing to place".into());
        }
        if is_part(Some(names.len())) {
            return Err(part());
        }
        Ok(Self { own, machine, names, kept })
    }

    /// The facts about these nodes that the end of the job is compared with.
    pub(super) fn assumed(&self) -> Assumed {
        let Self { own, machine, names, kept } = self;
        let node_of = machine.nodes().to_vec();
        Assumed { names: names.clone(), node_of, own: own.clone(), kept: kept.clone() }
    }

    /// The start of the job in a placement, once the launcher has been seen to follow it.
    ///
    /// # Errors
    ///
    /// Why the job runs unchanged.
    pub(super) fn placed(
        &mut self,
        arm: &Arm,
        means: Means,
        lesson: &Lesson,
        around: &impl Surroundings,
    ) -> Result<Start, String> {
        let file = lesson.placement_file();
        let placer = Placer::new(means, None, Some(self.own.clone()));
        let start = placer.start(arm, &self.machine, &self.names, &file);
        let start = start.map_err(|failure| failure.text).and_then(|start| start);
        let start = start.map_err(|why| unchanged(&why))?;
        let placement = self.number(arm, &start);
        // Cray MPICH numbers processes in MPI_Init: only the recording shows their ranks.
        let format = start.rank_file.as_ref().map(|file| file.placement.format);
        if format != Some(Format::Cray) && !self.kept.has_followed(placement) {
            self.check(arm, &start, around).map_err(|why| {
                self.kept.misses(&lesson.store, &lesson.program, &why);
                unchanged(&why)
            })?;
            self.kept.follows(placement);
        }
        Ok(start)
    }

    /// A number for a placement on these nodes and CPUs: another of the same name may be rejected.
    fn number(&self, arm: &Arm, start: &Start) -> u64 {
        let hosts: Vec<_> = arm.node_of.iter().map(|node| self.names.get(*node as usize)).collect();
        digest(format!("{hosts:?} {:?}", start.binding().map(Binding::number)).as_bytes())
    }

    /// Checks that the launcher places ranks as in a start.
    fn check(&self, arm: &Arm, start: &Start, around: &impl Surroundings) -> Result<(), String> {
        let found = ask(around, start.of_places());
        let found =
            found.map_err(|reason| format!("the launcher rejected the rank file: {reason}"))?;
        let checked = found.check((&arm.node_of, &self.names), &self.own, start.binding());
        checked.map_err(str::to_owned)
    }
}

/// The places in which a launcher starts processes, by its command line with `cartograph where`.
///
/// # Errors
///
/// Why they are unknown.
fn ask(around: &impl Surroundings, words: error::Result<Vec<OsString>>) -> Result<Places, String> {
    let words = words.map_err(|failure| failure.text)?;
    let printed = around.ask(&Places::question(&words))?;
    Places::read(&printed).ok_or_else(|| "it printed no place for some ranks".to_owned())
}

/// The number of nodes of the allocation, if the launcher chooses among them and they can be counted.
///
/// # Errors
///
/// Why the job runs unchanged: they cannot be known.
fn allocated(line: &Line, around: &impl Surroundings) -> Result<Option<usize>, String> {
    if !line.chooses_nodes() {
        return Ok(None);
    }
    let count = |text: String| text.trim().parse().ok();
    match line.launcher.kind {
        LauncherKind::Srun if env::var_os("SLURM_HOSTFILE").is_some() => Ok(None),
        LauncherKind::Srun => {
            let set = ["SLURM_JOB_NUM_NODES", "SLURM_NNODES"];
            Ok(set.iter().find_map(|name| count(env::var(name).ok()?)))
        }
        LauncherKind::Flux => {
            let words = [&line.start[..1], &["getattr".into(), "size".into()]].concat();
            let size = Question { words: &words, longest: PATIENCE, is_answer: None };
            Ok(around.ask(&size).ok().and_then(count))
        }
        _ => Err(unchanged("the launcher chooses the nodes when the job starts")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_that_choose_nodes_and_the_most_nodes_of_a_job_are_known() {
        for (text, chooses, most) in [
            ("srun -n 8 ./app", true, Some(4)),
            ("srun -N2 --exact -n 8 ./app", true, Some(2)),
            ("srun --nodes=2-3 -n 8 ./app", true, Some(3)),
            ("srun -N 8 -n 2 ./app", true, Some(2)),
            ("srun -w n[0-1] -n 8 ./app", false, Some(4)),
            ("flux run -N 2 -n 8 ./app", true, Some(2)),
            ("flux run -N 2+ ./app", true, None),
            ("prun -n 8 ./app", true, Some(8)),
            ("prun --host a,b -n 8 ./app", false, Some(8)),
            ("prterun -n 8 ./app", false, Some(8)),
        ] {
            let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
            let line = Line::read(&words, None, |_| String::new(), None).unwrap();
            let variable = |name: &str| (name == "SLURM_NNODES").then(|| "4".to_owned());
            assert_eq!(
                (line.chooses_nodes(), line.most_nodes(variable)),
                (chooses, most),
                "{text}"
            );
        }
    }
}
