//! `make lab-slurm`: Cartograph under a real Slurm: a daemon for each of eight nodes, on two switches, with MPICH over
//! PMI-2 and Open MPI over PMIx. Checks that levels are read, that rank files place ranks, that recordings include the
//! switches, that the effect of a host file with PMI-2 on MPICH is reported, that relays place ranks, that job scripts
//! with `cartograph run` learn, that simultaneous steps do not wait for each other, that the programs of `--multi-prog`
//! are placed together, that packaging/slurm replaces srun, and that Slurm's binding is kept.

mod bound;
mod relays;
mod several;

use std::os::fd::AsRawFd;
use std::process::{Output, id};
use std::time::Duration;
use std::{fs, thread};

use cartograph_jobs::learn::measure::median;
use cartograph_lab::host::{Host, checked, command, does};
use regex::Regex;

use super::network::{Nodes, does_all};
use super::{Outcome, tool};

/// The directory of Slurm's files, including its configuration, which its programs find by a variable.
const WORK: &str = "/dev/shm/slurm";
pub(crate) const CONF: &str = "/dev/shm/slurm/slurm.conf";

/// The output of job scripts.
const OUT: &str = "/dev/shm/slurm/out";
const ERR: &str = "/dev/shm/slurm/err";

const HOSTS: [&str; 2] = ["mpich", "openmpi"];
/// Seconds after which a job is ended.
const PATIENCE: u32 = 120;
/// The number of job scripts with simultaneous steps.
const STEPS: u32 = 4;
/// The nodes of most jobs.
const FOUR: &str = "-N 4 -w n[0-3]";
const OTHERS: &str = "-N 4 -w n[4-7]";

/// Compiles the programs and the plugin, outside the namespaces.
pub(crate) fn compile() -> Outcome {
    for name in HOSTS {
        for program in ["reorder", "reported"] {
            Host::new(name)?.compile("cc", program, &[&format!("c_tests/reorder/{program}.c")])?;
        }
    }
    several::compile()?;
    bound::compile()?;
    relays::compile()?;
    let plugin = "build/cartograph_run.so packaging/slurm/cartograph_run.c";
    does(&format!("cc -shared -fPIC -Wall -Wextra -Werror -o {plugin}"))?;
    Ok(())
}

/// Starts the daemons.
fn start() -> Outcome<Nodes> {
    // Slurm requires control groups, which the nodes' own /sys does not have.
    let groups = fs::File::open("/sys/fs/cgroup")?;
    let nodes = Nodes::new(Host::new(HOSTS[1])?, 8, "50mbit", PATIENCE)?;
    does(&format!("mount -c --rbind /proc/{}/fd/{} /sys/fs/cgroup", id(), groups.as_raw_fd()))?;
    does(&format!("cp -r lab/slurm {WORK}"))?;
    let plugin = fs::canonicalize("build/cartograph_run.so")?;
    let plugin = format!("optional {} command={} leave={WORK}/leave\n", plugin.display(), tool()?);
    fs::write(format!("{WORK}/plugstack.conf"), plugin)?;
    let left = fs::read_to_string("packaging/slurm/leave")? + "re*ed\n";
    fs::write(format!("{WORK}/leave"), left)?;
    // A separate key; root may run munged in /run.
    does_all(&[
        "hostname machine",
        &format!("mkdir {WORK}/state"),
        "mkdir -m 755 /run/munge",
        &format!("dd if=/dev/urandom of={WORK}/key bs=128 count=1"),
        &format!("chmod 400 {WORK}/key"),
        &format!(
            "munged --force --key-file={WORK}/key --log-file={WORK}/log --seed-file={WORK}/seed"
        ),
    ])?;
    for i in 0..8 {
        does(&format!("mkdir {WORK}/spool.n{i} {WORK}/tmp.n{i}"))?;
    }
    daemons()?;
    Ok(nodes)
}

/// Starts the daemons of the controller and of the nodes, and waits for the nodes.
fn daemons() -> Outcome {
    does("slurmctld")?;
    // Each node has its own name.
    for i in 0..8 {
        let mut node = command(&format!("nsenter --net=/run/netns/n{i} unshare --uts sh -c"));
        checked(node.arg(format!("hostname n{i} && exec slurmd -N n{i}")))?;
    }
    for _ in 0..30 {
        if does("sinfo -h -o %T").is_ok_and(|states| states.trim() == "idle") {
            return Ok(());
        }
        thread::sleep(Duration::from_secs(1));
    }
    Err(format!("Slurm does not start: {WORK}/slurmctld.log").into())
}

/// The output of a job on stdout and stderr.
struct Said {
    out: String,
    err: String,
}

