//! Binds the host whose compiler wrapper `MPICC` names, as the main library's build script does, and
//! finds out which of MPI's functions it declares.

#[path = "../mpicc.rs"]
mod mpicc;

use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

const HEADER: &str = "src/shim.h";

fn main() {
    mpicc::rerun_if_changed(&[
        "build.rs",
        "../mpicc.rs",
        "../include/built_for.h",
        HEADER,
        "src/shim.c",
    ]);
    let mpicc = mpicc::wrapper();
    mpicc::compile(&mpicc, "src", &["src/shim.c"], "cartograph_record_shim");
    mpicc::bind(&mpicc, HEADER, "(cr|CR)_.*");
    mpicc::link(&mpicc, "libcartograph_record.so");
    write_declared(&mpicc);
}

/// Writes the macro `if_declared!`: what follows a function's name in it is there if mpi.h declares it.
fn write_declared(mpicc: &str) {
    let mut names = mpicc::words(mpicc, "src", HEADER);
    names.retain(|word| word.starts_with("MPI_"));
    names.sort_unstable();
    names.dedup();
    let mut text = "macro_rules! if_declared {\n".to_owned();
    for name in names {
        let _ = writeln!(text, "    ({name} $($then:tt)*) => {{ $($then)* }};");
    }
    text.push_str("    ($absent:ident $($then:tt)*) => {};\n}\n");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("declared.rs"), text).expect("OUT_DIR can be written");
}
