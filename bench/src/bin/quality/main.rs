//! Measures how good mappings are, and writes docs/quality.md: `quality FILE`. `quality FILE SECTION` measures one of
//! the [`SECTIONS`] alone, and leaves the file's other sections as they are.
//!
//! Fails if an aim is missed.

mod cart;
mod clock;
mod costs;
mod generate;
mod graphs;
mod instances;
mod levels;
mod memory;
mod named;
mod published;
mod sharedmap;
mod switches;
mod weights;

use std::process::ExitCode;

/// Measures a section: its text, which begins with its heading, and whether all aims are met.
type Measure = fn() -> (String, bool);

/// The sections in their order, by the names that they have for `make quality`.
const SECTIONS: [(&str, Measure); 5] = [
    ("grids", cart::section),
    ("weights", weights::section),
    ("levels", levels::section),
    ("costs", costs::section),
    ("graphs", graphs::section),
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!("quality: name the file to write");
        return ExitCode::FAILURE;
    };
    if let Some(name) = arguments.next() {
        let Some((_, measure)) = SECTIONS.iter().find(|(known, _)| *known == name) else {
            let names = SECTIONS.map(|(name, _)| name).join(", ");
            eprintln!("quality: '{name}' is not a section: there are {names}");
            return ExitCode::FAILURE;
        };
        return replace(&file, measure());
    }
    let sections = SECTIONS.map(|(_, measure)| measure());
    let mut text = String::from(
        "# Quality of mappings\n\n\
         How close mappings come to the lower bound, which no mapping can beat. Grids of the literature, 720 more, \
         and some on which nothing was tuned stand beside published methods. Then come grids whose dimensions weigh \
         unequally, switches above the nodes, what finding a mapping takes in time and memory, and graphs beside \
         METIS. A ratio of 1 is the bound; smaller is better.\n\n\
         Written by `make quality`, which measures every figure of Cartograph. Mappings are the same on every \
         machine; times are those of the machine that it ran on.\n\n\
         Pictures: [50x48 on 50 of 48](plan-50x48.svg), [12x8x8 on 16 of 48](plan-12x8x8.svg), made by \
         `make tool` and `build/bin/cartograph plan --dims SIDES --nodes COUNT --ppn SIZE --svg FILE`.\n",
    );
    for (section, _) in &sections {
        text.push('\n');
        text.push_str(section);
    }
    print!("{text}");
    write(&file, &text, sections.iter().all(|(_, met)| *met))
}

/// Replaces a section in the file, which has it: from its heading to the next of that rank.
fn replace(file: &str, (section, met): (String, bool)) -> ExitCode {
    let old = std::fs::read_to_string(file).unwrap_or_default();
    let heading = section.lines().next().unwrap_or_default();
    let Some(begin) = old.find(&format!("\n{heading}\n")).map(|at| at + 1) else {
        eprintln!("quality: {file} has no section '{heading}'");
        return ExitCode::FAILURE;
    };
    let rest = &old[begin + heading.len()..];
    let next = rest.find("\n## ").map_or(String::new(), |at| rest[at..].to_owned());
    print!("{section}");
    write(file, &format!("{}{section}{next}", &old[..begin]), met)
}

fn write(file: &str, text: &str, met: bool) -> ExitCode {
    if let Err(error) = std::fs::write(file, text) {
        eprintln!("quality: {file}: {error}");
        return ExitCode::FAILURE;
    }
    if !met {
        eprintln!("quality: an aim is missed; see {file}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
