//! `make lab-programs` and `make lab-jobs`: public programs on four nodes, without Cartograph, with it, as tuned by
//! `cartograph tune`, and as jobs of `cartograph run`; and the results of `cartograph try` for them on this machine.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use cartograph_jobs::learn::measure::turns;
use cartograph_lab::Table;
use cartograph_lab::host::{Host, command, does, emptied};
use regex::Regex;
use serde_json::Value;

use super::cases::{Case, Cases, Program, Tried};
use super::measured::Measured;
use super::network::Nodes;
use super::tables::{ALONE, BYTES, LEARNS, REORDERED, TUNED, TURN, TURN_REORDERED};
use super::{Outcome, carried, jobs, repetitions, sequences, setting, tables, tool};

const RECORDED: &str = "recorded";
/// The MPI for which the programs are built; jobs may run under Open MPI 5 and MPICH 5 as well.
pub(crate) const OPENMPI: &str = "openmpi";
/// Seconds after which a run counts as failed.
const PATIENCE: u32 = 120;

/// The directories of programs: the user's builds, this project's programs, and installed ones.
pub(crate) struct Places {
    path: String,
    only: Regex,
}

impl Places {
    pub(crate) fn new(built: &str, host: &str) -> Outcome<Self> {
        let ours = fs::canonicalize(".")?.display().to_string();
        let built = if built.is_empty() { ours.clone().into() } else { fs::canonicalize(built)? };
        let mut path =
            format!("{}:{ours}/build/{host}/programs:{ours}/build/{host}/lib", built.display());
        // Debian's programs are built for Debian's Open MPI.
        if host == OPENMPI {
            path = format!("{path}:{}", std::env::var("PATH")?);
        }
        Ok(Self { path, only: Regex::new(&setting("ONLY", "."))? })
    }

    /// The path of a program, if it is found.
    fn find(&self, name: &str) -> Option<String> {
        let mut paths = std::env::split_paths(&self.path).map(|folder| folder.join(name));
        Some(paths.find(|path| path.is_file())?.display().to_string())
    }

    /// The command line with the path of its program, if the program is selected and found.
    pub(crate) fn line(&self, title: &str, line: &str) -> Option<String> {
        let (name, arguments) = line.split_once(' ').unwrap_or((line, ""));
        let path = self.only.is_match(title).then(|| self.find(name))??;
        Some(format!("{path} {arguments}"))
    }
}

/// Compiles programs whose source or libraries Debian has; programs that lack them are omitted.
pub(crate) fn compile(built: &str) -> Outcome {
    let host = Host::new(OPENMPI)?;
    let boost = ["lab/programs/boost-topologies.cpp", "-lboost_mpi", "-lboost_serialization"];
    let _ = host.compile("cxx", "boost-topologies", &boost);
    let source = does("find /usr/share/petsc -path */ksp/ksp/tutorials/ex45.c").unwrap_or_default();
    if let (Some(source), None) = (source.lines().last(), Places::new(built, OPENMPI)?.find("ex45"))
    {
        let flags = does("pkg-config --cflags --libs PETSc")?;
        let flags: Vec<&str> = flags.split_whitespace().collect();
        host.compile("cc", "ex45", &[&[source], &flags[..], &["-lm"]].concat())?;
    }
    Ok(())
}

/// Creates a directory that contains only the inputs.
pub(crate) fn fresh(at: &Path) -> Outcome {
    emptied(at)?;
    does(&format!("cp -r lab/programs/. {}", at.display()))?;
    Ok(())
}

/// Runs a command in a directory, with its output in a file.
pub(crate) fn succeeds(command: &mut Command, at: &Path, said: &Path) -> Outcome<bool> {
    let said = File::create(said)?;
    command.current_dir(at).stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said);
    Ok(command.status()?.success())
}

/// A case that is measured.
struct Run<'a> {
    nodes: &'a Nodes,
    case: &'a Case,
    program: &'a Program,
    line: String,
    /// The command `cartograph`.
    tool: String,
    /// The directory of its runs; facts about the case are in files next to it.
    at: PathBuf,
    expected: Option<Vec<String>>,
    all: &'a mut Measured,
}

