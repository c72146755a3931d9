//! Tables of jobs: each way in which one may run unchanged, and each choice. No process is started.

mod bench;

use std::fs;

use cartograph_core::machine::Machine;

use super::super::{kept::SLOW, nodes_of_ranks};
use super::*;
use crate::launch::binding::Binding;
use crate::learn::Past;
use bench::{Around, Bench, HYDRA, OPENMPI, RankFiles};

const LINE: &str = "@mpiexec --host n0:4,n1:4,n2:4,n3:4 -n 16 @program";

/// The words of a job that runs unchanged, and a part of the reason.
#[track_caller]
fn runs_unchanged(job: Job, why: &str) {
    let found = job.lesson.err().unwrap_or_else(|| panic!("not unchanged: {why}"));
    assert!(found.contains(why), "{found}");
}

#[test]
fn a_job_runs_unchanged_with_the_reason() {
    let bench = Bench::new();
    let usual = Around::default;
    for (line, around, why) in [
        ("@program -n 16 -- @program", usual(), "no supported launcher"),
        ("@srun -n 16 @program", usual(), "outside an allocation"),
        ("@mpiexec -n 1 @program", usual(), "a job of one process"),
        ("@mpiexec --no-such-option -n 16 @program", usual(), "--no-such-option"),
        ("@mpiexec -n 8 @program : @program", usual(), "several programs is without -n"),
        ("@mpiexec -n 8 @program : -n 8 @none", usual(), "none not found"),
        ("@mpiexec -n 8 @program : --host n1 -n 8 @program", usual(), "n1 is for one of several"),
        ("env SLURM_JOB_ID=1 @srun -n 8 @program : -n 8 @program", usual(), "several programs"),
        ("@srun --multi-prog -n 16 @program", usual(), "the file of several programs"),
        ("@srun --multi-prog -n 16 --mpi=none @programs", usual(), "only with --mpi=pmix"),
        ("@srun --multi-prog --mpi=pmix @programs", usual(), "is without -n"),
        ("@srun --multi-prog -n 16 --mpi=pmix @programs", usual(), "outside an allocation"),
        ("@mpiexec --output-filename out -n 16 @program", usual(), "redirects the output"),
        ("@mpiexec -x CARTOGRAPH_REORDER=on -n 16 @program", usual(), "CARTOGRAPH_REORDER=on"),
        ("@mpiexec --path @ -n 16 sh", usual(), "searches the directories of its option path"),
        ("@other @mpiexec -n 16 @program", usual(), "other twice"),
        ("time -o log @mpiexec -n 16 @program", usual(), "start time twice"),
        ("nice @other @mpiexec -n 16 @program", usual(), "other twice"),
        (LINE, Around { records: false, ..usual() }, "there is no recorder"),
        (LINE, Around { of_node: 16, ..usual() }, "all processes are on one node"),
        (LINE, Around { of_node: 0, ..usual() }, "does not start `cartograph where`"),
    ] {
        runs_unchanged(bench.decide(line, &around), why);
    }
    runs_unchanged(bench.decide_with(LINE, Err("it is full".into()), &usual()), "it is full");
    let harmless = format!("env A=1 nice -n 1 time {LINE}");
    assert!(bench.decide(&harmless, &usual()).lesson.is_ok());
}

#[test]
fn a_launcher_that_cannot_start_the_probe_is_asked_twice() {
    let (bench, around) = (Bench::new(), Around { of_node: 0, ..Around::default() });
    for (asked, why) in [(1, "does not start"), (2, "does not start"), (2, "in an earlier job")] {
        runs_unchanged(bench.decide(LINE, &around), why);
        assert_eq!(around.asked.get(), asked);
    }
}

#[test]
fn a_launcher_that_cannot_place_ranks_is_not_asked_for_places() {
    let (bench, around) = (Bench::new(), Around { version: HYDRA, ..Around::default() });
    let line = "@mpiexec -pmi-port -n 16 @program";
    assert!(bench.decide(line, &around).lesson.is_ok_and(|first| first.keeps_calls));
    bench.record(line, 4);
    let asked = around.asked.get();
    runs_unchanged(bench.decide(line, &around), "only without -pmi-port");
    assert_eq!(around.asked.get(), asked);
}

