//! Command lines of all launchers, parsed and changed to place ranks.

use std::ffi::{OsStr, OsString};

use cartograph_core::launcher::options::Role;

use super::line::{Line, Unreadable};
use super::{Launch, Obstacle};

fn words(text: &str) -> Vec<OsString> {
    text.split_whitespace().map(OsString::from).collect()
}

fn read(text: &str, mpi: &str) -> Result<Line, Unreadable> {
    Line::read(&words(text), None, |_| String::new(), Some(mpi))
}

const HYDRA4: &str = "MPICH Version: 4.0.2";
const HYDRA5: &str = "MPICH Version: 5.0.2";
const ORTE: &str = "Open MPI v4.1.4";
const PRTE: &str = "Open MPI v5.0.11";
const INTEL: &str = "Intel(R) MPI Library 2021.17";
const CRAY: &str = "MPI VERSION : CRAY MPICH version 8.1";

#[test]
fn the_program_follows_the_options() {
    for (mpi, text) in [
        (HYDRA4, "mpiexec -n 4 -genv A 1 -genv B=2 --launcher=fork -hosts a:2,b:2 | ./app -n 3"),
        (HYDRA4, "mpiexec.hydra -np 4 -f hosts -ppn 2 -envall | ./app"),
        (
            ORTE,
            "env A=1 mpirun -np 4 --mca pml ob1 -x PATH --map-by ppr:2:node -bind-to core | ./app",
        ),
        (PRTE, "mpirun -n 4 --prtemca a b --map-by slot:PE=2 --host a:2,b:2 --display map | ./app"),
        (ORTE, "mpirun --allow-run-as-root --oversubscribe -c 4 | numactl -m 0 ./app"),
        ("", "srun -n4 -N 2 --exclusive -lu --mpi=pmix -c2 --cpu-bind cores -K1 | ./app -n 1"),
        ("", "srun --ntasks=8 --dist cyclic -I -m block:block -- | ./app"),
        ("", "flux run -n4 -N2 -xl -o mpi=none --taskmap cyclic | ./app"),
        ("", "flux mini run -n 4 | ./app"),
        ("", "flux run -N4 -n16 -o cpu-affinity=per-task --env=A=1 | ./app"),
        ("", "flux run -N 4 --tasks-per-node=8 -x --wait-event start -t 30m --setattr=a=b | ./app"),
        ("", "flux run --resources-shape slot=2/node --input in -c 2 --list-plugins | ./app"),
        (CRAY, "mpiexec -n 16 --ppn 4 --cpu-bind depth -d 4 | ./app"),
        (
            CRAY,
            "mpiexec --no-vni --pmi=pmix -np 48 -ppn 12 -env A 1 -env B=2 --depth=8 -e f -l | ./app",
        ),
        (
            CRAY,
            "mpiexec -n 4 --soft 2 --hostlist a,b --no-abort-on-failure --cpu-bind list:0:8 -- | ./app",
        ),
        ("", "srun --mpi=pmix -n 16 --distribution=block:cyclic | ./app"),
        (
            "",
            "srun -n16 --cpu-bind=verbose,cores --ntasks-per-node=8 -c 2 --hint=nomultithread | ./app",
        ),
        (INTEL, "mpirun -n 8 -rr -genv I_MPI_DEBUG 5 -print-rank-map -ordered-output | ./app"),
        (INTEL, "mpiexec.hydra -machinefile hosts -grr 2 -bootstrap-exec-args -q -n 8 | ./app"),
        (CRAY, "mpiexec -n 8 --ppn 4 --cpu-bind depth -d 2 --line-buffer | ./app"),
    ] {
        let (before, program) = text.split_once('|').unwrap();
        let line = read(&text.replace('|', ""), mpi).unwrap();
        assert_eq!(line.programs.first, words(program), "{text}");
        assert_eq!(line.words(), words(&before.replace(" -- ", "")), "{text}");
    }
    assert_eq!(read("env -n 3 ./app", "").unwrap_err(), Unreadable::NoLauncher);
    assert_eq!(read("flux proxy x ./app", "").unwrap_err(), Unreadable::NoLauncher);
    let unknown = read("srun --frobnicate 3 ./app", "").unwrap_err();
    assert_eq!(unknown.to_string(), "unknown option --frobnicate of srun");
    assert_eq!(read("srun -n 3", "").unwrap_err(), Unreadable::NoProgram("srun"));
    // If the program is known, unknown arguments are kept.
    let known = words("mpirun --new 3 -n 4 ./app");
    let line = Line::read(&known, Some(5), |_| String::new(), Some(ORTE)).unwrap();
    assert_eq!((line.words(), line.processes()), (known[..5].to_vec(), Some(4)));
    // The options of a wrapper are its own.
    let known = words("mpirun --new 3 -n 4 numactl -N 0 ./app");
    let marked = words("mpirun --new 3 -n 4 numactl -N 0 -- sh");
    let (launch, _) = Launch::read(&marked, None, |_| "mpirun (Open MPI) 5.0".into()).unwrap();
    assert_eq!(launch.programs.first, words("numactl -N 0 -- sh"));
    let line = Line::read(&known, Some(8), |_| String::new(), Some(PRTE)).unwrap();
    assert_eq!((line.words(), line.programs.first), (known[..5].to_vec(), known[5..].to_vec()));
}

