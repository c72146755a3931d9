//! `cartograph run`: a job is recorded, later ones are placed on whatever nodes they get, and a job that cannot be
//! placed runs unchanged. Nodes are simulated by names on this machine, which requires root.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use regex::Regex;
use serde_json::Value;

use super::Outcome;
use super::exec::command;
use crate::output::Verdict;
use crate::session::{Session, word};
use crate::testlist::top;

const PROGRAM: &str = "c_tests/record/pairs.c";

struct Jobs<'a, 'b> {
    session: &'a mut Session<'b>,
    program: String,
    store: PathBuf,
}

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    if !session.makes_nodes() {
        return Ok(Verdict::Ignored("no node can be made up here".into()));
    }
    session.preloaded.clear();
    let program = session.compile("pairs", PROGRAM, &[]);
    let store = session.work("store");
    let program = word(&program).to_owned();
    let mut jobs = Jobs { session: &mut session, program, store };
    jobs.learns();
    jobs.carries_over();
    jobs.keeps_devices();
    jobs.is_tuned();
    jobs.runs_as_it_is();
    jobs.signals()?;
    jobs.full()?;
    session.verdict()
}

impl Jobs<'_, '_> {
    /// `cartograph run` with this launcher and the program with arguments.
    fn job(&self, nodes: &str, arguments: &[&str]) -> Command {
        let mut job = Command::new("timeout");
        job.args(["-k", "5", "120"]).arg(command()).arg("run");
        job.args(self.session.on_nodes(nodes, 4)).arg(&self.program).args(arguments);
        job.current_dir(top());
        job.envs(self.session.environment()).env("CARTOGRAPH_STORE", &self.store);
        job
    }

    fn runs(&mut self, nodes: &str, arguments: &[&str]) -> bool {
        let mut job = self.job(nodes, arguments);
        self.session.finish(&mut job)
    }

    /// True if stderr has one line of ours, with this text.
    fn told(&self, pattern: &str) -> bool {
        let pattern = Regex::new(&format!("(?m)^cartograph: .*{pattern}")).expect("it is right");
        self.session.said("^cartograph: ") == 1 && pattern.is_match(&self.session.err)
    }

    fn learns(&mut self) {
        let ran = self.runs("a:2,b:2", &[]);
        // The result of replay depends on the load of this machine.
        let next = "(the next|a later) run will (use|try) ";
        let recorded = self.told(&format!("recorded .*/pairs on 4 ranks; {next}"));
        let same = self.session.out == "4 apart\n";
        self.session.check("the first job is recorded", ran && recorded && same);
        // Which of them are placed depends on the predicted gain.
        let mut placed = Vec::new();
        for job in 2..=4 {
            let ran = self.runs("c:2,d:2", &[]);
            // Nodes of MPICH 4 are simulated by names only: their messages are as fast as those within a node.
            let is_own = self
                .told("/pairs in the default order(, to compare|: no other (is faster so far|was tried yet)) ");
            let same = self.session.out == if is_own { "4 apart\n" } else { "0 apart\n" };
            let right = ran && same && self.told("/pairs in ");
            self.session.check(&format!("job {job} is placed or compared, on other nodes"), right);
            placed.push(!is_own);
        }
        self.session.check("both orders run", placed.contains(&true) && placed.contains(&false));
        // Equal messages to other ranks, which are already on the same node.
        for what in ["recorded .*/pairs on 4 ranks; ", "no placement is predicted to help"] {
            let ran = self.runs("c:2,d:2", &["0", "near"]);
            let same = self.session.out == "0 apart\n";
            self.session.check(&format!("another input: {what}"), ran && same && self.told(what));
        }
        let mut known = Command::new(command());
        known.args(["known", "--json"]).env("CARTOGRAPH_STORE", &self.store);
        let ran = self.session.finish(&mut known);
        let known: Value = serde_json::from_str(&self.session.out).unwrap_or_default();
        let program = &known["programs"][0];
        // If nothing helps, only relays record a job: without its nodes, no job would be placed on other nodes.
        let runs = if self.session.host.name == "openmpi" { 5 } else { 6 };
        let gain = program["inputs"][0]["best"]["gain"].as_f64();
        let right = program["program"] == "pairs"
            && (&program["ranks"], &program["runs"]) == (&Value::from(4), &Value::from(runs))
            && gain.is_some_and(|gain| gain > 1.2 || self.session.host.name == "mpich");
        self.session.check("known lists the program", ran && right);
        // After the job, nothing is left: neither its recording nor its rank file.
        let left = fs::read_dir(self.store.join("jobs")).map_or(0, Iterator::count);
        self.session.check("nothing is left behind", left == 0);
    }