#[test]
fn a_launcher_that_prints_nothing_delays_one_job() {
    let around = Around { version: "", takes: SLOW * 11 / 10, ..Around::default() };
    let bench = Bench::new();
    for _ in 0..2 {
        runs_unchanged(bench.decide(LINE, &around), "is not linked with an MPI");
        assert_eq!(around.versions.get(), 1);
    }
}

#[test]
fn the_first_job_is_recorded_and_the_second_is_placed_once_the_launcher_follows() {
    let (bench, around) = (Bench::new(), Around::default());
    let first = bench.decide(LINE, &around).lesson.unwrap();
    assert!(first.arm.is_none() && first.keeps_calls && around.asked.get() == 1);
    bench.record(LINE, 4);
    for (rank_files, why) in [
        (RankFiles::Ignored, "did not place ranks"),
        (RankFiles::Rejected, "rejected the rank file"),
        (RankFiles::Narrowed, "could not have the CPUs of the default order"),
    ] {
        // On other nodes, so that it is asked again.
        let bench = Bench::new();
        bench.record(LINE, 4);
        runs_unchanged(bench.decide(LINE, &Around { rank_files, ..Around::default() }), why);
    }
    let hurry = bench.decide(&format!("--no-trial {LINE}"), &around).lesson.unwrap();
    assert!(hurry.arm.is_none() && !hurry.keeps_calls);
    let second = bench.decide(LINE, &around);
    let is_rank_file =
        |word: &OsString| fs::read_to_string(word).is_ok_and(|text| text.starts_with("rank 0=n"));
    assert!(second.words.iter().any(is_rank_file), "{:?}", second.words);
    let second = second.lesson.unwrap();
    assert_eq!((second.arm.is_some(), second.reason), (true, Reason::Trial));
    // Another job does not try the same meanwhile.
    let third = bench.decide(LINE, &around).lesson.unwrap();
    assert!(third.arm.is_none() && third.trial.is_none());
    drop(second);
    assert!(bench.decide(LINE, &around).lesson.unwrap().arm.is_some());
    // Another input may be of another kind.
    let other = bench.decide(&format!("{LINE} other"), &around).lesson.unwrap();
    assert!(other.arm.is_none() && other.keeps_calls);
}

#[test]
fn processes_that_get_their_ranks_from_their_mpi_are_not_asked_for_them() {
    let around = Around { rank_files: RankFiles::Ignored, ..Around::default() };
    let bench = Bench::new();
    bench.record(LINE, 4);
    let first = bench.decide(&format!("{LINE} other"), &around).lesson.unwrap();
    let is_cray = |entry: &mut Entry| entry.mpi = "CRAY MPICH version 8.1".into();
    first.store.update(&first.key, 16, is_cray).unwrap();
    drop(first);
    let asked = around.asked.get();
    let placed = bench.decide(LINE, &around);
    let is_file = |word: &OsString| word.to_string_lossy().contains("MPICH_RANK_REORDER_FILE=");
    assert!(placed.words.iter().any(is_file), "{:?}", placed.words);
    // Only for the places of its processes.
    assert_eq!(around.asked.get(), asked + 1);
}

#[test]
fn nothing_is_placed_if_neighbors_share_nodes() {
    // Chains of neighbors, and no messages at all.
    for apart in [1, 16] {
        let (bench, around) = (Bench::new(), Around::default());
        bench.record(LINE, apart);
        runs_unchanged(bench.decide(LINE, &around), "no placement is predicted to help");
    }
}

#[test]
fn relays_need_nothing_before_the_job() {
    let (bench, around) = (Bench::new(), Around { version: HYDRA, ..Around::default() });
    let first = bench.decide(LINE, &around).lesson.unwrap();
    assert!(first.relayed.is_some() && first.arm.is_none() && first.keeps_calls);
    bench.record(LINE, 4);
    let second = bench.decide(LINE, &around);
    assert!(second.words.iter().any(|word| word == "--relay"), "{:?}", second.words);
    assert!(second.lesson.unwrap().arm.is_some());
    assert_eq!(around.asked.get(), 0);
}

