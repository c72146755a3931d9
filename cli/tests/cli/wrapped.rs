//! A program after a wrapper: `run`, `try` and `tune` parse its command line alike.

use std::fs;
use std::process::Command;

use crate::jobs::Jobs;

/// Replaces the program, a script, by one that is linked with an MPI and becomes the script.
fn link(jobs: &Jobs) {
    let [program, script, library, source] = ["program", "script", "libmpi.so.40", "source.c"]
        .map(|name| jobs.bench.directory.join(name));
    fs::rename(&program, &script).unwrap();
    let cc = |text: String, words: &[&str]| {
        fs::write(&source, text).unwrap();
        let mut cc = Command::new("cc");
        cc.arg(&source).args(words).arg("-o");
        assert!(
            cc.arg(if words.len() == 1 { &library } else { &program }).status().unwrap().success()
        );
    };
    cc("int MPI_Init;".into(), &["-shared"]);
    let main = format!(
        "#include <unistd.h>\nint main(int n, char **words) {{ return execv({script:?}, words); }}\n"
    );
    cc(main, &["-Wl,--no-as-needed", library.to_str().unwrap()]);
}

#[test]
fn every_command_starts_a_wrapper_in_the_place_of_the_program() {
    for (number, wrapper) in
        ["", "env A=1 ", "nice -n 5 ", "timeout 60 ", "../bind "].iter().enumerate()
    {
        for command in ["run", "try --runs 1", "tune --runs 3"] {
            let name = command.split(' ').next().unwrap();
            let jobs = Jobs::new(&format!("wrapped-{name}-{number}"));
            link(&jobs);
            jobs.bench.script("bind", "exec \"$@\"");
            let log = jobs.bench.directory.join("log");
            let mut line = jobs.command_behind(command, wrapper);
            let done = line.env("LOG", &log).output().unwrap();
            let log = fs::read_to_string(log).unwrap();
            let starts = |line: &&str| line.contains("/cartograph exec ");
            let first = log.lines().find(starts);
            let (before, behind) = first.expect(&log).split_once("/cartograph exec ").unwrap();
            let program = jobs.bench.directory.join("program");
            let ends = behind.ends_with(&format!(" {wrapper}{}", program.display()));
            let is_bare = before.contains(" -n 16 /") && !before.contains(wrapper.trim_end());
            assert!(ends && (is_bare || wrapper.is_empty()), "{command}: {first:?} {done:?}");
        }
    }
}

/// In a container that lacks the recorder, the loader would complain in each process.
#[test]
fn a_container_needs_the_libraries() {
    let jobs = Jobs::new("container");
    jobs.bench.script("apptainer", "while [ ! -e \"$1\" ]; do shift; done; shift; exec \"$@\"");
    fs::write(jobs.bench.directory.join("image"), "").unwrap();
    let job = |command: &str, options: &str| {
        let wrapper = format!("../apptainer exec {options} ../image");
        let log = jobs.bench.directory.join("log");
        let mut line = jobs.command_behind(command, &wrapper);
        let done = line.env("LOG", &log).env("HOME", "/nonexistent").output().unwrap();
        let log = fs::read_to_string(log).unwrap_or_default();
        let said = String::from_utf8(done.stderr).unwrap();
        (log.lines().any(|line| line.contains("exec --record")), said)
    };
    let lib = jobs.bench.directory.join("lib");
    let lacks = format!(
        "cartograph: the container of apptainer may lack {0}; mount it, as by apptainer exec --bind {0}",
        lib.display()
    );
    for command in ["tune --runs 3", "try --runs 1", "run"] {
        let end = if command == "run" { "; the job ran unchanged\n" } else { "\n" };
        assert_eq!(job(command, "--bind /scratch"), (false, lacks.clone() + end), "{command}");
    }
    let (is_recorded, said) = job("run", &format!("--bind {}", lib.display()));
    assert!(is_recorded, "{said}");
}