impl Said {
    fn check(&self, what: &str, is_right: bool) -> Outcome {
        println!("{what}: {}", if is_right { "as it should be" } else { "WRONG" });
        if is_right { Ok(()) } else { Err(format!("{what}\n{}\n{}", self.out, self.err).into()) }
    }

    /// Checks that a line on stderr or stdout matches a pattern.
    fn has(&self, what: &str, pattern: &str) -> Outcome {
        let pattern = Regex::new(&format!("(?m){pattern}"))?;
        self.check(what, pattern.is_match(&self.err) || pattern.is_match(&self.out))
    }
}

/// The expected message of `cartograph run` for a job.
enum Printed {
    Nothing,
    /// One line that matches a pattern.
    Line(&'static str),
    /// The job was placed. The busiest node then sends at most this fraction of the bytes.
    Placed(f64, f64),
}

/// Slurm, and how its jobs are started.
struct Slurm {
    nodes: Nodes,
    tool: String,
    host: Host,
    /// Variables for all jobs.
    environment: String,
    /// The program of job scripts.
    program: String,
}

impl Slurm {
    /// Runs a command for a job that must succeed.
    fn job(&self, line: &str) -> Outcome<Said> {
        let line = format!("timeout -k 5 {PATIENCE} env {} {line}", self.environment);
        let Output { status, stdout, stderr } = command(&line).output()?;
        let [out, err] = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        let mut said = Said { out, err };
        // The output of a job script is in files.
        if line.contains("sbatch") {
            said.out = fs::read_to_string(OUT)?;
            said.err += &fs::read_to_string(ERR)?;
        }
        said.check(&format!("{}: {line}", self.host.name), status.success())?;
        Ok(said)
    }

    /// The start of a line with `launcher` and the host's settings. Without Open MPI's shared memory: on a busy
    /// machine, a signal occasionally ended a process while it set that up.
    fn with_settings(&self, launcher: &str) -> String {
        format!("OMPI_MCA_btl=self,tcp {} {launcher} -n 8", self.host.settings.join(" "))
    }

    fn srun(&self) -> &'static str {
        if self.host.name == "mpich" { "srun --mpi=pmi2" } else { "srun --mpi=pmix" }
    }

    /// Eight processes of a program under Cartograph, with options of srun.
    fn step(&self, options: &str, program: &str) -> Outcome<Said> {
        let library = self.host.library();
        self.job(&format!(
            "CARTOGRAPH_REPORT=1 {} {options} env CARTOGRAPH_REORDER=on LD_PRELOAD={} {program}",
            self.with_settings(self.srun()),
            library.display()
        ))
    }

    /// Runs a job script.
    fn script(&self, sbatch: &str, script: &str) -> Outcome<Said> {
        self.job(&format!("{sbatch} -o {OUT} -e {ERR} {script}"))
    }

    /// Checks a job script of eight processes, with a command before the srun that starts the halo exchange. Returns
    /// the bytes from the node that sent most.
    fn halo(&self, nodes: &str, before: &str, printed: Printed) -> Outcome<f64> {
        let line = format!("{before} {} -n 8 {} -n 20 262144 4096", self.srun(), self.program);
        let script = format!("{WORK}/script");
        fs::write(&script, format!("#!/bin/sh\nexec {line}\n"))?;
        let sent = self.nodes.sent()?;
        let sbatch = format!("{} {nodes}", self.with_settings("sbatch --wait"));
        let said = self.script(&sbatch, &script)?;
        let [_, most] = self.nodes.sent_since(&sent)?;
        said.check("results", said.out == "a grid of 4 x 2, 0 wrong\n")?;
        let ours = said.err.lines().filter(|line| line.starts_with("cartograph: ")).count();
        match printed {
            Printed::Nothing => said.check("no word", !said.err.contains("cartograph"))?,
            Printed::Line(pattern) => {
                said.has("cartograph run", &format!("^cartograph: .*{pattern}"))?;
                said.check("one line", ours == 1)?;
            }
            Printed::Placed(part, bytes) => {
                let is_placed = said.err.contains("/halo in ") && ours == 1;
                let is_placed = is_placed && !said.err.contains("/halo in the default order");
                said.check("placed", is_placed)?;
                said.check(&format!("busiest node: {most} of {bytes} bytes"), most < part * bytes)?;
            }
        }
        Ok(most)
    }
}

