//! `cartograph exec`, with libraries that only have the names of MPIs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{self, Directory, Run, cartograph};

/// Builds something with the C compiler that Rust needs as well.
fn cc(directory: &Path, source: &str, output: &str, flags: &[&str]) -> PathBuf {
    let output = directory.join(output);
    fs::create_dir_all(output.parent().unwrap()).unwrap();
    let file = directory.join("source.c");
    fs::write(&file, source).unwrap();
    let mut command = Command::new("cc");
    // The loader would complain of libraries that are left out as needless.
    command.current_dir(directory).arg("-Wl,--no-as-needed").arg(&file).args(flags);
    let done = command.arg("-o").arg(&output).output().unwrap();
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    output
}

/// A shared library called `name` in `folder`, linked with `others` by their paths.
fn library(directory: &Path, folder: &str, name: &str, others: &[&str]) {
    let soname = format!("-Wl,-soname,{name}");
    let flags = [&["-shared", "-fPIC", "-Wl,-rpath,$ORIGIN", soname.as_str()], others].concat();
    cc(directory, "int nothing;", &format!("{folder}/{name}"), &flags);
}

/// Hosts as they are found on machines, and for each a libcartograph.so.
struct Machine {
    directory: Directory,
}

/// Prints what a program finds in its environment.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    const char *names[] = {"LD_PRELOAD", "CARTOGRAPH_REPORT", "CARTOGRAPH_LAYOUT", "CARTOGRAPH_REORDER"};
    for (int i = 0; i < 4; i++)
        printf("%s\n", getenv(names[i]) ? getenv(names[i]) : "-");
    printf("%s %d %s\n", argv[0], argc - 1, argc > 1 ? argv[1] : "-");
    return 7;
}
"#;

impl Machine {
    fn new(name: &str) -> Self {
        let directory = Directory::new(name);
        let at = directory.path();
        // Open MPI 4 and 5 differ in what their libraries need, not in their names.
        library(at, "openmpi4", "libopen-rte.so.40", &[]);
        library(at, "openmpi4", "libmpi.so.40", &["openmpi4/libopen-rte.so.40"]);
        library(at, "openmpi5", "libopen-pal.so.80", &[]);
        library(at, "openmpi5", "libmpi.so.40", &["openmpi5/libopen-pal.so.80"]);
        library(at, "mpich4", "libmpich.so.12", &[]);
        library(at, "mpich5", "libmpi.so.12", &[]);
        library(at, "abi", "libmpi_abi.so.1", &[]);
        for (host, mpi) in [
            ("openmpi", "openmpi4/libmpi.so.40"),
            ("openmpi5", "openmpi5/libmpi.so.40"),
            ("mpich", "mpich4/libmpich.so.12"),
            ("mpich5", "mpich5/libmpi.so.12"),
            ("abi", "abi/libmpi_abi.so.1"),
        ] {
            library(
                at,
                &format!("lib/{host}"),
                "libcartograph.so",
                &[mpi, &Self::path_flag(at, mpi)],
            );
        }
        Self { directory }
    }

    /// What makes the loader find a library where it is.
    fn path_flag(at: &Path, library: &str) -> String {
        let folder = at.join(library);
        format!("-Wl,-rpath,{}", folder.parent().unwrap().display())
    }

    /// A program on an MPI.
    fn program(&self, name: &str, mpi: &str) -> PathBuf {
        let at = self.directory.path();
        let folder = Path::new(mpi).parent().unwrap().display();
        let others = [
            mpi,
            &Self::path_flag(at, mpi),
            "-Wl,--allow-shlib-undefined",
            &format!("-Wl,-rpath-link,{folder}"),
            &format!("-Wl,-rpath,{}", at.join("deps").display()),
        ];
        cc(at, PROGRAM, name, &others)
    }

    fn exec(&self, arguments: &str, program: &Path) -> Run {
        cartograph(&format!("exec {arguments}"))
            .env("CARTOGRAPH_LIB_DIR", self.directory.join("lib"))
            .arg(program)
    }

    /// The name of the library's folder that the program finds in LD_PRELOAD.
    fn host(&self, run: Run) -> String {
        let output = run.stdout_only();
        let preloaded = output.lines().next().unwrap_or_default();
        let start = self.directory.join("lib").display().to_string();
        let rest = preloaded.strip_prefix(&start).unwrap_or_else(|| panic!("{output}"));
        rest.trim_start_matches('/').split('/').next().unwrap().to_owned()
    }
}