impl Run<'_> {
    fn note(&mut self, about: &str, word: &str) {
        self.all.note(&self.case.title, about, word);
    }

    /// The output of the last run.
    fn said(&self) -> Outcome<String> {
        Ok(fs::read_to_string(self.at.join("said"))?)
    }

    /// Runs a variant.
    fn run(&self, variant: &str) -> Outcome<bool> {
        let (at, tool) = (self.at.display(), &self.tool);
        let (mut by, mut options, mut under) = (String::new(), String::new(), String::new());
        match variant {
            LEARNS => by = format!("env CARTOGRAPH_STORE={at}.store {tool} run"),
            RECORDED => under = format!("{tool} exec --record {at}.traffic"),
            REORDERED | TURN_REORDERED => under = format!("{tool} exec --reorder on"),
            BYTES => options = format!("--rankfile {at}.ranks"),
            TUNED if self.nodes.host.name == OPENMPI => {
                options = format!("--rankfile {at}.tuned.ranks");
            }
            TUNED => by = format!("env CARTOGRAPH_STORE={at}.tuned.store {tool} run --no-trial"),
            _ => {}
        }
        if [TURN, TURN_REORDERED].contains(&variant) {
            options += "--map-by node";
        }
        let launcher = self.nodes.launcher(&options, self.case.processes);
        fresh(&self.at)?;
        let mut command = command(&format!("{by} {launcher} {under} {}", self.line));
        succeeds(&mut command, &self.at, &self.at.join("said"))
    }

    /// Measures a variant: the time, the bytes on all wires, and the bytes from the node that sends most. Notes it if a
    /// run fails or its results differ from those of the first run.
    fn measure(&mut self, variant: &str) -> Outcome {
        let before = self.nodes.sent()?;
        if !self.run(variant)? {
            self.note(variant, "fails");
            self.all.put(&self.case.title, variant, &[]);
            eprintln!("{}", self.said()?);
            return Ok(());
        }
        let [wires, most] = self.nodes.sent_since(&before)?;
        let (time, results) = self.program.found(&self.at)?;
        if *self.expected.get_or_insert_with(|| results.clone()) != results {
            self.note(variant, "differs");
        }
        self.all.add(&self.case.title, variant, &[time, wires, most]);
        Ok(())
    }

    /// Records a run, predicts the times of placements relative to the launcher's order, and makes a rank file by bytes.
    fn learn(&mut self) -> Outcome {
        if !self.run(RECORDED)? {
            return Err(self.said()?.into());
        }
        let (at, tool) = (self.at.display().to_string(), self.tool.clone());
        let plan: Value =
            serde_json::from_str(&does(&format!("{tool} plan --traffic {at}.traffic --json"))?)?;
        let orders = plan["predicted"].as_array().map_or(&[][..], Vec::as_slice);
        let seconds = |order: &Value| order["seconds"].as_f64().unwrap_or(f64::NAN);
        let relative = |order: Option<&Value>| {
            let speed = order.map_or(1.0, |order| seconds(&orders[0]) / seconds(order));
            format!("{speed:.2}")
        };
        let turn = orders.iter().find(|order| order["order"] == "round-robin");
        let busiest = |order: &&Value| order["busiest"].as_u64();
        let least = orders.iter().min_by_key(busiest);
        self.note("predicted round-robin", &relative(turn));
        self.note("predicted by bytes", &relative(least));

        let [traffic, bytes, ranks] =
            ["traffic", "bytes", "ranks"].map(|what| format!("{at}.{what}"));
        without_calls(Path::new(&traffic), Path::new(&bytes))?;
        does(&format!("{tool} plan --traffic {bytes} --objective max --rankfile openmpi {ranks}"))?;
        // A slot is a core, and this machine has fewer cores than processes; the system assigns them.
        let cores: u32 = does("nproc --all")?.trim().parse()?;
        let every = format!("slot=0-{}", cores - 1);
        let text = fs::read_to_string(&ranks)?;
        Ok(fs::write(&ranks, Regex::new("slot=.*")?.replace_all(&text, every).as_bytes())?)
    }

    /// Lets Cartograph find the fastest placement, as a user would.
    fn tune(&mut self) -> Outcome {
        let at = self.at.display();
        let launcher = self.nodes.launcher("", self.case.processes);
        let mut tune = format!("tune --seconds {PATIENCE}");
        if self.nodes.host.name == OPENMPI {
            tune += &format!(" --rankfile {at}.tuned.ranks");
        }
        // The jobs have another store, so that they do not start with this result.
        let mut command =
            command(&format!("env CARTOGRAPH_STORE={at}.tuned.store {} {tune}", self.tool));
        let line = format!("-- {launcher} -- {}", self.line);
        command.args(&self.program.tune).args(line.split_whitespace());
        fresh(&self.at)?;
        // Not in the directory, whose files are compared.
        let said = self.at.with_extension("said");
        if !succeeds(&mut command, &self.at, &said)? {
            eprintln!("{}: tune fails", &self.case.title);
        }
        let said = fs::read_to_string(said)?;
        eprintln!("{said}");
        let none = "no placement is predicted|no significant speedup|no variant is faster";
        let found = Regex::new(&format!("(?m)^(.*: [0-9.]+x faster|{none}|cartograph:.*)"))?;
        let found = found.find_iter(&said).last().map_or("", |found| found.as_str());
        self.note("found", found);
        Ok(())
    }

    /// The variant with the placement that Cartograph has found, if any. MPICH reads no rank files.
    fn tuned(&self) -> Option<&'static str> {
        let found = self.all.word(&self.case.title, "found");
        found.is_some_and(|found| found.ends_with("x faster")).then_some(TUNED)
    }
}

