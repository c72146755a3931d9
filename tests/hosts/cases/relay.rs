//! Relays give processes other ranks than their launcher: ranks share memory where they were put, and jobs end, fail,
//! read and spawn as without relays. Nodes are simulated by names on this machine, which requires root.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::Outcome;
use super::exec::command;
use crate::output::Verdict;
use crate::session::{Session, word};

struct Relays<'a, 'b> {
    session: &'a mut Session<'b>,
    program: PathBuf,
    order: PathBuf,
}

/// Four processes on two nodes: the second of each node exchange ranks.
const CROSSED: &str = r#"{"new_ranks":[0,2,1,3],"node_of_rank":[0,1,0,1]}"#;
/// Three and one.
const UNEVEN: &str = r#"{"new_ranks":[0,1,3,2],"node_of_rank":[0,0,1,0]}"#;

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    if !session.makes_nodes() {
        return Ok(Verdict::Ignored("no node can be made up here".into()));
    }
    session.preloaded.clear();
    let program = session.compile("who", "c_tests/relay/who.c", &[]);
    let order = session.write("order.json", CROSSED);
    let mut relays = Relays { session: &mut session, program, order };
    relays.places();
    relays.refuses();
    relays.ends();
    relays.signals()?;
    relays.leaves_nothing();
    session.verdict()
}

impl Relays<'_, '_> {
    /// The program under relays with an order.
    fn command(&self, nodes: &str, order: &Path, arguments: &[&str]) -> Command {
        let mut job = Command::new("timeout");
        job.args(["-k", "5", "100"]).args(self.session.on_nodes(nodes, 4)).arg(command());
        job.args(["exec", "--relay"]).arg(order).arg(&self.program).args(arguments);
        job.envs(self.session.environment());
        if self.session.host.name == "intel" {
            // Its memory is shared on one node only.
            let (_, path) = self.session.host.search_path().expect("a folder of libraries");
            job.env("I_MPI_FABRICS", "shm:ofi").env("FI_PROVIDER", "tcp");
            job.env("FI_PROVIDER_PATH", path);
        }
        job
    }

    fn runs(&mut self, arguments: &[&str]) -> bool {
        let mut job = self.command("a:2,b:2", &self.order, arguments);
        self.session.finish(&mut job)
    }

    fn places(&mut self) {
        let ran = self.runs(&[]);
        let placed = self.session.out == "0 2\n1 3\n";
        self.session.check("ranks and shared memory match the order", ran && placed);
        let order = self.session.write("uneven.json", UNEVEN);
        if self.session.host.name == "intel" {
            return;
        }
        let mut job = self.command("a:3,b:1", &order, &[]);
        let ran = self.session.finish(&mut job);
        let placed = self.session.out == "0 1 3\n2\n";
        self.session.check("nodes of different sizes", ran && placed);
    }

    /// Orders with which all ranks stay.
    fn refuses(&mut self) {
        let nowhere = self.session.work("nowhere.json");
        let uneven = self.session.write("other.json", UNEVEN);
        for (what, order) in [("an order for other nodes", &uneven), ("a missing order", &nowhere)]
        {
            let mut job = self.command("a:2,b:2", order, &[]);
            let ran = self.session.finish(&mut job);
            let stayed = self.session.out == "0 1\n2 3\n";
            self.session.check(what, ran && stayed);
        }
        // One process cannot read the order.
        let script = "[ \"$PMI_RANK\" = 3 ] && shift 1 || { o=$1; shift 2; set -- \"$o\" \"$@\"; }
            exec \"$0\" exec --relay \"$@\"";
        let mut job = self.command("a:2,b:2", &self.order, &[]);
        let words: Vec<_> = job.get_args().map(ToOwned::to_owned).collect();
        let at = words.iter().position(|word| word == "exec").expect("the command") - 1;
        let mut split = Command::new(job.get_program());
        split.args(&words[..at]).args(["sh", "-c", script]).arg(&words[at]);
        split.args([&self.order, &nowhere, &self.program]);
        split.envs(job.get_envs().filter_map(|(name, value)| Some((name, value?))));
        job = split;
        let ran = self.session.finish(&mut job);
        let stayed = self.session.out == "0 1\n2 3\n";
        self.session.check("an order that one process cannot read", ran && stayed);
    }

