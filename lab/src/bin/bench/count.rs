//! Instructions, counted by valgrind's callgrind: the same on every run.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use cartograph_lab::host::{Host, checked, emptied};

use crate::run::{fortran, numbers};

/// A dump of callgrind: its cause and its sum.
struct Dump {
    path: PathBuf,
    /// `name side calls`, separated by tabs.
    trigger: String,
    instructions: f64,
}

/// The dumps of a run, in order.
fn dumps(directory: &Path) -> io::Result<Vec<Dump>> {
    let files = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    let mut paths: Vec<PathBuf> = files.into_iter().map(|file| file.path()).collect();
    let number = |path: &PathBuf| {
        path.extension()
            .and_then(|end| end.to_str())
            .and_then(|end| end.parse::<u32>().ok())
            .unwrap_or(0)
    };
    paths.sort_by_key(number);
    let mut dumps = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path)?;
        let after = |start: &str| text.lines().find_map(|line| line.strip_prefix(start));
        let sum = after("summary: ").or_else(|| after("totals: "));
        let trigger = after("desc: Trigger: Client Request: ").unwrap_or_default().to_owned();
        let instructions = sum.and_then(|sum| sum.trim().parse().ok()).unwrap_or_default();
        dumps.push(Dump { path, trigger, instructions });
    }
    Ok(dumps)
}

/// Valgrind's command line; the program follows.
fn callgrind(directory: &Path) -> Vec<String> {
    let file = format!("--callgrind-out-file={}/out", directory.display());
    ["valgrind", "--quiet", "--tool=callgrind", &file].map(str::to_owned).into()
}

/// Instructions of a local query by the host and by Cartograph, in C and in Fortran.
pub(crate) fn queries(host: &Host) -> io::Result<String> {
    // Linked: a preloaded library would be loaded into valgrind's launcher as well.
    let linked = host.linked();
    let options: Vec<&str> = ["c_tests/bench/bench_queries.c"]
        .into_iter()
        .chain(linked.iter().map(String::as_str))
        .chain(["-ldl"])
        .collect();
    let program = host.compile("cc", "bench_queries.linked", &options)?;
    let mut lines = cases(host, "count", &program)?;
    if let Some(program) = fortran(host)? {
        lines += &cases(host, "count_fortran", &program)?;
    }
    Ok(lines)
}

fn cases(host: &Host, part: &str, program: &Path) -> io::Result<String> {
    let work = host.built("bench/callgrind");
    emptied(&work)?;
    let mut command = host.launch(1, 300);
    command.env("CARTOGRAPH_LIBRARY", host.library()).args(callgrind(&work));
    checked(command.arg(program).arg("count"))?;
    let (mut order, mut totals, mut nothing) = (Vec::new(), HashMap::new(), 0.0);
    for dump in dumps(&work)? {
        let [name, side, calls] = dump.trigger.split('\t').collect::<Vec<_>>()[..] else {
            continue;
        };
        let each = dump.instructions / calls.parse::<f64>().map_err(io::Error::other)?;
        if name == "nothing" {
            nothing = each;
            continue;
        }
        if !order.contains(&name.to_owned()) {
            order.push(name.to_owned());
        }
        totals.insert((name.to_owned(), side.to_owned()), each);
    }
    let of = |name: &String, side: &str| {
        totals.get(&(name.clone(), side.to_owned())).unwrap_or(&0.0) - nothing
    };
    let mut lines = String::new();
    for name in order {
        let (theirs, ours) = (of(&name, "host"), of(&name, "ours"));
        writeln!(lines, "{part}\t{name}\t0\t1\tinstructions\t{theirs:.0}\t{ours:.0}")
            .expect("a String takes all");
    }
    Ok(lines)
}

