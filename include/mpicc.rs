// Queries of a host's compiler wrapper, for the build scripts of this workspace, which include this file by its path.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

/// The wrapper that `MPICC` names.
pub(crate) fn wrapper() -> String {
    env::var("MPICC").unwrap_or_else(|_| "mpicc".into())
}

/// Tells cargo which files and variables to watch before it reuses the bindings of a host.
pub(crate) fn rerun_if_changed(files: &[&str]) {
    for variable in ["MPICC", "CFLAGS", "BINDGEN_EXTRA_CLANG_ARGS"] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    for file in files {
        println!("cargo:rerun-if-changed={file}");
    }
}

/// Compiles C files into an archive that is linked in.
pub(crate) fn compile(mpicc: &str, include: &str, files: &[&str], name: &str) {
    cc::Build::new()
        .compiler(mpicc)
        .include(include)
        .define("_GNU_SOURCE", None)
        .files(files)
        .warnings(true)
        .extra_warnings(true)
        .compile(name);
}

/// All words of a header and of the headers that it includes.
pub(crate) fn words(mpicc: &str, include: &str, header: &str) -> Vec<String> {
    let text = cc::Build::new().compiler(mpicc).include(include).file(header).expand();
    let text = String::from_utf8_lossy(&text);
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Writes the macro `if_declared!` to OUT_DIR/declared.rs: it expands to the code after one of these names, and to
/// nothing after any other name.
pub(crate) fn write_declared<'a>(names: impl Iterator<Item = &'a str>) {
    let rule = |name: &str| format!("    ({name} $($then:tt)*) => {{ $($then)* }};\n");
    let rules: String = names.map(rule).collect();
    let text = format!(
        "macro_rules! if_declared {{\n{rules}    ($absent:ident $($then:tt)*) => {{}};\n}}\n"
    );
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("declared.rs"), text).expect("OUT_DIR can be written");
}

/// Binds the names of a header that match a pattern, in OUT_DIR/shim.rs; MPI's types are those of mpi-sys.
pub(crate) fn bind(mpicc: &str, header: &str, names: &str) {
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    let flags = shown_flags(mpicc);
    let of_header = flags.iter().filter(|flag| flag.starts_with("-I") || flag.starts_with("-D"));
    let bindings = bindgen::builder()
        .header(header)
        .clang_args(of_header)
        .allowlist_item(names)
        .blocklist_type("MPI_.*")
        .raw_line("use mpi_sys::*;")
        .prepend_enum_name(false)
        .generate()
        .unwrap_or_else(|error| panic!("{header} cannot be bound with {mpicc}: {error}"));
    fs::write(out.join("shim.rs"), bindings.to_string()).expect("OUT_DIR can be written");
}

/// Links a shared library as `soname`: it stays loaded once the host knows its callbacks, and finds the host even in
/// programs that are not linked with the host.
pub(crate) fn link(mpicc: &str, soname: &str) {
    for option in [&format!("-soname,{soname}"), "-z,nodelete"] {
        println!("cargo:rustc-cdylib-link-arg=-Wl,{option}");
    }
    for option in shown_flags(mpicc).iter().filter(|flag| flag.starts_with("-Wl,")) {
        if option.contains("rpath") || option.starts_with("-Wl,/") {
            println!("cargo:rustc-cdylib-link-arg={option}");
        }
    }
}

/// The arguments that the wrapper passes to the compiler and to the linker.
pub(crate) fn shown_flags(mpicc: &str) -> Vec<String> {
    let shown = Command::new(mpicc)
        .arg("-show")
        .output()
        .unwrap_or_else(|error| panic!("MPICC={mpicc} cannot be run: {error}"));
    String::from_utf8_lossy(&shown.stdout).split_whitespace().map(str::to_owned).collect()
}
