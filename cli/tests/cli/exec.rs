//! `cartograph exec` with libraries that only have the names of MPI libraries; `tests/hosts/cases/exec.rs` uses real
//! ones.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::jobs::LAUNCHER;
use crate::run::{self, COMMAND, Directory, Run, cartograph};
use crate::tune::Bench;

/// Builds a file with the C compiler, which Rust needs as well.
fn cc(directory: &Path, source: &str, output: &str, flags: &[&str]) -> PathBuf {
    let output = directory.join(output);
    fs::create_dir_all(output.parent().unwrap()).unwrap();
    let file = directory.join("source.c");
    fs::write(&file, source).unwrap();
    let mut command = Command::new("cc");
    // Otherwise the linker would drop libraries that are not needed.
    command.current_dir(directory).arg("-Wl,--no-as-needed").arg(&file).args(flags);
    let done = command.arg("-o").arg(&output).output().unwrap();
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    output
}

/// A shared library called `name` in `folder`, which defines a function.
fn library(directory: &Path, folder: &str, name: &str, function: &str) {
    let soname = format!("-Wl,-soname,{name}");
    let source = format!("void {function}(void) {{}}");
    cc(directory, &source, &format!("{folder}/{name}"), &["-shared", "-fPIC", &soname]);
}

/// MPIs as found on machines, and an installation for them.
struct Machine {
    directory: Directory,
}

/// Prints the environment of a program.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    const char *names[] = {"LD_PRELOAD", "CARTOGRAPH_REPORT", "CARTOGRAPH_LAYOUT", "CARTOGRAPH_REORDER",
                           "CARTOGRAPH_WEIGHTS", "CARTOGRAPH_MPI"};
    for (int i = 0; i < 6; i++)
        printf("%s\n", getenv(names[i]) ? getenv(names[i]) : "-");
    printf("%s %d %s\n", argv[0], argc - 1, argc > 1 ? argv[1] : "-");
    return 7;
}
"#;

impl Machine {
    fn new(name: &str) -> Self {
        let directory = Directory::new(name);
        let at = directory.path();
        library(at, "openmpi4", "libmpi.so.40", "MPI_Send");
        library(at, "openmpi5", "libmpi.so.40", "MPI_Isendrecv");
        library(at, "mpich", "libmpich.so.12", "PMPI_Send_c");
        library(at, "lib", "libcartograph.so.0", "nothing");
        for kind in ["3", "4", "4c"] {
            library(at, "lib/cartograph", &format!("record-{kind}.so"), "nothing");
        }
        let this = Self { directory };
        this.built("lib", "mpich", "libmpich.so.12", "MPICH 4.0.2");
        this.built("lib", "ours", "libmpi.so.40", "Open MPI 5.0.11");
        let at = this.directory.path();
        library(at, "lib/cartograph/ours", "libcartograph_record.so", "MPI_Isendrecv");
        this
    }

    /// A library that was built for an MPI, with a note as in `include/built_for.h`.
    fn built(&self, lib: &str, host: &str, mpi: &str, built_for: &str) -> PathBuf {
        let note = format!(
            r#"__asm__(".pushsection .note.cartograph, \"a\", %note\n .balign 4\n .long 11, {}, 1\n"
                ".asciz \"Cartograph\"\n .balign 4\n .asciz \"{built_for}\"\n .balign 4\n .popsection");"#,
            built_for.len() + 1
        );
        let at = self.directory.path();
        library(at, "needed", mpi, "nothing");
        let file = format!("{lib}/cartograph/{host}/libcartograph.so.0");
        cc(at, &note, &file, &["-shared", "-fPIC", &format!("needed/{mpi}")])
    }

    /// A program on an MPI.
    fn program(&self, name: &str, mpi: &str) -> PathBuf {
        let at = self.directory.path();
        let path = format!("-Wl,-rpath,{}", at.join(mpi).parent().unwrap().display());
        cc(at, PROGRAM, name, &[mpi, &path])
    }

    fn exec(&self, arguments: &str, program: &Path) -> Run {
        cartograph(&format!("exec {arguments}"))
            .env("CARTOGRAPH_LIB_DIR", self.directory.join("lib"))
            .arg(program)
    }

    fn lib(&self, name: &str) -> String {
        self.directory.join("lib").join(name).display().to_string()
    }
}

