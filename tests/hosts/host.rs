//! One host: its compilers, its launcher, and the library that was built for it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, OnceLock};

use crate::testlist::{MINIMAL, Test, top};

#[path = "build.rs"]
mod build;

/// How a program uses Cartograph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Library {
    None,
    Preloaded,
    /// The library for every MPI is preloaded, and loads the host's.
    Forwarded,
    Linked,
    Static,
}

impl Library {
    /// The end of a program's name: programs that are linked alike are one file.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::None | Self::Preloaded | Self::Forwarded => "",
            Self::Linked => ".linked",
            Self::Static => ".static",
        }
    }
}

/// Hosts whose processes each examine the whole machine when they start, with the system's hwloc.
const LOOK: [&str; 2] = ["mpich", "openmpi"];

/// The time limit of a run, in seconds. None takes a tenth of it on a quiet machine; a run that ends here hangs.
const SECONDS: usize = 120;

pub(crate) struct Host {
    pub(crate) name: String,
    /// True next to another host of its family: tests omit what both do alike.
    pub(crate) shortened: bool,
    /// True on one host of a run, which also runs the checks that do not depend on the host.
    pub(crate) checks_all: bool,
    directory: PathBuf,
    launcher: Vec<String>,
    /// `NAME=VALUE`, set for all programs, so that jobs do not hinder each other.
    environment: Vec<String>,
    /// A library to preload for the same purpose.
    yielding: Option<PathBuf>,
    /// Its compiler wrappers, by language.
    compilers: Mutex<HashMap<&'static str, String>>,
    /// The files that were compiled, linked and checked, or why not.
    made: Mutex<HashMap<PathBuf, Made>>,
}

type Made = Arc<OnceLock<Result<(), String>>>;

impl Host {
    pub(crate) fn new(name: &str) -> Self {
        let words = |what| ask(&[name, what]).split_whitespace().map(str::to_owned).collect();
        let mut host = Self {
            name: name.into(),
            shortened: false,
            checks_all: false,
            directory: top().join("build").join(name),
            launcher: words("exec"),
            environment: words("tests"),
            yielding: None,
            compilers: Mutex::default(),
            made: Mutex::default(),
        };
        if let Some(source) = host.environment.iter().position(|word| word.ends_with(".c")) {
            let source = host.environment.remove(source);
            let library = host.directory.join("libyield.so");
            std::fs::create_dir_all(&host.directory).expect("build can be written");
            let mut command = Command::new("cc");
            command.args(["-O2", "-Wall", "-shared", "-fPIC", "-o"]).arg(&library).arg(source);
            succeeded("the compiler", command.current_dir(top()).output())
                .unwrap_or_else(|error| panic!("{error}"));
            host.yielding = Some(library);
        }
        if LOOK.contains(&name) {
            host.show_machine();
        }
        host
    }

    /// Writes hwloc's description of this machine to a file, which processes read instead of examining the machine:
    /// with Open MPI 4, that takes half of a start. The tool comes with Debian's MPICH; without it, processes examine
    /// the machine themselves.
    fn show_machine(&mut self) {
        let (file, made) = (self.directory.join("machine.xml"), self.directory.join("made.xml"));
        let mut look = Command::new("lstopo-no-graphics");
        let looked = look.args(["--of", "xml", "-f"]).arg(&made).output();
        if looked.is_ok_and(|output| output.status.success())
            && std::fs::rename(made, &file).is_ok()
        {
            let settings =
                [format!("HWLOC_XMLFILE={}", file.display()), "HWLOC_THISSYSTEM=1".into()];
            self.environment.extend(settings);
        }
    }

    fn lib(&self) -> PathBuf {
        self.directory.join("lib")
    }

    /// The library that was built for the host.
    pub(crate) fn library(&self) -> PathBuf {
        let built = if self.name == "intel" { "mpich5" } else { &self.name };
        top().join("build").join(built).join("lib/libcartograph.so")
    }

    /// The library that is preloaded additionally, so that waiting processes yield.
    pub(crate) fn yielding(&self) -> Option<&PathBuf> {
        self.yielding.as_ref()
    }

    /// The words that start a program, followed by the number of processes.
    pub(crate) fn launcher(&self) -> &[String] {
        &self.launcher
    }

