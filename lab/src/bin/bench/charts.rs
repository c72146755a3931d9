//! The pictures of the pages, one for each question that a reader may ask, drawn from tables of results.

use std::{fs, io};

use cartograph_lab::{File, Table, directory, top};

use crate::tables::ratio;
use crate::{bars, picture};

/// Rows below a common heading.
pub(crate) struct Group {
    pub(crate) heading: String,
    pub(crate) rows: Vec<Row>,
}

/// A case: the cost without Cartograph divided by the cost with Cartograph, for each measured host.
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) ratios: Vec<Option<f64>>,
}

/// The contents of a picture, by the names of tables.
enum What {
    /// Tables with a column a host, and what to call each.
    Ratios(&'static [(&'static str, &'static str)]),
    /// A table a host, each with a column a size of blocks.
    Sizes(&'static str),
    /// Times of this table.
    Bars(&'static str),
}

/// A picture.
struct Chart {
    file: &'static str,
    /// The file of results.
    results: &'static str,
    /// The question that it answers.
    question: &'static str,
    /// The advantage of what lies to the right.
    better: &'static str,
    what: What,
}

const CHARTS: [Chart; 8] = [
    Chart {
        file: "results/performance-instructions.svg",
        results: "performance",
        question: "How many instructions does a local query take?",
        better: "needs fewer",
        what: What::Ratios(&[
            ("Local queries, C, instructions", "C"),
            ("Local queries, Fortran, instructions", "Fortran"),
        ]),
    },
    Chart {
        file: "results/performance-queries.svg",
        results: "performance",
        question: "How long does a local query take?",
        better: "faster",
        what: What::Ratios(&[("Local queries, C", "C"), ("Local queries, Fortran", "Fortran")]),
    },
    Chart {
        file: "results/performance-dims.svg",
        results: "performance",
        question: "How long does MPI_Dims_create take?",
        better: "faster",
        what: What::Ratios(&[("MPI_Dims_create", "Processes and dimensions")]),
    },
    Chart {
        file: "results/performance-create.svg",
        results: "performance",
        question: "How long does it take to make and free a communicator?",
        better: "faster",
        what: What::Ratios(&[("Making and freeing a communicator", "")]),
    },
    Chart {
        file: "results/performance-memory.svg",
        results: "performance",
        question: "How much memory does a communicator take?",
        better: "needs less",
        what: What::Ratios(&[("Memory of a communicator", "On one process")]),
    },
    Chart {
        file: "results/performance-program.svg",
        results: "performance",
        question: "Does a small program take longer?",
        better: "faster",
        what: What::Ratios(&[("A whole small program", "Two processes")]),
    },
    Chart {
        file: "results/neighborhood.svg",
        results: "neighborhood",
        question: "How long does a neighborhood collective take?",
        better: "faster",
        what: What::Sizes("Neighborhood collectives, us"),
    },
    Chart {
        file: "cluster.svg",
        results: "cluster",
        question: "How long does an exchange between neighbors take?",
        better: "",
        what: What::Bars("Exchanges between neighbors"),
    },
];

/// A picture of tables; `None` if they are not there.
fn draw(chart: &Chart, tables: &[Table]) -> Option<String> {
    let find = |name: &str| tables.iter().find(|table| table.name == name);
    let (hosts, groups) = match chart.what {
        What::Ratios(parts) => {
            let found: Vec<_> =
                parts.iter().filter_map(|(table, name)| Some((find(table)?, *name))).collect();
            let hosts = found.first()?.0.measured().map(|(_, host)| host.to_owned()).collect();
            (hosts, found.iter().flat_map(|(table, name)| by_host(table, name)).collect())
        }
        What::Sizes(name) => by_size(tables, name)?,
        What::Bars(name) => return Some(bars::draw(chart.question, find(name)?)),
    };
    Some(picture::draw(chart.question, chart.better, &hosts, &groups))
}

/// All pictures, each with the name of its file.
fn drawn() -> io::Result<Vec<(&'static str, String)>> {
    let draw = |chart: &Chart| {
        let tables = File::read(&directory().join(chart.results).with_extension("json"))?.tables;
        let drawn = draw(chart, &tables);
        let missing = || io::Error::other(format!("there are no results for {}", chart.file));
        Ok((chart.file, drawn.ok_or_else(missing)?))
    };
    CHARTS.iter().map(draw).collect()
}

/// Draws the pictures, in `docs`.
pub(crate) fn write() -> io::Result<()> {
    drawn()?.into_iter().try_for_each(|(file, text)| fs::write(top().join("docs").join(file), text))
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
        let host = table.name.strip_prefix(heading)?.trim().strip_prefix('(')?;
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

    /// `make lab-results` draws them anew.
    #[test]
    fn pictures_are_those_of_the_results() {
        for (file, text) in drawn().unwrap() {
            let path = top().join("docs").join(file);
            assert!(fs::read_to_string(path).unwrap() == text, "{file} is old");
        }
    }

    #[test]
    fn numbers_of_processes_and_kinds_of_collectives_are_groups() {
        let mut table = Table::new("Making", " | processes | | mpich | openmpi");
        table.row("a | 2 | us | 2 / 1 = 2.00 | ");
        table.row("b | 2 | us | | 1 / 2 = 0.50");
        table.row("a | 4 | us | 1 / 1 = 1.00 | ");
        let groups = by_host(&table, "");
        let headings: Vec<_> = groups.iter().map(|group| &*group.heading).collect();
        assert_eq!(headings, ["2 processes", "4 processes"]);
        assert_eq!(groups[0].rows[1].ratios, [None, Some(0.5)]);

        let mut table = Table::new("Collectives, us (mpich)", " | processes | 8 B | 64 B");
        table.row("2d | 2 | 2 / 1 = 2.00 | ");
        table.row("dist26 | 8 | 1 / 4 = 0.25 | ");
        table.row("2d | 8 | 1 / 1 = 1.00 | ");
        let (hosts, groups) = by_size(&[table], "Collectives, us").unwrap();
        assert_eq!(hosts, ["mpich"]);
        let headings: Vec<_> = groups.iter().map(|group| &*group.heading).collect();
        assert_eq!(headings, ["2d, 2 processes", "dist26, 8 processes"]);
        assert_eq!(groups[1].rows[0].ratios, [Some(0.25)]);
    }
}