/// Levels, recordings and rank files.
fn levels(slurm: &mut Slurm) -> Outcome {
    let tool = slurm.tool.clone();
    let [reorder, reported] = ["reorder", "reported kept"]
        .map(|program| slurm.host.built("programs").join(program).display().to_string());
    let four = format!("{FOUR} --ntasks-per-node=2");
    let said = slurm.step(&four, &reorder)?;
    said.has("the program's checks", " 0 failed$")?;
    said.has("switches", r"between 2 switches 12 -> 4 \(-67 %\), at least 4")?;
    said.check("shared memory", !said.err.contains("on a node of its own"))?;
    let said = slurm.step("-N 4 -w n[0,2,4,6] --distribution=cyclic", &reported)?;
    said.has("advice", "to get this placement from the launcher, use cartograph run$")?;

    let traffic = format!("{WORK}/{}.traffic", slurm.host.name);
    slurm.step(&four, &format!("{tool} exec --record {traffic} {reorder}"))?;
    let said = slurm.job(&format!("{tool} plan --traffic {traffic} --json"))?;
    said.has("recorded switches", r#""name": ?"switches""#)?;

    let machine = format!("--layout {WORK}/topology.conf --hosts n[0-3] --ppn 2");
    let said =
        slurm.job(&format!("{tool} plan --dims 4x2 {machine} --rankfile slurm {WORK}/ranks"))?;
    said.has("MPICH by PMI-2", "not for MPICH with srun --mpi=pmi2")?;
    slurm.environment = format!("SLURM_HOSTFILE={WORK}/ranks");
    // If ranks are placed one by one, options of other distributions must be absent.
    let by_file = "-N 4 --distribution=arbitrary";
    let said = slurm.job(&format!("srun --mpi=none -n 8 {by_file} -l printenv SLURMD_NODENAME"))?;
    let mut placed: Vec<&str> = said.out.lines().collect();
    placed.sort_unstable();
    let nodes: Vec<&str> =
        placed.iter().map(|line| line.trim_start_matches(|c| c != 'n')).collect();
    let ranks = fs::read_to_string(format!("{WORK}/ranks"))?;
    said.check("the rank file's nodes", nodes == ranks.lines().collect::<Vec<_>>())?;
    let mpich = "on a separate node, but their names are those of 4 hosts";
    let openmpi = "8 of 8 processes on 4 nodes of 2";
    let said = slurm.step(by_file, &reported)?;
    slurm.environment.clear();
    said.has("nodes", if slurm.host.name == "mpich" { mpich } else { openmpi })
}

/// Job scripts that learn: recorded on four nodes, placed on four others and on three of different sizes, without any
/// steps in between.
fn learning(slurm: &mut Slurm) -> Outcome {
    slurm.program = slurm.host.built("lib/halo").display().to_string();
    let store = format!("CARTOGRAPH_STORE={WORK}/{}.store {}", slurm.host.name, slurm.tool);
    let learns = &format!("env {store} run");
    let first = "recorded .*/halo on 8 ranks; the next run will use";
    let first = slurm.halo(FOUR, learns, Printed::Line(first))?;
    // MPICH's processes find each other in shared memory regardless of namespaces.
    let is_mpich = slurm.host.name == "mpich";
    slurm.halo(OTHERS, learns, Printed::Placed(if is_mpich { f64::MAX } else { 0.6 }, first))?;
    if is_mpich {
        return Ok(());
    }
    let uneven = slurm.halo("-N 3 -w n[1,3,5]", "", Printed::Nothing)?;
    // Some jobs are compared.
    let mut is_placed = false;
    for _ in 0..4 {
        let most = slurm.halo("-N 3 -w n[2,4,6]", learns, Printed::Line("/halo in "))?;
        is_placed |= most < 0.8 * uneven;
    }
    let known = slurm.job(&format!("{store} known --json"))?;
    known.check("placed on uneven nodes", is_placed)?;
    known.has("six jobs", r#""program":"halo".*"runs":6"#)
}

/// Four simultaneous steps on two nodes each, without and with the command: neither waits for the other steps. Relays
/// place the ranks of each step on its own nodes; a rank file cannot.
fn at_once(slurm: &Slurm) -> Outcome {
    let name = &slurm.host.name;
    let learns = format!("env CARTOGRAPH_STORE={WORK}/{name}.steps {} run", slurm.tool);
    let by_relays = name == "mpich";
    let program = if by_relays { format!("{WORK}/step") } else { "sleep 3".into() };
    if by_relays {
        let halo = slurm.host.built("lib/halo");
        let text = format!("#!/bin/sh\n{} -n 20 262144 4096 && sleep 3\n", halo.display());
        super::network::program(&program, &text)?;
    }
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..STEPS {
        for (before, times) in ["", &learns].into_iter().zip(&mut times) {
            let step = format!("{before} {} --exact -N 2 -n 4 {program}", slurm.srun());
            let script = format!("{WORK}/script");
            let text = format!(
                "#!/bin/sh\nbegan=$(date +%s%N)\nfor i in 1 2 3 4; do {step} & done\nwait\n\
                 echo $((($(date +%s%N) - began) / 1000000))\n"
            );
            fs::write(&script, text)?;
            let said = slurm.script("sbatch --wait -N 8", &script)?;
            times.push(said.out.lines().last().unwrap_or_default().trim().parse::<f64>()? / 1e3);
            let pattern = match (by_relays, round) {
                _ if before.is_empty() => continue,
                (false, _) => "the nodes of a step on part of the allocation are unknown",
                (true, 0) => "recorded .*/step on 4 ranks; the next run will use",
                (true, _) => "/step in ",
            };
            said.has("a step", pattern)?;
            let ours = said.err.lines().filter(|line| line.starts_with("cartograph: ")).count();
            said.check("a line for each step", ours == 4)?;
        }
    }
    println!("four steps at once, s: {:?}, by cartograph run: {:?}", times[0], times[1]);
    let [alone, learns] = times.map(|times| median(&times));
    // One after the other, the steps would take at least twice as long.
    if learns > 1.2 * alone { Err("steps wait for each other".into()) } else { Ok(()) }
}

/// The plugin replaces srun for users who set CARTOGRAPH_RUN.
fn plugin(slurm: &mut Slurm) -> Outcome {
    slurm.environment = format!("CARTOGRAPH_STORE={WORK}/plugin.store");
    slurm.halo(FOUR, "", Printed::Nothing)?;
    let off = slurm.script("CARTOGRAPH_RUN=0 sbatch --wait -N 2", "lab/slurm/ends")?;
    slurm.environment += " CARTOGRAPH_RUN=1";
    let first = slurm.halo(FOUR, "", Printed::Line("recorded .*/halo on 8 ranks"))?;
    slurm.halo(OTHERS, "", Printed::Placed(0.6, first))?;
    let on = slurm.script("sbatch --wait -N 2", "lab/slurm/ends")?;
    on.has("a failure", "exited with code 3; this run is not compared")?;
    on.has("its code", "^code 3$")?;
    on.check("as without the plugin", off.out == on.out)?;
    // A partition whose prolog switches the plugin on, and a user who switches it off.
    slurm.environment = format!("CARTOGRAPH_STORE={WORK}/partition.store");
    let partition = format!("-p placed {FOUR}");
    slurm.halo(&partition, "", Printed::Line("recorded .*/halo on 8 ranks"))?;
    slurm.environment += " CARTOGRAPH_RUN=0";
    slurm.halo(&partition, "", Printed::Nothing)?;
    slurm.environment = format!("CARTOGRAPH_STORE={WORK}/partition.store CARTOGRAPH_RUN=1");
    // A program on the site's exclusion list.
    let left = format!("{WORK}/reused");
    fs::copy(&slurm.program, &left)?;
    slurm.program = left;
    slurm.halo(FOUR, "", Printed::Nothing)?;
    slurm.environment.clear();
    Ok(())
}

/// The simulated srun of the tests rejects what the real srun rejects, with a host file and without.
fn stub() -> Outcome {
    fs::write(format!("{WORK}/hosts4"), "n1\nn0\nn1\nn0\n")?;
    let by_file = format!("SLURM_HOSTFILE={WORK}/hosts4");
    for (environment, options) in [
        ("", "-n4 -N 2"),
        ("", "-n 4 --nosuch 3"),
        ("", "-n 4 --distribution=arbitrary"),
        (&by_file, "-n 4 --distribution=arbitrary"),
        (&by_file, "-n4 -N2 -m arbitrary -l"),
        (&by_file, "--distribution=arbitrary"),
        (&by_file, "-n 4 -N 2 --ntasks-per-node=2 --distribution=arbitrary"),
        (&by_file, "-n 4 -w n0,n1 --distribution=arbitrary"),
        (&by_file, "-n 8 -m arbitrary"),
    ] {
        let code = |program: &str| -> Outcome<Option<i32>> {
            let line = format!("timeout 20 env {environment} {program} --mpi=none {options} true");
            Ok(command(&line).output()?.status.code())
        };
        let (srun, stub) = (code("srun")?, code("tests/launchers/srun")?);
        println!("{environment} srun {options}: {srun:?}, its stub: {stub:?}");
        if srun != stub {
            return Err("they differ".into());
        }
    }
    Ok(())
}

/// Starts Slurm and runs all checks until one fails.
pub(crate) fn checks() -> Outcome {
    let (nodes, host, text) = (start()?, Host::new(HOSTS[0])?, String::new);
    let mut slurm = Slurm { nodes, tool: tool()?, host, environment: text(), program: text() };
    relays::checks(&slurm.tool)?;
    for host in HOSTS {
        slurm.host = Host::new(host)?;
        levels(&mut slurm)?;
        at_once(&slurm)?;
        learning(&mut slurm)?;
        several::checks(&slurm)?;
    }
    plugin(&mut slurm)?;
    stub()?;
    bound::restart()?;
    for host in HOSTS {
        slurm.host = Host::new(host)?;
        bound::checks(&slurm)?;
    }
    Ok(())
}
