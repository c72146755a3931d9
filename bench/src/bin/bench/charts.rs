//! Which pictures pages have, one for each question that a reader may ask, and what of the pages' tables they show.

use std::path::Path;
use std::{fs, io};

use crate::page::{Table, ratio, tables};
use crate::{bars, picture};

/// Rows below a common heading.
pub(crate) struct Group {
    pub(crate) heading: String,
    pub(crate) rows: Vec<Row>,
}

/// A case: what the MPI takes alone, divided by what Cartograph takes, for each host that was measured.
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) ratios: Vec<Option<f64>>,
}

/// What a picture shows, by the headings of tables.
enum What {
    /// Tables with a column a host, and what to call each.
    Ratios(&'static [(&'static str, &'static str)]),
    /// A table a host, each with a column a size of blocks.
    Sizes(&'static str),
    /// Times of the first table below this heading.
    Bars(&'static str),
}

/// A picture.
struct Chart {
    file: &'static str,
    /// What it answers.
    question: &'static str,
    /// What is better about what lies to the right.
    better: &'static str,
    what: What,
}

const CHARTS: [Chart; 8] = [
    Chart {
        file: "performance-instructions.svg",
        question: "How many instructions does a local query take?",
        better: "needs fewer",
        what: What::Ratios(&[
            ("Local queries, C, instructions", "C"),
            ("Local queries, Fortran, instructions", "Fortran"),
        ]),
    },
    Chart {
        file: "performance-queries.svg",
        question: "How long does a local query take?",
        better: "faster",
        what: What::Ratios(&[("Local queries, C", "C"), ("Local queries, Fortran", "Fortran")]),
    },
    Chart {
        file: "performance-dims.svg",
        question: "How long does MPI_Dims_create take?",
        better: "faster",
        what: What::Ratios(&[("MPI_Dims_create", "Processes and dimensions")]),
    },
    Chart {
        file: "performance-create.svg",
        question: "How long does it take to make and free a communicator?",
        better: "faster",
        what: What::Ratios(&[("Making and freeing a communicator", "")]),
    },
    Chart {
        file: "performance-memory.svg",
        question: "How much memory does a communicator take?",
        better: "needs less",
        what: What::Ratios(&[("Memory of a communicator", "On one process")]),
    },
    Chart {
        file: "performance-program.svg",
        question: "Does a small program take longer?",
        better: "faster",
        what: What::Ratios(&[("A whole small program", "Two processes")]),
    },
    Chart {
        file: "neighborhood.svg",
        question: "How long does a neighborhood collective take?",
        better: "faster",
        what: What::Sizes("Neighborhood collectives, us"),
    },
    Chart {
        file: "cluster.svg",
        question: "How long does an exchange between neighbors take?",
        better: "",
        what: What::Bars("Exchanges between neighbors on a cluster"),
    },
];

/// The pictures of a page, by the names of their files.
pub(crate) fn draw(page: &str) -> Vec<(&'static str, String)> {
    let tables = tables(page);
    let find = |heading: &str| tables.iter().find(|table| table.heading == heading);
    let drawn = CHARTS.iter().filter_map(|chart| {
        let (hosts, groups) = match chart.what {
            What::Ratios(parts) => {
                let found: Vec<_> = parts
                    .iter()
                    .filter_map(|(heading, name)| Some((find(heading)?, *name)))
                    .collect();
                let hosts = found.first()?.0.measured().map(|(_, host)| host.to_owned()).collect();
                (hosts, found.iter().flat_map(|(table, name)| by_host(table, name)).collect())
            }
            What::Sizes(heading) => by_size(&tables, heading)?,
            What::Bars(heading) => {
                return Some((chart.file, bars::draw(chart.question, find(heading)?)));
            }
        };
        Some((chart.file, picture::draw(chart.question, chart.better, &hosts, &groups)))
    });
    drawn.collect()
}

/// Draws the pictures of a text, in a directory.
pub(crate) fn write(page: &str, directory: &Path) -> io::Result<()> {
    draw(page).into_iter().try_for_each(|(file, text)| fs::write(directory.join(file), text))
}

/// A table with a column a host. Where it has several numbers of processes, each is a group.
fn by_host(table: &Table, name: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for cells in &table.rows {
        let heading = match table.processes(cells) {
            None => name.to_owned(),
            Some(processes) => format!("{processes} processes"),
        };
        let ratios = table.measured().map(|(column, _)| ratio(&cells[column])).collect();
        let row = Row { label: cells[0].clone(), ratios };
        match groups.last_mut().filter(|group| group.heading == heading) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group { heading, rows: vec![row] }),
        }
    }
    groups
}

/// Blocks of neighborhood collectives that are shown: small, medium and large.
const SIZES: [&str; 3] = ["8 B", "8 KiB", "1 MiB"];

/// Tables of neighborhood collectives, one a host: the hosts, and the collectives on the fewest processes, and on the most of
/// those that are different there.
fn by_size(tables: &[Table], heading: &str) -> Option<(Vec<String>, Vec<Group>)> {
    let named = |table: &Table| {
        let host = table.heading.strip_prefix(heading)?.trim().strip_prefix('(')?;
        Some(host.strip_suffix(')')?.to_owned())
    };
    let (hosts, found): (Vec<String>, Vec<&Table>) =
        tables.iter().filter_map(|table| Some((named(table)?, table))).unzip();
    let all =
        || found.iter().flat_map(|table| table.rows.iter().map(|row| (table.processes(row), row)));
    let (fewest, most) =
        (all().map(|(processes, _)| processes).min()??, all().filter_map(|(p, _)| p).max()?);
    let mut groups: Vec<Group> = Vec::new();
    for (processes, cells) in all() {
        let name = &cells[0];
        let Some(processes) =
            processes.filter(|p| *p == fewest || (*p == most && name.starts_with("dist26")))
        else {
            continue;
        };
        let heading = format!("{name}, {processes} processes");
        if groups.iter().any(|group| group.heading == heading) {
            continue;
        }
        let of_host = |table: &Table, size: &str| {
            let (column, _) = table.measured().find(|(_, name)| *name == size)?;
            let is_it =
                |row: &&Vec<String>| row[0] == *name && table.processes(row) == Some(processes);
            ratio(&table.rows.iter().find(is_it)?[column])
        };
        let row = |size: &str| Row {
            label: size.to_owned(),
            ratios: found.iter().map(|table| of_host(table, size)).collect(),
        };
        groups.push(Group { heading, rows: SIZES.iter().map(|size| row(size)).collect() });
    }
    groups.sort_by_key(|group| group.heading.ends_with(&format!(" {most} processes")));
    Some((hosts, groups))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `make pictures` draws them anew.
    #[test]
    fn pictures_are_those_of_the_tables_beside_them() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
        let mut count = 0;
        for name in ["performance.md", "neighborhood.md", "cluster.md"] {
            let page = fs::read_to_string(docs.join(name)).unwrap();
            for (file, text) in draw(&page) {
                assert!(page.contains(&format!("]({file})")), "{name} shows {file}");
                assert!(fs::read_to_string(docs.join(file)).unwrap() == text, "{file} is old");
                count += 1;
            }
        }
        assert_eq!(count, CHARTS.len());
    }