#[test]
fn the_library_fits_the_mpi_that_a_program_is_linked_with() {
    let machine = Machine::new("exec-linked");
    for (host, mpi) in [
        ("openmpi5", "openmpi5/libmpi.so.40"),
        ("openmpi", "openmpi4/libmpi.so.40"),
        ("mpich", "mpich4/libmpich.so.12"),
        ("mpich5", "mpich5/libmpi.so.12"),
        ("abi", "abi/libmpi_abi.so.1"),
    ] {
        let program = machine.program(&format!("on-{host}"), mpi);
        assert_eq!(machine.host(machine.exec("", &program)), host);
        assert_eq!(machine.host(machine.exec("--host abi", &program)), "abi");
    }
    // Through a library of the program's own.
    let at = machine.directory.path();
    let mpi = "mpich5/libmpi.so.12";
    library(at, "deps", "libown.so", &[mpi, &Machine::path_flag(at, mpi)]);
    let indirect = machine.program("indirect", "deps/libown.so");
    assert_eq!(machine.host(machine.exec("", &indirect)), "mpich5");
}

#[test]
fn programs_get_their_arguments_and_settings() {
    let machine = Machine::new("exec-settings");
    let program = machine.program("program", "mpich4/libmpich.so.12");
    let library = machine.directory.join("lib/mpich/libcartograph.so").display().to_string();
    let shown = program.display();
    let plain = machine.exec("", &program).arg("--report").stdout_only();
    assert_eq!(plain, format!("{library}\n-\n-\n-\n{shown} 1 --report\n"));
    // The program's own exit code is the command's.
    assert_eq!(machine.exec("", &program).spawn().wait().unwrap().code(), Some(7));

    let other = machine.directory.join("mpich4/libmpich.so.12");
    let all = machine.exec("--report --layout 4x16 --reorder always", &program);
    let all = all.env("LD_PRELOAD", &other).stdout_only();
    let preloaded = format!("{library}:{}", other.display());
    assert_eq!(all, format!("{preloaded}\n1\n4x16\nalways\n{shown} 0 -\n"));

    // Files are those of the directory in which the command runs.
    let file = machine.exec("--report=x.json --layout Cargo.toml", &program).stdout_only();
    let here = std::env::current_dir().unwrap();
    let files =
        format!("{}\n{}\n", here.join("x.json").display(), here.join("Cargo.toml").display());
    assert!(file.contains(&files), "{file}");
}

