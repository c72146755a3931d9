//! Checks that the library never waits for whichever message or request comes first.
//!
//! A program of sends, receives, waits for given requests and collectives, without the names below, behaves the same
//! for every order of messages; and if it cannot deadlock when each send waits for its receive, it cannot when messages
//! are buffered (S. F. Siegel and G. S. Avrunin, Modeling wildcard-free MPI programs for verification, PPoPP 2005; with
//! nonblocking operations, Verification of halting properties for MPI programs using nonblocking operations,
//! EuroPVM/MPI 2007). So runs in which all sends wait, `MINI_EAGER=0` in tests/hosts/cases/hostile.rs, also cover those
//! in which they do not. That is about the messages of the library, not about those of the program or within the host's
//! collectives.

use std::fs;
use std::path::{Path, PathBuf};

/// Parts of names: a receive from any source, a test for an arrival, and a wait for some of several requests.
const FORBIDDEN: [&str; 12] = [
    "MPI_ANY_SOURCE",
    "MPI_ANY_TAG",
    "MPI_Probe",
    "MPI_Iprobe",
    "MPI_Mprobe",
    "MPI_Improbe",
    "MPI_Waitany",
    "MPI_Waitsome",
    "MPI_Test(",
    "MPI_Testa",
    "MPI_Testsome",
    "MPI_Cancel",
];

/// The exceptions: a file, a name, and the reason.
const ALLOWED: [(&str, &str, &str); 1] = [(
    "MPI_Cancel",
    "src/host/neighbor/neighbor.c",
    "after an error only, of a receive on a communicator that carries no message afterwards",
)];

fn forbidden(text: &str) -> Vec<&'static str> {
    FORBIDDEN.into_iter().filter(|name| text.contains(name)).collect()
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => files(&path, found),
            false => found.push(path),
        }
    }
}

#[test]
fn no_function_receives_from_any_source() {
    let mut found = Vec::new();
    files(Path::new("src/host"), &mut found);
    files(Path::new("core/src/engine"), &mut found);
    assert!(found.len() > 50, "only {found:?}");
    let mut used = Vec::new();
    for path in &found {
        let name = path.to_str().unwrap();
        for call in forbidden(&fs::read_to_string(path).unwrap()) {
            let allowed = ALLOWED.iter().position(|(of, at, _)| (*of, *at) == (call, name));
            used.push(allowed.unwrap_or_else(|| panic!("{name} has {call}")));
        }
    }
    let unused = (0..ALLOWED.len()).find(|number| !used.contains(number));
    assert_eq!(unused.map(|number| ALLOWED[number]), None, "is allowed and not used");
}

#[test]
fn a_call_that_receives_from_any_source_is_found() {
    assert_eq!(forbidden("PMPI_Iprobe(0, 1, comm, &flag, &status);"), ["MPI_Iprobe"]);
    assert_eq!(forbidden("sys::PMPI_Test(request, flag, status)"), ["MPI_Test("]);
    assert_eq!(forbidden("PMPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm)"), ["MPI_ANY_SOURCE"]);
    assert!(forbidden("PMPI_Waitall(2, requests, statuses)").is_empty());
}
