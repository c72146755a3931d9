//! `cartograph show`.

use std::path::PathBuf;

use cartograph_core::report::Document;

use crate::output::{self, Failure, Result};
use crate::{plan, traffic};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A recording by `cartograph exec --record`, or a JSON report; - is stdin
    file: PathBuf,
    /// Draw a recording to a file; - is stdout
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print the report, or the recording with all parts merged, as JSON
    #[arg(long, conflicts_with = "svg")]
    json: bool,
}

pub(crate) fn run(Arguments { file, svg, json }: &Arguments) -> Result<()> {
    if traffic::is_recording(file) {
        let recording = traffic::read(file)?;
        return match json {
            true => output::print(&(traffic::json(&recording) + "\n")),
            false => traffic::show(&recording, svg.as_deref()),
        };
    }
    let text = output::read(file)?;
    let cannot = |why: &str| Failure::new(format!("cannot show {}: {why}", file.display()));
    let report = Document::read(&text).map_err(|error| match plan::is_answer(&text) {
        true => cannot(
            "it is a plan, as cartograph plan --json prints it, not a report; cartograph plan --svg FILE draws one",
        ),
        false => cannot(&error.to_string()),
    })?;
    if svg.is_some() {
        return Err(Failure::usage(format!(
            "{} is a report, which has no picture: cartograph plan --svg FILE draws a placement",
            file.display()
        )));
    }
    output::print(&match json {
        true => report.json() + "\n",
        false => output::shown(&report.to_string()),
    })
}
