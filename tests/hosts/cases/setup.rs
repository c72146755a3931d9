//! A missing prerequisite of the build is reported in one sentence before anything is compiled.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use super::Outcome;
use crate::session::{Session, word};
use crate::testlist::top;

pub(super) fn run(session: Session<'_>) -> Outcome {
    let mut setup = Setup { path: env::var_os("PATH").unwrap_or_default(), session };
    let Setup { session, path } = &setup;
    let old = setup.before("old/rustc", "echo 'rustc 1.70.0 (90c541806 2023-05-31)'");
    let broken = setup.before("broken/rustc", "exit 1");
    setup
        .before("bare/mpicc", "case $1 in -show) echo gcc ;; *) exec gcc -nostdinc \"$@\" ;; esac");
    setup.before("other/mpicc", "exec mpicc.openmpi \"$@\"");
    setup.before("cpp/libclang-cpp.so.14", "");
    setup.before("cpp/libclang-cpp.so", "");
    let without_mpi = setup.without("mpicc");
    let without_rust = setup.without("cargo");
    let path = path.clone();
    let [bare, other] =
        ["bare", "other"].map(|name| format!("MPICC={}", word(&session.work(name).join("mpicc"))));
    let cpp = format!("LIBCLANG_PATH={}", word(&session.work("cpp")));
    let refused: [(&str, &OsString, &[&str]); 11] = [
        ("'gcc' is not the compiler wrapper of an MPI", &path, &["MPICC=gcc"]),
        ("there is no compiler wrapper '/no/mpicc'", &path, &["MPICC=/no/mpicc"]),
        ("does not find mpi.h", &path, &[&bare]),
        ("this is Rust 1.70.0, and 1.88 or newer is needed", &old, &["MPICC=mpicc.openmpi"]),
        ("no rustc that runs", &broken, &["MPICC=mpicc.openmpi"]),
        ("there is no compiler wrapper 'mpicc': install an MPI", &without_mpi, &[]),
        ("there is no Rust here: install Rust 1.88", &without_rust, &["MPICC=gcc"]),
        ("there is no libclang", &path, &[&other, "LIBCLANG_PATH=/no"]),
        ("there is no libclang", &path, &[&other, &cpp]),
        ("there is no host 'nompi'", &path, &["HOST=nompi"]),
        ("NAME=mpich is one of the hosts", &path, &["MPICC=gcc", "NAME=mpich"]),
    ];
    for (sentence, path, arguments) in refused {
        setup.refuses(sentence, path, arguments);
    }
    setup.session.verdict()
}

struct Setup<'a> {
    session: Session<'a>,
    path: OsString,
}

impl Setup<'_> {
    /// A PATH in which a program precedes all others.
    fn before(&self, program: &str, text: &str) -> OsString {
        let program = self.session.work(program);
        let folder = program.parent().expect("a folder of its own");
        fs::create_dir_all(folder).expect("the test's own directory");
        fs::write(&program, format!("#!/bin/sh\n{text}\n")).expect("the test's own directory");
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&program, executable).expect("the test's own file");
        [folder.as_os_str(), &self.path].join(":".as_ref())
    }

    /// A PATH with all programs of PATH except those whose names begin with this text.
    fn without(&self, start: &str) -> OsString {
        let folder = self.session.work(&format!("without-{start}"));
        fs::create_dir(&folder).expect("the test's own directory");
        for entry in
            env::split_paths(&self.path).filter_map(|path| fs::read_dir(path).ok()).flatten()
        {
            let Ok(entry) = entry else { continue };
            let name = entry.file_name();
            if !name.as_encoded_bytes().starts_with(start.as_bytes()) {
                // The first program of a name counts.
                let _ = symlink(entry.path(), folder.join(name));
            }
        }
        folder.into()
    }

    /// `make lib` prints exactly this sentence and builds nothing.
    fn refuses(&mut self, sentence: &str, path: &OsString, arguments: &[&str]) {
        let built = self.session.work("build");
        let mut make = Command::new("make");
        make.args(["--no-print-directory", "-s", "lib"]).arg(format!("BUILD={}", word(&built)));
        make.args(arguments).current_dir(top()).env("PATH", path).env("LC_ALL", "C");
        let failed = !self.session.finish(&mut make);
        let lines = self.session.err.lines().filter(|line| !line.starts_with("make"));
        let is_said = matches!(lines.collect::<Vec<_>>()[..], [line] if line.contains(sentence));
        let is_right = failed && is_said && self.session.out.is_empty() && !built.exists();
        self.session.check(&format!("{arguments:?}: {sentence}"), is_right);
    }
}