/// Checks that the program runs, and that a line reports the fault.
fn warns(run: Run, words: &str) -> String {
    let done = run.output();
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(7), "{stderr}");
    assert!(stderr.starts_with("cartograph: ") && stderr.contains(words), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn programs_get_their_arguments_and_settings() {
    let machine = Machine::new("exec-settings");
    let program = machine.program("program", "mpich/libmpich.so.12");
    let library = machine.lib("libcartograph.so.0");
    let shown = program.display();
    let plain = machine.exec("", &program).arg("--report").stdout_only();
    assert_eq!(plain, format!("{library}\n-\n-\n-\n-\nauto\n{shown} 1 --report\n"));
    // The command returns the program's exit code.
    assert_eq!(machine.exec("", &program).spawn().wait().unwrap().code(), Some(7));

    let other = machine.directory.join("mpich/libmpich.so.12");
    let options = "--report --layout 2x4x16 --reorder always --weights 16,1 --mpi ours";
    let all = machine.exec(options, &program).env("LD_PRELOAD", &other).stdout_only();
    let preloaded = format!("{library}:{}", other.display());
    assert_eq!(all, format!("{preloaded}\n1\n2x4x16\nalways\n16,1\nours\n{shown} 0 -\n"));

    // Relative files belong to the directory in which the command runs.
    let file = machine.exec("--report=x.json --layout Cargo.toml", &program).stdout_only();
    let here = std::env::current_dir().unwrap();
    let files =
        format!("{}\n{}\n", here.join("x.json").display(), here.join("Cargo.toml").display());
    assert!(file.contains(&files), "{file}");
}

/// Open MPI 5's component for nodes returns wrong data in some orders of ranks.
#[test]
fn gathers_ignore_nodes_if_ranks_may_be_reordered() {
    let machine = Machine::new("exec-gathers");
    let cpus = machine.directory.join("cpus");
    fs::write(&cpus, "").unwrap();
    let module = |options: &str, own: Option<&str>| {
        let mut run = machine.exec(options, Path::new("sh"));
        if let Some(own) = own {
            run = run.env("OMPI_MCA_coll_han_gather_dynamic_global_communicator_module", own);
        }
        let name = "OMPI_MCA_coll_han_gather_dynamic_global_communicator_module";
        run.arg("-c").arg(format!("echo ${{{name}-unset}}")).stdout_only()
    };
    assert_eq!(module("", None), "unset\n");
    assert_eq!(module("--reorder off", None), "unset\n");
    assert_eq!(module("--reorder on", None), "3\n");
    assert_eq!(module(&format!("--cpus {}", cpus.display()), None), "3\n");
    assert_eq!(module("--reorder on", Some("6")), "6\n");
    // A linked program moves ranks by default.
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    return !puts(getenv("OMPI_MCA_coll_han_scatter_dynamic_global_communicator_module") ? "set" : "unset");
}
"#;
    let at = machine.directory.path();
    let linked = cc(at, source, "linked", &["lib/libcartograph.so.0", "-Wl,-rpath,$ORIGIN/lib"]);
    let set = |options: &str| machine.exec(options, &linked).stdout_only();
    assert_eq!([set(""), set("--reorder off")], ["set\n", "unset\n"]);
}

#[test]
fn exec_checks_the_path_of_a_report_before_the_program_runs() {
    let machine = Machine::new("exec-report");
    let at = machine.directory.path();
    let program = machine.program("program", "mpich/libmpich.so.12");
    std::os::unix::fs::symlink("elsewhere", at.join("link")).unwrap();
    for (file, words) in [
        ("nothing/report.json", "cannot be written there: No such file"),
        ("source.c/report", "cannot be written there: Not a directory"),
        ("lib", "it is not a regular file"),
        ("link", "it is a symbolic link"),
    ] {
        let report = format!("--report={}", at.join(file).display());
        // The other processes of the job would wait for one that ends.
        assert!(warns(machine.exec(&report, &program), words).contains(file));
        // One process writes, and one prints the message.
        let other = machine.exec(&report, &program).env("PMI_RANK", "1").output();
        assert!(other.stderr.is_empty() && other.status.code() == Some(7), "{other:?}");
    }
    fs::write(at.join("report.txt"), "older").unwrap();
    for file in ["report.txt", "report.json", "new.txt"] {
        let report = format!("--report={}", at.join(file).display());
        assert!(machine.exec(&report, &program).stdout_only().contains(file));
    }
    let left: Vec<_> = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with(".cartograph")), "{left:?}");
    assert_eq!(fs::read_to_string(at.join("report.txt")).unwrap(), "older");
}

