//! `cartograph plan`: the effect of a mapping, without MPI.

mod answer;
mod arguments;
mod nodes;
mod problem;
mod rank_file;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use cartograph_core::launcher::Format;
use cartograph_core::mapping::{Distances, Options, Stop, plan_graph, plan_grid};
use cartograph_jobs::predict::{Forecast, MOST_CALLS, fewest_bytes};
use cartograph_jobs::processes::signals;
use cartograph_jobs::traffic;

use crate::output::{self, Cause, Failure, Progress, Result};
use answer::Solved;
pub(crate) use arguments::Arguments;
use problem::Problem;

/// True if a text is an output of `--json`.
pub(crate) fn is_answer(text: &str) -> bool {
    let value: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    ["old_rank", "node_sizes", "algorithm"].iter().all(|key| value.get(key).is_some())
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    // Errors are reported before any long work.
    let formats = formats(arguments)?;
    let files = arguments.svg.iter().chain(formats.iter().map(|(_, file)| file));
    let is_stdout_taken = check_outputs(&files.collect::<Vec<_>>(), arguments.json)?;
    let solved = solve(arguments)?;
    let svg = arguments.svg.as_ref().map(|file| solved.svg().map(|svg| (file, svg))).transpose()?;
    let ranks = formats.iter().map(|(format, file)| rank_file(arguments, &solved, *format, file));
    let ranks = ranks.collect::<Result<Vec<_>>>()?;

    // An output requested on stdout replaces the others.
    if arguments.json {
        output::print(&(solved.json() + "\n"))?;
    } else if !is_stdout_taken {
        output::print(&solved.text())?;
    }
    if let Some((file, text)) = svg {
        output::write(file, &text)?;
    }
    for ((_, file), (text, how)) in formats.iter().zip(ranks) {
        output::write(file, &text)?;
        if !arguments.json && !is_stdout_taken {
            output::print(&format!("\n{how}\n"))?;
        }
    }
    Ok(())
}

/// The rank files to write.
fn formats(arguments: &Arguments) -> Result<Vec<(Format, PathBuf)>> {
    let words = arguments.rankfile.as_deref().unwrap_or_default();
    let formats = words.chunks(2).map(|words| match Format::named(&words[0].to_lowercase()) {
        Some(format) => Ok((format, PathBuf::from(&words[1]))),
        None => Err(Failure::usage("--rankfile takes openmpi, slurm, cray or flux, and a file")),
    });
    let formats = formats.collect::<Result<Vec<_>>>()?;
    if arguments.hosts.is_some()
        && !formats.iter().any(|(format, _)| format.takes_names())
        && !nodes::are_addressed(arguments)
    {
        return Err(Failure::usage(
            "--hosts needs a --layout file of the network or --rankfile openmpi or slurm; cray and flux number \
             nodes in allocation order",
        ));
    }
    Ok(formats)
}

/// Checks that no two outputs have the same file; true if one of them is stdout.
fn check_outputs(files: &[&PathBuf], json: bool) -> Result<bool> {
    let (on_stdout, files): (Vec<&PathBuf>, Vec<&PathBuf>) =
        files.iter().partition(|file| file.as_os_str() == "-");
    let mut seen = HashSet::new();
    if let Some(twice) = files.iter().find(|file| !seen.insert(**file)) {
        return Err(Failure::usage(format!(
            "{} given twice; each output needs its own file",
            twice.display()
        )));
    }
    for file in files {
        output::check_place(file)?;
    }
    if on_stdout.len() + usize::from(json) > 1 {
        return Err(Failure::usage(
            "--json and - both write to stdout; only one output can go there",
        ));
    }
    Ok(!on_stdout.is_empty())
}

/// The text of a rank file, and how to use it.
fn rank_file(
    arguments: &Arguments,
    solved: &Solved,
    format: Format,
    file: &Path,
) -> Result<(String, String)> {
    let node_of = solved.plan.node_of(&solved.machine);
    let known = solved.names.as_deref();
    let names = rank_file::names(arguments.hosts.as_deref(), known, &solved.machine)?;
    let mut how = rank_file::usage(format, &file.display().to_string(), &node_of);
    if format.takes_names() && arguments.hosts.is_none() && known.is_none() {
        how += "\n(host names n0, n1, ... are placeholders; pass --hosts)";
    }
    let text = format.write(&node_of, &names);
    let text = text.map_err(|why| Failure::new(format!("--rankfile {}: {why}", format.name())))?;
    Ok((text, how))
}

fn solve(arguments: &Arguments) -> Result<Solved> {
    let problem = problem::read(arguments)?;
    let (machine, names) = nodes::machine_of(arguments, &problem)?;
    let seconds = arguments.seconds;
    if seconds.is_some_and(|seconds| !(seconds >= 0.0 && seconds.is_finite())) {
        return Err(Failure::usage("--seconds must be a non-negative number"));
    }
    let distances =
        arguments.level_weights.as_deref().map_or(Ok(Distances::default()), |text| {
            Distances::parse(text)
                .map_err(|error| Failure::usage(format!("--level-weights {error}")))
        })?;
    if arguments.level_weights.is_some() && machine.above().is_empty() {
        return Err(Failure::usage(
            "--level-weights needs a machine with switches; describe it with --layout",
        ));
    }
    let stop = stop_when_interrupted();
    let options = Options::default().with_objective(arguments.objective).with_seconds(seconds);
    let recorded = || match &problem {
        Problem::Traffic(recorded) => traffic::limit(&recorded.recording),
        _ => 0,
    };
    let devices = arguments.devices.unwrap_or_else(recorded);
    let options = options.with_distances(distances).with_stop(stop).with_devices(devices);
    let progress =
        Progress::new(&format!("placing {} processes (Ctrl-C: the best so far)", machine.ranks()));
    let start = Instant::now();
    let forecast = match &problem {
        Problem::Traffic(recorded) => {
            let recording = &recorded.recording;
            Forecast::new(recording, &machine, &options, arguments.network, MOST_CALLS)
        }
        _ => None,
    };
    let plan = match (&problem, &forecast) {
        (Problem::Grid(grid), _) => plan_grid(grid, &machine, &options),
        (Problem::Graph { graph, .. }, _) => plan_graph(graph, &machine, &options),
        (Problem::Traffic(_), Some(forecast)) => {
            forecast.gaining().first().map_or(&forecast.all[0], |best| best).plan.clone()
        }
        (Problem::Traffic(recorded), None) => {
            fewest_bytes(&recorded.recording, recorded.graph(), &machine, &options)
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    drop(progress);
    SEARCHED.store(true, Ordering::Relaxed);
    let stopped = STOPPED.load(Ordering::Relaxed);
    Ok(Solved { problem, machine, names, plan, forecast, seconds, stopped })
}

/// True once a signal has ended the search, and once the search has ended.
static STOPPED: AtomicBool = AtomicBool::new(false);
static SEARCHED: AtomicBool = AtomicBool::new(false);

/// Lets a signal end the search, which then returns the best mapping found; a second one, and one after the search,
/// ends the command.
fn stop_when_interrupted() -> Stop {
    signals::on_end(|signal| {
        if SEARCHED.load(Ordering::Relaxed) || STOPPED.swap(true, Ordering::Relaxed) {
            std::process::exit(Cause::Signal(signal).code().into());
        }
    });
    Stop(Some(&STOPPED))
}