    /// The first job with another number of processes, and that of another user, start with earlier entries.
    fn carries_over(&mut self) {
        let directories =
            [self.session.work("own"), self.session.work("user"), self.session.work("site")];
        let [own, user, site] = &directories;
        let job = |jobs: &mut Self, (nodes, count), store: &PathBuf| {
            let mut job = Command::new("timeout");
            job.args(["-k", "5", "120"]).arg(command()).arg("run");
            job.args(jobs.session.on_nodes(nodes, count)).arg(&jobs.program).args(["0", "columns"]);
            job.current_dir(top()).envs(jobs.session.environment());
            job.env("CARTOGRAPH_STORE", store).env("CARTOGRAPH_SITE_STORE", site);
            let ran = jobs.session.finish(&mut job);
            (ran, jobs.session.out == "0 apart\n")
        };
        let first = job(self, ("a:4,b:4", 8), own);
        let recorded = self.told("recorded .*/pairs on 8 ranks; ");
        self.session.check("a grid is recorded", first == (true, false) && recorded);
        let larger = job(self, ("c:4,d:4,e:4", 12), own);
        let told = self.told("recorded .*/pairs on 12 ranks in .*, as 8 ranks predict; ");
        self.session.check("a larger grid is placed at once", larger == (true, true) && told);
        let mut known = Command::new(command());
        known.args(["known", "--export", "pairs"]).arg(site).env("CARTOGRAPH_STORE", own);
        let exported = self.session.finish(&mut known);
        let files = fs::read_dir(site).into_iter().flatten();
        let texts: Vec<String> =
            files.filter_map(|file| fs::read_to_string(file.ok()?.path()).ok()).collect();
        let place = top().display().to_string();
        let names = |text: &String| [&place, "columns"].iter().any(|name| text.contains(*name));
        self.session.check(
            "exported entries name no path or argument",
            texts.len() == 2 && !texts.iter().any(names),
        );
        let of_user = job(self, ("f:4,g:4", 8), user);
        // It is not recorded as a first job is. Whether it is placed depends on the predicted gain.
        let is_own = self.told("/pairs in the default order, to compare ");
        let known = self.told("/pairs in ") && of_user == (true, !is_own);
        self.session.check("another user starts with the site's entry", exported && known);
        for (store, from) in [(own, "8 ranks"), (user, "the site")] {
            let mut known = Command::new(command());
            let listed = self.session.finish(known.arg("known").env("CARTOGRAPH_STORE", store));
            let says = self.session.out.contains(&format!("  started from {from}\n"));
            self.session.check(&format!("an entry started from {from}"), listed && says);
        }
    }