#[test]
fn only_rank_0_reports_wrong_arguments() {
    let machine = Machine::new("exec-wrong");
    let at = machine.directory.path();
    let program = machine.program("program", "mpich/libmpich.so.12");
    let mut others = Vec::new();
    for (arguments, words) in [
        ("--raport", "'--report'"),
        ("--weight 1,1", "'--weights'"),
        ("--weights x", "see cartograph exec --help"),
        ("--layout 4xfour", "NODESxRANKS"),
        ("--layout 99999999999x1", "more than"),
        ("--layout 2x9999999999", "2147483647 processes"),
        ("--layout 0,1,0,1", "node sizes must be at least 1"),
        ("--reorder perhaps", "always"),
        ("--record x --layout 2x4", "cannot be used with"),
        ("mpiexec -n 4", "mpiexec is a launcher; use: mpiexec -n 8 cartograph exec ./app"),
        ("/usr/bin/mpirun.openmpi", "is a launcher"),
        ("flux run -n 4", "use: flux run -n 8 cartograph exec ./app"),
    ] {
        machine.exec(arguments, &program).fails(2, words);
        others.push(machine.exec(arguments, &program).env("PMI_RANK", "3").spawn());
    }
    for other in others {
        let other = other.wait_with_output().unwrap();
        assert!(other.stderr.is_empty() && other.status.code() == Some(2), "{other:?}");
    }
    // A launcher ends the first one when another ends before it.
    let start = Instant::now();
    machine.exec("--raport", &program).env("PMI_RANK", "3").output();
    assert!(start.elapsed() >= Duration::from_secs(1), "the others do not wait");
    cartograph("exec").fails(2, "PROGRAM");
    machine
        .exec("", Path::new("./nothing-like-it"))
        .fails(127, "program ./nothing-like-it not found");
    machine.exec("", Path::new("nothing-like-it")).fails(127, "in PATH");
    machine.exec("", &at.join("source.c")).fails(126, "it is not executable");
    machine
        .exec("--report rep.txt", &program)
        .fails(127, "to report to a file, use --report=rep.txt");
}

#[test]
fn a_program_runs_if_no_process_can_preload_the_library() {
    let machine = Machine::new("exec-bare");
    let at = machine.directory.path();
    let program = machine.program("program", "mpich/libmpich.so.12");
    let bare =
        warns(machine.exec("--mpi lam", &program), "--mpi lam (available: mpich, ours); the");
    assert!(bare.starts_with("-\n"), "{bare}");
    warns(machine.exec("", &cc(at, PROGRAM, "alone", &["-static"])), "statically");
    let spaced = at.join("a place");
    fs::create_dir(&spaced).unwrap();
    fs::copy(at.join("lib/libcartograph.so.0"), spaced.join("libcartograph.so.0")).unwrap();
    let run = machine.exec("", &program).env("CARTOGRAPH_LIB_DIR", &spaced);
    warns(run, "space or colon");
    let run = machine.exec("", &program).env("CARTOGRAPH_LIB_DIR", at.join("nowhere"));
    warns(run, "no libcartograph.so.0 in ../lib");
    fs::remove_file(at.join("lib/cartograph/record-4c.so")).unwrap();
    warns(machine.exec("--record x", &program), "record-4c.so not found; the program runs");
}

/// Other processes of the job may use their libraries, and would wait for a process that does not.
#[test]
fn a_program_is_not_started_if_its_process_alone_cannot_use_the_library() {
    let machine = Machine::new("exec-alone");
    let at = machine.directory.path();
    let program = machine.program("program", "mpich/libmpich.so.12");
    for (options, file) in [
        ("", "libcartograph.so.0"),
        ("--mpi ours", "cartograph/ours/libcartograph.so.0"),
        ("--record x --reorder on", "cartograph/record-4c.so"),
    ] {
        let file = at.join("lib").join(file);
        let aside = file.with_extension("aside");
        fs::rename(&file, &aside).unwrap();
        // A file that nobody can read, not even root.
        symlink(&file, &file).unwrap();
        machine.exec(options, &program).fails(
            126,
            "Too many levels of symbolic links (os error 40); the program was not started",
        );
        fs::rename(&aside, &file).unwrap();
        assert_eq!(machine.exec(options, &program).output().status.code(), Some(7));
    }
    // A recorder sends no messages.
    let file = at.join("lib/cartograph/record-4c.so");
    fs::remove_file(&file).unwrap();
    symlink(&file, &file).unwrap();
    warns(machine.exec("--record x", &program), "(os error 40); the program runs without being");
}

