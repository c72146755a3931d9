//! The one library to preload for every MPI, `build/lib/libcartograph.so`, with a host's programs: an MPI that is
//! loaded late, privately, next to another or not at all; tools; missing libraries; cost. Whole programs run with it on
//! the lines `forwarded` of the list.

mod cost;
mod exhausted;
mod missing;
mod standard_abi;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Outcome;
use super::exec::{MODULE, OURS, STEPS, late};
use crate::host::{Host, others};
use crate::session::{Session, word};
use crate::testlist::top;

const SHARED: [&str; 3] = ["-fPIC", "-shared", "-Wl,--no-as-needed"];

/// The line that a module prints if functions are Cartograph's.
const MODULE_OURS: &str = "module.so: Cartograph\n";

struct Preload<'a> {
    session: Session<'a>,
    /// The library for every MPI.
    one: PathBuf,
    /// The library for this host.
    own: PathBuf,
    /// Linked with the MPI.
    linked: String,
    /// A module that is linked with the MPI.
    module: String,
    /// A program without MPI.
    steps: String,
    /// A tool that calls the next function of each name.
    tool: PathBuf,
}

/// The text of a path.
fn text(path: &Path) -> String {
    word(path).to_owned()
}

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    let linked = session.compile("linked", STEPS, &["-DLINKED", MODULE, "-ldl"]);
    let module = session.compile("module.so", MODULE, &SHARED);
    let steps = session.compile_with("gcc", "steps", STEPS, &["-ldl"]);
    let tool = session.compile("next.so", "c_tests/preload/next.c", &["-fPIC", "-shared", "-ldl"]);
    let one = top().join("build/lib/libcartograph.so");
    session.preloaded = vec![one.clone()];
    let mut preload = Preload {
        own: session.host.library(),
        one,
        linked: text(&linked),
        module: text(&module),
        steps: text(&steps),
        tool,
        session,
    };
    preload.contents()?;
    if preload.session.host.checks_all {
        preload.without_mpi()?;
    }
    preload.late_mpi();
    preload.other_names();
    preload.relative_name()?;
    preload.tools();
    preload.no_library()?;
    preload.exhausted();
    preload.replaced()?;
    preload.unusable()?;
    preload.behind_another()?;
    preload.missing_functions()?;
    preload.several_mpis();
    preload.standard_abi()?;
    preload.mpi_in_the_program();
    preload.cost_of_a_query()?;
    preload.session.verdict()
}

