//! Binds the host whose compiler wrapper `MPICC` names, as the main library's build script does, and
//! finds out which of MPI's functions it declares.

#[path = "../include/mpicc.rs"]
#[allow(dead_code, reason = "for all build scripts")]
mod mpicc;

const HEADER: &str = "src/shim.h";

fn main() {
    mpicc::rerun_if_changed(&[
        "build.rs",
        "../include/mpicc.rs",
        "../include/built_for.h",
        "../include/standard_abi.h",
        HEADER,
        "src/shim.c",
    ]);
    let mpicc = mpicc::wrapper();
    mpicc::compile(&mpicc, "src", &["src/shim.c"], "cartograph_record_shim");
    mpicc::bind(&mpicc, HEADER, "(cr|CR)_.*");
    mpicc::link(&mpicc, "libcartograph_record.so");
    let mut names = mpicc::words(&mpicc, "src", HEADER);
    names.retain(|word| word.starts_with("MPI_"));
    names.sort_unstable();
    names.dedup();
    mpicc::write_declared(names.iter().map(String::as_str));
}
