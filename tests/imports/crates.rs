//! Which crate may depend on which, which sources belong to which crate, and which Rust all need.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The crates by folder, with the dependencies of each. The root is the shim.
const EDGES: [(&str, &[&str]); 10] = [
    ("", &["core", "traffic"]),
    ("cli", &["core", "jobs", "traffic"]),
    ("core", &["shim"]),
    ("jobs", &["core", "shim", "traffic"]),
    ("lab/fuzz", &["jobs"]),
    ("lab", &["core", "jobs", "shim", "traffic"]),
    ("preload", &["shim"]),
    ("record", &["shim", "traffic"]),
    ("shim", &[]),
    ("traffic", &["shim"]),
];

/// Sources that a crate takes from another by `#[path]`: cargo sees no edge there, and compiles them twice. The build
/// scripts call the wrapper in the same way; the root's is that of a published package, which would otherwise need
/// another published crate.
const SHARED: [(&str, &str); 1] = [("record/build.rs", "include/mpicc.rs")];

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a file")
}

/// A path without `..`.
fn normal(path: &Path) -> String {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(normal.pop()),
            component => normal.push(component),
        }
    }
    normal.to_str().expect("names in UTF-8").to_owned()
}

/// The crates that a crate's manifest names by their paths, tests and build scripts included.
fn dependencies(folder: &str, manifest: &str) -> BTreeSet<String> {
    let mut section = "";
    let mut found = BTreeSet::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        }
        let path = line.split_once("path = \"").and_then(|(_, rest)| rest.split_once('"'));
        if let Some((path, _)) = path.filter(|_| section.contains("dependencies")) {
            found.insert(normal(&Path::new(folder).join(path)));
        }
    }
    found
}

#[test]
fn crates_depend_only_on_lower_ones() {
    let members = read("Cargo.toml");
    for list in
        members.lines().filter(|line| line.starts_with("members") || line.starts_with("exclude"))
    {
        for member in list.split('"').skip(1).step_by(2) {
            assert!(
                EDGES.iter().any(|(folder, _)| *folder == member),
                "{member} is new: EDGES lacks it"
            );
        }
    }
    for (folder, allowed) in EDGES {
        let manifest = read(&normal(&Path::new(folder).join("Cargo.toml")));
        let allowed = allowed.iter().map(|folder| (*folder).to_owned()).collect();
        assert_eq!(dependencies(folder, &manifest), allowed, "{folder}/Cargo.toml, and EDGES here");
    }
}

/// The crate that a file belongs to.
fn owner(path: &str) -> &'static str {
    let owners = EDGES.iter().map(|(folder, _)| *folder);
    owners
        .filter(|folder| Path::new(path).starts_with(folder))
        .max_by_key(|folder| folder.len())
        .expect("the root")
}

/// The sources of other crates that a source includes by path.
fn foreign(path: &str, text: &str) -> Vec<String> {
    let folder = Path::new(path).parent().expect("a folder");
    let paths =
        text.lines().filter_map(|line| line.trim().strip_prefix("#[path = \"")?.split_once('"'));
    let paths = paths.map(|(to, _)| normal(&folder.join(to)));
    paths.filter(|to| owner(to) != owner(path)).collect()
}

fn collect(folder: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).expect("a folder")
    {
        let path = entry.expect("an entry of it").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("names in UTF-8");
        let inner = normal(&Path::new(folder).join(name));
        if path.is_dir() {
            if !name.starts_with('.') && !["build", "target"].contains(&name) {
                collect(&inner, found);
            }
        } else if name.ends_with(".rs") {
            found.push(inner);
        }
    }
}

#[test]
fn no_crate_includes_sources_of_another() {
    let mut sources = Vec::new();
    collect("", &mut sources);
    let taken: BTreeSet<(&str, String)> = sources
        .iter()
        .flat_map(|from| foreign(from, &read(from)).into_iter().map(move |to| (from.as_str(), to)))
        .collect();
    let known = SHARED.iter().map(|(from, to)| (*from, (*to).to_owned())).collect();
    let new: Vec<_> = taken.difference(&known).collect();
    assert!(new.is_empty(), "depend on the other crate in Cargo.toml instead: {new:#?}");
    let old: Vec<_> = known.difference(&taken).collect();
    assert!(old.is_empty(), "SHARED need not name these any more: {old:#?}");
}

/// Cargo would compile a crate twice for one library, even if its default is to have no features.
#[test]
fn no_crate_turns_off_the_default_features_of_another() {
    for (folder, _) in EDGES {
        let manifest = read(&normal(&Path::new(folder).join("Cargo.toml")));
        let of_ours = manifest.lines().filter(|line| line.starts_with("cartograph-"));
        let without: Vec<&str> = of_ours.filter(|line| line.contains("default-features")).collect();
        assert!(without.is_empty(), "{folder}: {without:?}");
    }
}

/// The version in a line `NAME = "VERSION"` of a manifest.
fn field<'a>(manifest: &'a str, name: &str) -> Option<&'a str> {
    let value = |line: &'a str| line.strip_prefix(name)?.strip_prefix(" = \"")?.strip_suffix('"');
    manifest.lines().find_map(value)
}

fn version(text: &str) -> Vec<u32> {
    text.split('.').map(|part| part.parse().expect("a number")).collect()
}

#[test]
fn no_crate_needs_a_newer_rust_than_the_manifests_say() {
    let root = read("Cargo.toml");
    let (own, rust) = (field(&root, "version"), field(&root, "rust-version").expect("a version"));
    for (folder, _) in EDGES.iter().filter(|(folder, _)| *folder != "lab/fuzz") {
        let manifest = read(&normal(&Path::new(folder).join("Cargo.toml")));
        assert_eq!(field(&manifest, "version"), own, "{folder}");
        assert_eq!(field(&manifest, "rust-version"), Some(rust), "{folder}");
    }
    // Clippy rejects parts of the standard library that are newer, unless configured otherwise.
    let lint = ["clippy", "incompatible_msrv"].join("::");
    let mut sources = Vec::new();
    collect("", &mut sources);
    let told: Vec<_> = sources.iter().filter(|source| read(source).contains(&lint)).collect();
    assert!(told.is_empty(), "{told:?}");
    let host = output(Command::new("rustc").arg("-vV"));
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).expect("its host");
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let metadata = output(Command::new(cargo).current_dir(env!("CARGO_MANIFEST_DIR")).args([
        "metadata",
        "--locked",
        "--format-version=1",
        "--filter-platform",
        host,
    ]));
    let metadata: serde_json::Value = serde_json::from_str(&metadata).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > EDGES.len());
    for package in packages {
        let Some(needed) = package["rust_version"].as_str() else { continue };
        assert!(version(needed) <= version(rust), "{} needs Rust {needed}", package["name"]);
    }
}

fn output(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn edges_and_foreign_sources_are_found() {
    let manifest = "[dependencies]\nlow = { path = \"../low\" }\n[[bin]]\npath = \"src/main.rs\"\n\
        [target.'cfg(unix)'.dev-dependencies.other]\npath = \"../other\"\n";
    let found = dependencies("cli", manifest);
    assert_eq!(found, BTreeSet::from(["low".to_owned(), "other".to_owned()]));
    let text = "#[path = \"../../core/src/a.rs\"]\nmod a;\n    #[path = \"b.rs\"]\nmod b;\n#[path = \"../../x.rs\"]";
    assert_eq!(foreign("cli/src/main.rs", text), ["core/src/a.rs", "x.rs"]);
    assert_eq!(foreign("src/lib.rs", "#[path = \"../cli/src/elf.rs\"]"), ["cli/src/elf.rs"]);
}
