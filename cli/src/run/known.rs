//! `cartograph known`: lists the programs in the store, or the reports of jobs.

use std::path::{Path, PathBuf};

use cartograph_jobs::learn::{Entry, Gain, SHOWN, claimed, gain, median_times};
use cartograph_jobs::store::Store;
use serde_json::json;

use crate::output::{self, Failure, Result};
use crate::reports;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Remove the entries of this program
    #[arg(long, value_name = "PROGRAM")]
    forget: Option<String>,
    /// Copy the entries of this program to a directory that becomes a site's store
    #[arg(long, num_args = 2, value_names = ["PROGRAM", "DIRECTORY"])]
    export: Vec<String>,
    /// List the jobs with reports in this directory, written with CARTOGRAPH_REPORT=/DIR/%j-%u.json
    #[arg(conflicts_with_all = ["json", "forget", "export"])]
    reports: Option<PathBuf>,
    /// Show only jobs that would save at least PERCENT of the busiest node's edges
    #[arg(long, value_name = "PERCENT", default_value_t = 0, requires = "reports")]
    least: u8,
}

/// The best placement of an entry: its order, the ratio of times, and the intervals.
struct Best {
    order: String,
    ratio: f64,
    shown: Option<Gain>,
    is_sure: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(directory) = &arguments.reports {
        return reports::list(directory, arguments.least);
    }
    let place = Store::place()
        .ok_or_else(|| Failure::usage("set CARTOGRAPH_STORE to the directory of the store"))?;
    if !place.is_dir() {
        return Err(Failure::new(format!(
            "nothing learned yet: {} does not exist",
            place.display()
        )));
    }
    let store = Store::of(place);
    if let [program, directory] = &arguments.export[..] {
        return export(&store, program, Path::new(directory));
    }
    if let Some(program) = &arguments.forget {
        return forget(&store, program);
    }
    let (mut entries, mut wrong) = (Vec::new(), Vec::new());
    for (name, entry) in store.all() {
        match entry {
            Ok(entry) => entries.extend(is_known(&entry).then_some(entry)),
            Err(why) => wrong.push(format!("{name} {why}")),
        }
    }
    entries.sort_by(|one, other| other.hours().0.total_cmp(&one.hours().0));
    if arguments.json {
        let all: Vec<_> = entries.iter().map(value).collect();
        output::print(&(json!({"schema": 1, "programs": all}).to_string() + "\n"))?;
    } else {
        output::print(&table(&entries))?;
    }
    wrong.extend(Store::check_site().err());
    wrong.iter().for_each(|why| output::say(why));
    Ok(())
}

/// True if jobs taught something; a job on a single node only leaves that fact.
fn is_known(entry: &Entry) -> bool {
    entry.totals.runs > 0 || !entry.kinds.is_empty()
}

/// The placement with the best measured times on all nodes: of a kind of work, or of all kinds.
fn best(entry: &Entry, kind: Option<u32>) -> Option<Best> {
    let found = entry.placements().into_iter().filter_map(|placement| {
        let runs = match kind {
            Some(kind) => entry.runs_of_kind(kind, &placement),
            None => entry.runs_in(&placement),
        };
        Some(Best {
            ratio: median_times(&runs, 1)?,
            shown: gain(&runs, 1, SHOWN),
            is_sure: claimed(&runs, 1).is_some(),
            order: placement.order,
        })
    });
    found.max_by(|one, other| one.ratio.total_cmp(&other.ratio))
}

/// The number of kept runs of a kind.
fn runs(entry: &Entry, kind: u32) -> usize {
    entry.runs.iter().filter(|run| run.kind == kind && run.nodes > 0).count()
}

