//! The result of a tuning: the conclusions from its times, in words and as JSON, and the rank file of the fastest placement.

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;

use cartograph_jobs::compare::files::MOST_FILES;
use cartograph_jobs::launch::Line;
use cartograph_jobs::learn::measure::{median, paired_gain};
use cartograph_jobs::learn::{Entry, Gain, Guess, NOTABLE, Past, SHOWN, Traffic, is_faster};
use cartograph_jobs::place::{Arm, Means, RankFile, Start, faster};
use cartograph_jobs::predict::Forecast;
use cartograph_jobs::processes::job;
use cartograph_jobs::replay::Link;
use cartograph_jobs::run::{nodes_of_ranks, note, now};
use cartograph_jobs::store::Store;
use serde_json::{Value, json};

use super::recorded::Recorded;
use super::rounds::{Measured, Time, VariantRuns};
use crate::output::{self, Failure, Result};
use crate::traffic;

/// The version of the JSON.
const SCHEMA: u32 = 1;

/// The result of all rounds.
struct Finding<'a> {
    words: String,
    best: Option<(&'a Arm, &'a Start)>,
    /// True if no variant except the baseline could run.
    none_ran: bool,
}

/// Prints and writes all that was found; nothing was measured if no placement is worth a run. `command` is the user's.
pub(super) fn write(
    recorded: &Recorded,
    forecast: &Forecast,
    measured: Option<&Measured>,
    file: &Path,
    json: Option<&Path>,
    command: &OsStr,
) -> Result<()> {
    if let Some(measured) = measured {
        output::print(&measured.text(forecast.unit))?;
        if let Err(why) = keep(recorded, forecast, measured) {
            output::say(&format!("{why}; cartograph run will not use these runs"));
        }
    }
    let found = measured.map(|measured| (measured, measured.finding()));
    if let Some(json) = json {
        write_json(json, recorded, forecast, found.as_ref())?;
    }
    if let Err(why) = &recorded.means {
        return Err(Failure::new(format!("no placement can be tried: {why}")));
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
        let mut words = String::new();
        // Only `cartograph run` starts the programs of a file in another order.
        let rank_file = start.rank_file.as_ref();
        if let Some(rank_file) = rank_file.filter(|it| !it.line.programs.is_one) {
            output::write(file, &rank_file.text)?;
            words += &rank_file_use(arm, rank_file, file);
        }
        output::print(&format!(
            "\n{words}on any nodes, run: cartograph run {}\n",
            command.to_string_lossy()
        ))?;
    }
    match measured.is_interrupted {
        true => Err(job::interrupted().with_hint("best result so far")),
        false => Ok(()),
    }
}

/// Keeps the runs in the store, for `cartograph run`: the placement and time of each, and the placements in which the
/// program failed. All of them ran on the recorded run's nodes and did the same work.
fn keep(
    recorded: &Recorded,
    forecast: &Forecast,
    measured: &Measured,
) -> core::result::Result<(), String> {
    let Recorded { recording, machine, key, inputs, .. } = recorded;
    let key = key.as_ref().ok_or("cannot read the program")?;
    let (shape, nodes) = (key.shape(machine), machine.node_sizes().len() as u32);
    let mut traffic = Traffic::new(recording);
    traffic.network = forecast.fitted.map(|Link { latency, bandwidth }| (latency, bandwidth));
    let guess = Guess::default();
    let note = note(recording, inputs, key, Some(traffic), &guess);
    let change = |entry: &mut Entry| {
        let noted = note(entry);
        // With relays, `cartograph run` plans for the nodes of the last job.
        entry.nodes = nodes_of_ranks(machine);
        for (at, seconds) in &measured.ended {
            let arm = &measured.all[*at].arm;
            // The first is the default order.
            let order = if *at > 0 { arm.order.clone() } else { String::new() };
            entry.add(Past {
                kind: noted.kind,
                units: noted.units,
                order,
                made_for: noted.kind,
                predicted: arm.gain(),
                shape,
                nodes,
                seconds: seconds.max(1e-9),
                ended: now(),
                is_first: false,
            });
        }
        let others = measured.all[1..].iter();
        let failed = others.filter(|runs| runs.failed && runs.start.is_some());
        failed.for_each(|runs| entry.fail(&runs.arm.order));
    };
    Store::open()?.update(key, recording.size, change).map(drop)
}

