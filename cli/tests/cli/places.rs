//! Which jobs under `cartograph run` start the launcher only once, and which ask it again for the places of their
//! processes.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::jobs::{Jobs, WORDS};
use crate::tune::has;

/// Jobs that note the launcher's starts.
struct Places(Jobs);

impl Places {
    fn new(name: &str, words: &'static str) -> Self {
        Self(Jobs::under("orterun", "Open MPI v4.1.4", words, name))
    }

    /// The command's message for a job with these variables, and the launcher's starts: `v` for its version, `w` and `p` for
    /// the places without and with a rank file, `j` for the job.
    fn run(&self, variables: &[(&str, &str)]) -> (String, String) {
        self.with("run", variables)
    }

    /// The same with options of the command.
    fn with(&self, options: &str, variables: &[(&str, &str)]) -> (String, String) {
        let log = self.0.bench.directory.join("log");
        let _ = fs::remove_file(&log);
        let mut job: Command = self.0.command(options);
        let done = job.envs(variables.iter().copied()).env("LOG", &log).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.success() && said.lines().count() == 1, "{said}");
        let starts = fs::read_to_string(log).unwrap();
        let start = |line: &str| match line {
            "--version" => 'v',
            _ if !line.contains(" where") => 'j',
            _ if line.contains("--rankfile") => 'p',
            _ => 'w',
        };
        (said, starts.lines().map(start).collect())
    }
}

#[test]
fn a_job_starts_the_launcher_once_if_the_last_one_confirmed_its_places() {
    let jobs = Places::new("kept", WORDS);
    let (said, starts) = jobs.run(&[]);
    has(&said, "recorded ");
    assert_eq!(starts, "vwj");
    // The rank file is new.
    let (said, starts) = jobs.run(&[]);
    has(&said, "(predicted 1.90x)");
    assert_eq!(starts, "pj", "{said}");
    assert_eq!(jobs.run(&[]).1, "j");
    // Another program, whose nodes differ from the assumed ones.
    let elsewhere = [("NODES", "4 4 4 4 1 1 1 1 2 2 2 2 3 3 3 3")];
    let (said, starts) = jobs.with("run --as other", &elsewhere);
    has(&said, "% of the time; its nodes were not those of earlier jobs");
    assert_eq!(starts, "j");
    assert!(jobs.run(&[]).1.starts_with('w'));
    // Nodes that the line does not name may be others in the next job.
    let jobs = Places::new("unnamed", "-n 16");
    assert_eq!(jobs.run(&[]).1, "vwj");
    assert!(jobs.run(&[]).1.starts_with('w'));
    let allocation = [("PBS_JOBID", "5")];
    assert!(jobs.run(&allocation).1.starts_with('w'));
    assert!(!jobs.run(&allocation).1.contains('w'));
}

#[test]
fn a_placement_of_a_known_name_is_checked_on_other_nodes() {
    let jobs = Places::new("renamed", "-n 16");
    jobs.run(&[]);
    // The first of some jobs that is placed.
    let placed = |variables: &[(&str, &str)]| {
        let mut all = (0..9).map(|_| jobs.run(variables));
        all.find(|(said, _)| !said.contains("in the default order")).unwrap()
    };
    for expected in ["wpj", "wj"] {
        let (said, starts) = placed(&[]);
        assert_eq!(starts, expected, "{said}");
    }
    let (said, starts) = placed(&[("NODES", "4 4 4 4 1 1 1 1 2 2 2 2 3 3 3 3")]);
    assert_eq!(starts, "wpj", "{said}");
    let rejected = [("NODES", "5 5 5 5 1 1 1 1 2 2 2 2 3 3 3 3"), ("REJECTS", "1")];
    has(
        &placed(&rejected).0,
        "the launcher rejected the rank file: it exited with code 1; the job ran ",
    );
}

