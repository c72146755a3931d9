//! A process that runs out of file descriptors or memory, or sees other files, before its first topology call: the
//! library was loaded with the program. If it could not be, the process ends, since the others would wait for it.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use super::{Preload, text};
use crate::session::word;

const SOURCE: &str = "c_tests/preload/exhausted.c";

/// The lines of a run, in order.
fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

impl Preload<'_> {
    /// One of four processes runs out of a resource; all get the same results as without Cartograph.
    pub(super) fn exhausted(&mut self) {
        let program = self.session.compile("exhausted", SOURCE, &[]);
        let program = word(&program).to_owned();
        let seconds = std::mem::replace(&mut self.session.seconds, 20);
        let empty = self.session.work("empty");
        fs::create_dir(&empty).expect("the test's own directory");
        let empty = text(&empty);
        self.session.preloaded.clear();
        let usual = self.session.run(4, &[], &[&program, "nothing"]);
        let expected = sorted(&self.session.out);
        self.session.check("a program with all resources", usual && expected.len() == 4);
        for what in ["descriptors", "limit", "chroot", "memory"] {
            let words = [&program[..], what, &empty];
            self.session.preloaded.clear();
            // Open MPI 4 itself loads a part in the first constructor; MPICH needs more memory on some machines.
            let is_possible = self.session.run(4, &[], &words);
            self.session.preloaded = vec![self.one.clone()];
            let ran = self.session.run(4, &[], &words);
            let right = ran && sorted(&self.session.out) == expected;
            let waits = self.session.code == 124;
            // Cartograph needs memory itself, and may end for want of it, but not wait.
            let is_memory = what == "memory";
            let may_end = !is_possible || is_memory;
            let what = format!("one process is out of it: {what}");
            let may_wait = is_memory && self.session.host.name == "intel";
            let is_right = right || may_end && (!waits || may_wait && self.waits_alone(&program));
            self.session.check(&what, is_right);
        }
        self.session.seconds = seconds;
    }

    /// True if a process without memory makes the others wait without Cartograph as well, if they create more communicators:
    /// Intel MPI waits if the memory ends within one of its collectives.
    fn waits_alone(&mut self, program: &str) -> bool {
        self.session.preloaded.clear();
        (96..512).step_by(32).any(|left| {
            self.session.run(4, &[], &[program, "communicators", &left.to_string()]);
            self.session.code == 124
        })
    }

    /// The libraries are replaced, or taken away, between the start of a job and the first call of a process.
    pub(super) fn replaced(&mut self) -> Result<(), String> {
        let fault = |error: std::io::Error| error.to_string();
        let program = self.session.work("exhausted");
        let built = self.built().to_owned();
        let site = self.site("moved", &[(&built, &built)])?;
        let folder = self.session.work("moved/cartograph");
        let waits = self.session.work("waits");
        fs::create_dir(&waits).map_err(fault)?;
        self.session.preloaded.clear();
        self.session.run(4, &[], &[word(&program), "nothing"]);
        let expected = sorted(&self.session.out);
        self.session.preloaded = vec![site];
        let preload = self.session.preload();
        let mut job = self.session.launcher(4);
        job.arg("env").arg(preload).args([word(&program), "wait", word(&waits)]);
        let (to, from) = (waits.clone(), folder.clone());
        let installs = std::thread::spawn(move || {
            let begun = Instant::now();
            while !to.join("ready").exists() && begun.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_millis(5));
            }
            fs::remove_dir_all(&from).and_then(|()| fs::write(to.join("go"), ""))
        });
        let ran = self.session.finish(&mut job);
        let moved = installs.join().is_ok_and(|moved| moved.is_ok());
        let right = ran && moved && sorted(&self.session.out) == expected;
        self.session.check("an installation is taken away while a job starts", right);
        Ok(())
    }

    /// A library that exists but cannot be loaded ends a process at its first call; a process that calls no function
    /// continues.
    pub(super) fn unusable(&mut self) -> Result<(), String> {
        let fault = |error: std::io::Error| error.to_string();
        let (linked, built) = (self.linked.clone(), self.built().to_owned());
        let site = self.site("damaged", &[])?;
        let library =
            self.session.work("damaged/cartograph").join(&built).join("libcartograph.so.0");
        fs::create_dir(library.parent().expect("a folder")).map_err(fault)?;
        let whole = fs::read(&self.own).map_err(fault)?;
        // The notes are at the beginning.
        for (what, length) in [("empty", 0), ("cut off in the middle", whole.len() / 2)] {
            fs::write(&library, &whole[..length]).map_err(fault)?;
            let title = format!("a library that is {what}");
            self.ends(
                &title,
                &site,
                "damaged/cartograph/.*; this process ends",
                &[&linked, "self"],
            );
            let words = [&linked[..], "mpis"];
            let goes_on = self.prints(&[&site], "mapped: 1 MPI, 1 of ours\n", &words);
            self.session.check(&format!("{title}, which is not needed"), goes_on);
        }
        fs::remove_file(&library).map_err(fault)?;
        symlink(&library, &library).map_err(fault)?;
        let line = "Too many levels of symbolic links; this process ends";
        self.ends("a library that cannot be opened", &site, line, &[&linked, "self"]);
        self.late_without_descriptors();
        Ok(())
    }

    /// An MPI that is loaded late is seen at the first call only: it ends if the library cannot be opened then.
    fn late_without_descriptors(&mut self) {
        let (one, steps, m) = (self.one.clone(), self.steps.clone(), self.module.clone());
        let words = [&steps[..], "load", &m, "start", &m, "limit", "3", "call", &m];
        let line =
            "Too many open files; this process ends, since others of its job may use Cartograph";
        self.ends("no descriptor is left when a late MPI is first called", &one, line, &words);
    }
}