impl Measured {
    /// The name of the time that is compared.
    fn time(&self) -> &'static str {
        match self.time {
            Time::OfJob => "from MPI_Init to MPI_Finalize",
            Time::OfLauncher => "of the launcher",
            Time::Printed => "printed",
        }
    }

    /// The time that is compared and the times of all runs, without the program's output.
    fn json(&self) -> Value {
        let variants = self.all.iter().map(|runs| {
            let Arm { order, predicted, busiest, .. } = &runs.arm;
            let gain = paired_gain(&self.all[0].times, &runs.times, SHOWN);
            let why = runs.dropped.as_deref();
            json!({
                "order": order, "predicted": predicted, "busiest": busiest, "seconds": runs.times,
                "gain": gain.map(|gain| [gain.mean, gain.least, gain.most]),
                "dropped": if runs.differs { Some("output differs") } else { why },
            })
        });
        json!({"time": self.time(), "variants": variants.collect::<Vec<_>>()})
    }

    /// A table of the measurements.
    fn text(&self, unit: &str) -> String {
        let time = self.time();
        let longest = self.all.iter().map(|runs| runs.arm.order.chars().count()).max();
        let width = longest.unwrap_or(0).max(39) + 1;
        let mut text = format!(
            "\n{:width$}{:>10}{:>22}{:>8}{:>10}{:>14}{:>6}\n",
            format!("measured, {time}"),
            "time, s",
            "least to most",
            "gain",
            "predicted",
            format!("{unit}, worst"),
            "runs"
        );
        for runs in &self.all {
            let gain = paired_gain(&self.all[0].times, &runs.times, SHOWN);
            let gain = gain.map_or_else(|| "-".to_owned(), |gain| format!("{:.2}", gain.mean));
            let [mut time, mut spread] = ["-".to_owned(), "-".to_owned()];
            if !runs.times.is_empty() {
                let least = runs.times.iter().copied().fold(f64::INFINITY, f64::min);
                let most = runs.times.iter().copied().fold(0.0, f64::max);
                time = format!("{:.3}", median(&runs.times));
                spread = format!("{least:.3} to {most:.3}");
            }
            let Arm { order, predicted, busiest, .. } = &runs.arm;
            let _ = write!(
                text,
                "{order:width$}{time:>10}{spread:>22}{gain:>8}{:>10}{:>14}{:>6}",
                predicted.map_or_else(|| "-".to_owned(), |predicted| format!("{predicted:.2}")),
                busiest.map_or_else(|| "-".to_owned(), |busiest| traffic::amount(busiest, unit)),
                runs.times.len()
            );
            match &runs.dropped {
                Some(why) => drop(writeln!(text, "  {why}")),
                None => text.push('\n'),
            }
        }
        if self.too_many_files {
            let _ = writeln!(
                text,
                "\nnot compared: files (more than {MOST_FILES} below this directory)"
            );
        }
        text + "\n"
    }

    /// The variant with the largest significant speedup over the baseline, if any.
    fn finding(&self) -> Finding<'_> {
        let baseline = &self.all[0].times;
        let failures = self.all[1..].iter().filter(|runs| runs.failed);
        let failures: Vec<String> = failures
            .map(|runs| {
                format!("{}: {}", runs.arm.order, runs.dropped.as_deref().unwrap_or_default())
            })
            .collect();
        if failures.len() == self.all.len() - 1 {
            let words = format!("no placement could be tried: {}", failures.join("; "));
            return Finding { words, best: None, none_ran: true };
        }
        let gains = self.all[1..].iter();
        let gains = gains.map(|runs| Some((runs, paired_gain(baseline, &runs.times, SHOWN)?)));
        let mut gains: Vec<(&VariantRuns, Gain)> = gains.flatten().collect();
        gains.sort_by(|(_, one), (_, other)| other.mean.total_cmp(&one.mean));
        let tests = self.all[1..].iter().filter(|runs| runs.start.is_some()).count();
        let left = || gains.iter().filter(|(runs, _)| runs.dropped.is_none());
        let sure = left().find(|(runs, _)| is_faster(baseline, &runs.times, tests));
        let count = |runs: &VariantRuns| baseline.len() + runs.times.len();
        let mut words = match (&sure, left().find(|(_, gain)| gain.most > NOTABLE)) {
            (Some((runs, gain)), _) => faster(&runs.arm.order, gain, count(runs)),
            (None, Some((runs, Gain { mean, least, most, .. }))) => format!(
                "no significant speedup over the default order at the 99 % level; {}: {mean:.2}x its speed ({} runs, 95 % CI \
                 {least:.2}-{most:.2}); try more --runs or an idle machine",
                runs.arm.order,
                count(runs)
            ),
            _ => "no variant is faster than the default order".to_owned(),
        };
        let least = sure.as_ref().map_or(NOTABLE, |(_, gain)| gain.mean);
        let differs = |(runs, gain): &&(&VariantRuns, Gain)| runs.differs && gain.mean > least;
        if let Some((runs, gain)) = gains.iter().find(differs) {
            let hint = match &runs.ignorable {
                Some(options) => format!(
                    "only lines that name ranks, coordinates or hosts differ; if they only say where ranks are, run \
                     again with {options}"
                ),
                None => "if only a time or a host name differs, add --ignore TEXT".to_owned(),
            };
            let _ = write!(
                words,
                "; {}: {:.2}x faster, but its output differs: {hint}",
                runs.arm.order, gain.mean
            );
        }
        if !failures.is_empty() {
            let _ = write!(words, "; could not be tried: {}", failures.join("; "));
        }
        let best = sure.and_then(|(runs, _)| Some((&runs.arm, runs.start.as_ref()?)));
        Finding { words, best, none_ran: false }
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
    let placement = recorded.means.as_ref().map(Means::name);
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

/// Describes how to use a rank file.
fn rank_file_use(arm: &Arm, rank_file: &RankFile, ranks: &Path) -> String {
    let RankFile { line, placement, .. } = rank_file;
    let text = format!("$(cat {})", ranks.display());
    let line = line.placed(placement, ranks.as_os_str(), &text, arm.node_of.len());
    let line = Line { programs: line.programs.named("PROGRAM"), ..line };
    let on = match placement.format.takes_names() {
        true => "these nodes, which the rank file names",
        false => "this allocation",
    };
    let hint = match placement.takes(ranks) {
        true => "",
        false => "(first move the file: the launcher misreads a path with \"pe\" or a colon)\n",
    };
    format!("written: {}\non {on}, run: {line}\n{hint}", ranks.display())
}
