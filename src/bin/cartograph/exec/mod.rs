//! `cartograph exec`: picks the library that fits a program's MPI, and becomes the program.

mod elf;
mod family;
pub(crate) mod libraries;
mod record;

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use cartograph::engine::policy::Policy;
use cartograph::mapping::layout::parse_sizes;

use crate::output::{Failure, Result};
use elf::Linked;
use libraries::Library;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Reports what was created and what it gained, on stderr or in a file; in JSON if its name ends in .json
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    report: Option<PathBuf>,
    /// Only counts what each process sends, in a file for each process in DIR; moves none of them
    #[arg(long, value_name = "DIR", conflicts_with_all = ["report", "layout", "reorder"])]
    record: Option<PathBuf>,
    /// A recording of this program: the edges of its grids and graphs weigh what was sent along them
    #[arg(long, value_name = "DIR", conflicts_with = "record")]
    traffic: Option<PathBuf>,
    /// The MPI of the program: mpich, openmpi, or another that `cartograph info` lists
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Which ranks share a node, in place of what the MPI says: 4x16, 40*48,16,8, or a file with the node of
    /// each rank
    #[arg(long)]
    layout: Option<String>,
    /// Which processes may be moved: off, on (the default), all, always or scramble:SEED[:CONSTRUCTOR]
    #[arg(long, value_name = "WORD", value_parser = checked_reorder)]
    reorder: Option<String>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<OsString>,
}

/// More nodes in a layout are typing errors.
const MOST_NODES: usize = 1 << 21;

/// What shells answer for a program that is not there, and for one that cannot be run.
const NOT_FOUND: u8 = 127;
const NOT_RUN: u8 = 126;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let layout = arguments.layout.as_deref().map(checked_layout).transpose()?;
    let program = find_program(&arguments.program[0]).map_err(|failure| {
        let word = arguments.program[0].to_string_lossy();
        match arguments.report {
            Some(ref file) if file == Path::new("1") && arguments.program.len() > 1 => failure
                .with_hint(&format!("a file for the report would be written --report={word}")),
            _ => failure,
        }
    })?;
    let library = match &arguments.host {
        Some(host) => by_name(host)?,
        None => fitting(&program)?,
    };
    let mut command = Command::new(&program);
    command.arg0(&arguments.program[0]).args(&arguments.program[1..]);
    let preloaded = match &arguments.record {
        None => library.path,
        Some(directory) => {
            record::into(&mut command, directory)?;
            record::beside(&library)?
        }
    };
    command.env("LD_PRELOAD", preload(&preloaded)?);
    match &arguments.report {
        Some(file) if file == Path::new("1") => drop(command.env("CARTOGRAPH_REPORT", "1")),
        Some(file) => {
            // The program may change its directory.
            command.env("CARTOGRAPH_REPORT", report_place(file)?);
        }
        None => {}
    }
    if let Some(layout) = layout {
        command.env("CARTOGRAPH_LAYOUT", layout);
    }
    if let Some(traffic) = &arguments.traffic {
        let failed = |error| Failure::usage(format!("--traffic={}: {error}", traffic.display()));
        command.env("CARTOGRAPH_TRAFFIC", traffic.canonicalize().map_err(failed)?);
    }
    if let Some(reorder) = &arguments.reorder {
        command.env("CARTOGRAPH_REORDER", reorder);
    }
    let error = command.exec();
    Err(Failure::new(format!("cannot run {}: {error}", program.display())).with_code(NOT_RUN))
}

/// The absolute name of a report's file. Whether it can be written is found out before the program runs, perhaps for
/// hours, by the process that writes it, as far as launchers tell ranks.
fn report_place(file: &Path) -> Result<PathBuf> {
    const RANKS: [&str; 4] = ["PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"];
    let wrong = |what: String| Failure::usage(format!("--report={}: {what}", file.display()));
    let place = std::path::absolute(file).map_err(|error| wrong(error.to_string()))?;
    if RANKS.iter().find_map(env::var_os).is_some_and(|rank| rank != "0") {
        return Ok(place);
    }
    let there = place.symlink_metadata();
    if there.as_ref().is_ok_and(fs::Metadata::is_symlink) {
        return Err(wrong("it is a symbolic link, which is not followed".into()));
    }
    if there.as_ref().is_ok_and(|there| !there.is_file()) {
        return Err(wrong("it is not a regular file".into()));
    }
    let is_json = place.extension().is_some_and(|extension| extension == "json");
    let tried = if there.is_ok() && !is_json {
        OpenOptions::new().append(true).open(&place).map(drop)
    } else {
        // JSON takes the place of an older file, so it is the directory that must be written.
        let trial = place.with_file_name(format!(".cartograph-{}", std::process::id()));
        File::create_new(&trial).and_then(|_| fs::remove_file(&trial))
    };
    tried.map_err(|error| wrong(format!("a file cannot be written there: {error}")))?;
    Ok(place)
}

/// Whether a word of a command is a program that is linked with an MPI.
pub(crate) fn is_linked_with_mpi(name: &OsStr) -> bool {
    find_program(name).is_ok_and(|program| matches!(elf::linked(&program), Linked::Mpi { .. }))
}

