//! The bodies of the fuzz targets without a fuzzer: on the committed seeds, on changed seeds, and on random bytes.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::ALL;

/// The committed inputs of a body.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab/fuzz/seeds").join(name);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

#[test]
fn seeds_pass() {
    for (name, body) in ALL {
        let seeds = seeds(name);
        assert!(!seeds.is_empty(), "{name}");
        seeds.iter().for_each(|seed| body(seed));
    }
}

#[test]
fn each_body_has_its_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab/fuzz");
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    assert_eq!(manifest.matches("[[bin]]").count(), ALL.len());
    for (name, _) in ALL {
        let file = format!("fuzz_targets/{name}.rs");
        assert!(manifest.contains(&format!("name = \"{name}\"\npath = \"{file}\"")), "{name}");
        let target = fs::read_to_string(folder.join(&file)).unwrap();
        assert!(target.contains(&format!("cartograph_jobs::fuzz::{name}(data)")), "{name}");
    }
    assert_eq!(fs::read_dir(folder.join("seeds")).unwrap().count(), ALL.len());
}

/// Random bytes, or a seed with some bytes changed.
fn any_input() -> impl Strategy<Value = (usize, Vec<u8>)> {
    (0..ALL.len()).prop_flat_map(|body| {
        let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8);
        let changed = (prop::sample::select(seeds(ALL[body].0)), changes);
        let changed = changed.prop_map(|(mut seed, changes)| {
            for (at, byte) in changes.iter().filter(|_| !seed.is_empty()).collect::<Vec<_>>() {
                let at = at.index(seed.len());
                seed[at] = *byte;
            }
            seed
        });
        let any = prop::collection::vec(any::<u8>(), 0..400);
        (Just(body), prop_oneof![changed, any])
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn no_input_causes_a_panic((body, input) in any_input()) {
        ALL[body].1(&input);
    }
}
