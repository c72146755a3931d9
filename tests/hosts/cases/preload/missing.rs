//! No library for the MPI, no MPI, or no function: the MPI's own functions are used, or an error names what is missing.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::exec::{MODULE, STEPS, THEIRS, defines, mpi_of};
use super::Preload;
use crate::host::is_built;
use crate::session::{Session, word};
use crate::testlist::top;

impl Preload<'_> {
    /// Without a library for this MPI, or with a wrong one, the MPI's own functions are used, and a line reports that
    /// if a report is requested.
    pub(super) fn no_library(&mut self) -> Result<(), String> {
        let linked = self.linked.clone();
        let none = self.site("none", &[])?;
        self.refused("no library at all", &none, "none/cartograph has no library for lib");
        // A tool, followed by the host's functions.
        let tool = self.tool.clone();
        let right = self.prints(&[&tool, &none], &format!("{THEIRS}next: 3\n"), &[&linked, "self"]);
        self.session.check("no library, with a tool", right);
        let (steps, m) = (self.steps.clone(), self.module.clone());
        let words = [&steps[..], "load", &m, "call", &m, "finish", &m];
        let right = self.prints(&[&none], "module.so: the host\n", &words);
        self.session.check("no library, with a late private MPI", right);
        let is_openmpi = self.session.host.name.starts_with("openmpi");
        let wrong = if is_openmpi { "mpich5" } else { "openmpi" };
        if is_built(wrong) {
            let built = self.built().to_owned();
            let site = self.site("wrong", &[(wrong, wrong), (&built, wrong)])?;
            let line = "wrong/cartograph has no library for lib";
            self.refused("another MPI's library under this one's name", &site, line);
        }
        Ok(())
    }

    pub(super) fn refused(&mut self, what: &str, site: &Path, pattern: &str) {
        let linked = self.linked.clone();
        let words = [&linked[..], "self", "self"];
        let quiet = self.prints(&[site], &THEIRS.repeat(2), &words) && self.says(0, ".");
        let reported = self.runs(&[site], &["CARTOGRAPH_REPORT=1"], &words)
            && self.says(1, &format!("{pattern}.*; using the MPI's own functions"));
        self.session.check(what, quiet && reported);
    }

    /// A file with the MPI's name is loaded before the MPI, which is needed by its path: objects that need the name get
    /// that file.
    pub(super) fn behind_another(&mut self) -> Result<(), String> {
        let own = self.own.clone();
        let is_mpi = |name: &String| {
            ["libmpi.so", "libmpich.so", "libmpi_abi.so"].iter().any(|mpi| name.starts_with(mpi))
        };
        let soname = self.needs(&own).into_iter().find(is_mpi).ok_or("it needs no MPI")?;
        let mpi = self.mpi()?;
        let [path, behind, front] =
            ["path.so", "behind.so", "front.so"].map(|name| self.session.work(name));
        let object = self.session.compile("behind.o", MODULE, &["-fPIC", "-c"]);
        let gcc = |session: &mut Session<'_>, words: &[&str]| {
            let made = session.finish(Command::new("gcc").arg("-shared").args(words));
            made.then_some(()).ok_or_else(|| session.err.clone())
        };
        gcc(&mut self.session, &["-o", word(&path), "-x", "c", "/dev/null"])?;
        let words = ["-Wl,--no-as-needed", "-o", word(&behind), word(&object), word(&path)];
        gcc(&mut self.session, &words)?;
        fs::remove_file(&path).and_then(|()| symlink(&mpi, &path)).map_err(|e| e.to_string())?;
        let named = format!("-Wl,-soname,{soname}");
        gcc(&mut self.session, &[&named, "-o", word(&front), "-x", "c", "/dev/null"])?;
        // Some of the MPI's own files are found only from its directory.
        let folder = Path::new(&mpi).parent().map(|folder| folder.display().to_string());
        let folder = folder.unwrap_or_default();
        let search = format!("LD_LIBRARY_PATH={folder}:{folder}/mpich");
        let (steps, f, b) = (self.steps.clone(), word(&front), word(&behind));
        let words = [&steps[..], "load", f, "load", b, "call", b, "finish", b];
        // Open MPI itself does not find its own parts then.
        if self.runs(&[], &[&search], &words) {
            let one = self.one.clone();
            let own = self.runs(&[&one], &[&search], &words)
                && self.session.out == "behind.so: the host\n"
                && self.session.is_quiet();
            let reported = self.runs(&[&one], &[&search, "CARTOGRAPH_REPORT=1"], &words)
                && self.says(1, "is loaded after another MPI");
            self.session.check("a second MPI of the same name", own && reported);
        }
        Ok(())
    }

    /// The library of the MPI.
    pub(super) fn mpi(&mut self) -> Result<String, String> {
        let linked = PathBuf::from(&self.linked);
        mpi_of(&mut self.session, &linked)
    }

    /// Checks that a command ends with code 127 and one line. The command runs without the launcher, which has its own
    /// exit codes.
    pub(super) fn ends(&mut self, what: &str, library: &Path, pattern: &str, words: &[&str]) {
        let mut command = Command::new("timeout");
        command.arg("60").args(words).env("LD_PRELOAD", library).envs(self.session.host.settings());
        command.envs(self.session.host.search_path()).env_remove("CARTOGRAPH_REPORT");
        self.session.finish(&mut command);
        let right = self.session.code == 127 && self.says(1, pattern);
        self.session.check(what, right);
    }

    /// A missing function is an error when it is called, and only then.
    pub(super) fn missing_functions(&mut self) -> Result<(), String> {
        let (one, steps, linked) = (self.one.clone(), self.steps.clone(), self.linked.clone());
        let pattern = "undefined symbol: MPI_Cart_create: no MPI is loaded";
        self.ends("no MPI in the process", &one, pattern, &[&steps, "missing", "MPI_Cart_create"]);
        let name = "MPI_Neighbor_alltoall_init_c";
        let mpi = self.mpi()?;
        if !defines(&mut self.session, &mpi, name) {
            let none = self.session.work("none").join("libcartograph.so");
            let pattern = format!("undefined symbol: {name}: .* does not have it");
            let what = "neither the host has a function nor a library";
            self.ends(what, &none, &pattern, &[&linked, "missing", name]);
        }
        Ok(())
    }

    /// If the MPI is linked into the program, its own functions are called, without a message.
    pub(super) fn mpi_in_the_program(&mut self) {
        if self.session.host.name != "mpich" {
            return;
        }
        let mut shell = Command::new("sh");
        let program = self.session.work("static");
        let link = "gcc -g -O1 -w -DLINKED -rdynamic $(mpicc.mpich -show | grep -oE -- '-I[^ ]*') -o \"$1\" \"$2\" \
                    \"$3\" \"$(gcc -print-file-name=libmpich.a)\" -lhwloc -lucp -lucs -lpthread -lm -ldl";
        shell.args(["-c", link, "sh"]).arg(&program).args([STEPS, MODULE]).current_dir(top());
        let made = self.session.finish(&mut shell);
        self.session.check("MPI is linked into a program", made);
        let program = word(&program);
        let expected = format!("{THEIRS}mapped: 0 MPI, 1 of ours\n");
        self.checks("MPI in the program", &expected, &[program, "self", "mpis"]);
        let one = self.one.clone();
        let pattern =
            "undefined symbol: MPI_Graph_get: .* linked into the program, does not have it";
        let words = [program, "missing", "MPI_Graph_get"];
        self.ends("a function that is not in the program", &one, pattern, &words);
    }
}
