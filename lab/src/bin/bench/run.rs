//! Measures a host without and with Cartograph: time, instructions and memory, alternately in one run, as lines in
//! `build/HOST/bench/lines.tsv`. Two busy cores make single figures noisy; compare the ratios.
//!
//! The environment variables `PROCESSES`, `PARTS` and `RUNS` select the numbers of processes, the parts, and the number
//! of starts of a program; `PATTERNS` and `SIZES`, the neighborhoods (2d, 3d, torus6, dist26) and the bytes of a block.

use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::process::Command;

use cartograph_lab::host::{Host, checked, emptied};

use crate::count;

const PARTS: &str = "queries instructions dims creation memory load neighbor recorder";

/// The lines of a part for `lines.tsv`; parts with separate tables print them and return no lines.
type Lines = io::Result<String>;

pub(crate) fn run(host: &str) -> io::Result<()> {
    let host = Host::new(host)?;
    let results = host.built("bench");
    fs::create_dir_all(&results)?;
    let mut lines = fs::File::create(results.join("lines.tsv"))?;
    let chosen = env::var("PARTS").unwrap_or_else(|_| PARTS.to_owned());
    for part in chosen.split_whitespace() {
        let measured = match part {
            "queries" => queries(&host),
            "instructions" => count::queries(&host),
            "dims" => dims(&host),
            "creation" => numbers("2 4 8 16")
                .into_iter()
                .map(|n| program(&host, n, 300, "bench_create", &["time"]))
                .collect(),
            "memory" => program(&host, 1, 60, "bench_create", &["memory"]),
            "load" => load(&host),
            "neighbor" => {
                let lines = numbers("2 4 8")
                    .into_iter()
                    .map(|n| program(&host, n, 900, "bench_neighbor", &[]))
                    .collect();
                neighbor_size(&host)?;
                lines
            }
            "neighbor_count" => count::neighbor(&host),
            "neighbor_size" => neighbor_size(&host),
            "neighbor_merge" => neighbor_merge(&host),
            "recorder" => recorder(&host),
            _ => Err(io::Error::other(format!("there is no part '{part}'"))),
        };
        lines.write_all(measured?.as_bytes())?;
    }
    Ok(())
}