#[test]
fn several_programs_are_placed_as_one_job() {
    let line = "@mpiexec --host n0:4,n1:4,n2:4,n3:4 -n 8 @program a : -n 8 @other b c";
    for (version, way) in [(OPENMPI, "--rankfile"), (HYDRA, "--relay")] {
        let (bench, around) = (Bench::new(), Around { version, ..Around::default() });
        let first = bench.decide(line, &around);
        let execs = |words: &[OsString]| words.iter().filter(|word| *word == "exec").count();
        let key = first.lesson.map(|lesson| lesson.key.program.clone());
        assert_eq!(key.as_deref(), Ok("program:8+other:8"));
        assert_eq!(execs(&first.words), 2, "{:?}", first.words);
        bench.record(line, 8);
        let placed = bench.decide(line, &around);
        let words: Vec<_> = placed.words.iter().map(|word| word.to_string_lossy()).collect();
        assert!(placed.lesson.unwrap().arm.is_some() && words.contains(&way.into()), "{words:?}");
        // With relays, a process may become either.
        let expected = if version == HYDRA { (1, true) } else { (2, false) };
        let parts = words.windows(2).any(|words| words == ["--parts", "8:2,8:3"]);
        assert_eq!((execs(&placed.words), parts), expected, "{words:?}");
        assert_eq!(words.contains(&":".into()), version == OPENMPI);
        // Arguments of each program are inputs.
        let other = bench.decide(&line.replace("@program a", "@program x"), &around);
        assert!(other.lesson.unwrap().keeps_calls);
    }
}

/// One in ten such jobs is recorded again, and the first on other nodes.
#[test]
fn a_program_without_a_gain_starts_without_relays() {
    let (bench, around) = (Bench::new(), Around { version: HYDRA, ..Around::default() });
    assert!(bench.decide(LINE, &around).lesson.is_ok());
    bench.record(LINE, 1);
    for _ in 0..2 {
        let recorded = bench.decide(LINE, &around).lesson.unwrap();
        assert!(recorded.relayed.is_some() && recorded.arm.is_none() && !recorded.keeps_calls);
        for _ in 0..9 {
            runs_unchanged(bench.decide(LINE, &around), "no placement is predicted to help");
        }
    }
    // Another input may gain.
    let other = bench.decide(&format!("{LINE} other"), &around).lesson.unwrap();
    assert!(other.keeps_calls);
    assert!(bench.decide(LINE, &around).lesson.is_ok());
    runs_unchanged(bench.decide(LINE, &around), "no placement is predicted to help");
    let elsewhere = |entry: &mut Entry| entry.nodes = nodes_of_ranks(&Machine::blocks(&[5, 5, 6]));
    other.store.update(&other.key, 16, elsewhere).unwrap();
    drop(other);
    assert!(bench.decide(LINE, &around).lesson.is_ok());
}

#[test]
fn srun_with_pmi_2_uses_relays_on_part_of_an_allocation_and_outside_one() {
    for (line, numbered) in [
        ("@srun --mpi=pmi2 -N 2 -n 16 @program", "@srun --mpi=pmi2 -o out.%t -N 2 -n 16 @program"),
        (
            "env SLURM_MPI_TYPE=pmi2 @srun -n 16 @program",
            "env SLURM_MPI_TYPE=pmi2 @srun -i 1 -n 16 @program",
        ),
    ] {
        let (bench, around) = (Bench::new(), Around::default());
        assert!(bench.decide(line, &around).lesson.unwrap().relayed.is_some());
        bench.record(line, 4);
        let words = bench.decide(line, &around).words;
        let has = |pair: [&str; 2]| words.windows(2).any(|words| words == pair);
        assert!(words.iter().any(|word| word == "--relay") && has(["--pmi", "2"]), "{words:?}");
        // Another process would have the file or the input of a rank.
        runs_unchanged(bench.decide(numbered, &around), "numbers files or input");
        assert_eq!(around.asked.get(), 0);
    }
}

