//! Writes a stub for each exported name: the names of `include/exports.txt` in all spellings with [`OTHERS`], or the C
//! names of `include/recorded.txt` that MPIs of this kind have.

use std::path::PathBuf;
use std::{env, fs};

const RECORDS: bool = cfg!(feature = "record");
const EXPORTS: &str = if RECORDS { "../include/recorded.txt" } else { "../include/exports.txt" };

/// Names outside the chapter: the mapping, and the functions by which libraries notice the end of the last session.
/// Programs call these only with a session, so they may exist here even if the MPI has no sessions; `MPI_Session_init`,
/// whose existence mpi4py tests, must not.
const OTHERS: [&str; 3] =
    ["MPI_Group_from_session_pset", "MPI_Session_finalize", "cartograph_plan"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={EXPORTS}");
    let exports = fs::read_to_string(EXPORTS).expect("the list of what is exported can be read");
    let mut names: Vec<String> = exports.lines().filter_map(there).flat_map(spellings).collect();
    if !RECORDS {
        names.extend(OTHERS.map(str::to_owned));
    }
    let stubs: String =
        names.iter().enumerate().map(|(index, name)| format!("{index} {name:?},\n")).collect();
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("stubs.rs"), format!("stubs! {{\n{stubs}}}\n"))
        .expect("OUT_DIR can be written");
    let options = [
        // Also correct for a program that was linked with -lcartograph.
        match RECORDS {
            false => "-Wl,-soname,libcartograph.so.0",
            true => "-Wl,-soname,libcartograph_record.so",
        },
        // The program keeps addresses in here.
        "-Wl,-z,nodelete",
        // The start files contain code that would run in every process.
        "-nostartfiles",
    ];
    for option in options {
        println!("cargo:rustc-cdylib-link-arg={option}");
    }
}

/// The function of a line, if MPIs of this kind have it.
fn there(line: &str) -> Option<&str> {
    match line.split_once(' ') {
        Some(("4", _)) if !cfg!(feature = "mpi4") => None,
        Some(("4c", _)) if !cfg!(feature = "mpi4c") => None,
        Some((_, name)) => Some(name),
        None => Some(line),
    }
}

/// All names of a function: in C, and in the spellings of Fortran compilers; each also with the prefix for tools.
/// Fortran has large counts in `mpi_f08` only, whose procedures call the C names, as all hosts' procedures do for the
/// functions that the recorder counts. So do the host's procedures whose names have no underscore, since a program may
/// define functions with these names.
fn spellings(name: &str) -> Vec<String> {
    let lower = name.to_lowercase();
    let mut all = vec![name.to_owned()];
    // Functions of Open MPI's Fortran library and internal functions of MPICH, which are not the standard's.
    if name.starts_with("MPI_") || name.starts_with("MPIX_") {
        all.push(format!("P{name}"));
    }
    if !RECORDS && !name.ends_with("_c") {
        for prefix in ["", "p"] {
            all.extend(["_", "__"].map(|end| format!("{prefix}{lower}{end}")));
        }
    }
    all
}
