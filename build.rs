//! Binds exactly one host: the MPI whose compiler wrapper `MPICC` names (default `mpicc`).
//! Without the `host` feature there is nothing to do.

#[cfg(feature = "host")]
#[allow(dead_code, reason = "for all build scripts")]
#[path = "include/mpicc.rs"]
mod mpicc;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "host")]
    host::bind();
}

#[cfg(feature = "host")]
mod host {
    use crate::mpicc;

    const HEADER: &str = "include/cartograph_host.h";
    const SHIMS: [&str; 8] = [
        "src/host/shim.c",
        "src/host/neighbor/graph.c",
        "src/host/sentinel.c",
        "src/host/attributes/group.c",
        "src/host/neighbor/neighbor.c",
        "src/host/neighbor/pairing.c",
        "src/host/machine/place.c",
        "src/host/neighbor/wait.c",
    ];

    pub(crate) fn bind() {
        mpicc::rerun_if_changed(
            &[
                &[HEADER, "include/built_for.h", "include/standard_abi.h", "include/mpicc.rs"][..],
                &SHIMS,
            ]
            .concat(),
        );
        let mpicc = mpicc::wrapper();
        mpicc::compile(&mpicc, "include", &SHIMS, "cartograph_shim");
        mpicc::bind(&mpicc, HEADER, "(cg|CG)_.*");
        find_declared_functions(&mpicc);
        // A program that was linked with -lcartograph asks for this name at run time.
        mpicc::link(&mpicc, "libcartograph.so.0");
    }

    /// Not every host declares the persistent functions and those with large counts, whatever MPI version it reports.
    /// They are exported all the same; where they are declared, prototypes are compared. The functions of sessions are
    /// outside the chapter, and exported only where they are declared.
    fn find_declared_functions(mpicc: &str) {
        let declared = mpicc::words(mpicc, "include", HEADER);
        for (cfg, function) in [
            ("mpi_neighbor_init", "MPI_Neighbor_alltoallw_init"),
            ("mpi_large_count", "MPI_Neighbor_alltoallw_c"),
            ("mpi_neighbor_init_large_count", "MPI_Neighbor_alltoallw_init_c"),
            ("mpi_sessions", "MPI_Session_finalize"),
        ] {
            println!("cargo:rustc-check-cfg=cfg({cfg})");
            if declared.iter().any(|word| word == function) {
                println!("cargo:rustc-cfg={cfg}");
            }
        }
    }
}
