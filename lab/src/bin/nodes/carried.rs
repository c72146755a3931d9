//! The table of `make lab-jobs` on knowledge that carries over: the first job of a program, one of a new build, one of
//! another size on other nodes, and one of another user, each with `cartograph run` and without it.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use cartograph_lab::Table;
use cartograph_lab::host::{command, does, emptied};

use super::cases::{Carried, Program};
use super::measured::{Measured, TIME, shown};
use super::network::Nodes;
use super::programs::{Places, fresh, succeeds};
use super::{Outcome, repetitions, tool};

/// The jobs, in order, with their processes and nodes.
const JOBS: [(&str, u32, &str); 4] = [
    ("the first", 16, "n0:4,n1:4,n2:4,n3:4"),
    ("rebuilt", 16, "n0:4,n1:4,n2:4,n3:4"),
    ("12 processes on three nodes", 12, "n1:4,n2:4,n3:4"),
    ("another user", 16, "n0:4,n1:4,n2:4,n3:4"),
];

/// The bytes of an ELF note before a build ID of 20 bytes.
const BUILD_ID: &[u8] = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0";

/// Gives a program another build ID, as if it had been built again.
fn rebuild(program: &Path) -> Outcome {
    let mut bytes = fs::read(program)?;
    let found = bytes.windows(BUILD_ID.len()).position(|window| window == BUILD_ID);
    bytes[found.ok_or("a program without a build ID")? + BUILD_ID.len()] ^= 1;
    Ok(fs::write(program, bytes)?)
}

/// The table, in which a job's ratio is the speed with `cartograph run` relative to the speed without it.
pub(crate) fn table(runs: &Measured) -> Table {
    let jobs: Vec<&str> = JOBS.iter().map(|(job, ..)| *job).collect();
    let mut table = Table::new(
        "Jobs that carry over",
        &format!("program | links | pairs | {}", jobs.join(" | ")),
    );
    for case in runs.cases() {
        let ratios = JOBS.map(|(job, ..)| match runs.word(case, job) {
            Some(fault) => format!("**{fault}**"),
            None => runs.gain(case, &alone(job), job, 0).map_or_else(|| "-".to_owned(), shown),
        });
        table.row(&format!(
            "{case} | {} | {} | {}",
            runs.word(case, "links").unwrap_or("-"),
            runs.in_order(case, JOBS[0].0, TIME).len(),
            ratios.join(" | ")
        ));
    }
    table
}

/// The variant of a job without `cartograph run`.
fn alone(job: &str) -> String {
    format!("{job}, alone")
}

/// Measures all programs that are available.
pub(crate) fn measure(
    nodes: &Nodes,
    places: &Places,
    programs: &HashMap<String, Program>,
    cases: &[Carried],
    all: &mut Measured,
) -> Outcome {
    for (number, case) in cases.iter().enumerate() {
        let (name, arguments) = case.line.split_once(' ').unwrap_or((&case.line, ""));
        let Some(line) = places.line(&case.title, name) else { continue };
        nodes.limit(&case.links)?;
        all.note(&case.title, "links", &case.links);
        let at = PathBuf::from(format!("/dev/shm/carried{number}"));
        let program = at.join("program").join(name);
        let other = case.at_12.as_deref().unwrap_or(arguments);
        for repetition in 0..repetitions("6")? {
            emptied(&at)?;
            emptied(&at.join("program"))?;
            fs::copy(line.trim(), &program)?;
            for (job, processes, hosts) in JOBS {
                let mut store = "store";
                match job {
                    "rebuilt" => rebuild(&program)?,
                    "another user" => {
                        let own = format!("env CARTOGRAPH_STORE={}/store", at.display());
                        let site = at.join("site");
                        fs::create_dir(&site)?;
                        does(&format!(
                            "{own} {} known --export {name} {}",
                            tool()?,
                            site.display()
                        ))?;
                        store = "other";
                    }
                    _ => {}
                }
                let store = format!(
                    "CARTOGRAPH_STORE={0}/{store} CARTOGRAPH_SITE_STORE={0}/site",
                    at.display()
                );
                let learns = format!("env {store} {} run", tool()?);
                let words = if processes == 16 { arguments } else { other };
                let launcher = nodes.launcher_on(&format!("--host {hosts}"), processes);
                let mut expected = None;
                let mut pair = [(job.to_owned(), &*learns), (alone(job), "")];
                if repetition % 2 == 1 {
                    pair.reverse();
                }
                for (variant, by) in pair {
                    let here = at.join("run");
                    fresh(&here)?;
                    let line = format!("{by} {launcher} {} {words}", program.display());
                    let said = here.join("said");
                    if !succeeds(&mut command(&line), &here, &said)? {
                        eprintln!("{}", fs::read_to_string(said)?);
                        all.note(&case.title, job, "fails");
                        continue;
                    }
                    let text = fs::read_to_string(said)?;
                    let ours = text.lines().filter(|line| line.starts_with("cartograph: "));
                    ours.for_each(|line| eprintln!("{line}"));
                    let (time, results) = programs[name].found(&here)?;
                    if *expected.get_or_insert_with(|| results.clone()) != results {
                        all.note(&case.title, job, "differs");
                    }
                    all.add(&case.title, &variant, &[time]);
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_have_ratios_and_faults() {
        let mut runs = Measured::default();
        for noise in [1.0, 1.01, 0.99] {
            for (job, ..) in JOBS {
                runs.put("halo", job, &[noise]);
                runs.put("halo", &alone(job), &[1.5]);
            }
        }
        runs.note("halo", "links", "50mbit");
        runs.note("halo", "rebuilt", "fails");
        let row = &table(&runs).rows[0];
        assert_eq!(row[..3], ["halo", "50mbit", "3"]);
        assert!(row[3].starts_with("1.50 ("), "{row:?}");
        assert_eq!(row[4], "**fails**");
    }
}
