//! Faults of MPIs, without and with Cartograph: `faults programs` runs each program of c_tests/kit on each; `faults
//! arguments [COLUMN...]` makes every wrong call of c_tests/errors/errors.c on four processes, each in a separate run;
//! `faults versions` runs the kit on more versions of MPIs. They write `lab/results/host-faults.json` and
//! `wrong-arguments.json`.
//!
//! The calls take about half an hour, because each launch takes seconds on some hosts, and many calls hang on some
//! host. If columns are given (cartograph, mpich, openmpi, mpich5, openmpi5), all cases of these are run again, and of
//! other columns only missing cases.

mod versions;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use cartograph_lab::host::{Host, checked};
use cartograph_lab::{File, Table, top};

/// abi is mpich5's code with another binary interface.
const HOSTS: [&str; 4] = ["mpich", "openmpi", "mpich5", "openmpi5"];

/// A runtime only, without a library of its own.
const RUNTIME: &str = "intel";

const SECONDS: u32 = 10;

/// The number of processes that make the wrong calls.
const PROCESSES: u32 = 4;

/// The exit code of a run and its stdout; the code is that of `timeout` if that ended the run.
fn outcome(mut command: Command) -> io::Result<(Option<i32>, String)> {
    // Core dumps of programs that crash are not needed.
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "ulimit -c 0; exec \"$@\"", "sh"])
        .arg(command.get_program())
        .args(command.get_args());
    command = shell;
    let output = command.current_dir(top()).stdin(Stdio::null()).stderr(Stdio::null()).output()?;
    Ok((output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

fn hangs(code: Option<i32>) -> bool {
    matches!(code, Some(124 | 137) | None)
}

/// The host's version, as its library reports it.
fn version(host: &Host, errors: &Path) -> io::Result<String> {
    let said = checked(host.launch(1, 20).arg(errors).arg("version"))?;
    let number = |word: &&str| {
        (2..=3).contains(&word.split('.').count())
            && word.split('.').all(|part| part.parse::<u32>().is_ok())
    };
    let found = said.split(|c: char| !c.is_ascii_digit() && c != '.').find(number);
    found
        .map(str::to_owned)
        .ok_or_else(|| io::Error::other(format!("{}: no version: {said}", host.name)))
}

fn errors(host: &Host) -> io::Result<std::path::PathBuf> {
    host.compile("cc", "errors.wrong", &["c_tests/errors/errors.c"])
}

/// The outcome of a program of c_tests/kit, in a few words.
fn fault(command: Command) -> io::Result<String> {
    let (code, out) = outcome(command)?;
    let plan = out.lines().rev().find_map(|line| line.strip_prefix("1.."));
    let wrong = out.lines().filter(|line| line.starts_with("not ok ")).count();
    Ok(match plan {
        _ if hangs(code) => "hang".into(),
        None => "crash".into(),
        Some(_) if wrong == 0 => "right".into(),
        Some(plan) => format!("{wrong}/{plan} wrong"),
    })
}

fn programs() -> io::Result<()> {
    let names = HOSTS.iter().chain([&RUNTIME]);
    let hosts = names.map(|name| Host::new(name)).collect::<io::Result<Vec<_>>>()?;
    let mut table = Table { name: "Programs".into(), ..Table::default() };
    table.columns = vec!["program".into(), "with Cartograph, on each".into()];
    for host in &hosts {
        table.columns.push(format!("{} {}", host.name, version(host, &errors(host)?)?));
    }
    let files = fs::read_dir(top().join("c_tests/kit"))?.collect::<io::Result<Vec<_>>>()?;
    let mut sources: Vec<_> = files.into_iter().map(|file| file.path()).collect();
    let is_program = |path: &Path| path.extension().is_some_and(|end| end == "c" || end == "f90");
    sources.retain(|path| is_program(path));
    sources.sort();
    for source in sources {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&source)?;
        let number = text
            .split("mpiexec -n ")
            .nth(1)
            .and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
        let processes = number.and_then(|number| number.parse().ok()).unwrap_or(1);
        let (mut alone, mut ours) = (Vec::new(), Vec::new());
        let language = if source.extension().is_some_and(|end| end == "c") { "cc" } else { "fc" };
        for host in &hosts {
            if !host.has(language)? {
                alone.push("no compiler".into());
                continue;
            }
            let program = host.compile(language, &name, &[&source.display().to_string()])?;
            let mut bare = host.launch(processes, SECONDS);
            bare.arg("env").arg(&program);
            alone.push(fault(bare)?);
            if host.name == RUNTIME {
                continue;
            }
            let mut with = host.preloaded(processes, SECONDS);
            with.arg(&program);
            ours.push(fault(with)?);
        }
        ours.sort_unstable();
        ours.dedup();
        table.rows.push([vec![name, ours.join(";")], alone].concat());
    }
    File::put("host-faults", "make lab-faults SECTION=programs", vec![table]).map(|_| ())
}

/// The outcome of a wrong call, in one line; with Cartograph if there are settings.
fn call(host: &Host, case: &str, settings: Option<&[&str]>) -> io::Result<String> {
    let program = host.built("programs/errors.wrong");
    let mut command = match settings {
        Some(settings) => {
            let mut command = host.preloaded(PROCESSES, SECONDS);
            command.args(settings);
            command
        }
        None => host.launch(PROCESSES, SECONDS),
    };
    command.arg(program).arg(case);
    let (code, out) = outcome(command)?;
    // Launchers add their own lines, and each of several ranks that crash prints some.
    let starts = ["success", "MPI_ERR_", "error class", "different errors", "crash"];
    let said = out.lines().find(|line| starts.iter().any(|start| line.starts_with(start)));
    Ok(match said {
        said if hangs(code) => {
            format!("{}hang", said.map(|said| format!("{said}, then ")).unwrap_or_default())
        }
        None => "abort".into(),
        Some(said) if code != Some(0) && !said.starts_with("crash") => {
            format!("{said}, then abort")
        }
        Some(said) => said.to_owned(),
    })
}

/// The outcome of a case in a column. If Cartograph accepts the call, also the outcome with all checks, if that
/// differs.
fn cell(host: &Host, column: &str, case: &str) -> io::Result<String> {
    if column != "cartograph" {
        return call(host, case, None);
    }
    let accepted = call(host, case, Some(&[]))?;
    if accepted != "success" {
        return Ok(accepted);
    }
    let checked = call(host, case, Some(&["CARTOGRAPH_CHECK=all"]))?;
    Ok(if checked == accepted { accepted } else { format!("{accepted}; checked: {checked}") })
}

/// The outcomes of a column; `build/wrong-arguments/COLUMN` caches earlier ones.
fn column(host: &Host, name: &str, cases: &[String], anew: bool) -> io::Result<Vec<String>> {
    let kept = top().join("build/wrong-arguments").join(name);
    let text = if anew { String::new() } else { fs::read_to_string(&kept).unwrap_or_default() };
    let known: HashMap<&str, &str> =
        text.lines().filter_map(|line| line.split_once('\t')).collect();
    let made = cases.iter().map(|case| match known.get(case.as_str()) {
        Some(outcome) => Ok((*outcome).to_owned()),
        None => cell(host, name, case),
    });
    let made = made.collect::<io::Result<Vec<_>>>()?;
    let lines: String =
        cases.iter().zip(&made).map(|(case, outcome)| format!("{case}\t{outcome}\n")).collect();
    fs::write(kept, lines)?;
    Ok(made)
}

fn arguments(chosen: &[String]) -> io::Result<()> {
    fs::create_dir_all(top().join("build/wrong-arguments"))?;
    // Cartograph behaves the same on all hosts.
    let names: Vec<&str> = ["cartograph"].into_iter().chain(HOSTS).collect();
    let hosts =
        ["mpich"].into_iter().chain(HOSTS).map(Host::new).collect::<io::Result<Vec<_>>>()?;
    let mut columns = vec!["Cartograph".to_owned()];
    for host in &hosts[1..] {
        columns.push(format!("{} ({})", host.name, version(host, &errors(host)?)?));
    }
    let list = checked(
        hosts[1].launch(PROCESSES, 20).arg(hosts[1].built("programs/errors.wrong")).arg("list"),
    )?;
    let cases: Vec<String> = list.lines().map(str::to_owned).collect();
    let mut outcomes: Vec<io::Result<Vec<String>>> = Vec::new();
    // No more than two at a time: otherwise, on a small machine, slow calls would look like hanging ones.
    let all: Vec<_> = names.iter().zip(&hosts).collect();
    for pair in all.chunks(2) {
        outcomes.extend(std::thread::scope(|scope| {
            let started: Vec<_> = pair
                .iter()
                .map(|(name, host)| {
                    let anew = chosen.is_empty() || chosen.iter().any(|column| column == *name);
                    let cases = &cases;
                    scope.spawn(move || column(host, name, cases, anew))
                })
                .collect();
            started
                .into_iter()
                .map(|thread| thread.join().expect("it does not panic"))
                .collect::<Vec<_>>()
        }));
    }
    let outcomes = outcomes.into_iter().collect::<io::Result<Vec<_>>>()?;

    let named = |first: &str, last: &[&str]| {
        let last = last.iter().map(|name| (*name).to_owned());
        [first.to_owned()].into_iter().chain(columns.clone()).chain(last).collect()
    };
    let mut calls = Table { name: "Calls".into(), columns: named("call", &[]), ..Table::default() };
    for (i, case) in cases.iter().enumerate() {
        calls.rows.push(
            [case.clone()]
                .into_iter()
                .chain(outcomes.iter().map(|column| column[i].clone()))
                .collect(),
        );
    }
    let of = format!("of {} calls", cases.len());
    let mut summary =
        Table { name: "Summary".into(), columns: named(&of, &["any MPI"]), ..Table::default() };
    for words in [&["hang"][..], &["crash"], &["abort"], &["hang", "crash", "abort"]] {
        let ends = |outcome: &String| words.iter().any(|word| outcome.contains(word));
        let count = |column: &Vec<String>| {
            column.iter().filter(|outcome| ends(outcome)).count().to_string()
        };
        let any = (0..cases.len())
            .filter(|&i| outcomes[1..].iter().any(|column| ends(&column[i])))
            .count();
        let row = [words.join(", ")]
            .into_iter()
            .chain(outcomes.iter().map(count))
            .chain([any.to_string()]);
        summary.rows.push(row.collect());
    }
    File::put("wrong-arguments", "make lab-faults SECTION=arguments", vec![summary, calls])
        .map(|_| ())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.split_first() {
        Some((part, [])) if part == "programs" => programs(),
        Some((part, [])) if part == "versions" => versions::versions(),
        Some((part, columns)) if part == "arguments" => arguments(columns),
        _ => {
            eprintln!("usage: faults programs | faults versions | faults arguments [COLUMN...]");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("faults: {error}");
            ExitCode::FAILURE
        }
    }
}
