//! Checks imports: crates by their edges, modules by their floors and folders, and no source by another crate's path.

mod crates;
mod modules;

use std::collections::{BTreeMap, BTreeSet};

use modules::{Crate, circle};

/// The folders of the crates' roots.
const CRATES: [&str; 8] = [
    "core/src",
    "src",
    "jobs/src",
    "cli/src",
    "record/src",
    "preload/src",
    "shim/src",
    "traffic/src",
];

/// The modules of folders from the lowest floor up: each may import only those before it.
const FLOORS: [(&str, &str, &[&str]); 8] = [
    (
        "core/src",
        "",
        &["launcher", "topology", "machine", "mapping", "metis", "engine", "report", "settings"],
    ),
    ("core/src", "mapping", &["budget", "model", "distance", "plan", "search", "last_plan"]),
    ("src", "", &["host", "abi", "fortran"]),
    (
        "src",
        "host",
        &[
            "sys",
            "constants",
            "process",
            "family",
            "errors",
            "comm",
            "settings",
            "sentinel",
            "info",
            "call_settings",
            "attributes",
            "sessions",
            "machine",
            "report",
            "neighbor",
            "advisor",
            "map",
            "create",
        ],
    ),
    (
        "src",
        "host::neighbor",
        &[
            "blocks",
            "types",
            "ends",
            "pairing",
            "self_comm",
            "waitall",
            "argument_lifetime",
            "persistent",
            "alltoallw_args",
            "neighbor_args",
            "cache",
            "call",
            "validate",
            "self_copy",
            "blocking",
            "via_alltoallw",
            "via_neighbor",
            "route",
            "collective",
        ],
    ),
    (
        "jobs/src",
        "",
        &[
            "error",
            "replay",
            "pmi",
            "learn",
            "traffic",
            "predict",
            "program",
            "processes",
            "launch",
            "compare",
            "store",
            "place",
            "run",
            "draw",
            "fuzz",
        ],
    ),
    (
        "jobs/src",
        "run",
        &[
            "surroundings",
            "inputs",
            "kept",
            "relays",
            "candidates",
            "learned",
            "nodes",
            "choice",
            "with_relays",
            "decision",
        ],
    ),
    (
        "cli/src",
        "",
        &[
            "help", "output", "exec", "hosts", "dims", "traffic", "reports", "info", "pages",
            "trial", "run", "tune", "plan", "show",
        ],
    ),
];

fn name(folder: &str) -> modules::Name {
    folder.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[test]
fn no_modules_import_each_other_in_a_cycle() {
    let mut circles = BTreeMap::new();
    for root in CRATES {
        for (name, folder) in Crate::read(root).folders() {
            if let Some(way) = circle(&folder) {
                circles.insert(format!("{root} {}", name.join("::")), way.join(" -> "));
            }
        }
    }
    assert!(circles.is_empty(), "circles of imports: {circles:#?}");
}

/// Imports of a higher floor, and modules without a valid floor.
fn faults(crate_: &Crate, folder: &str, floors: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    let (parts, listed) = (crate_.parts(&name(folder)), floors.iter().copied().collect());
    faults.extend(parts.symmetric_difference(&listed).map(|part| format!("{part} has no floor")));
    let floor = |part: &str| floors.iter().position(|floor| *floor == part);
    for (part, imports) in crate_.folders().get(&name(folder)).into_iter().flatten() {
        for higher in imports.iter().filter(|import| floor(import) >= floor(part)) {
            faults.push(format!("{part} imports {higher}, which is above it"));
        }
    }
    faults
}

#[test]
fn modules_import_only_lower_floors() {
    for (root, folder, floors) in FLOORS {
        let faults = faults(&Crate::read(root), folder, floors);
        assert!(faults.is_empty(), "{root} {folder}: {faults:#?}");
    }
}

/// A folder's own file may import its parts, so parts that import from it make a circle.
#[test]
fn modules_do_not_import_their_folders_own_file() {
    let tangled = CRATES.iter().flat_map(|root| {
        let arrows = Crate::read(root).arrows_up();
        arrows.into_iter().map(|(folder, parts)| ((*root, folder.join("::")), parts))
    });
    let tangled: BTreeMap<(&str, String), BTreeSet<String>> = tangled.collect();
    assert!(tangled.is_empty(), "parts import from their folder: {tangled:#?}");
}

#[test]
fn imports_from_higher_floors_and_from_the_folder_are_found() {
    let mut crate_ = Crate::default();
    for (module, text) in [
        (
            "",
            "mod low;\nmod high;\npub use low::Low;\npub use elsewhere::Thing;\npub(crate) mod sys {",
        ),
        ("low", "use super::Low;\nuse crate::Thing;\nuse crate::sys::Handle;\nuse std::fmt;"),
        ("low", "mod own {\n    use super::Part;\n}\nuse crate::sys::Other;"),
        ("high", "mod part;\nuse part::Part;\nuse super::low::Low;"),
        ("high::part", "use super::Own;"),
    ] {
        crate_.read_file(text, &name(module));
    }
    assert_eq!(faults(&crate_, "", &["sys", "low", "high"]), [""; 0]);
    let (swapped, missing) = (&["sys", "high", "low"], &["sys", "low"]);
    assert_eq!(faults(&crate_, "", swapped), ["high imports low, which is above it"]);
    assert_eq!(faults(&crate_, "", missing)[0], "high has no floor");
    let arrows = crate_.arrows_up();
    assert_eq!(arrows, BTreeMap::from([(name("high"), BTreeSet::from(["high::part".to_owned()]))]));
}
