//! `cartograph show`.

use std::path::{Path, PathBuf};

use cartograph_core::report::{Document, Record};
use cartograph_jobs::draw;

use crate::output::{self, Failure, Result};
use crate::{plan, traffic};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A JSON report, read together with the files of other processes (FILE.RANK), or a recording by `cartograph exec
    /// --record`; - is stdin
    report: PathBuf,
    /// Draw the processes before and after to a file; - is stdout
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print the report or recording, with all parts merged, as JSON
    #[arg(long, conflicts_with = "svg")]
    json: bool,
    /// Show only the topology with this number, counted from 1 in the report
    #[arg(long, value_name = "NUMBER")]
    topology: Option<usize>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let path = &arguments.report;
    if traffic::is_recording(path) {
        if arguments.topology.is_some() {
            return Err(Failure::usage("--topology is for reports: a recording has one picture"));
        }
        let recording = traffic::read(path)?;
        return match arguments.json {
            true => output::print(&(traffic::json(&recording) + "\n")),
            false => traffic::show(&recording, arguments.svg.as_deref()),
        };
    }
    let mut document = read(path)?;
    if let Some(number) = arguments.topology {
        let count = document.topologies.len();
        let wanted = number.checked_sub(1).filter(|at| *at < count).ok_or_else(|| {
            Failure::usage(format!("no topology {number}; the report has {count}"))
        })?;
        document.topologies = vec![document.topologies.swap_remove(wanted)];
    }
    match &arguments.svg {
        None if arguments.json => output::print(&(document.json() + "\n")),
        None => output::print(&output::shown(&document.to_string())),
        Some(svg) => output::write(svg, &draw(&document.topologies)?),
    }
}

/// A report with all its files.
pub(crate) fn read(path: &Path) -> Result<Document> {
    let mut files = parts(path);
    // Rank 0 may have written no report. If there is no other file, the error names this one.
    if files.is_empty() || path.exists() {
        files.insert(0, path.to_owned());
    }
    let documents = files.iter().map(|path| {
        let text = output::read(path)?;
        Document::read(&text).map_err(|error| match plan::is_answer(&text) {
            true => Failure::new(format!(
                "cannot show {}: it is a plan, as cartograph plan --json prints it, not a report; \
                 cartograph plan --svg FILE draws one",
                path.display()
            )),
            false => Failure::new(format!("cannot show {}: {error}", path.display())),
        })
    });
    Ok(Document::merged(documents.collect::<Result<Vec<_>>>()?))
}

/// The files of processes other than rank 0: the file's name, a dot and the rank, in order of rank.
fn parts(path: &Path) -> Vec<PathBuf> {
    let Some(name) = path.file_name().filter(|_| path != Path::new("-")) else { return Vec::new() };
    let directory = path.parent().filter(|parent| *parent != Path::new(""));
    let entries = directory.unwrap_or(Path::new(".")).read_dir().into_iter().flatten().flatten();
    let rank_of = |entry: &std::fs::DirEntry| -> Option<u32> {
        let entry = entry.file_name();
        let rest = entry.as_encoded_bytes().strip_prefix(name.as_encoded_bytes())?;
        let digits = str::from_utf8(rest.strip_prefix(b".")?).ok()?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let mut parts: Vec<(u32, PathBuf)> =
        entries.filter_map(|entry| Some((rank_of(&entry)?, entry.path()))).collect();
    parts.sort();
    parts.into_iter().map(|(_, path)| path).collect()
}

fn draw(topologies: &[Record]) -> Result<String> {
    let figures: Vec<_> = topologies.iter().filter_map(draw::of_record).collect();
    if figures.is_empty() {
        return Err(Failure::new(
            "nothing to draw: no topology in the report has places (grids) or traffic (graphs)",
        ));
    }
    Ok(draw::sheet(figures))
}