#[test]
fn files_that_get_the_output_are_known() {
    for (mpi, text, expected) in [
        ("", "srun -oout -n 4 ./app", true),
        ("", "flux run --output=out -n 4 ./app", true),
        ("", "flux run -o mpi=none -n 4 ./app", false),
        (PRTE, "mpirun --output dir=out -n 4 ./app", true),
        (HYDRA4, "mpiexec -outfile-pattern out -n 4 ./app -o", true),
        (CRAY, "mpiexec -n 4 ./app -o out", false),
    ] {
        let line = read(text, mpi).unwrap();
        let found = line.options.iter().any(|given| given.role == Role::Output);
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn options_of_placement_are_removed() {
    for (mpi, text, expected) in [
        (
            ORTE,
            "mpirun --map-by slot --rank-by core -N 4 --host a:4,b:4 --bind-to core ./app",
            "mpirun --rankfile F -n 8 --host a:4,b:4 --bind-to core ./app",
        ),
        (
            ORTE,
            "mpirun --map-by core:OVERSUBSCRIBE --mca rmaps_base_mapping_policy slot --mca pml ob1 -n 8 ./app",
            "mpirun --rankfile F --oversubscribe --mca pml ob1 -n 8 ./app",
        ),
        (
            PRTE,
            "mpirun --map-by :OVERSUBSCRIBE -np 8 ./app",
            "mpirun --map-by rankfile:file=F:oversubscribe --bind-to none -np 8 ./app",
        ),
        (
            PRTE,
            "mpirun --bynode --bind-to core --cpu-set 0,1 -np 8 ./app",
            "mpirun --map-by rankfile:file=F --bind-to none -np 8 ./app",
        ),
        (
            PRTE,
            "mpirun --map-by ppr:2:node:PE=4 ./app",
            "mpirun --map-by rankfile:file=F -n 8 --bind-to none ./app",
        ),
        (
            ORTE,
            "env OMPI_MCA_rmaps_base_cpus_per_rank=2 mpirun --cpus-per-proc 2 -np 8 ./app",
            "env OMPI_MCA_rmaps_base_cpus_per_rank=2 env -u OMPI_MCA_rmaps_base_cpus_per_rank mpirun --rankfile F -np 8 \
             ./app",
        ),
        (
            ORTE,
            "env A=1 OMPI_MCA_rmaps_ppr_pattern=2:node mpirun --mca rmaps seq -np 8 ./app",
            "env A=1 OMPI_MCA_rmaps_ppr_pattern=2:node env -u OMPI_MCA_rmaps_ppr_pattern mpirun --rankfile F -np 8 ./app",
        ),
        (
            PRTE,
            "time srun -N2 --ntasks-per-node=4 -m cyclic -w a,b ./app",
            "time env SLURM_HOSTFILE=F srun --distribution=arbitrary -n 8 ./app",
        ),
        (
            PRTE,
            "srun -lN2 -ulm cyclic -n 8 ./app",
            "env SLURM_HOSTFILE=F srun --distribution=arbitrary -l -ul -n 8 ./app",
        ),
        (
            CRAY,
            "srun -n 8 --ntasks-per-node 4 --distribution=cyclic ./app",
            "env MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE=F srun -n 8 --ntasks-per-node 4 ./app",
        ),
        (
            CRAY,
            "mpiexec --ppn 4 -n 8 ./app",
            "env MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE=F mpiexec --ppn 4 -n 8 ./app",
        ),
        (
            HYDRA4,
            "flux run -N2 --tasks-per-node=4 --taskmap=cyclic ./app",
            "flux run --taskmap=manual:[[0,1,8,1]] -N2 --tasks-per-node=4 ./app",
        ),
    ] {
        let line = read(text, mpi).unwrap();
        let placement = line.placement(mpi, |_| None).unwrap();
        let placed = line.placed(&placement, OsStr::new("F"), "[[0,1,8,1]]\n", 8);
        assert_eq!(placed.to_string(), expected);
    }
}

#[test]
fn obstacles_to_a_placement_are_named() {
    for (mpi, text, expected) in [
        (HYDRA4, "mpiexec -hosts a,b -pmi-port -n 4 ./app", "only without -pmi-port"),
        (HYDRA5, "srun -n 4 ./app", "only with --mpi=pmi2 or --mpi=pmix"),
        (HYDRA5, "srun -n 4 --mpi=none ./app", "only with --mpi=pmi2 or --mpi=pmix"),
        (INTEL, "mpirun -pmi-port -n 4 ./app", "Intel MPI's mpiexec places ranks only without"),
    ] {
        let found = read(text, mpi).unwrap().placement(mpi, |_| None);
        let obstacle = found.unwrap_err().to_string();
        assert!(obstacle.contains(expected), "{text}: {obstacle}");
    }
    let line = read("mpiexec -n 4 ./app", CRAY).unwrap();
    let obstacle = line.placement(PRTE, |_| None).unwrap_err();
    assert_eq!(obstacle, Obstacle::NoOption("PALS' mpiexec"));
    assert!(obstacle.to_string().contains("has no option"), "{obstacle}");
    let line = read("srun -n 4 ./app", HYDRA5).unwrap();
    assert!(line.placement(HYDRA5, |_| Some("pmix_v4".into())).is_ok());
    assert!(read("srun --mpi=pmix ./app", HYDRA5).unwrap().placement(HYDRA5, |_| None).is_ok());
    assert!(read("srun --multi-prog conf", HYDRA5).unwrap().names_programs());
}

#[test]
fn several_programs_are_read_with_their_numbers_of_processes() {
    let text = "mpirun --host a:4,b:4 -n 2 -x A=1 ./a -n 7 : -x B -np 6 numactl -l ./b";
    let line = read(text, PRTE).unwrap();
    assert_eq!((line.processes(), &line.programs.counts[..]), (Some(8), &[2, 6][..]));
    assert_eq!(
        line.programs.all().collect::<Vec<_>>(),
        [words("./a -n 7"), words("numactl -l ./b")]
    );
    let without = "mpirun --host a:4,b:4 -n 2 -x A=1 : -x B -np 6";
    assert_eq!(line.without_programs(), words(without));
    // The rank file numbers the ranks of all programs.
    let placement = line.placement(PRTE, |_| None).unwrap();
    let placed = line.placed(&placement, OsStr::new("F"), "", 8);
    let expected = "mpirun --map-by rankfile:file=F --bind-to none --host a:4,b:4 -n 2 -x A=1 ./a -n 7 : -x B -np 6 \
                    numactl -l ./b";
    assert_eq!(placed.to_string(), expected);
    // srun's are in a file, and started as one.
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, "0-1 ./a x\n2-7 ./b\n").unwrap();
    let line = read(&format!("srun -n 8 --multi-prog -l {}", file.path().display()), "").unwrap();
    let line = line.with_file().unwrap();
    assert_eq!(
        (line.to_string().as_str(), &line.programs.counts[..]),
        ("srun -n 8 -l ./a x ./b", &[2, 6][..])
    );
    let bare = words(&format!("srun -n 8 -l --multi-prog {}", file.path().display()));
    assert_eq!(Launch::from(line.clone()).baseline(), bare);
    assert_eq!(line.as_one().words(), words("srun -n 8 -l"));
    // With relays, a process may become any of them.
    let line = read("mpiexec -hosts a,b -n 2 ./a x : -n 6 ./b", HYDRA4).unwrap();
    assert_eq!(line.as_one().to_string(), "mpiexec -hosts a,b -n 8 ./a x ./b");
}

#[test]
fn several_programs_that_cannot_be_placed_are_named() {
    for (mpi, text, expected) in [
        ("", "srun -n 2 ./a : -n 2 ./b", "several programs"),
        (CRAY, "mpiexec -n 2 ./a : -n 2 ./b", "several programs"),
        (ORTE, "mpirun -n 2 ./a : ./b", "one of several programs is without -n"),
        (ORTE, "mpirun -n 2 ./a : -n 2", "no program found"),
        (ORTE, "mpirun -n 2 ./a : -n 2 --new ./b", "unknown option --new"),
        (PRTE, "mpirun -n 2 ./a : -n 2 --host b ./b", "--host b is for one"),
        (ORTE, "mpirun -n 2 ./a : -n 2 --mca rmaps seq ./b", "--mca rmaps seq is for one"),
        (HYDRA4, "mpiexec -n 2 ./a : -wdir d -n 2 ./b", "-wdir d is for one"),
        (INTEL, "mpirun -host a -n 2 ./a : -n 2 ./b", "-host a is for one"),
        (INTEL, "mpirun -env A 1 -n 2 ./a : -n 2 ./b", "-env A 1 is for one"),
    ] {
        let why = read(text, mpi).unwrap_err().to_string();
        assert!(why.contains(expected), "{text}: {why}");
    }
}

#[test]
fn relays_place_ranks_only_where_pmi_is_a_socket() {
    for (mpi, text, expected) in [
        (HYDRA4, "mpiexec -hosts a,b -n 4 ./app", true),
        (HYDRA5, "mpiexec -pmi-port -n 4 ./app", false),
        (INTEL, "mpirun -n 4 ./app -pmi-port", true),
        (ORTE, "mpirun -n 4 ./app", false),
        (HYDRA4, "srun --mpi=pmi2 -n 4 ./app", true),
        (HYDRA4, "srun --mpi=pmi2 --mpi pmix -n 4 ./app", false),
        (HYDRA4, "env SLURM_MPI_TYPE=pmi2 srun -n 4 ./app", true),
        (HYDRA4, "srun -n 4 ./app", false),
    ] {
        assert_eq!(read(text, mpi).unwrap().takes_relays(|_| None), expected, "{text}");
    }
    let line = read("srun -n 4 ./app", HYDRA4).unwrap();
    let variable = |name: &str| (name == "SLURM_MPI_TYPE").then(|| "pmi2".to_owned());
    assert!(line.takes_relays(variable));
}

#[test]
fn files_and_input_of_single_ranks_are_found() {
    for (mpi, text, expected) in [
        (HYDRA4, "mpiexec -outfile-pattern out.%r -n 4 ./app", "-outfile-pattern out.%r numbers"),
        (HYDRA4, "mpiexec -outfile-pattern out.%h -errfile-pattern e%r -n 4 ./app", "e%r numbers"),
        (HYDRA4, "mpiexec -s 2 -n 4 ./app", "-s 2 numbers"),
        (HYDRA4, "mpiexec -s 1-3 -n 4 ./app", "-s 1-3 numbers"),
        (HYDRA4, "mpiexec -s all -n 4 ./app -s 2", ""),
        ("", "srun -o out.%j.%4t -n 4 ./app", "-o out.%j.%4t numbers"),
        ("", "srun --input=in.%t -n 4 ./app", "--input=in.%t numbers"),
        ("", "srun -i3 -n 4 ./app", "-i3 numbers"),
        ("", "srun -i 0 -o out.%j.%n -e none -n 4 ./app", ""),
        (HYDRA4, "mpiexec -outfile out.%r -n 4 ./app", "-outfile out.%r numbers"),
        (HYDRA4, "mpiexec -output-from 3 -n 4 ./app", "-output-from 3 numbers"),
        ("", "env SLURM_STDINMODE=1 srun -n 4 ./app", "SLURM_STDINMODE numbers"),
    ] {
        let found = read(text, mpi).unwrap().check_streams(|_| None);
        let found = found.map_or_else(|why| why.to_string(), |()| String::new());
        assert!(found.contains(expected) && expected.is_empty() == found.is_empty(), "{found}");
    }
    let known = words("mpiexec -new 3 -n 4 ./app");
    let line = Line::read(&known, Some(5), |_| String::new(), Some(HYDRA4)).unwrap();
    assert_eq!(line.check_streams(|_| None), Err(Obstacle::Unknown("-new".into())));
}

#[test]
fn launchers_that_get_nodes_for_each_job_are_known() {
    for (text, variable, expected) in [
        ("srun -n 4 ./app", "SLURM_JOB_ID", false),
        ("srun -n 4 ./app", "FLUX_URI", true),
        ("flux run -n 4 ./app", "FLUX_URI", false),
        ("flux run -n 4 ./app", "", true),
        ("orterun -n 4 ./app", "", false),
    ] {
        assert_eq!(read(text, "").unwrap().allocates(|name| name == variable), expected, "{text}");
    }
}