/// Copies a recording without the times of its calls, so that `plan` minimizes bytes.
fn without_calls(from: &Path, to: &Path) -> Outcome {
    emptied(to)?;
    for file in fs::read_dir(from)? {
        let file = file?;
        let text = fs::read_to_string(file.path())?;
        let lines = text.lines().filter(|line| !line.is_empty());
        let mut lines: Vec<Value> = lines.map(serde_json::from_str).collect::<Result<_, _>>()?;
        lines.retain(|line| line.get("window").is_none());
        let mut below = 0;
        for line in lines.iter_mut().rev() {
            match line.get_mut("process") {
                Some(process) => process["lines"] = std::mem::take(&mut below).into(),
                None => below += 1,
            }
        }
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        fs::write(to.join(file.file_name()), lines.join("\n") + "\n")?;
    }
    Ok(())
}

/// Measures cases one after the other, so that the runs of each are close in time.
fn each(
    nodes: &Nodes,
    built: &str,
    cases: &[Case],
    programs: &HashMap<String, Program>,
    measure: &dyn Fn(&mut Run) -> Outcome,
) -> Outcome<Measured> {
    let places = Places::new(built, &nodes.host.name)?;
    let mut all = Measured::default();
    for (number, case) in cases.iter().enumerate() {
        let Some(line) = places.line(&case.title, &case.line) else { continue };
        let program = &programs[case.line.split(' ').next().unwrap_or_default()];
        let links = setting("RATE", &case.links);
        nodes.limit(&links)?;
        all.note(&case.title, "links", &links);
        let at = PathBuf::from(format!("/dev/shm/case{number}"));
        let (tool, all) = (tool()?, &mut all);
        measure(&mut Run { nodes, case, program, line, tool, at, expected: None, all })?;
    }
    Ok(all)
}

/// The four nodes.
fn nodes(host: &str) -> Outcome<Nodes> {
    Nodes::new(Host::new(host)?, 4, "200mbit", PATIENCE)
}

pub(crate) const NONE: &str = "no program is here; lab/programs/programs.json lists them";

/// Measures the programs in all variants.
pub(crate) fn programs(built: &str) -> Outcome {
    let Cases { cases, programs, .. } = Cases::read()?;
    let all = each(&nodes(OPENMPI)?, built, &cases, &programs, &|run| {
        run.learn()?;
        run.tune()?;
        let mut variants = vec![ALONE, REORDERED, TURN, BYTES];
        if run.case.moves {
            variants.push(TURN_REORDERED);
        }
        variants.extend(run.tuned());
        for _ in 0..repetitions("5")? {
            variants.iter().try_for_each(|variant| run.measure(variant))?;
        }
        Ok(())
    })?;
    if all.cases().is_empty() {
        return Err(NONE.into());
    }
    cartograph_lab::File::put("programs", "make lab-programs", tables::programs(&all))?;
    Ok(())
}