    /// Ranks that choose devices by their numbers are placed only where no more of them share one.
    fn keeps_devices(&mut self) {
        let library = self.session.work("libcuda.so.1");
        let name = "-DDEVICES=\"libcuda.so.1\"";
        let stub = ["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1"];
        self.session.compile_with("cc", "libcuda.so.1", "c_tests/record/cuda.c", &stub);
        let program = self.session.compile("devices", PROGRAM, &[name, "-ldl"]);
        let store = self.session.work("devices-store");
        let directory = library.parent().expect("a file").to_owned();
        let job = |jobs: &mut Self, options: &[&str]| {
            let mut job = Command::new("timeout");
            job.args(["-k", "5", "120"]).arg(command()).arg("run").args(options);
            let paths = format!("LD_LIBRARY_PATH={}", directory.display());
            job.args(jobs.session.on_nodes("a:2,b:2", 4)).arg("env").arg(paths).arg(&program);
            job.current_dir(top()).envs(jobs.session.environment());
            let ran = jobs.session.finish(job.env("CARTOGRAPH_STORE", &store));
            ran.then(|| jobs.session.out.clone())
        };
        let apart = Some("4 apart\n".to_owned());
        let first = job(self, &[]);
        let told = self.told("recorded .*/devices on 4 ranks; no placement is predicted to help");
        self.session.check("no placement shares devices", first == apart && told);
        let local = ["--devices", "local"];
        // Which job is the first to be placed depends on the predicted gain.
        let is_placed = (2..=4).any(|_| job(self, &local).as_deref() == Some("0 apart\n"));
        let told =
            self.told("2 ranks of a node used one device, but 1 in the default order; this ");
        self.session.check("devices are compared after a placed job", is_placed && told);
        let last = job(self, &local);
        self.session.check("a placement that shares devices is not used again", last == apart);
    }

