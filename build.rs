//! Binds exactly one host: the MPI whose compiler wrapper `MPICC` names (default `mpicc`).
//! Without the `host` feature there is nothing to do.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "host")]
    host::bind();
}

#[cfg(feature = "host")]
mod host {
    use std::path::PathBuf;
    use std::process::Command;
    use std::{env, fs};

    const HEADER: &str = "include/cartograph_host.h";
    const SHIMS: [&str; 4] =
        ["src/host/shim.c", "src/host/group.c", "src/host/neighbor.c", "src/host/place.c"];

    pub(crate) fn bind() {
        for variable in ["MPICC", "CFLAGS", "BINDGEN_EXTRA_CLANG_ARGS"] {
            println!("cargo:rerun-if-env-changed={variable}");
        }
        for file in [&[HEADER][..], &SHIMS].concat() {
            println!("cargo:rerun-if-changed={file}");
        }
        let mpicc = env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
        compile_shims(&mpicc);
        generate_bindings(&mpicc);
        find_optional_functions(&mpicc);
        // A program that was linked with -lcartograph asks for this name at run time. The library
        // must stay loaded once the host knows its callbacks.
        for option in ["-soname,libcartograph.so.0", "-z,nodelete"] {
            println!("cargo:rustc-cdylib-link-arg=-Wl,{option}");
        }
        // Where the host itself is found, also in programs that do not bring it along.
        for option in shown_flags(&mpicc).iter().filter(|flag| flag.starts_with("-Wl,")) {
            if option.contains("rpath") || option.starts_with("-Wl,/") {
                println!("cargo:rustc-cdylib-link-arg={option}");
            }
        }
    }

    fn compile_shims(mpicc: &str) {
        cc::Build::new()
            .compiler(mpicc)
            .include("include")
            .files(SHIMS)
            .warnings(true)
            .extra_warnings(true)
            .compile("cartograph_shim");
    }

    /// Not every host declares the persistent functions and those with large counts, whatever MPI
    /// version it says it has.
    fn find_optional_functions(mpicc: &str) {
        let header = cc::Build::new().compiler(mpicc).include("include").file(HEADER).expand();
        let header = String::from_utf8_lossy(&header);
        for (cfg, function) in [
            ("mpi_neighbor_init", "MPI_Neighbor_alltoallw_init"),
            ("mpi_large_count", "MPI_Neighbor_alltoallw_c"),
            ("mpi_neighbor_init_large_count", "MPI_Neighbor_alltoallw_init_c"),
        ] {
            println!("cargo:rustc-check-cfg=cfg({cfg})");
            let declares = |word: &str| word == function;
            if header.split(|c: char| !c.is_alphanumeric() && c != '_').any(declares) {
                println!("cargo:rustc-cfg={cfg}");
            }
        }
    }

    /// The shims' own names; MPI's types are those of mpi-sys.
    fn generate_bindings(mpicc: &str) {
        let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
        let bindings = bindgen::builder()
            .header(HEADER)
            .clang_args(header_flags(mpicc))
            .allowlist_item("(cg|CG)_.*")
            .blocklist_type("MPI_.*")
            .raw_line("use mpi_sys::*;")
            .prepend_enum_name(false)
            .generate()
            .unwrap_or_else(|error| panic!("{HEADER} cannot be bound with {mpicc}: {error}"));
        fs::write(out.join("shim.rs"), bindings.to_string()).expect("OUT_DIR can be written");
    }

    /// What the wrapper passes to the preprocessor.
    fn header_flags(mpicc: &str) -> Vec<String> {
        let all = shown_flags(mpicc);
        all.into_iter().filter(|flag| flag.starts_with("-I") || flag.starts_with("-D")).collect()
    }

    /// What the wrapper passes to the compiler and to the linker.
    fn shown_flags(mpicc: &str) -> Vec<String> {
        let shown = Command::new(mpicc)
            .arg("-show")
            .output()
            .unwrap_or_else(|error| panic!("MPICC={mpicc} cannot be run: {error}"));
        String::from_utf8_lossy(&shown.stdout).split_whitespace().map(str::to_owned).collect()
    }
}