#[test]
fn the_first_job_with_more_processes_is_placed_as_others_predict_and_recorded() {
    let around = || Around { ranks: 32, ..Around::default() };
    let hosts: Vec<String> = (0..8).map(|node| format!("n{node}:4")).collect();
    let line = format!("@mpiexec --host {} -n 32 @program", hosts.join(","));
    let bench = Bench::new();
    let first = bench.decide(&line, &around()).lesson.unwrap();
    assert!(first.arm.is_none() && first.from.is_none());
    bench.record(LINE, 4);
    let predicted = bench.decide(&line, &around()).lesson.unwrap();
    assert_eq!((predicted.from, predicted.keeps_calls), (Some(16), true));
    // Each column of eight ranks is on two nodes.
    let arm = predicted.arm.unwrap();
    assert!((0..4).all(|at| arm.node_of[at] == arm.node_of[at + 4]), "{:?}", arm.node_of);
    // Other inputs may be of another kind, and neighbors on one node have nothing to gain.
    let recorded = |bench: &Bench, line: &str| {
        let lesson = bench.decide(line, &around()).lesson.unwrap();
        assert!(lesson.arm.is_none() && lesson.from.is_none() && lesson.keeps_calls);
    };
    recorded(&bench, &format!("{line} other"));
    recorded(&bench, &format!("--no-trial {line}"));
    // An entry for this number of processes that cannot be read, such as one of a later version, is not replaced.
    let store = bench.0.path().join("store");
    let names =
        fs::read_dir(&store).unwrap().filter_map(|file| file.ok()?.file_name().into_string().ok());
    let name = { names }.find(|name| name.ends_with("-16.json")).unwrap();
    fs::write(store.join(name.replace("-16.", "-32.")), "{\"schema\":9}").unwrap();
    recorded(&bench, &line);
    let bench = Bench::new();
    bench.record(LINE, 1);
    recorded(&bench, &line);
}

#[test]
fn ranks_that_exchange_most_try_one_numa_domain() {
    let bench = Bench::new();
    // A chain is in the best order on its nodes, where neighbors are in different domains.
    bench.record(LINE, 1);
    runs_unchanged(bench.decide(LINE, &Around::default()), "no placement is predicted to help");
    // The same if one of several programs had another's CPUs.
    let around = Around { has_domains: true, ..Around::default() };
    let several = "@mpiexec --host n0:4,n1:4,n2:4,n3:4 -n 8 @program : -n 8 @other";
    bench.record(several, 1);
    runs_unchanged(bench.decide(several, &around), "no placement is predicted to help");
    let bench = Bench::new();
    bench.record(LINE, 1);
    let lesson = bench.decide(LINE, &around).lesson.unwrap();
    // Until there are jobs to compare with.
    assert!(lesson.arm.is_none());
    let add = |entry: &mut Entry| {
        let run = Past { is_first: false, ..entry.runs[0].clone() };
        (0..4).for_each(|_| entry.add(run.clone()));
    };
    lesson.store.update(&lesson.key, 16, add).unwrap();
    let job = bench.decide(LINE, &around);
    let binding = job.words.iter().find_map(|word| Binding::read(word.as_ref())).unwrap();
    let domain = |rank: usize| binding.of(rank).unwrap().parse::<u32>().unwrap() % 2;
    let apart = (0..16).filter(|rank| rank % 4 < 3 && domain(*rank) != domain(rank + 1));
    assert_eq!(apart.count(), 4);
    let arm = job.lesson.unwrap().arm.unwrap();
    assert_eq!(&*arm.order, "default order, NUMA domains");
    assert_eq!(arm.node_of, Machine::blocks(&[4; 4]).nodes());
}

#[test]
fn domains_of_other_nodes_are_not_used() {
    let bench = Bench::new();
    bench.record(LINE, 1);
    let around = Around { has_domains: true, ..Around::default() };
    let machine = Machine::blocks(&[4; 4]);
    for (first, is_used) in [("n0", true), ("n9", false)] {
        let mut lesson = bench.decide(LINE, &around).lesson.unwrap();
        let names = [first, "n1", "n2", "n3"].map(str::to_owned);
        let (_, moved) = lesson.shape(&machine, &names).unwrap();
        assert_eq!((moved.is_empty(), lesson.nodes.is_some()), (is_used, is_used), "{first}");
        let entry = lesson.store.entry(&lesson.key, 16).unwrap();
        let next = lesson.next(&entry, entry.kinds[0].id, &machine);
        assert_eq!(next.contains("NUMA domains"), is_used, "{next}");
    }
}

#[test]
fn a_script_is_named_as_in_its_entry() {
    let bench = Bench::new();
    let line = LINE.replace("@program", "sh @program");
    assert_ne!(line, LINE);
    bench.record(&line, 1);
    let why = bench.decide(&line, &Around::default()).lesson.err().unwrap();
    assert!(why.starts_with("program: no placement"), "{why}");
    bench.record(LINE, 1);
    let why = bench.decide(LINE, &Around::default()).lesson.err().unwrap();
    assert!(why.starts_with('/') && why.contains("/program: no placement"), "{why}");
}