#[test]
fn where_a_report_is_written_is_checked_before_the_program_runs() {
    let machine = Machine::new("exec-report");
    let at = machine.directory.path();
    let program = machine.program("program", "mpich4/libmpich.so.12");
    std::os::unix::fs::symlink("elsewhere", at.join("link")).unwrap();
    for (file, words) in [
        ("nothing/report.json", "cannot be written there: No such file"),
        ("source.c/report", "cannot be written there: Not a directory"),
        ("lib", "it is not a regular file"),
        ("link", "it is a symbolic link"),
    ] {
        let report = format!("--report={}", at.join(file).display());
        machine.exec(&report, &program).fails(2, words);
        // It is one process that writes, and one that says so.
        let other = machine.exec(&report, &program).env("PMI_RANK", "1").stdout_only();
        assert!(other.contains(file), "{other}");
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
fn scripts_are_told_by_what_started_them() {
    let machine = Machine::new("exec-scripts");
    let script = machine.directory.join("script");
    fs::write(&script, "#!/bin/sh\necho $LD_PRELOAD\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let open = || machine.exec("", &script).env("OMPI_COMM_WORLD_SIZE", "2");
    // Open MPI's own libraries are on the loader's path where its launcher is at work.
    let path = |version: &str| machine.directory.join(version);
    assert_eq!(machine.host(open().env("LD_LIBRARY_PATH", path("openmpi4"))), "openmpi");
    let five = open().env("OMPI_VERSION", "5.0.1").env("LD_LIBRARY_PATH", path("openmpi5"));
    assert_eq!(machine.host(five), "openmpi5");

    // Two are for the MPICH family, and nothing tells which.
    machine.exec("", &script).env("PMI_RANK", "0").fails(1, "mpich, mpich5");
    fs::remove_dir_all(machine.directory.join("lib/mpich5")).unwrap();
    assert_eq!(machine.host(machine.exec("", &script).env("PMI_RANK", "0")), "mpich");
    machine.exec("", &script).fails(1, "--host, one of: abi, mpich, openmpi, openmpi5");
}

#[test]
fn what_cannot_be_run_is_told_in_one_line() {
    let machine = Machine::new("exec-wrong");
    let at = machine.directory.path();
    machine.exec("", Path::new("./nothing-like-it")).fails(127, "no program");
    machine.exec("", Path::new("nothing-like-it")).fails(127, "in PATH");
    let file = at.join("source.c");
    machine.exec("", &file).fails(126, "nobody may execute it");
    let program = machine.program("program", "mpich4/libmpich.so.12");
    machine.exec("--host lam", &program).fails(1, "abi, mpich, mpich5, openmpi, openmpi5");
    machine.exec("--layout 4xfour", &program).fails(2, "NODESxRANKS");
    machine.exec("--layout 99999999999x1", &program).fails(2, "more than");
    machine.exec("--layout 2x9999999999", &program).fails(2, "2147483647 processes");
    machine.exec("--layout 0,1,0,1", &program).fails(2, "no node has 0 processes");
    let report = machine.exec("--report rep.txt", &program);
    report.fails(127, "written --report=rep.txt");
    machine.exec("--reorder perhaps", &program).fails(2, "always");
    cartograph("exec").fails(2, "PROGRAM");
    fs::remove_dir_all(at.join("lib/mpich")).unwrap();
    machine.exec("", &program).fails(1, "libmpich.so.12");
    let alone = cc(at, "int main(void) { return 0; }", "alone", &["-static"]);
    machine.exec("", &alone).fails(1, "statically");
    let spaced = at.join("a place/abi");
    fs::create_dir_all(&spaced).unwrap();
    fs::copy(at.join("lib/abi/libcartograph.so"), spaced.join("libcartograph.so")).unwrap();
    let run = machine.exec("--host abi", &program).env("CARTOGRAPH_LIB_DIR", at.join("a place"));
    run.fails(1, "space or colon");
}

#[test]
fn libraries_are_taken_from_where_they_are_installed_or_built() {
    let machine = Machine::new("exec-places");
    let at = machine.directory.path();
    let planted = at.join("lib/abi/libcartograph.so");
    let put = |file: &str| {
        let file = at.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::copy(&planted, &file).unwrap();
        file
    };
    // In directories beside the command, in the forms in which they are installed and built.
    for tree in ["x", "prefix"] {
        put(&format!("{tree}/planted/libcartograph.so"));
        put(&format!("{tree}/built/lib/libcartograph.so"));
    }
    put("x/lib/cartograph/abi/libcartograph.so");
    let hosts = |command: &str| -> Vec<String> {
        let command = at.join(command);
        fs::create_dir_all(command.parent().unwrap()).unwrap();
        fs::copy(run::COMMAND, &command).unwrap();
        let text = run::at(&command, "info").stdout();
        let lines = text.lines().filter(|line| line.contains(" libmpi_abi.so.1 "));
        lines.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
    };
    assert!(hosts("x/cartograph").is_empty());
    assert!(hosts("x/sub/cartograph").is_empty());
    let in_bin = "prefix/bin/cartograph";
    assert!(hosts(in_bin).is_empty());
    let installed = put("prefix/lib/cartograph/abi/libcartograph.so");
    assert_eq!(hosts(in_bin), ["abi"]);
    let mark = at.join("prefix/cartograph-build");
    fs::write(&mark, "").unwrap();
    assert_eq!(hosts(in_bin), ["abi"]);
    let makefile = fs::read_to_string("Makefile").unwrap();
    let line = makefile.lines().find(|line| line.ends_with("/cartograph-build")).unwrap();
    let text = line.split('\'').nth(1).unwrap();
    fs::write(&mark, format!("{text}\n")).unwrap();
    assert_eq!(hosts(in_bin), ["abi", "built"]);
    // What anybody may write is nobody's.
    fs::set_permissions(&installed, fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(hosts(in_bin), ["built"]);
    // Only root can show the rest: what neither the command's owner nor root owns.
    fs::set_permissions(&installed, fs::Permissions::from_mode(0o755)).unwrap();
    if std::os::unix::fs::chown(&installed, Some(12345), None).is_ok() {
        assert_eq!(hosts(in_bin), ["built"]);
        std::os::unix::fs::chown(&mark, Some(12345), None).unwrap();
        assert!(hosts(in_bin).is_empty());
    }
}

#[test]
fn info_lists_libraries() {
    let machine = Machine::new("exec-info");
    let text = cartograph("info").env("CARTOGRAPH_LIB_DIR", machine.directory.join("lib")).stdout();
    for (host, mpi) in [("abi", "libmpi_abi.so.1"), ("openmpi5", "libmpi.so.40")] {
        let line = text.lines().find(|line| line.trim().starts_with(&format!("{host} ")));
        assert!(line.is_some_and(|line| line.contains(mpi)), "{text}");
    }
}

#[test]
fn the_recorder_is_beside_the_library() {
    let machine = Machine::new("exec-record");
    let program = machine.program("program", "mpich4/libmpich.so.12");
    let run = || machine.exec("--record run.traffic", &program);
    run().fails(1, "no libcartograph_record.so beside");
    let recorder = machine.directory.join("lib/mpich/libcartograph_record.so");
    fs::copy(machine.directory.join("lib/mpich/libcartograph.so"), &recorder).unwrap();
    // In place of the library, which would move processes.
    let output = run().stdout_only();
    assert_eq!(output.lines().next(), recorder.to_str());
    let file = machine.directory.join("source.c");
    cartograph("exec --record")
        .arg(&file)
        .arg(&program)
        .env("CARTOGRAPH_LIB_DIR", machine.directory.join("lib"))
        .fails(2, "name a directory");
    machine.exec("--record x --reorder on", &program).fails(2, "cannot be used with");
}
