//! Which crate may depend on which, and whose sources are whose.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The crates by their folders, and those of them that each depends on. The root is the shim.
const EDGES: [(&str, &[&str]); 9] = [
    ("", &["core", "traffic"]),
    ("cli", &["core", "traffic"]),
    // Its fuzz bodies alone read recordings.
    ("core", &["traffic"]),
    ("fuzz", &["core"]),
    ("lab", &["core"]),
    ("preload", &[]),
    ("record", &["traffic"]),
    ("traffic", &[]),
    ("world", &["core"]),
];

/// Sources that a crate takes from another by `#[path]`: cargo sees no edge there, and compiles them twice. A crate of
/// what they share is to take their place.
const SHARED: [(&str, &str, &str); 11] = [
    ("core/src/fuzz/mod.rs", "cli/src/elf.rs", "fuzzed with the other readers"),
    ("core/src/fuzz/mod.rs", "world/src/order.rs", "fuzzed with the other readers"),
    ("lab/src/bin/results/programs.rs", "cli/src/runs/measure.rs", "the statistics of tune"),
    ("preload/src/lib.rs", "cli/src/elf.rs", "without the standard library"),
    ("preload/src/lib.rs", "core/src/launcher/variables.rs", "without the standard library"),
    ("preload/src/lib.rs", "core/src/report/switch.rs", "without the standard library"),
    ("record/build.rs", "mpicc.rs", "all build scripts ask the wrapper alike"),
    ("world/build.rs", "mpicc.rs", "all build scripts ask the wrapper alike"),
    ("world/src/lib.rs", "record/src/names.rs", "macros that make exported functions"),
    ("world/src/lib.rs", "record/src/next.rs", "both call the next library's function"),
    ("world/src/lib.rs", "record/src/say.rs", "both write lines of stderr"),
];

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
fn crates_depend_on_lower_ones_only() {
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

/// The sources of other crates that a source has by their paths.
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
fn no_crate_takes_sources_of_another() {
    let mut sources = Vec::new();
    collect("", &mut sources);
    let taken: BTreeSet<(&str, String)> = sources
        .iter()
        .flat_map(|from| foreign(from, &read(from)).into_iter().map(move |to| (from.as_str(), to)))
        .collect();
    let known = SHARED.iter().map(|(from, to, _)| (*from, (*to).to_owned())).collect();
    let new: Vec<_> = taken.difference(&known).collect();
    assert!(new.is_empty(), "depend on the other crate in Cargo.toml instead: {new:#?}");
    let old: Vec<_> = known.difference(&taken).collect();
    assert!(old.is_empty(), "SHARED need not name these any more: {old:#?}");
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
