//! Measures how good mappings are, and writes docs/quality.md: `quality FILE`.
//!
//! Fails if an aim is missed.

mod cart;
mod clock;
mod costs;
mod generate;
mod graphs;
mod instances;
mod memory;
mod published;
mod weights;

use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        eprintln!("quality: name the file to write");
        return ExitCode::FAILURE;
    };
    let sections = [cart::section(), weights::section(), costs::section(), graphs::section()];
    let mut text = String::from(
        "# Quality of mappings\n\n\
         Written by `make quality`; every figure of Cartograph is measured there, and answers are the \
         same on every machine. Times are those of the machine that it ran on.\n\n\
         Pictures: [50x48 on 50 of 48](plan-50x48.svg), [12x8x8 on 16 of 48](plan-12x8x8.svg), made by \
         `make tool` and `build/bin/cartograph plan --dims SIDES --nodes COUNT --ppn SIZE --svg FILE`.\n",
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