#[test]
fn recorders_define_the_functions_of_their_mpi() {
    let machine = Machine::new("exec-record");
    let at = machine.directory.path();
    for (mpi, kind) in [
        ("openmpi4/libmpi.so.40", "3"),
        ("openmpi5/libmpi.so.40", "4"),
        ("mpich/libmpich.so.12", "4c"),
    ] {
        let program = machine.program("program", mpi);
        let output = machine.exec("--record x", &program).stdout_only();
        assert_eq!(
            output.lines().next().unwrap(),
            machine.lib(&format!("cartograph/record-{kind}.so"))
        );
    }
    // For a script, only the user's option names the MPI.
    let script = at.join("script");
    fs::write(&script, "#!/bin/sh\necho $LD_PRELOAD\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    for (options, kind) in [("", "3"), ("--mpi ours", "4")] {
        let output = machine.exec(&format!("--record x {options}"), &script).stdout_only();
        assert_eq!(output.trim(), machine.lib(&format!("cartograph/record-{kind}.so")));
    }
}

#[test]
fn exec_finds_installed_libraries() {
    let machine = Machine::new("exec-places");
    let at = machine.directory.path();
    let mpis = |command: &str| -> Vec<String> {
        let command = at.join(command);
        fs::create_dir_all(command.parent().unwrap()).unwrap();
        fs::copy(run::COMMAND, &command).unwrap();
        let text = run::at(&command, "info").stdout();
        let lines = text.lines().filter(|line| line.contains("Open MPI 5.0.11  libmpi.so.40"));
        lines.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
    };
    assert_eq!(mpis("bin/cartograph"), ["ours"]);
    // Other users may put files next to a command that is installed elsewhere.
    assert!(mpis("cartograph").is_empty());
    assert!(mpis("sub/cartograph").is_empty());
    let set =
        |file: &str, mode| fs::set_permissions(at.join(file), fs::Permissions::from_mode(mode));
    let own = "lib/cartograph/ours/libcartograph.so.0";
    for file in [own, "lib/libcartograph.so.0"] {
        for mode in [0o775, 0o757] {
            set(file, mode).unwrap();
            assert!(mpis("bin/cartograph").is_empty());
        }
        set(file, 0o755).unwrap();
        assert_eq!(mpis("bin/cartograph"), ["ours"]);
        // Only root can test the remaining case: files that neither the command's owner nor root owns.
        if std::os::unix::fs::chown(at.join(file), Some(12345), None).is_ok() {
            assert!(mpis("bin/cartograph").is_empty());
            std::os::unix::fs::chown(at.join(file), Some(0), None).unwrap();
        }
    }
}

#[test]
fn the_loader_is_asked_once_for_the_mpi_of_a_program() {
    let bench = Bench::new("job-loader", false);
    let asked = bench.directory.join("asked");
    let loader =
        format!("echo >>{}; echo 'libmpi.so.40 => /nowhere/libmpi.so.40 (0x0)'", asked.display());
    let loader = bench.script("loader", &loader);
    let source = bench.directory.join("program.c");
    fs::write(&source, "int main(void) { return 0; }").unwrap();
    let program = bench.directory.join("program");
    let mut cc = Command::new("cc");
    cc.arg(format!("-Wl,--dynamic-linker={}", loader.display()))
        .arg("-o")
        .args([&program, &source]);
    assert!(cc.status().unwrap().success());
    let launcher = format!("{LAUNCHER}[ \"$1\" != --version ] || echo '(OpenRTE) 4.1.4'");
    let launcher = bench.script("mpiexec", &launcher);
    let run = run::at(COMMAND.as_ref(), "run").arg(launcher).arg("-n").arg("16").arg(program);
    let run = run.env("CARTOGRAPH_LIB_DIR", bench.directory.join("lib"));
    let done = run.env("CARTOGRAPH_STORE", bench.directory.join("store")).output();
    assert!(done.status.success(), "{done:?}");
    assert_eq!(fs::read_to_string(asked).unwrap(), "\n", "{done:?}");
}