/// Measures jobs without `cartograph run`, with it and as tuned, in rotating order. Jobs with changing inputs or nodes, and jobs
/// that start with knowledge of earlier ones, have their own tables.
pub(crate) fn jobs(built: &str) -> Outcome {
    let Cases { control, mut cases, carried, programs, .. } = Cases::read()?;
    cases.insert(0, control);
    let nodes = nodes(&setting("HOST", OPENMPI))?;
    let all = each(&nodes, built, &cases, &programs, &|run| {
        run.tune()?;
        let mut variants = vec![ALONE, LEARNS];
        variants.extend(run.tuned());
        for job in 0..repetitions("6")? {
            for variant in turns(job, variants.len()).map(|turn| variants[turn]) {
                let began = Instant::now();
                run.measure(variant)?;
                let launched = format!("{variant} launched");
                run.all.add(&run.case.title, &launched, &[began.elapsed().as_secs_f64()]);
                let said = run.said()?;
                let ours = said.lines().filter(|line| line.starts_with("cartograph: "));
                ours.for_each(|line| eprintln!("{line}"));
            }
        }
        Ok(())
    })?;
    let (name, only) = (&nodes.host.name, setting("ONLY", ""));
    // Measurements of some programs do not replace the table of all.
    let of: Vec<&str> =
        [&name[..], &only].into_iter().filter(|of| !["", OPENMPI].contains(of)).collect();
    if !of.is_empty() {
        return put(jobs::table(&format!("Jobs by cartograph run, {}", of.join(", ")), &all));
    }
    put(jobs::table("Jobs by cartograph run", &all))?;
    let mut changing = Measured::default();
    let places = Places::new(built, name)?;
    sequences::measure(&nodes, &places, &programs["halo"], &mut changing)?;
    put(jobs::changing(&changing))?;
    let mut carrying = Measured::default();
    carried::measure(&nodes, &places, &programs, &carried, &mut carrying)?;
    put(carried::table(&carrying))
}

/// Keeps a table of jobs as soon as it is measured; all take an hour.
fn put(table: Table) -> Outcome {
    if table.rows.is_empty() {
        eprintln!("{}: {NONE}", table.name);
        return Ok(());
    }
    cartograph_lab::File::put("programs", "make lab-jobs", vec![table])?;
    Ok(())
}

/// Makes the inputs of GROMACS, if it is here.
fn water(places: &Places, at: &Path) -> Outcome {
    let at = at.display();
    if places.find("gmx_mpi").is_some() {
        let gmx = "mpiexec.openmpi --allow-run-as-root -n 1 gmx_mpi -quiet";
        does(&format!("{gmx} solvate -cs spc216.gro -box 3 3 3 -o {at}/water.gro"))?;
        let waters = fs::read_to_string(format!("{at}/water.gro"))?.matches("OW").count();
        let topology = fs::read_to_string(format!("{at}/water.top"))?;
        fs::write(format!("{at}/water.top"), format!("{topology}SOL {waters}\n"))?;
        let inputs = format!("-f {at}/water.mdp -c {at}/water.gro -p {at}/water.top");
        does(&format!("{gmx} grompp {inputs} -o {at}/water.tpr -po {at}/out.mdp -maxwarn 5"))?;
    }
    Ok(())
}

/// Runs `cartograph try` for programs, on this machine without simulated nodes.
pub(crate) fn ask_all(built: &str) -> Outcome {
    let places = Places::new(built, OPENMPI)?;
    let only = setting("ONLY", "");
    // A separate table for some programs: the other rows are from another day.
    let of = if only.is_empty() { String::new() } else { format!(" of {only}") };
    let columns = "program, 8 processes | exit code | what it says in the end";
    let mut table = Table::new(&format!("What cartograph try said{of}"), columns);
    let host = Host::new("openmpi")?;
    let work = fs::canonicalize(host.built("programs"))?.join("tried");
    let at = work.join("run");
    emptied(&work)?;
    fresh(&at)?;
    water(&places, &at)?;
    for Tried { title, ignore, line } in &Cases::read()?.tried {
        let Some(line) = places.line(title, line) else { continue };
        let mut command = command(&format!("env OMP_NUM_THREADS=1 LC_ALL=C {} try", tool()?));
        command.args(ignore.iter().flat_map(|words| ["--ignore", words])).arg("--");
        let launcher = host.launcher.join(" ");
        command.args(format!("{launcher} 8 -- {line}").split_whitespace());
        command.env("CARTOGRAPH_STORE", work.join("store"));
        let code = if succeeds(&mut command, &at, &work.join("said"))? { "0" } else { "1" };
        let said = fs::read_to_string(work.join("said"))?;
        eprintln!("{title}: {said}");
        // A required package is missing.
        if said.contains("the program fails without Cartograph") {
            continue;
        }
        let last = said.lines().last().unwrap_or_default();
        let last = last.trim_start_matches("cartograph: ").replace('|', "\\|");
        table.rows.push(vec![title.clone(), code.to_owned(), last]);
    }
    if table.rows.is_empty() {
        return Err(NONE.into());
    }
    cartograph_lab::File::put("programs", "make lab-programs", vec![table])?;
    Ok(())
}
