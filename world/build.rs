//! Makes the table of MPI's functions out of the host's mpi.h: name, arguments, result and which arguments are
//! communicators. `src/forward.rs` makes a wrapper of each line.

#[path = "../include/mpicc.rs"]
#[allow(dead_code, reason = "for all build scripts")]
mod mpicc;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

use quote::ToTokens;
use syn::{FnArg, ForeignItem, Item, ReturnType, Type};

const HEADER: &str = "src/shim.h";

/// The file whose functions are written by hand, each in a line `by_hand! { NAME(`.
const BY_HAND: &str = "src/by_hand.rs";

/// Functions that mean the true world, or that only name a handle: they go past this library.
const LEFT_ALONE: [&str; 3] = ["MPI_Abort", "MPI_Comm_c2f", "MPI_Comm_toint"];

/// The functions of the host that this library calls itself.
const CALLED: [&str; 23] = [
    "Bcast",
    "Comm_c2f",
    "Comm_free",
    "Comm_free_keyval",
    "Comm_create_keyval",
    "Comm_get_attr",
    "Comm_get_errhandler",
    "Comm_get_parent",
    "Comm_group",
    "Comm_rank",
    "Comm_set_attr",
    "Comm_set_errhandler",
    "Comm_set_name",
    "Comm_size",
    "Comm_split",
    "Comm_split_type",
    "Errhandler_free",
    "Gather",
    "Group_free",
    "Group_incl",
    "Group_translate_ranks",
    "Initialized",
    "Scatter",
];

fn main() {
    let shim = "src/shim.c";
    mpicc::rerun_if_changed(&[
        "build.rs",
        "../include/mpicc.rs",
        "../include/built_for.h",
        "../include/standard_abi.h",
        HEADER,
        shim,
        BY_HAND,
    ]);
    let mpicc = mpicc::wrapper();
    mpicc::compile(&mpicc, "src", &[shim], "cartograph_world_shim");
    mpicc::link(&mpicc, "libcartograph_world.so");

    let bindings = bindings(&mpicc);
    let declared = declared(&bindings);
    let by_hand = fs::read_to_string(BY_HAND).expect("the functions by hand can be read");
    let is_by_hand = |name: &str| by_hand.contains(&format!("by_hand! {{ {name}("));
    let mut table = String::new();
    for (name, function) in &declared {
        let takes_one = !function.comms.is_empty() && declared.contains_key(&format!("P{name}"));
        if takes_one && !is_by_hand(name) && !LEFT_ALONE.contains(&name.as_str()) {
            let Function { arguments, result, comms } = function;
            let _ = writeln!(
                table,
                "forward! {{ {name} [{}] ({arguments}) -> {result} }}",
                comms.join(" ")
            );
        }
    }
    let mut host = String::new();
    for name in CALLED {
        if let Some(Function { arguments, result, .. }) = declared.get(&format!("PMPI_{name}")) {
            let _ = writeln!(host, "call! {{ PMPI_{name} ({arguments}) -> {result} }}");
        }
    }
    mpicc::write_declared(declared.keys().map(String::as_str));
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    for (file, text) in [("sys.rs", bindings), ("forward.rs", table), ("host.rs", host)] {
        fs::write(out.join(file), text).expect("OUT_DIR can be written");
    }
    // The host's own names, whose libraries for Fortran go past those of C.
    println!("cargo:rustc-check-cfg=cfg(mpich, open_mpi)");
    let words = mpicc::words(&mpicc, "src", HEADER);
    let is = |word: &str| words.iter().any(|found| found == word);
    if is("ompi_communicator_t") {
        println!("cargo:rustc-cfg=open_mpi");
    } else if !env::var("CFLAGS").unwrap_or_default().contains("mpi5abi") {
        println!("cargo:rustc-cfg=mpich");
    }
}

/// The declarations of mpi.h, in Rust.
fn bindings(mpicc: &str) -> String {
    let flags = mpicc::shown_flags(mpicc);
    let of_header = flags.iter().filter(|flag| flag.starts_with("-I") || flag.starts_with("-D"));
    let bindings = bindgen::builder()
        .header(HEADER)
        .clang_args(of_header)
        .allowlist_function("P?MPIX?_.*|cw_.*")
        .allowlist_item("(cw|CW)_.*")
        .allowlist_type("MPI_.*")
        .prepend_enum_name(false)
        .merge_extern_blocks(true)
        .layout_tests(false)
        .generate()
        .unwrap_or_else(|error| panic!("{HEADER} cannot be bound with {mpicc}: {error}"));
    bindings.to_string()
}

/// A function's arguments and result as they are written, and the names of those arguments that are communicators.
struct Function {
    arguments: String,
    result: String,
    comms: Vec<String>,
}

fn declared(bindings: &str) -> BTreeMap<String, Function> {
    let file = syn::parse_file(bindings).expect("bindgen writes Rust");
    let blocks = file.items.into_iter().filter_map(|item| match item {
        Item::ForeignMod(block) => Some(block.items),
        _ => None,
    });
    let mut found = BTreeMap::new();
    for item in blocks.flatten() {
        let ForeignItem::Fn(function) = item else { continue };
        let signature = function.sig;
        let name = signature.ident.to_string();
        let (mut arguments, mut comms) = (Vec::new(), Vec::new());
        for argument in &signature.inputs {
            let FnArg::Typed(argument) = argument else { continue };
            let (name, kind) = (&argument.pat, &argument.ty);
            let shown = name.to_token_stream().to_string();
            if matches!(&**kind, Type::Path(path) if path.path.is_ident("MPI_Comm")) {
                comms.push(shown.clone());
            }
            arguments.push(format!("{shown}: {}", kind.to_token_stream()));
        }
        let result = match &signature.output {
            ReturnType::Default => "()".to_owned(),
            ReturnType::Type(_, kind) => kind.to_token_stream().to_string(),
        };
        assert!(
            signature.variadic.is_none() || comms.is_empty(),
            "{name} takes any number of arguments"
        );
        found.insert(name, Function { arguments: arguments.join(", "), result, comms });
    }
    found
}