/// Says why a program cannot be run under a library. What a launcher's environment has to tell is not known yet.
pub(crate) fn check(program: &OsStr, host: Option<&str>) -> Result<()> {
    let program = find_program(program)?;
    match host {
        Some(host) => by_name(host).map(drop),
        None if matches!(elf::linked(&program), Linked::WithoutMpi) => Ok(()),
        None => fitting(&program).map(drop),
    }
}

/// A word that the library knows.
fn checked_reorder(text: &str) -> core::result::Result<String, String> {
    text.parse::<Policy>().map(|_| text.to_owned())
}

/// The file of a program, by the rules of execvp.
pub(crate) fn find_program(name: &OsStr) -> Result<PathBuf> {
    let runs = |path: &Path| {
        path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    let shown = name.to_string_lossy();
    if shown.contains('/') {
        let path = PathBuf::from(name);
        return match path.metadata() {
            _ if runs(&path) => Ok(path),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(Failure::new(format!("there is no program {shown}")).with_code(NOT_FOUND))
            }
            Ok(file) if file.is_dir() => {
                Err(Failure::new(format!("cannot run {shown}: it is a directory"))
                    .with_code(NOT_RUN))
            }
            Ok(_) => Err(Failure::new(format!(
                "cannot run {shown}: nobody may execute it; if it is a program, chmod +x {shown}"
            ))
            .with_code(NOT_RUN)),
            Err(error) => {
                Err(Failure::new(format!("cannot run {shown}: {error}")).with_code(NOT_RUN))
            }
        };
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|path| runs(path))
        .ok_or_else(|| {
            Failure::new(format!("there is no program {shown} in PATH; write its path, ./{shown}"))
                .with_code(NOT_FOUND)
        })
}

/// The library for a host that the user named.
fn by_name(host: &str) -> Result<Library> {
    let all = libraries::all();
    let names = names(&all);
    all.into_iter().find(|library| library.host == host).ok_or_else(|| {
        Failure::new(format!("there is no library for --host {host}; there are: {names}"))
    })
}

/// The library for the MPI that a program is linked with or, if it is linked with none, that started it.
fn fitting(program: &Path) -> Result<Library> {
    let shown = program.display();
    let all = libraries::all();
    let there_are = names(&all);
    match elf::linked(program) {
        Linked::Mpi { name, file } => {
            let version = file.as_deref().and_then(elf::open_mpi_version);
            libraries::fitting(all, &name, version).ok_or_else(|| {
                Failure::new(format!(
                    "{shown} runs on {name}, and no library here is for it; there are: {there_are}. \
                     Build it with make lib MPICC=... or name another with --host"
                ))
            })
        }
        Linked::Statically => Err(Failure::new(format!(
            "{shown} is linked statically, so nothing can be preloaded; link libcartograph.a with it"
        ))),
        Linked::WithoutMpi => {
            let Some((family, version)) = family::started_by(|name| env::var(name).ok()) else {
                return Err(Failure::new(format!(
                    "cannot tell which MPI {shown} uses: it is not linked with one, and no mpiexec \
                     started it; name the MPI with --host, one of: {there_are}"
                )));
            };
            let fits = |library: &Library| {
                library.family() == Some(family)
                    && elf::loadable(&library.path, library.mpi.as_deref().unwrap_or_default())
            };
            let fitting: Vec<Library> = all.into_iter().filter(fits).collect();
            let found = names(&fitting);
            libraries::one_of(fitting, version).ok_or_else(|| {
                Failure::new(format!(
                    "{shown} was started by {family}, and the libraries for it that could be \
                     loaded are: {found}; name one with --host, of: {there_are}"
                ))
            })
        }
    }
}

/// The names of libraries, for messages.
fn names(libraries: &[Library]) -> String {
    match libraries {
        [] => "none".to_owned(),
        _ => libraries.iter().map(|library| library.host.as_str()).collect::<Vec<_>>().join(", "),
    }
}

/// The library in front of what is preloaded already.
fn preload(library: &Path) -> Result<OsString> {
    let path = library.to_string_lossy();
    if path.contains([' ', ':']) {
        return Err(Failure::new(format!(
            "the loader cannot preload {path}, because of the space or colon in its path; move it"
        )));
    }
    let mut value = library.as_os_str().to_owned();
    if let Some(others) = env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        value.push(":");
        value.push(others);
    }
    Ok(value)
}

/// A layout that the library will understand, wherever the program goes.
fn checked_layout(text: &str) -> Result<OsString> {
    if let Some(sizes) = parse_sizes(text, MOST_NODES) {
        let ranks = sizes.iter().fold(0usize, |sum, size| sum.saturating_add(*size));
        if sizes.len() > MOST_NODES || ranks > i32::MAX as usize {
            return Err(Failure::usage(format!(
                "--layout {text} has more than {MOST_NODES} nodes or {} processes",
                i32::MAX
            )));
        }
        return Ok(text.into());
    }
    let path = Path::new(text);
    match std::path::absolute(path) {
        Ok(file) if path.is_file() => Ok(file.into()),
        _ if text.split(',').any(|word| word.trim() == "0") => Err(Failure::usage(format!(
            "--layout {text}: these would be the sizes of nodes, and no node has 0 processes; \
             the node of each rank is told by a file with a word a rank"
        ))),
        _ => Err(Failure::usage(format!(
            "--layout {text} is neither NODESxRANKS (4x16) nor a list of node sizes (40*48,16,8) nor a file"
        ))),
    }
}