    /// Jobs that fail, read, spawn, or use no MPI.
    fn ends(&mut self) {
        // Intel MPI's own launcher returned 255 in 6 of 80 jobs without relays, and in 1 of 40 with them.
        let tries = if self.session.host.name == "intel" { 10 } else { 1 };
        let is_told = (0..tries).any(|_| {
            self.runs(&["code"]);
            self.session.code == 3
        });
        self.session.check("an exit code", is_told);
        self.runs(&["abort"]);
        self.session.check("MPI_Abort", self.session.code == 7);
        let start = Instant::now();
        self.runs(&["die"]);
        let ended = self.session.code != 0 && start.elapsed() < Duration::from_secs(60);
        self.session.check("a rank that is killed ends the job", ended);
        let ran = self.runs(&["early"]);
        self.session.check("a program that ends before MPI_Init", ran);
        let mut shell = Command::new("sh");
        let job = self.command("a:2,b:2", &self.order, &["input"]);
        shell.args(["-c", "echo hello | \"$0\" \"$@\""]).arg(job.get_program());
        shell.args(job.get_args());
        shell.envs(job.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ran = self.session.finish(&mut shell);
        let passed = self.session.out.ends_with("hello\n");
        self.session.check("rank 0 gets the input", ran && passed);
        // MPICH 4 cannot spawn on simulated nodes.
        if self.session.host.name != "mpich" {
            let ran = self.runs(&["spawn"]);
            let spawned = self.session.out.ends_with("6 with children\n");
            self.session.check("spawned children have the right ranks", ran && spawned);
        }
    }

    /// A stopped job continues, and ends with SIGTERM.
    fn signals(&mut self) -> Result<(), String> {
        let explain = |error: std::io::Error| error.to_string();
        let out = self.session.work("waits");
        let job = self.command("a:2,b:2", &self.order, &["wait"]);
        let words: Vec<_> = job.get_args().skip(3).map(ToOwned::to_owned).collect();
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            .envs(job.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(fs::File::create(&out).map_err(explain)?)
            .stderr(Stdio::null())
            .spawn()
            .map_err(explain)?;
        let waits = (0..600).any(|_| {
            thread::sleep(Duration::from_millis(100));
            fs::read_to_string(&out).is_ok_and(|text| text == "0 2\n1 3\n")
        });
        let group = format!("-{}", child.id());
        let mut signal =
            |name: &str| self.session.finish(Command::new("kill").args([name, "--", &group]));
        let stopped = signal("-STOP") && signal("-CONT");
        thread::sleep(Duration::from_millis(300));
        let goes_on = child.try_wait().map_err(explain)?.is_none();
        let sent = signal("-TERM");
        let ended = (0..300).any(|_| {
            thread::sleep(Duration::from_millis(100));
            child.try_wait().is_ok_and(|status| status.is_some())
        });
        let _ = child.kill();
        let _ = child.wait();
        self.session.check("a stopped job continues", waits && stopped && goes_on);
        self.session.check("SIGTERM ends the job", sent && ended);
        Ok(())
    }

    /// After the jobs, no relay runs.
    fn leaves_nothing(&mut self) {
        let order = word(&self.order).to_owned();
        let runs = || {
            let all = fs::read_dir("/proc").expect("the processes").filter_map(Result::ok);
            let lines = all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
            lines.into_iter().any(|line| String::from_utf8_lossy(&line).contains(&order))
        };
        let ended = (0..50).any(|_| {
            thread::sleep(Duration::from_millis(100));
            !runs()
        });
        self.session.check("no relay is left", ended);
    }
}
