//! How `cartograph run` starts a job that it neither records nor places.

use std::fs;
use std::process::Command;

use crate::run::{COMMAND, at};
use crate::tune::{Bench, has};

#[test]
fn a_command_that_is_replaced_still_runs_the_job() {
    let bench = Bench::new("job-replaced", false);
    let command = bench.directory.join("cartograph");
    fs::copy(COMMAND, &command).unwrap();
    // The launcher is asked for its version before the job starts.
    let launcher =
        bench.script("mpiexec", r#"rm -f "$(dirname "$0")/cartograph"; echo "started $*""#);
    let done = at(&command, "run").arg(launcher).arg("-n").arg("2").arg("/bin/true").output();
    assert!(!command.exists() && done.status.success(), "{done:?}");
    assert_eq!(String::from_utf8_lossy(&done.stdout), "started -n 2 /bin/true\n");
}

#[test]
fn nodes_are_not_requested_outside_an_allocation() {
    let bench = Bench::new("job-queued", false);
    for (launcher, options, variable) in
        [("srun", "-n 2", "SLURM_JOB_ID"), ("flux", "run -n 2", "FLUX_URI")]
    {
        let starts = bench.script(launcher, r#"echo "started $*" >>"$(dirname "$0")/starts""#);
        let run = |value: Option<&str>| {
            let mut command = Command::new(COMMAND);
            command.arg("run").arg(&starts).args(options.split_whitespace()).arg("/bin/true");
            command.env("CARTOGRAPH_STORE", bench.directory.join("store"));
            match value {
                Some(value) => command.env(variable, value),
                None => command.env_remove(variable),
            };
            let done = bench.said(0, &command.output().unwrap());
            let log = bench.directory.join("starts");
            let started = fs::read_to_string(&log).unwrap();
            fs::remove_file(log).unwrap();
            (started, done)
        };
        let (started, said) = run(None);
        assert_eq!(started, format!("started {options} /bin/true\n"));
        has(&said, "outside an allocation, the nodes of ");
        let (_, said) = run(Some("1"));
        assert!(!said.contains("outside an allocation"), "{said}");
    }
}