    /// Settings for jobs that share few processors.
    pub(crate) fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.environment.iter().filter_map(|word| word.split_once('='))
    }

    /// The setting by which programs without the launcher find the host's libraries, if they need one.
    pub(crate) fn search_path(&self) -> Option<(&'static str, String)> {
        Some(("LD_LIBRARY_PATH", ask(&[&self.name, "path"]))).filter(|(_, path)| !path.is_empty())
    }

    /// The library that is preloaded.
    fn preloaded(&self, library: Library) -> Option<PathBuf> {
        let folder = match library {
            Library::Preloaded => self.lib(),
            Library::Forwarded => top().join("build/lib"),
            Library::None | Library::Linked | Library::Static => return None,
        };
        Some(folder.join("libcartograph.so"))
    }

    /// The wrapper that compiles a source; `None` if the host has none for its language.
    pub(crate) fn compiler(&self, source: &Path) -> Option<String> {
        let language = match source.extension()?.to_str()? {
            "c" => "cc",
            "cpp" => "cxx",
            _ => "fc",
        };
        let mut compilers = self.compilers.lock().expect("nothing panics in here");
        let wrapper =
            compilers.entry(language).or_insert_with(|| ask(&[&self.name, language])).clone();
        // The MPI-2.2 C++ bindings, which our C++ programs use; not every host has them.
        let has_bindings = language != "cxx" || ["mpich", "openmpi"].contains(&self.name.as_str());
        (!wrapper.is_empty() && has_bindings).then_some(wrapper)
    }

    /// True if the host has the requirements of the test's source.
    pub(crate) fn can_build(&self, test: &Test) -> bool {
        test.way.is_by_itself() || self.compiler(&test.source).is_some()
    }

    /// True if the host loads programs itself, as SMPI does, so that they cannot be run directly.
    fn loads_programs(&self) -> bool {
        self.name == "smpi"
    }

    /// The command that starts a program; its arguments follow.
    pub(crate) fn command(
        &self,
        program: &Path,
        library: Library,
        settings: &[String],
        processes: u32,
        seconds: usize,
    ) -> Command {
        let mut command = Command::new("timeout");
        command.args(["-k", "5", &seconds.to_string()]);
        command.envs(self.settings());
        if self.loads_programs() {
            command.arg("env").args(settings);
        }
        command.args(&self.launcher).arg(processes.to_string());
        let mut variables = settings.to_vec();
        let ours = self.preloaded(library);
        let preloaded: Vec<_> = ours.iter().chain(&self.yielding).collect();
        if !preloaded.is_empty() {
            // After mpiexec, so that the launcher itself is not affected.
            let names: Vec<_> = preloaded.iter().map(|path| path.display().to_string()).collect();
            variables.push(format!("LD_PRELOAD={}", names.join(":")));
        }
        if !variables.is_empty() && (ours.is_some() || !self.loads_programs()) {
            command.arg("env").args(variables);
        }
        command.arg(program).current_dir(top());
        command
    }

    /// Runs a program; returns its stdout.
    pub(crate) fn run(
        &self,
        program: &Path,
        library: Library,
        processes: u32,
        (arguments, settings): (&[String], &[String]),
    ) -> Result<String, String> {
        let settings = if library == Library::None { &[] } else { settings };
        let mut command = self.command(program, library, settings, processes, SECONDS);
        command.args(arguments);
        let who = format!("{} on {processes} processes ({library:?})", program.display());
        let output = succeeded(&who, command.output())?;
        quiet(&who, library, settings, &String::from_utf8_lossy(&output.stderr))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// Fails if Cartograph printed a warning. Hosts may print theirs.
pub(crate) fn quiet(
    who: &str,
    library: Library,
    settings: &[String],
    text: &str,
) -> Result<(), String> {
    // Forced reordering is reported.
    let always = settings.iter().any(|s| s.starts_with("CARTOGRAPH_REORDER=always"));
    let is_warning = |line: &str| {
        line.contains("cartograph") && !(always && line.contains("despite reorder = 0"))
    };
    match library != Library::None && text.lines().any(is_warning) {
        true => Err(format!("{who} is not quiet: {text}")),
        false => Ok(()),
    }
}

/// The hosts besides this one whose libraries are built, except minimal ones.
pub(crate) fn others(own: &str) -> Vec<String> {
    let names = ask(&[]);
    let all = names.split_whitespace().filter(|name| *name != own && !MINIMAL.contains(name));
    all.filter(|name| is_built(name)).map(str::to_owned).collect()
}

/// True if the library for a host is built.
pub(crate) fn is_built(host: &str) -> bool {
    top().join("build").join(host).join("lib/libcartograph.so").exists()
}

/// A fact from `scripts/host.sh`.
fn ask(words: &[&str]) -> String {
    let output = Command::new(top().join("scripts/host.sh")).args(words).output();
    let output = succeeded("scripts/host.sh", output).unwrap_or_else(|error| panic!("{error}"));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn succeeded(who: &str, output: std::io::Result<Output>) -> Result<Output, String> {
    let output = output.map_err(|error| format!("{who}: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let hung = if output.status.code() == Some(124) { ": no end in sight, it hangs" } else { "" };
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&text);
    // The reason is at the end.
    let tail: Vec<&str> = text.lines().rev().take(60).collect();
    let tail: Vec<&str> = tail.into_iter().rev().collect();
    Err(format!("{who}: {}{hung}\n{}", output.status, tail.join("\n")))
}