/// The numbers of processes.
pub(crate) fn numbers(usual: &str) -> Vec<u32> {
    let chosen = env::var("PROCESSES").unwrap_or_else(|_| usual.to_owned());
    chosen.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

/// Builds a program of c_tests/bench and runs it under Cartograph.
fn program(host: &Host, processes: u32, seconds: u32, name: &str, arguments: &[&str]) -> Lines {
    let program = build(host, name)?;
    checked(host.preloaded(processes, seconds).arg(program).args(arguments))
}

fn build(host: &Host, name: &str) -> io::Result<std::path::PathBuf> {
    host.compile("cc", name, &[&format!("c_tests/bench/{name}.c"), "-ldl"])
}

/// Builds the benchmark of the Fortran procedures; `None` if there is no compiler.
pub(crate) fn fortran(host: &Host) -> io::Result<Option<std::path::PathBuf>> {
    if !host.has("fc")? {
        return Ok(None);
    }
    let object = host.compile("cc", "bench_fortran.o", &["-c", "c_tests/bench/bench_fortran.c"])?;
    let (object, modules) =
        (object.display().to_string(), host.built("programs").display().to_string());
    host.compile(
        "fc",
        "bench_fortran",
        &["-J", &modules, "c_tests/fortran/bench/bench.f90", &object, "-ldl"],
    )
    .map(Some)
}

fn queries(host: &Host) -> Lines {
    let mut lines = program(host, 1, 300, "bench_queries", &["time"])?;
    if let Some(program) = fortran(host)? {
        let library = format!("CARTOGRAPH_LIBRARY={}", host.library().display());
        lines += &checked(host.launch(1, 300).arg("env").arg(library).arg(program))?;
    }
    Ok(lines)
}

/// One number at a time: MPICH ends with SIGFPE on the last number, and Open MPI takes seconds for some.
fn dims(host: &Host) -> Lines {
    let mut lines = String::new();
    for n in ["mean", "96", "720720", "1048576", "1102701600", "2147483647"] {
        match program(host, 1, 60, "bench_queries", &["dims", n]) {
            Ok(more) => lines += &more,
            Err(_) => {
                eprintln!("bench: the host cannot do MPI_Dims_create of {n}, or not in a minute")
            }
        }
    }
    Ok(lines)
}

fn load(host: &Host) -> Lines {
    let program = build(host, "bench_load")?;
    let size = fs::metadata(host.library())?.len();
    let mut lines = format!("size\tlibcartograph.so\t0\t1\tbytes\t{size}\t{size}\n");
    let launch = host.launch(2, 60);
    let words = [launch.get_program()].into_iter().chain(launch.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    let runs = env::var("RUNS").unwrap_or_else(|_| "21".into());
    for report in [None, Some(host.built("bench/report.txt"))] {
        let mut command = Command::new(&program);
        command.env("LAUNCH", words.join(" ")).args([&runs, "2"]).arg(host.library()).args(report);
        lines += &checked(&mut command)?;
    }
    Ok(lines)
}

/// Cartograph's own part of a nonblocking collective, whatever the host does, by either route; prints a separate table.
fn neighbor_size(host: &Host) -> Lines {
    let stub = host.compile(
        "cc",
        "libbench_neighbor_stub.so",
        &["-fPIC", "-shared", "c_tests/bench/bench_neighbor_stub.c", "-ldl"],
    )?;
    let folder = stub.parent().expect("a folder").display().to_string();
    let rpath = format!("-Wl,-rpath,{folder}");
    let options =
        ["c_tests/bench/bench_neighbor_size.c", "-L", &folder, "-lbench_neighbor_stub", &rpath];
    let program = host.compile("cc", "bench_neighbor_size", &options)?;
    println!(
        "\n| host | processes | route | known layout, us | new layout, us | new, two blocks to a process, us | bytes a layout | bytes a communicator |\n|---|---:|---|---:|---:|---:|---:|---:|"
    );
    for way in ["alltoall", "graph"] {
        let mut command = host.preloaded(1, 120);
        // Otherwise memory that the allocator caches would count as in use.
        command
            .env("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0")
            .env("CARTOGRAPH_NEIGHBOR", way);
        for line in checked(command.arg(&program))?.lines() {
            let mut cells: Vec<&str> = line.split_whitespace().collect();
            cells.insert(1, way);
            println!("| {} | {} |", host.name, cells.join(" | "));
        }
    }
    Ok(String::new())
}

/// Several blocks to one process as separate messages and as one, by the host without Cartograph; prints a separate
/// table.
fn neighbor_merge(host: &Host) -> Lines {
    let program = build(host, "bench_neighbor_merge")?;
    println!(
        "\n| host | processes | blocks | bytes | single, us | merged, us | made for the call, us |\n|---|---:|---:|---:|---:|---:|---:|"
    );
    for processes in numbers("2 4") {
        for line in checked(host.launch(processes, 300).arg(&program))?.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let cells: Vec<&str> =
                [0, 1, 2, 4, 6, 8].iter().filter_map(|&i| words.get(i).copied()).collect();
            println!("| {} | {} |", host.name, cells.join(" | "));
        }
    }
    Ok(String::new())
}

/// Measures the recorder's cost per message; prints a separate table.
fn recorder(host: &Host) -> Lines {
    let recorder = host.built("lib/libcartograph_record.so");
    if !recorder.exists() {
        return Ok(String::new());
    }
    let program = build(host, "bench_record")?;
    // Nothing is recorded into an existing recording.
    let traffic = host.built("bench/traffic");
    emptied(&traffic)?;
    fs::remove_dir(&traffic)?;
    let alone = checked(host.launch(1, 120).arg(&program))?;
    let mut command = host.launch(1, 120);
    command.arg("env").arg(format!("CARTOGRAPH_RECORD={}", traffic.display()));
    let recorded =
        checked(command.arg(format!("LD_PRELOAD={}", recorder.display())).arg(&program))?;
    println!(
        "\n| host | a message on | alone, ns | recorded, ns | the recorder, ns |\n|---|---|---|---|---|"
    );
    for (alone, recorded) in alone.lines().zip(recorded.lines()) {
        let split = |line: &str| {
            let (name, time) = line.split_once('\t')?;
            Some((name.to_owned(), time.trim().parse::<f64>().ok()?))
        };
        let (Some((name, alone)), Some((_, recorded))) = (split(alone), split(recorded)) else {
            continue;
        };
        println!(
            "| {} | {name} | {alone:.0} | {recorded:.0} | {:.0} |",
            host.name,
            recorded - alone
        );
    }
    Ok(String::new())
}