#[test]
fn a_program_without_a_recording_starts_at_once_in_nine_of_ten_jobs() {
    let jobs = Places::new("silent", "-n 16");
    jobs.0.bench.script("program", "true");
    for job in 1..=13 {
        let (said, starts) = jobs.run(&[]);
        let (expected, why) = match job {
            1 => ("vwj", "program: nothing was recorded: the program uses no MPI"),
            // The result of the first job may have been an exception.
            2 | 12 => ("wj", "program: nothing was recorded: the program uses no MPI"),
            _ => ("j", "program: in an earlier job, nothing was recorded: "),
        };
        assert_eq!(starts, expected, "job {job}: {said}");
        has(&said, why);
    }
}

#[test]
fn a_program_without_a_recording_starts_at_once_under_relays() {
    let jobs = Jobs::under("hydra", "MPICH Version: 4.0.2", "-n 16", "silent-relays");
    jobs.bench.script("program", "true");
    for why in ["nothing was recorded: ", "nothing was recorded: ", "in an earlier job, nothing"] {
        let done = jobs.command("run").output().unwrap();
        has(&String::from_utf8_lossy(&done.stderr), &format!("program: {why}"));
    }
}

#[test]
fn a_program_without_a_library_for_its_mpi_starts_at_once() {
    let jobs = Places::new("foreign", WORDS);
    let directory = &jobs.0.bench.directory;
    let [source, library] = ["mpi.c", "libmpi.so.77"].map(|name| directory.join(name));
    let cc = |text: &str, words: &[&str]| {
        fs::write(&source, text).unwrap();
        assert!(Command::new("cc").args(words).arg(&source).status().unwrap().success());
    };
    let [library, folder] = [&library, directory.path()].map(|path| path.to_str().unwrap());
    cc(
        "int MPI_Init(void) { return 0; }",
        &["-shared", "-fPIC", "-Wl,-soname,libmpi.so.77", "-o", library],
    );
    let program = format!("{folder}/program");
    fs::remove_file(&program).unwrap();
    let path = format!("-Wl,-rpath,{folder}");
    cc(
        "int MPI_Init(void); int main(void) { return MPI_Init(); }",
        &["-Wl,--no-as-needed", &path, "-o", &program, library],
    );
    for expected in ["vj", "j"] {
        let (said, starts) = jobs.run(&[]);
        has(&said, "lib/cartograph has no library for libmpi.so.77; the job ran unchanged");
        assert_eq!(starts, expected);
    }
}

#[test]
fn a_job_asks_for_its_places_again_if_its_host_file_has_changed() {
    let jobs = Places::new("rewritten", "--hostfile hosts -n 16");
    let hosts = jobs.0.bench.directory.join("here/hosts");
    let allocation = [("PBS_JOBID", "5")];
    fs::write(&hosts, "n0\nn1\nn2\nn3\n").unwrap();
    assert_eq!(jobs.run(&allocation).1, "vwj");
    assert_eq!(jobs.run(&allocation).1, "pj");
    let other = [("NODES", "0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1"), allocation[0]];
    fs::write(&hosts, "n0\nn1\n").unwrap();
    let (said, starts) = jobs.run(&other);
    assert!(starts.starts_with('w'), "{starts} {said}");
    let variable = [("OMPI_MCA_rmaps_base_bynode", "1"), allocation[0]];
    assert!(jobs.run(&variable).1.starts_with('w'));
}

#[test]
fn a_rejected_rank_file_is_retried_in_the_next_job_then_every_tenth_job() {
    let jobs = Places::new("rejected", WORDS);
    jobs.run(&[]);
    let rejected = [("REJECTS", "1"), ("PBS_JOBID", "5")];
    for job in 1..=13 {
        let (said, starts) = jobs.run(&rejected);
        let is_tried = [1, 2, 12].contains(&job);
        assert_eq!(starts, if is_tried { "wpj" } else { "j" }, "job {job}: {said}");
        has(
            &said,
            "the launcher rejected the rank file: it exited with code 1; the job ran unchanged",
        );
    }
    let (said, _) = jobs.run(&[("PBS_JOBID", "6")]);
    has(&said, "(predicted 1.90x)");
}

