//! Every C header includes everything that it uses: each compiles by itself, with the mpi.h of mini.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The faults of a header that is compiled by itself. MPI functions that mini does not declare are not faults.
fn faults(header: &Path) -> Vec<String> {
    let output = Command::new("cc")
        .args(["-std=gnu11", "-fsyntax-only", "-Wno-pragma-once-outside-header", "-Ic_tests/mini"])
        .args(["-Werror=implicit-function-declaration", "-x", "c"])
        .arg(header)
        .env("LC_ALL", "C")
        .output()
        .expect("there is a C compiler");
    let said = String::from_utf8_lossy(&output.stderr);
    let of_host = |line: &str| {
        line.contains("implicit") && [" 'MPI_", " 'PMPI_"].iter().any(|name| line.contains(name))
    };
    said.lines()
        .filter(|line| line.contains(" error: ") && !of_host(line))
        .map(String::from)
        .collect()
}

/// All headers below a directory.
fn headers(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap()) {
        let path = entry.path();
        if path.is_dir() {
            headers(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "h") {
            found.push(path);
        }
    }
}

#[test]
fn every_header_compiles_alone() {
    // The crate's package has no C sources.
    if !Path::new("c_tests").exists() {
        return;
    }
    let mut found = Vec::new();
    for directory in ["c_tests", "include", "record/src"] {
        headers(Path::new(directory), &mut found);
    }
    assert!(found.len() > 20, "only {found:?}");
    let faults: Vec<String> = found.iter().flat_map(|header| faults(header)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_header_that_needs_another_is_found() {
    let directory = std::env::temp_dir().join(format!("cartograph-header-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let header = directory.join("needy.h");
    for (text, wrong) in [
        ("#include <mpi.h>\nstatic inline int rank(void) { return MPI_PROC_NULL; }\n", false),
        ("#include <mpi.h>\nstatic inline void absent(void) { MPI_Win_free(0); }\n", false),
        ("static inline int rank(void) { return MPI_PROC_NULL; }\n", true),
        ("static inline void check_all(void) { CHECK_IT(1); }\n", true),
        ("struct has { size_t bytes; };\n", true),
    ] {
        std::fs::write(&header, text).unwrap();
        assert_eq!(!faults(&header).is_empty(), wrong, "{text}");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}
