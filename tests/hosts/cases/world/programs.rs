//! Programs of `c_tests` and `fortran`, and mpi4py's own tests, give the same output as on the bare host with
//! MPI_COMM_WORLD in other orders.

use super::super::Outcome;
use super::super::mpi4py::Mpi4py;
use super::{library, ordered, orders};
use crate::session::{Session, word};

const SOURCES: [&str; 11] = [
    "c_tests/topology/cart.c",
    "c_tests/topology/graph.c",
    "c_tests/topology/dist_graph.c",
    "c_tests/topology/poisson.c",
    "c_tests/neighbor/neighbor_host.c",
    "c_tests/errors/tolerated.c",
    "c_tests/topology/cxx_bindings.cpp",
    "c_tests/fortran/topology/mpif_h.f",
    "c_tests/fortran/topology/mpi_module.f90",
    "c_tests/fortran/topology/mpi_f08.f90",
    "c_tests/fortran/topology/poisson.f90",
];

/// mpi4py's tests except those of children, and of windows, in which MPICH 4.0.2 loses data put on the same machine.
const LEFT_OUT: [&str; 12] = [
    "-x",
    "test_spawn",
    "-x",
    "test_dynproc",
    "-x",
    "test_util_pool",
    "-x",
    "test_util_sync",
    "-x",
    "test_rma",
    "-x",
    "test_rma_nb",
];

/// The lines that a program prints, except those that a host does not write, and MPICH's output past the last weight.
fn defined(text: &str) -> Vec<String> {
    let is_defined = |line: &&str| {
        !["unweighted at most", "weighted at most 6 and 6"].iter().any(|words| line.contains(words))
    };
    text.lines().filter(is_defined).map(str::to_owned).collect()
}

pub(in super::super) fn run(mut session: Session<'_>) -> Outcome {
    let s = &mut session;
    let world = library(s, "libcartograph_world.so");
    for source in SOURCES {
        if s.host.compiler(source.as_ref()).is_none() {
            continue;
        }
        let folder = s.work("");
        let modules = ["-J", word(&folder)];
        let modules =
            if source.starts_with("c_tests/fortran") { &modules[..] } else { &["-pthread"] };
        let program = s.compile("program", source, &[modules, &["-lm"]].concat());
        s.preloaded.clear();
        s.runs(&format!("{source} on the bare host"), 4, &[], &[word(&program)]);
        let bare = defined(&s.out);
        s.preloaded.push(world.clone());
        for order in orders(4) {
            let setting = ordered(s, &order);
            s.runs(&format!("{source}, {order:?}"), 4, &[&setting], &[word(&program)]);
            s.check(&format!("{source}, {order:?}: as alone"), defined(&s.out) == bare);
        }
    }
    // mpi4py's wheel has none for the standard ABI.
    if s.host.name != "abi" {
        let mut mpi4py = Mpi4py::new(s)?;
        let python = mpi4py.python();
        s.preloaded.clear();
        let bare = mpi4py.tests(s, &python, "", &LEFT_OUT);
        s.check("mpi4py's tests pass on the bare host", bare.len() > 400);
        s.preloaded.push(world);
        mpi4py.settings.push(ordered(s, &[0, 2, 1]));
        let lost = &bare - &mpi4py.tests(s, &python, "", &LEFT_OUT);
        s.check(&format!("they pass in another order: {lost:?}"), lost.is_empty());
    }
    session.verdict()
}
