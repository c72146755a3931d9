//! Means for tests.

use std::ffi::OsString;

use super::Means;
use crate::launch::Line;

/// Open MPI's launcher as the means.
pub(super) fn by_launcher() -> Means {
    means_of("prterun -n 4 ./app", "Open MPI v5.0.2")
}

/// Relays as the means.
pub(super) fn by_relays() -> Means {
    means_of("mpiexec.hydra -n 4 ./app", "MPICH Version: 4.0.2")
}

fn means_of(line: &str, mpi: &str) -> Means {
    let words: Vec<_> = line.split(' ').map(OsString::from).collect();
    let line = Line::read(&words, None, |_| String::new(), Some(mpi)).unwrap();
    Means::of(&line, mpi).map_err(|why| panic!("{why}")).unwrap()
}
