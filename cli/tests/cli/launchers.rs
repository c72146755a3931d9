//! `cartograph tune` under each launcher's command line, with simulated launchers that reject what the real ones
//! reject: `tests/launchers`, which `tests/hosts/cases/launchers.rs` compares with these.

use std::fs;

use crate::jobs::LAUNCHER;
use crate::tune::{Bench, has};
use crate::tuning::NOTED;

/// The directory of the launchers.
const STUBS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/launchers");

/// Faster if ranks are placed.
const BY_PLACES: &str = "if [ \"$PLACED$MPICH_RANK_REORDER_FILE\" ]; \
                         then echo took 1.0$(($$ % 10)); else echo took 2.0$(($$ % 10)); fi";

const HYDRA4: (&str, &str) = ("hydra", "MPICH Version: 4.0.2");
const ORTERUN: (&str, &str) = ("orterun", "Open MPI v4.1.4");
const PRTERUN: (&str, &str) = ("prterun", "Open MPI v5.0.11");
const SRUN: (&str, &str) = ("srun", "Open MPI v4.1.4");

const HOSTS: &str = "n0:4,n1:4,n2:4,n3:4";

/// Tunes a program whose grid of 4 x 4 is kept, on four nodes, under a launcher with this command line; returns the
/// output.
fn tunes(code: i32, (launcher, mpi): (&str, &str), words: &str, program: &str) -> String {
    tunes_with(&[], code, (launcher, mpi), words, program)
}

fn tunes_with(
    variables: &[(&str, &str)],
    code: i32,
    (launcher, mpi): (&str, &str),
    words: &str,
    program: &str,
) -> String {
    let name: String = format!("launcher-{mpi}-{words}-{variables:?}")
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let bench = Bench::new(&name, false);
    for part in fs::read_dir(bench.directory.join("run.traffic")).unwrap() {
        let part = part.unwrap().path();
        let text = fs::read_to_string(&part).unwrap();
        fs::write(part, text.replace("Open MPI v4.1.4", mpi)).unwrap();
    }
    let stub = fs::read_to_string(format!("{STUBS}/{launcher}")).unwrap();
    let command = if launcher == "srun" { launcher } else { "mpiexec" };
    let stub = [LAUNCHER, stub.trim_start_matches("#!/bin/sh\n")].concat();
    let stub = bench.script(command, &stub);
    fs::write(bench.directory.join("here/hosts"), "n0:4\nn1:4\nn2:4\nn3:4\n").unwrap();
    let mut tune = bench.tuning("--runs 3");
    let version = mpi.rsplit(' ').next().unwrap();
    tune.envs(variables.iter().copied());
    tune.env("HYDRA", version).arg(stub).args(words.split_whitespace());
    let program = bench.program(program);
    let text = bench.said(code, &tune.arg(program).output().unwrap());
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    text
}

