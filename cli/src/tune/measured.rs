//! The measured variants of a program, and what their times prove.

use std::fmt::Write;

use cartograph_core::learn::measure::{median, paired_gain};
use cartograph_core::learn::{Gain, SHOWN};
use serde_json::{Value, json};

use super::times::{LEAST_GAIN, is_faster};
use crate::arms::{Arm, Start, Way, faster};
use crate::runs::compare::{self, Lines};
use crate::traffic;

/// A variant with its runs.
pub(super) struct Runs {
    pub(super) arm: Arm,
    /// Its start, unless it cannot be run.
    pub(super) start: Option<Start>,
    /// The node of each rank, by name, if the launcher is to place them.
    pub(super) nodes: Option<Vec<String>>,
    pub(super) times: Vec<f64>,
    pub(super) lines: Vec<Lines>,
    /// Why it was dropped.
    pub(super) dropped: Option<String>,
    /// True if it was dropped because its output differs.
    pub(super) differs: bool,
    /// True if it was dropped because it cannot be run.
    pub(super) failed: bool,
    /// The options that ignore the difference, if it names only the places of ranks.
    pub(super) ignorable: Option<String>,
}

/// The time that is compared.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Time {
    /// From `MPI_Init` to `MPI_Finalize`.
    OfJob,
    /// Of the launcher, if some processes do not reach `MPI_Finalize`.
    OfLauncher,
    /// Printed by the program.
    Printed,
}

/// The result of all rounds.
pub(super) struct Finding<'a> {
    pub(super) words: String,
    pub(super) best: Option<(&'a Arm, &'a Start)>,
    pub(super) measured: Option<(f64, f64)>,
    /// True if no variant except the baseline could run.
    pub(super) none_ran: bool,
}

/// The runs of all variants.
pub(super) struct Measured {
    /// The time that is compared.
    pub(super) time: Time,
    /// The first is the baseline.
    pub(super) all: Vec<Runs>,
    /// The cores of a node, if placed ranks are not bound to one each.
    pub(super) cores: Option<usize>,
    /// The variant of each completed run, in order, and its time from `MPI_Init` to `MPI_Finalize`.
    pub(super) ended: Vec<(usize, f64)>,
    /// True if the user interrupted the rounds, after enough runs.
    pub(super) is_interrupted: bool,
}

impl Measured {
    /// The completed runs, in order: the placement, and the time from `MPI_Init` to `MPI_Finalize`.
    pub(super) fn ended(&self) -> impl Iterator<Item = (&Arm, f64)> {
        self.ended.iter().map(|(at, seconds)| (&self.all[*at].arm, *seconds))
    }

    /// The placements in which the program failed.
    pub(super) fn failed(&self) -> impl Iterator<Item = &Arm> {
        let failed = self.all.iter().filter(|runs| runs.failed && runs.start.is_some());
        failed.map(|runs| &runs.arm)
    }

    /// The name of the time that is compared.
    fn time(&self) -> &'static str {
        match self.time {
            Time::OfJob => "from MPI_Init to MPI_Finalize",
            Time::OfLauncher => "of the launcher",
            Time::Printed => "printed",
        }
    }

    /// The time that is compared and the times of all runs, without the program's output.
    pub(super) fn json(&self) -> Value {
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
    pub(super) fn text(&self, unit: &str) -> String {
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
        text + "\n"
    }

    /// True if something of the output is alike in all baseline runs.
    fn compares_output(&self, tolerance: f64) -> bool {
        let lines: Vec<&Lines> = self.all[0].lines.iter().collect();
        compare::compare(&lines, &lines, tolerance).compared > 0
    }

    /// The variant with the largest significant speedup over the baseline, if any. Numbers of the output were compared
    /// with this tolerance.
    pub(super) fn finding(&self, tolerance: f64) -> Finding<'_> {
        let baseline = &self.all[0].times;
        let failures = self.all[1..].iter().filter(|runs| runs.failed);
        let failures: Vec<String> = failures
            .map(|runs| {
                format!("{}: {}", runs.arm.order, runs.dropped.as_deref().unwrap_or_default())
            })
            .collect();
        if failures.len() == self.all.len() - 1 {
            let words = format!("no placement could be tried: {}", failures.join("; "));
            return Finding { words, best: None, measured: None, none_ran: true };
        }
        let gains = self.all[1..].iter();
        let gains = gains.map(|runs| Some((runs, paired_gain(baseline, &runs.times, SHOWN)?)));
        let mut gains: Vec<(&Runs, Gain)> = gains.flatten().collect();
        gains.sort_by(|(_, one), (_, other)| other.mean.total_cmp(&one.mean));
        let tests = self.all[1..].iter().filter(|runs| runs.start.is_some()).count();
        let left = || gains.iter().filter(|(runs, _)| runs.dropped.is_none());
        let sure = left().find(|(runs, _)| is_faster(baseline, &runs.times, tests));
        let count = |runs: &Runs| baseline.len() + runs.times.len();
        let mut words = match (&sure, left().find(|(_, gain)| gain.most > LEAST_GAIN)) {
            (Some((runs, gain)), _) => faster(&runs.arm.order, gain, count(runs)),
            (None, Some((runs, Gain { mean, least, most, .. }))) => format!(
                "no significant speedup over the default order at the 99 % level; {}: {mean:.2}x its speed ({} runs, 95 % CI \
                 {least:.2}-{most:.2}); try more --runs or an idle machine",
                runs.arm.order,
                count(runs)
            ),
            _ => "no variant is faster than the default order".to_owned(),
        };
        let moves_grids = |runs: &Runs| matches!(runs.arm.way, Way::Weights(_) | Way::Dims(_));
        let is_sure = sure.as_ref().is_some_and(|(runs, _)| moves_grids(runs));
        if is_sure && !self.compares_output(tolerance) {
            words += "; its output was not compared: no line of stdout and no file below this directory is the same \
                      in each run";
        }
        let least = sure.as_ref().map_or(LEAST_GAIN, |(_, gain)| gain.mean);
        let differs = |(runs, gain): &&(&Runs, Gain)| runs.differs && gain.mean > least;
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
        let measured = sure.as_ref().map(|(runs, _)| (median(baseline), median(&runs.times)));
        let best = sure.and_then(|(runs, _)| Some((&runs.arm, runs.start.as_ref()?)));
        Finding { words, best, measured, none_ran: false }
    }
}
