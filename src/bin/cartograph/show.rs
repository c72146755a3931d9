//! `cartograph show`.

use std::path::PathBuf;

use cartograph::report::{Document, Record, picture};

use crate::output::{self, Failure, Result};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A report in JSON; - is stdin
    report: PathBuf,
    /// Draws processes before and after into a file; - is stdout
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Only the topology with this number, from 1 in the order of the report
    #[arg(long, value_name = "NUMBER")]
    topology: Option<usize>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let path = &arguments.report;
    let mut document = Document::read(&output::read(path)?)
        .map_err(|error| Failure::new(format!("cannot show {}: {error}", path.display())))?;
    if let Some(number) = arguments.topology {
        let count = document.topologies.len();
        let wanted = number.checked_sub(1).filter(|at| *at < count).ok_or_else(|| {
            Failure::usage(format!("there is no topology {number}: the report has {count}"))
        })?;
        document.topologies = vec![document.topologies.swap_remove(wanted)];
    }
    match &arguments.svg {
        None => output::print(&document.to_string()),
        Some(svg) => output::write(svg, &draw(&document.topologies)?),
    }
}

fn draw(topologies: &[Record]) -> Result<String> {
    let figures: Vec<_> = topologies.iter().filter_map(picture::of_record).collect();
    if figures.is_empty() {
        return Err(Failure::new(
            "there is nothing to draw: no topology in the report has places (grids) or traffic (graphs)",
        ));
    }
    Ok(picture::sheet(figures))
}
