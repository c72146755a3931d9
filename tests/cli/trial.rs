//! `cartograph try`, with launchers and programs of our own; `tests/scripts/test-try.sh` has real ones.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::run::{Directory, cartograph};

fn script(directory: &Directory, name: &str, text: &str) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn programs_that_cannot_be_tried_are_told_in_one_line() {
    let directory = Directory::new("try-wrong");
    let fails = script(&directory, "fails", "echo it is broken >&2; exit 3");
    let hangs = script(&directory, "hangs", "sleep 600 & echo $! > \"$0.pid\"; wait");
    let fine = script(&directory, "fine", "echo 1");
    cartograph("try").fails(2, "COMMAND");
    // Which of these is the program?
    cartograph("try -- env").arg(&fine).fails(2, "put -- before");
    cartograph("try -- mpiexec -n 1 a : -n 1 b").fails(2, "several programs");
    cartograph("try -- env -- nothing-like-it").fails(127, "no program");
    cartograph("try -- env --").fails(2, "no program after the second --");
    cartograph("try --tolerance=-1 -- env --").fails(2, "--tolerance");
    cartograph("try -- env --")
        .arg(&fails)
        .fails(1, "exit code 3, so nothing can be found out: it is broken");
    cartograph("try -- /nowhere/mpiexec --").arg(&fine).fails(1, "cannot run /nowhere/mpiexec");
    cartograph("try --seconds 1 -- env --").arg(&hangs).fails(1, "has not ended after 1 s");
    // All of its group is gone, and nothing else.
    let child = fs::read_to_string(directory.join("hangs.pid")).unwrap();
    let state = fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "{state}");
}
