//! Measures how good mappings are, and writes docs/quality.md: `quality FILE`. With `graphs`
//! in place of a file, graphs alone, to the terminal.
//!
//! Fails if an aim is missed.

mod cart;
mod clock;
mod generate;
mod graphs;
mod instances;
mod published;

use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        eprintln!("quality: name the file to write");
        return ExitCode::FAILURE;
    };
    if file == "graphs" {
        graphs::run();
        return ExitCode::SUCCESS;
    }
    let sections = [cart::section()];
    let mut text = String::from(
        "# Quality of mappings\n\n\
         Written by `make quality`; every figure of Cartograph is measured there, and answers are the \
         same on every machine. Times are those of the machine that it ran on.\n",
    );
    for (section, _) in &sections {
        text.push('\n');
        text.push_str(section);
    }
    print!("{text}");
    if let Err(error) = std::fs::write(&file, &text) {
        eprintln!("quality: {file}: {error}");
        return ExitCode::FAILURE;
    }
    if sections.iter().all(|(_, met)| *met) {
        ExitCode::SUCCESS
    } else {
        eprintln!("quality: an aim is missed; see {file}");
        ExitCode::FAILURE
    }
}