#[test]
fn options_that_place_ranks_are_removed() {
    for (launcher, words, line) in [
        (ORTERUN, format!("--map-by slot --host {HOSTS} -n 16"), "--rankfile "),
        (ORTERUN, format!("-N 4 --host {HOSTS}"), "-n 16 --host n0:4"),
        (ORTERUN, "--mca rmaps_base_mapping_policy slot -np 16".into(), " -np 16 PROGRAM"),
        (
            ORTERUN,
            "--mca rmaps_base_n_pernode 4 --mca pml ob1".into(),
            " -n 16 --mca pml ob1 PROGRAM",
        ),
        (ORTERUN, "--mca rmaps round_robin -n 16".into(), " -n 16 PROGRAM"),
        (
            ORTERUN,
            "--mca rmaps_base_mapping_policy core:oversubscribe -n 16".into(),
            " --oversubscribe -n 16",
        ),
        (PRTERUN, format!("--bind-to numa --host {HOSTS} -n 16"), ".ranks --bind-to none --host"),
        // The test's directory is named after Open MPI ("openmpi"), so its path contains "pe".
        (PRTERUN, format!("--host {HOSTS} -n 16"), "misreads a path with \"pe\""),
        (PRTERUN, format!("--prtemca rmaps seq --host {HOSTS} -n 16"), " -n 16 PROGRAM"),
        (PRTERUN, format!("--map-by slot --host {HOSTS} -n 16"), "--map-by rankfile:file="),
        (PRTERUN, format!("--map-by ppr:4:node:PE=2 --host {HOSTS}"), "--map-by rankfile:file="),
        (PRTERUN, format!("--bynode --host {HOSTS} -n 16"), " --host n0:4"),
        (
            PRTERUN,
            format!("-N 4 --rank-by slot --host {HOSTS}"),
            " -n 16 --bind-to none --host n0:4",
        ),
        (
            PRTERUN,
            format!("--map-by :OVERSUBSCRIBE --host {HOSTS} -n 16"),
            ":oversubscribe --bind-to none --host",
        ),
        (
            SRUN,
            "-n16 -N4 --distribution=cyclic".into(),
            "srun --distribution=arbitrary -n16 PROGRAM",
        ),
        (
            SRUN,
            "-m block:cyclic -w n0,n1,n2,n3 --ntasks-per-node 4 -l".into(),
            "arbitrary -n 16 -l PROGRAM",
        ),
        (
            ("srun", "CRAY MPICH version 8.1"),
            "-n 16 -m cyclic".into(),
            "MPICH_RANK_REORDER_METHOD=3 ",
        ),
    ] {
        let text = tunes(0, launcher, &words, BY_PLACES);
        has(&text, "x faster than the default order");
        has(&text, " run: ");
        has(&text, line);
    }
}

#[test]
fn variables_that_place_ranks_are_unset() {
    for (launcher, name, value, line) in [
        (ORTERUN, "OMPI_MCA_rmaps_base_mapping_policy", "slot", " --rankfile "),
        (ORTERUN, "OMPI_MCA_rmaps_base_mapping_policy", "core:OVERSUBSCRIBE", " --oversubscribe "),
        (ORTERUN, "OMPI_MCA_rmaps_base_n_pernode", "4", " --rankfile "),
        (ORTERUN, "OMPI_MCA_rmaps_base_mapping_policy", "slot:PE=2", " --rankfile "),
        (PRTERUN, "PRTE_MCA_rmaps", "seq", " --map-by rankfile:file="),
    ] {
        let words = format!("--host {HOSTS} -n 16");
        let text = tunes_with(&[(name, value)], 0, launcher, &words, BY_PLACES);
        has(&text, "x faster than the default order");
        has(&text, &format!(" run: env -u {name} "));
        has(&text, line);
    }
}

#[test]
fn nothing_is_tried_if_the_launcher_cannot_place_ranks() {
    for (launcher, words, why) in [
        (
            HYDRA4,
            format!("-pmi-port -launcher fork -hosts {HOSTS} -n 16"),
            "MPICH's mpiexec places ranks only without -pmi-port",
        ),
        (
            ("srun", "MPICH Version: 4.0.2"),
            "-n 16".into(),
            "srun places ranks of this MPI only with --mpi=pmi2 or",
        ),
    ] {
        let text = tunes(1, launcher, &words, BY_PLACES);
        has(&text, "ranks cannot be placed: ");
        // The forecast shows the loss.
        has(&text, "predicted time of ");
        has(&text, "cartograph: no placement can be tried: ");
        has(&text, why);
    }
}

#[test]
fn a_failed_start_is_not_a_finding() {
    // The program fails when placed, and its error is shown.
    let fails = "[ \"$PLACED\" ] && { echo it is broken >&2; exit 3; }; echo took 2.0$(($$ % 10))";
    let text = tunes(1, ORTERUN, "-n 16", fails);
    has(&text, "no placement could be tried: ");
    has(&text, "it exited with code 3 (it is broken)");
    assert!(!text.contains("no variant is faster"), "{text}");
    // The launcher accepts the rank file and ignores it.
    let stays = format!("{NOTED}noted 20; echo took 2.0$(($$ % 10))");
    let text = tunes(1, ORTERUN, "-n 16 --mca pml ob1", &stays);
    has(&text, ": its ranks were not placed as requested");
}