#[test]
fn a_launcher_that_cannot_start_the_probe_is_retried_every_tenth_job() {
    let jobs = Places::new("refuses", WORDS);
    for job in 1..=13 {
        let (said, starts) = jobs.run(&[("REFUSES", "1")]);
        let asked = [1, 2, 12].contains(&job);
        assert_eq!(starts.contains('w'), asked, "job {job}: {said}");
        has(
            &said,
            "the launcher does not start `cartograph where`: it exited with code 1; the job ran ",
        );
    }
}

#[test]
fn a_launcher_that_hangs_after_its_last_process_still_yields_places() {
    let jobs = Places::new("hangs", WORDS);
    let began = Instant::now();
    let (said, starts) = jobs.run(&[("HANGS", "1")]);
    has(&said, "recorded ");
    assert_eq!(starts, "vwj");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[test]
fn simultaneous_jobs_share_one_trial() {
    let jobs = Places::new("at-once", WORDS);
    jobs.run(&[]);
    let hold = jobs.0.bench.directory.join("hold");
    let mut first = jobs.0.command("run");
    let first = first.env("HOLD", &hold).stderr(Stdio::piped()).stdout(Stdio::null()).spawn();
    while !hold.exists() {
        thread::sleep(Duration::from_millis(10));
    }
    for _ in 0..2 {
        has(&jobs.run(&[]).0, "in the default order");
    }
    fs::remove_file(&hold).unwrap();
    let said = first.unwrap().wait_with_output().unwrap().stderr;
    has(&String::from_utf8(said).unwrap(), "program in fewest bytes between nodes");
}

#[test]
fn a_program_without_a_gain_starts_at_once_and_is_recorded_every_tenth_job() {
    let jobs = Places::new("hopeless", WORDS);
    let best = [("NODES", "0 0 1 1 0 0 1 1 2 2 3 3 2 2 3 3")];
    has(&jobs.run(&best).0, "recorded ");
    for job in 2..=22 {
        let (said, starts) = jobs.run(&best);
        let is_recorded = said.contains("in the default order");
        assert_eq!((&*starts, is_recorded), ("j", job == 12 || job == 22), "job {job}: {said}");
        assert!(is_recorded || said.contains("no placement is predicted to help"), "{said}");
    }
}

#[test]
fn a_step_on_part_of_an_allocation_runs_unchanged() {
    let jobs = Jobs::under("srun", "Open MPI v4.1.4", "--mpi=pmix -N 2 -n 16", "step");
    let run = |nodes: &str| {
        let mut job = jobs.command("run");
        let done = job.envs([("SLURM_JOB_ID", "5"), ("SLURM_JOB_NUM_NODES", nodes)]).output();
        String::from_utf8(done.unwrap().stderr).unwrap()
    };
    let part =
        "the nodes of a step on part of the allocation are unknown before it starts; the job ran";
    has(&run("8"), part);
    // Found by the launcher, whatever the options are.
    let jobs = Jobs::under("srun", "Open MPI v4.1.4", "--mpi=pmix -n 16", "step-found");
    let run = |nodes: &str| {
        let mut job = jobs.command("run");
        let done = job.envs([("SLURM_JOB_ID", "5"), ("SLURM_JOB_NUM_NODES", nodes)]).output();
        String::from_utf8(done.unwrap().stderr).unwrap()
    };
    has(&run("8"), part);
    has(&run("4"), "recorded ");
}

#[test]
fn a_generic_command_needs_a_program_name() {
    let jobs = Jobs::new("any");
    let run = |options: &str| {
        let mut job = Command::new(crate::run::COMMAND);
        job.arg("run").args(options.split_whitespace());
        job.arg(jobs.bench.directory.join("mpiexec")).args(WORDS.split_whitespace());
        job.args(["sh", "-s"]).env("CARTOGRAPH_STORE", jobs.bench.directory.join("store"));
        job.env("CARTOGRAPH_LIB_DIR", jobs.bench.directory.join("lib"));
        String::from_utf8(job.output().unwrap().stderr).unwrap()
    };
    has(&run(""), "sh may run any program; name this one with --as NAME; the job ran unchanged");
    assert!(!run("--as mine").contains("--as"));
}