    /// A tuned program is placed in the next job, without a recording.
    fn is_tuned(&mut self) {
        // Longer than it takes to wait for a processor.
        let program = self.session.compile("slow", PROGRAM, &["-DPAUSE=20000"]);
        let here = self.session.work("here");
        let made = fs::create_dir(&here).is_ok();
        let under = |session: &mut Session<'_>, options: &str, nodes: &str| {
            let mut job = Command::new(command());
            job.args(options.split(' ')).args(session.on_nodes(nodes, 4)).arg(&program);
            job.envs(session.environment()).current_dir(&here);
            session.finish(job.env("CARTOGRAPH_STORE", session.work("tuned")))
        };
        let ran = made && under(self.session, "tune --runs 4 --ignore apart", "a:2,b:2");
        self.session
            .check("the program is tuned", ran && self.session.out.contains("\nmeasured, "));
        let ran = under(self.session, "run --no-trial", "c:2,d:2");
        let placed = self.session.out == "0 apart\n" && self.told("/slow in round-robin");
        self.session.check("the next job takes the tuned placement", ran && placed);
    }

    /// Jobs that fail, have input, or cannot be placed.
    fn runs_as_it_is(&mut self) {
        self.runs("a:2,b:2", &["3"]);
        let told = self.session.err.contains("exited with code 3; this run is not compared")
            || self.session.err.contains("the job ran unchanged");
        self.session.check("an exit code is passed on", self.session.code == 3 && told);
        let mut shell = Command::new("sh");
        let job = self.job("a:2,b:2", &["0", "input"]);
        shell.args(["-c", "echo hello | \"$0\" \"$@\"; echo end"]);
        shell.arg(job.get_program()).args(job.get_args()).current_dir(top());
        shell.envs(job.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ran = self.session.finish(&mut shell);
        let passed = self.session.out.ends_with("apart\nhello\nend\n");
        self.session.check("standard input is passed on", ran && passed);
        let mut several = self.job("a:2,b:2", &[]);
        let is_openmpi = self.session.host.name == "openmpi";
        let option = if is_openmpi { ["-host", "a"] } else { ["-wdir", "/"] };
        several.arg(":").args(option).args(["-n", "2"]).arg(&self.program);
        let ran = self.session.finish(&mut several);
        let told = self.told("-[a-z]+ [a/] is for one of several programs; the job ran unchanged");
        self.session.check("several programs", ran && told && self.session.out.contains("apart"));
        let mut one = self.job("a:2,b:2", &[]);
        let words: Vec<_> = one.get_args().map(ToOwned::to_owned).collect();
        one = Command::new("timeout");
        let words =
            words.iter().map(|word| if word == "4" { "1".as_ref() } else { word.as_os_str() });
        one.args(words).current_dir(top()).env("CARTOGRAPH_STORE", &self.store);
        let ran = self.session.finish(&mut one);
        self.session.check("one process", ran && self.told("one process"));
        if !is_openmpi {
            // Some shells drop such variables; those of bash's functions have similar names.
            let mut job = Command::new("timeout");
            job.args(["-k", "5", "60"]).arg(command()).arg("run");
            job.args(self.session.on_nodes("a:2,b:2", 4)).arg("env").current_dir(top());
            job.envs(self.session.environment()).env("CARTOGRAPH_STORE", &self.store);
            let ran = self.session.finish(job.env("of.a-tool", "kept"));
            let kept = self.session.out.lines().filter(|line| *line == "of.a-tool=kept").count();
            self.session.check("variables with any name reach the program", ran && kept == 4);
        }
        for store in ["/proc/nowhere", "/dev/null"] {
            let ran = {
                let mut job = self.job("a:2,b:2", &[]);
                self.session.finish(job.env("CARTOGRAPH_STORE", store))
            };
            let told = self.told("; the job ran unchanged") && self.session.out == "4 apart\n";
            self.session.check(&format!("a store that cannot be: {store}"), ran && told);
        }
    }

    /// A job that gets a terminating signal ends soon.
    fn signals(&mut self) -> Result<(), String> {
        let explain = |error: std::io::Error| error.to_string();
        let out = self.session.work("waits");
        let mut job = self.job("a:2,b:2", &["0", "wait"]);
        let words: Vec<_> = job.get_args().skip(3).map(ToOwned::to_owned).collect();
        let started = Command::new(&words[0])
            .args(&words[1..])
            .envs(job.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .current_dir(top())
            // Launchers may signal their whole group.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(fs::File::create(&out).map_err(explain)?)
            .stderr(Stdio::null())
            .spawn();
        job = Command::new("kill");
        let mut child = started.map_err(explain)?;
        // The program prints a line before it waits.
        let waits = || fs::read_to_string(&out).is_ok_and(|text| text.ends_with(" apart\n"));
        let waits = (0..600).any(|_| {
            thread::sleep(Duration::from_millis(100));
            waits()
        });
        let sent = self.session.finish(job.arg("-TERM").arg(child.id().to_string()));
        let ran = waits && sent;
        let start = Instant::now();
        let mut ended = None;
        while ended.is_none() && start.elapsed() < Duration::from_secs(30) {
            thread::sleep(Duration::from_millis(100));
            ended = child.try_wait().ok().flatten();
        }
        let _ = child.kill();
        // The exit code is the launcher's: MPICH's is occasionally 0, even without `cartograph run`.
        self.session.check("SIGTERM ends the job", ran && ended.is_some());
        Ok(())
    }

    /// A full disk loses only what would be learned.
    fn full(&mut self) -> Result<(), String> {
        let place = self.session.work("full");
        fs::create_dir(&place).map_err(|error| error.to_string())?;
        let script = "mount -t tmpfs -o size=40k,mode=700 none \"$0\" || exit 99
            head -c 40000 /dev/zero >\"$0/filler\" 2>/dev/null; \"$@\"; code=$?
            ls \"$0\" | grep -c json >&2; exit $code";
        let mut job = self.job("a:2,b:2", &[]);
        job.env("CARTOGRAPH_STORE", &place);
        let mut shell = Command::new("unshare");
        shell.args(["--mount", "sh", "-c", script]).arg(&place).arg(job.get_program());
        shell.args(job.get_args()).current_dir(top());
        shell.envs(job.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ran = self.session.finish(&mut shell);
        if self.session.code != 99 {
            let same = self.session.out == "4 apart\n" && self.session.said("^0$") == 1;
            self.session.check("a full disk", ran && same);
        }
        Ok(())
    }
}
