//! Measures the quality of mappings: `quality [SECTION]` measures one or all of the [`SECTIONS`]. The tables go to
//! stdout and to `lab/results/quality.json`. `quality instances DIRECTORY` writes the instances and plans.
//!
//! Fails if a target is missed.

mod archive;
mod cart;
mod clock;
mod costs;
mod devices;
mod domains;
mod everyday;
mod generate;
mod graphs;
mod instances;
mod levels;
mod memory;
mod patterns;
mod published;
mod rivals;
mod sizes;
mod switches;
mod tori;
mod weights;

use std::process::ExitCode;

use cartograph_lab::{File, Table};

/// Measures a section: its tables, and whether all targets are met.
type Measure = fn() -> (Vec<Table>, bool);

/// The sections in their order, by the names that they have for `make lab-quality`.
const SECTIONS: [(&str, Measure); 10] = [
    ("everyday", everyday::section),
    ("grids", cart::section),
    ("weights", weights::section),
    ("levels", levels::section),
    ("tori", tori::section),
    ("costs", costs::section),
    ("devices", devices::section),
    ("graphs", graphs::section),
    ("sizes", sizes::section),
    ("patterns", patterns::section),
];

fn main() -> ExitCode {
    let chosen = std::env::args().nth(1);
    if let (Some("instances"), Some(directory)) = (chosen.as_deref(), std::env::args().nth(2)) {
        return match archive::write(directory.as_ref()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("quality: {directory}: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let sections = SECTIONS.iter().filter(|(name, _)| chosen.as_ref().is_none_or(|c| c == name));
    let mut met = None;
    for (_, measure) in sections {
        let (tables, all) = measure();
        for table in &tables {
            let text = table.markdown(&[], &[]).expect("all of it");
            println!("\n{}\n\n{text}", table.name);
        }
        if let Err(error) = File::put("quality", "make lab-quality", tables) {
            eprintln!("quality: {error}");
            return ExitCode::FAILURE;
        }
        met = Some(met.unwrap_or(true) && all);
    }
    match met {
        Some(true) => ExitCode::SUCCESS,
        Some(false) => {
            eprintln!("quality: an aim is missed");
            ExitCode::FAILURE
        }
        None => {
            eprintln!("quality: SECTION is one of {}", SECTIONS.map(|(name, _)| name).join(", "));
            ExitCode::from(2)
        }
    }
}