/// Instructions of nonblocking and persistent neighborhood collectives on rank 0, in two tables. The first compares an
/// all-to-all of the host with its neighborhood collectives, with the memory of the communicator; the second compares
/// Cartograph with the host's own.
pub(crate) fn neighbor(host: &Host) -> io::Result<String> {
    let name = &host.name;
    println!(
        "\n| host | processes | all-to-all | the host's own | all-to-all, bytes | the host's own, bytes |\n|---|---:|---:|---:|---:|---:|"
    );
    let program = linked(host, "bench_neighbor_count")?;
    for processes in numbers("2 4 8 16") {
        let count = |way| -> io::Result<f64> {
            let dumps = counted(host, processes, &program, way)?;
            Ok(dumps.first().map_or(0.0, |dump| dump.instructions / 100.0))
        };
        let memory = |way| {
            let mut command = host.launch(processes, 300);
            command.arg("env").args(&host.settings).arg(format!("CARTOGRAPH_NEIGHBOR={way}"));
            checked(command.arg(&program).arg("memory")).map(|bytes| bytes.trim().to_owned())
        };
        let (alltoall, graph) = (count("alltoall")?, count("graph")?);
        println!(
            "| {name} | {processes} | {alltoall:.0} | {graph:.0} | {} | {} |",
            memory("alltoall")?,
            memory("graph")?
        );
    }
    println!(
        "\n| host | processes | route | call | the host | Cartograph | its own part |\n|---|---:|---|---|---:|---:|---:|"
    );
    let program = linked(host, "bench_neighbor_beside")?;
    for processes in numbers("2 4") {
        for way in ["alltoall", "graph"] {
            let mut alone = 0.0;
            for dump in counted(host, processes, &program, way)? {
                let [call, side, calls] = dump.trigger.split('\t').collect::<Vec<_>>()[..] else {
                    continue;
                };
                let calls: f64 = calls.parse().map_err(io::Error::other)?;
                let (all, own) = annotated(&dump.path)?;
                if side == "host" {
                    alone = all / calls;
                    continue;
                }
                println!(
                    "| {name} | {processes} | {way} | {call} | {alone:.0} | {:.0} | {:.0} |",
                    all / calls,
                    own / calls
                );
            }
        }
    }
    Ok(String::new())
}

/// Linked: a preloaded library would be loaded into valgrind's launcher as well.
fn linked(host: &Host, name: &str) -> io::Result<PathBuf> {
    let (source, linked) = (format!("c_tests/bench/{name}.c"), host.linked());
    let mut options = vec![source.as_str()];
    options.extend(linked.iter().map(String::as_str));
    options.push("-ldl");
    host.compile("cc", name, &options)
}

/// Runs a program, its rank 0 under callgrind.
fn counted(host: &Host, processes: u32, program: &Path, way: &str) -> io::Result<Vec<Dump>> {
    let work = host.built("bench/callgrind");
    emptied(&work)?;
    let way = format!("CARTOGRAPH_NEIGHBOR={way}");
    let mut command = host.launch(1, 300);
    command
        .arg("env")
        .args(&host.settings)
        .arg(&way)
        .args(callgrind(&work))
        .arg("--collect-atstart=no")
        .arg(program);
    if processes > 1 {
        command
            .args([":", "-n", &(processes - 1).to_string(), "env"])
            .args(&host.settings)
            .arg(&way)
            .arg(program);
    }
    checked(&mut command)?;
    dumps(&work)
}

/// The instructions of a dump: all of them, and those of Cartograph's own functions.
fn annotated(dump: &Path) -> io::Result<(f64, f64)> {
    let text = checked(Command::new("callgrind_annotate").arg("--threshold=100").arg(dump))?;
    let number = |line: &str| {
        let first = line.split_whitespace().next().unwrap_or_default().replace(',', "");
        first.parse::<f64>().unwrap_or_default()
    };
    let all = text.lines().find(|line| line.contains("PROGRAM TOTALS")).map_or(0.0, number);
    let own = text.lines().filter(|line| {
        line.ends_with(']')
            && line.rsplit('[').next().is_some_and(|object| object.contains("libcartograph"))
    });
    Ok((all, own.map(number).fold(0.0, std::ops::Add::add)))
}
