//! What a tuning has found: the words for it, the profile and rank file of the fastest placement, and the JSON.

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;

use serde_json::json;

use super::arguments::Arguments;
use super::measured::{Finding, Measured};
use super::recorded::Recorded;
use crate::arms::{Arm, Job, Placer, Start, Way};
use crate::output::{self, Failure, Result};
use crate::predict::Forecast;
use crate::run;
use crate::runs::job;

/// The version of the JSON.
const SCHEMA: u32 = 1;

/// Prints and writes all that was found; nothing was measured if no placement is worth a run.
pub(super) fn write(
    arguments: &Arguments,
    file: &Path,
    recorded: &Recorded,
    forecast: &Forecast,
    measured: Option<&Measured>,
) -> Result<()> {
    if let Some(measured) = measured {
        output::print(&measured.text(forecast.unit))?;
        keep(recorded, measured);
    }
    let found = measured.map(|measured| (measured, measured.finding(arguments.tolerance)));
    if let Some(json) = &arguments.json {
        write_json(json, recorded, forecast, found.as_ref())?;
    }
    let Some((measured, finding)) = found else {
        return output::print(
            "\nno placement is predicted to beat the default rank order (or to send fewer bytes in the same time).\n",
        );
    };
    if finding.none_ran {
        return Err(Failure::new(finding.words));
    }
    output::print(&format!("{}\n", finding.words))?;
    if let Some((arm, start)) = finding.best {
        let profile = arm.profile(recorded.program(), &recorded.machine, finding.measured);
        output::write(file, &profile)?;
        let ranks = file.with_extension("ranks");
        if let Some(placed) = &start.ranks {
            output::write(&ranks, placed)?;
        }
        let command = arguments.command.join(OsStr::new(" "));
        // The second line is the order of the world.
        let orders_world = profile.lines().count() > 1;
        let Recorded { machine, names, placer, .. } = recorded;
        let mut words = format!("\nwritten: {}\n", file.display());
        if start.ranks.is_some() {
            let job = Job { machine, names, cores: measured.cores };
            words += &rank_file_use(arm, placer, &ranks, &job);
        }
        words += &uses(recorded, (arm, start), orders_world, file, &command);
        output::print(&words)?;
    }
    match measured.is_interrupted {
        true => Err(job::interrupted().with_hint("best result so far")),
        false => Ok(()),
    }
}

/// Keeps the runs for `cartograph run`.
fn keep(recorded: &Recorded, measured: &Measured) {
    let Recorded { recording, machine, key, .. } = recorded;
    let kept = key.as_ref().ok_or("cannot read the program".to_owned()).and_then(|key| {
        // A run with other dims counts as another program.
        let runs = measured.ended().filter(|(arm, _)| !matches!(arm.way, Way::Dims(_)));
        run::keep(key, recording, machine, runs, measured.failed())
    });
    if let Err(why) = kept {
        output::say(&format!("{why}; cartograph run will not use these runs"));
    }
}

/// Writes all results, without names of nodes and arguments.
fn write_json(
    file: &Path,
    recorded: &Recorded,
    forecast: &Forecast,
    measured: Option<&(&Measured, Finding<'_>)>,
) -> Result<()> {
    let link = forecast.link();
    let placement = recorded.placer.format();
    let levels = recorded.machine.levels().iter();
    let levels: Vec<_> = levels
        .map(|level| json!({"level": level.kind.to_string(), "sizes": level.sizes()}))
        .collect();
    let value = json!({
        "schema": SCHEMA, "version": env!("CARGO_PKG_VERSION"), "program": recorded.program(), "mpi": recorded.mpi(),
        "launcher": recorded.launcher, "ranks": recorded.machine.ranks(), "levels": levels,
        "places_ranks": placement.is_ok(),
        "placement": placement.unwrap_or_else(|why| why),
        "network": {"latency": link.latency, "bandwidth": link.bandwidth},
        "unit": forecast.unit, "predicted": forecast.all, "measured": measured.map(|(measured, _)| measured.json()),
        "best": measured.and_then(|(_, finding)| Some(&finding.best?.0.order)),
    });
    output::write(file, &(value.to_string() + "\n"))
}

/// The uses of a profile and of the store, in words.
fn uses(
    recorded: &Recorded,
    (arm, start): (&Arm, &Start),
    orders_world: bool,
    file: &Path,
    command: &OsStr,
) -> String {
    let Recorded { recording, placer, .. } = recorded;
    let mut text = String::new();
    if start.ranks.is_none() || orders_world {
        let on = if start.ranks.is_some() { "on other nodes of these sizes, " } else { "" };
        let _ = writeln!(
            text,
            "{on}run: mpiexec -n {} cartograph exec --profile {} PROGRAM",
            recording.size,
            file.display()
        );
    }
    let allows = match arm.way {
        Way::Weights(_) if placer.obstacle().is_some() => "--moves-grids ",
        Way::World => "--world ",
        _ => "",
    };
    if !matches!(arm.way, Way::Dims(_)) {
        let _ = writeln!(
            text,
            "on any nodes, run: cartograph run {allows}{}",
            command.to_string_lossy()
        );
    }
    text
}

/// Describes how to use a rank file.
fn rank_file_use(arm: &Arm, placer: &Placer, ranks: &Path, job: &Job<'_>) -> String {
    // Not with the profile, whose order of MPI_COMM_WORLD would be applied on top of the rank file's.
    let combining = "env CARTOGRAPH_COMBINE=on cartograph exec --reorder off PROGRAM";
    let program = if arm.combines { combining } else { "PROGRAM" };
    let Some((usage, names_nodes)) = placer.usage(ranks, job, program) else {
        return String::new();
    };
    let on = if names_nodes { "these nodes, which the rank file names" } else { "this allocation" };
    format!("written: {}\non {on}, run: {usage}\n", ranks.display())
}