    #[test]
    fn numbers_of_processes_and_kinds_of_collectives_are_groups() {
        let page = "### Making and freeing a communicator\n\n| | processes | | mpich | openmpi |\n|---|---|---|---|---|\n\
                    | a | 2 | us | 2 / 1 = 2.00 | |\n| b | 2 | us | | 1 / 2 = 0.50 |\n| a | 4 | us | 1 / 1 = 1.00 | |\n";
        let table = &tables(page)[0];
        let groups = by_host(table, "");
        let headings: Vec<_> = groups.iter().map(|group| &*group.heading).collect();
        assert_eq!(headings, ["2 processes", "4 processes"]);
        assert_eq!(groups[0].rows[1].ratios, [None, Some(0.5)]);

        let page = "### Neighborhood collectives, us (mpich)\n\n| | processes | 8 B | 64 B |\n|---|---|---|---|\n\
                    | 2d | 2 | 2 / 1 = 2.00 | |\n| dist26 | 8 | 1 / 4 = 0.25 | |\n| 2d | 8 | 1 / 1 = 1.00 | |\n";
        let (hosts, groups) = by_size(&tables(page), "Neighborhood collectives, us").unwrap();
        assert_eq!(hosts, ["mpich"]);
        let headings: Vec<_> = groups.iter().map(|group| &*group.heading).collect();
        assert_eq!(headings, ["2d, 2 processes", "dist26, 8 processes"]);
        assert_eq!(groups[1].rows[0].ratios, [Some(0.25)]);
    }
}