/// A row for each program, followed by one for each of its kinds of work if there are several.
fn table(entries: &[Entry]) -> String {
    // The names of several programs in one job are long.
    let width = entries.iter().map(|entry| entry.program.chars().count() + 1).max();
    let width = width.unwrap_or(0).max(24);
    let mut text = format!(
        "{:width$}{:>8}{:>6}{:>7}{:>16}{:>10}{:>10}  best placement\n",
        "program", "ranks", "runs", "gain", "95 % CI", "saved, h", "lost, h"
    );
    for entry in entries {
        let Entry { program, processes, totals, kinds, .. } = entry;
        let ranks = processes.to_string();
        let best_of_all = best(entry, None).filter(|_| kinds.len() < 2);
        text += &row(width, [program, &ranks], totals.runs, best_of_all, entry.hours());
        if !entry.started_from.is_empty() {
            text += &format!("  started from {}\n", entry.started_from);
        }
        for (number, kind) in (1..).zip(kinds) {
            if kinds.len() > 1 {
                let name = format!("  input {number}");
                let (count, hours) = (runs(entry, kind.id) as u64, entry.hours_of_kind(kind.id));
                text += &row(width, [&name, ""], count, best(entry, Some(kind.id)), hours);
            }
        }
    }
    text
}

fn row(
    width: usize,
    [name, ranks]: [&str; 2],
    runs: u64,
    best: Option<Best>,
    (saved, lost): (f64, f64),
) -> String {
    let best = best.filter(|best| best.ratio > 1.0);
    let of = |text: &dyn Fn(&Best) -> String| best.as_ref().map_or_else(|| "-".into(), text);
    let interval = |best: &Best| match best.shown {
        Some(Gain { least, most, .. }) => format!("{least:.2}-{most:.2}"),
        None => "too few runs".to_owned(),
    };
    format!(
        "{name:width$}{ranks:>8}{runs:>6}{:>7}{:>16}{saved:>10.2}{lost:>10.2}  {}\n",
        of(&|best| format!("{:.2}", best.ratio)),
        of(&interval),
        of(&|best| best.order.clone() + if best.is_sure { "" } else { " (not certain yet)" })
    )
}

fn value(entry: &Entry) -> serde_json::Value {
    let of = |best: Best| {
        json!({
            "order": best.order, "gain": best.ratio, "certain": best.is_sure,
            "interval": best.shown.map(|gain| [gain.least, gain.most])
        })
    };
    let kinds = entry.kinds.iter().map(|kind| {
        let (saved, lost) = entry.hours_of_kind(kind.id);
        json!({
            "runs": runs(entry, kind.id), "best": best(entry, Some(kind.id)).map(of),
            "node_hours_saved": saved, "node_hours_lost": lost
        })
    });
    let (saved, lost) = entry.hours();
    json!({
        "program": entry.program, "build": entry.build, "ranks": entry.processes, "mpi": entry.mpi,
        "started_from": Some(&entry.started_from).filter(|from| !from.is_empty()),
        "runs": entry.totals.runs, "best": best(entry, None).map(of),
        "inputs": kinds.collect::<Vec<_>>(),
        "node_hours_saved": saved, "node_hours_lost": lost
    })
}

fn forget(store: &Store, program: &str) -> Result<()> {
    let all = of_program(store, program)?;
    all.into_iter().try_for_each(|(name, _)| {
        store.forget(&name).map_err(|error| Failure::new(format!("{name}: {error}")))
    })
}

fn export(store: &Store, program: &str, directory: &Path) -> Result<()> {
    let all = of_program(store, program)?;
    all.into_iter().try_for_each(|(name, entry)| {
        let wrong = |error| Failure::new(format!("{}: {error}", directory.join(&name).display()));
        Store::export(directory, &name, &entry).map_err(wrong)
    })
}

/// The entries of a program, by the names of their files.
fn of_program(store: &Store, program: &str) -> Result<Vec<(String, Entry)>> {
    let all = store.all().into_iter().filter_map(|(name, entry)| Some((name, entry.ok()?)));
    let found: Vec<(String, Entry)> = all.filter(|(_, entry)| entry.program == program).collect();
    match found.is_empty() {
        true => Err(Failure::new(format!("nothing learned about {program} yet"))),
        false => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_node_jobs_are_not_listed() {
        let mut entry = Entry::new("app", 4);
        entry.nodes = "(vector,(0,1,4))".to_owned();
        assert!(!is_known(&entry));
        entry.totals.runs = 1;
        assert!(is_known(&entry));
    }
}