impl Preload<'_> {
    /// Runs one process with these libraries; returns whether it succeeds. MPICH 4.0.2's mpiexec is occasionally killed
    /// by SIGPIPE if a program without MPI ends at once.
    fn runs(&mut self, preloaded: &[&Path], settings: &[&str], words: &[&str]) -> bool {
        self.session.preloaded = preloaded.iter().map(|path| path.to_path_buf()).collect();
        for _ in 0..4 {
            let preload = self.session.preload();
            let mut job = self.session.launcher(1);
            job.env("LC_ALL", "C").env("UCX_LOG_LEVEL", "error").env_remove("CARTOGRAPH_REPORT");
            job.arg("env").arg(preload).args(settings).args(words);
            let ran = self.session.finish(&mut job);
            if self.session.code != 141 {
                return ran;
            }
        }
        false
    }

    /// True if a process prints this, and Cartograph prints nothing.
    fn prints(&mut self, preloaded: &[&Path], expected: &str, words: &[&str]) -> bool {
        self.runs(preloaded, &[], words) && self.session.out == expected && self.session.is_quiet()
    }

    /// Checks that a process prints this with the library for every MPI.
    fn checks(&mut self, what: &str, expected: &str, words: &[&str]) {
        let one = self.one.clone();
        let right = self.prints(&[&one], expected, words);
        self.session.check(what, right);
    }

    /// True if Cartograph printed this number of lines on stderr, all with this pattern.
    fn says(&self, lines: usize, pattern: &str) -> bool {
        let all = self.session.said("^cartograph: ");
        all == lines && self.session.said(&format!("^cartograph: .*{pattern}")) == lines
    }

    /// The names that a library defines.
    fn names(&mut self, library: &Path) -> Vec<String> {
        let mut nm = Command::new("nm");
        self.session.finish(nm.args(["-D", "--defined-only", "--format=posix"]).arg(library));
        let name = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
        let mut names: Vec<String> = self.session.out.lines().map(name).collect();
        names.sort();
        names
    }

    /// The libraries that a library needs.
    fn needs(&mut self, library: &Path) -> Vec<String> {
        self.session.finish(Command::new("readelf").arg("-d").arg(library));
        let needed = self.session.out.lines().filter(|line| line.contains("(NEEDED)"));
        let name = |line: &str| Some(line.split_once('[')?.1.split_once(']')?.0.to_owned());
        needed.filter_map(name).collect()
    }

    /// It needs no MPI, and exports the host's names of the chapter: with others, programs would find functions that
    /// some MPIs do not have. The functions with which libraries notice the end of sessions take a session, so they are
    /// harmless.
    fn contents(&mut self) -> Result<(), String> {
        let (one, own) = (self.one.clone(), self.own.clone());
        let needed = self.needs(&one);
        let foreign = |name: &String| ["mpi", "gcc_s", "stdc"].iter().any(|of| name.contains(of));
        self.session.check(
            "the library needs libc and no MPI",
            !needed.is_empty() && !needed.iter().any(foreign),
        );
        let mut expected = self.names(&own);
        let more =
            ["dlclose", "MPI_Group_from_session_pset", "MPI_Session_finalize", "cartograph_plan"];
        expected.extend(more.map(str::to_owned));
        expected.sort();
        expected.dedup();
        let names = self.names(&one);
        self.session.check("the library exports the host's names, and dlclose", names == expected);
        Ok(())
    }

    /// An MPI that comes with the program, or late: privately, visible to all, or through Python.
    fn late_mpi(&mut self) {
        let (linked, steps, module) =
            (self.linked.clone(), self.steps.clone(), self.module.clone());
        let m = &module[..];
        let both = format!("{OURS}mapped: 1 MPI, 2 of ours\n");
        self.checks("linked with the program", &both, &[&linked, "self", "mpis"]);
        let expected = format!("{MODULE_OURS}{MODULE_OURS}mapped: 1 MPI, 2 of ours\n");
        let words = ["load", m, "call", m, "call", m, "mpis", "finish", m];
        self.checks("a late private MPI", &expected, &[&[&steps[..]], &words[..]].concat());
        let words = [&steps[..], "global", m, "call", m, "finish", m];
        self.checks("a late global MPI", MODULE_OURS, &words);
        // A module without a dependency on MPI, loaded by one that has it.
        let outer = self.session.work("outer.so");
        let work = self.session.work("");
        let work = word(&work).trim_end_matches('/');
        let mut gcc = Command::new("gcc");
        gcc.args(SHARED).args(["-x", "c", "/dev/null", "-L", work, "-l:module.so", "-o"]);
        let made = self.session.finish(gcc.arg(&outer).arg(format!("-Wl,-rpath,{work}")));
        let o = word(&outer);
        let words = [&steps[..], "load", o, "call", o, "finish", o];
        self.session.check("a module that needs another is compiled", made);
        self.checks("a module that another module needs", "outer.so: Cartograph\n", &words);
        let expected = format!("{MODULE_OURS}closed: 0\n{MODULE_OURS}");
        let words = ["load", m, "call", m, "close", m, "load", m, "call", m, "finish", m];
        self.checks("unloaded and loaded again", &expected, &[&[&steps[..]], &words[..]].concat());
        let late = late(&self.session, Path::new(m));
        self.checks("Python loads it", "Cartograph\n", &["python3", word(&late)]);
    }

    /// Names without an underscore: a program's own functions, or the host's procedures, which call ours.
    fn other_names(&mut self) {
        let (one, built, steps) = (self.one.clone(), self.own.clone(), self.steps.clone());
        let own = self.session.compile("own.so", "c_tests/preload/own_names.c", &SHARED);
        let own = word(&own);
        let source = "c_tests/preload/plain_names.f90";
        let has_fortran = self.session.host.compiler(source.as_ref()).is_some();
        let plain =
            has_fortran.then(|| self.session.compile("plain", source, &["-fno-underscoring"]));
        if let Some(plain) = &plain {
            self.session.finish(Command::new("nm").arg("-u").arg(plain));
            let named = self.session.out.lines().any(|line| line.trim() == "U mpi_cart_rank");
            self.session.check("Fortran's names are without an underscore", named);
        }
        for library in [&one, &built] {
            let words = [&steps[..], "load", own, "call", own, "finish", own];
            let right = self.prints(&[library], "own.so: Cartograph\n", &words);
            self.session.check(&format!("a module's own functions, {}", library.display()), right);
            if let Some(plain) = &plain {
                let right = self.prints(&[library], " Cartograph\n", &[word(plain)]);
                let what = format!("Fortran without underscores, {}", library.display());
                self.session.check(&what, right);
            }
        }
    }

    /// An installation with links to the libraries of hosts, each a folder and a host.
    fn site(&self, name: &str, libraries: &[(&str, &str)]) -> Result<PathBuf, String> {
        let site = self.session.work(name);
        let made = || {
            fs::create_dir_all(site.join("cartograph"))?;
            fs::copy(&self.one, site.join("libcartograph.so"))?;
            libraries.iter().try_for_each(|(folder, host)| {
                let lib = top().join("build").join(host).join("lib");
                symlink(lib, site.join("cartograph").join(folder))
            })
        };
        made().map_err(|error| format!("{name}: {error}"))?;
        Ok(site.join("libcartograph.so"))
    }

    /// The name of the host whose library this one uses.
    fn built(&self) -> &str {
        if self.session.host.name == "intel" { "mpich5" } else { &self.session.host.name }
    }

    fn relative_name(&mut self) -> Result<(), String> {
        let built = self.built().to_owned();
        self.site("site", &[(&built, &built)])?;
        let elsewhere = self.session.work("elsewhere");
        fs::create_dir(&elsewhere).map_err(|error| error.to_string())?;
        let work = self.session.work("");
        self.session.preloaded = vec!["./site/libcartograph.so".into()];
        let preload = self.session.preload();
        let mut job = self.session.launcher(1);
        job.env_remove("CARTOGRAPH_REPORT").env("UCX_LOG_LEVEL", "error").current_dir(work);
        let ran = self.session.finish(job.arg("env").arg(preload).args([
            "./linked",
            "chdir",
            "elsewhere",
            "self",
        ]));
        let right = self.session.out == format!("chdir: 0\n{OURS}");
        self.session.check("preloaded by a relative name, from another directory", ran && right);
        Ok(())
    }

    /// Tools that use `RTLD_NEXT`, before and after Cartograph.
    fn tools(&mut self) {
        let (one, tool) = (self.one.clone(), self.tool.clone());
        let (linked, steps, m) = (self.linked.clone(), self.steps.clone(), self.module.clone());
        let words = [&linked[..], "self"];
        let right = self.prints(&[&tool, &one], &format!("{OURS}next: 3\n"), &words);
        self.session.check("a tool before Cartograph", right);
        let right = self.prints(&[&one, &tool], &format!("{OURS}next: 0\n"), &words);
        self.session.check("a tool after Cartograph", right);
        let words = [&steps[..], "load", &m, "call", &m, "finish", &m];
        let right = self.prints(&[&tool, &one], &format!("{MODULE_OURS}next: 3\n"), &words);
        self.session.check("a tool, with a late private MPI", right);
    }

    /// With several MPIs in one process, each caller has its own.
    fn several_mpis(&mut self) {
        let own = self.built().to_owned();
        let (steps, mine) = (self.steps.clone(), self.module.clone());
        let m = &mine[..];
        for other in others(&own) {
            let compiler = Host::new(&other).compiler(MODULE.as_ref()).expect("a compiler");
            let name = format!("other-{other}.so");
            let theirs = self.session.compile_with(&compiler, &name, MODULE, &SHARED);
            let t = word(&theirs);
            let begin = [&steps[..], "load", m, "call", m, "load", t, "call", t, "call", m];
            // Combinations that fail on the bare hosts are not tested.
            if self.runs(&[], &[], &[&begin[..], &["finish", m]].concat()) {
                let lines = format!("{MODULE_OURS}{name}: Cartograph\n").repeat(2);
                let words = [&begin[..], &["call", t, "finish", m]].concat();
                self.checks(&format!("beside {other}, each its own"), &lines, &words);
            }
        }
    }
}
