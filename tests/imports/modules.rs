//! The modules of a crate and what they import, read from their sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

pub(crate) type Name = Vec<String>;

/// A path from the crate's root.
#[derive(Clone, PartialEq)]
struct Import {
    path: Name,
    /// The path leads to another crate if its first words name neither a module nor an export of this one.
    head: usize,
}

/// The modules of a crate: for each, the paths that it imports, and those that it re-exports.
#[derive(Default)]
pub(crate) struct Crate {
    imports: BTreeMap<Name, Vec<Import>>,
    exports: BTreeMap<Name, Import>,
}

impl Crate {
    pub(crate) fn read(root: &str) -> Self {
        let mut crate_ = Self::default();
        crate_.read_folder(Path::new(env!("CARGO_MANIFEST_DIR")).join(root).as_path(), &[]);
        assert!(!crate_.imports.is_empty(), "{root} has no modules");
        crate_
    }

    fn read_folder(&mut self, folder: &Path, module: &[String]) {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry of it").path();
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let inner = [module, &[stem.to_owned()]].concat();
            if ["tests", "bin"].contains(&stem) {
            } else if path.is_dir() {
                self.read_folder(&path, &inner);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let is_root = ["mod", "lib", "main"].contains(&stem);
                let module = if is_root { module } else { &inner };
                self.read_file(&fs::read_to_string(&path).expect("a source"), module);
            }
        }
    }

    pub(crate) fn read_file(&mut self, text: &str, module: &[String]) {
        // Tests may import anything; they are last in a file.
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for inner in text.lines().filter_map(declared).filter(|inner| *inner != "tests") {
            self.imports.entry([module, &[inner.to_owned()]].concat()).or_default();
        }
        let mut imports = Vec::new();
        // A module that is written in the file is a part of it, though its paths begin one level below.
        let mut place = module.to_vec();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            match declared(line) {
                Some(inner) if line.ends_with('{') => place.push(inner.to_owned()),
                _ if line == "}" => place.truncate(module.len()),
                _ => {}
            }
            let Some((before, first)) = line.trim().split_once("use ") else { continue };
            let is_export = before.starts_with("pub");
            if !before.is_empty() && !is_export {
                continue;
            }
            let mut statement = first.to_owned();
            while !statement.contains(';') {
                statement += lines.next().expect("statements end").trim();
            }
            for path in paths(statement.split(';').next().unwrap_or_default()) {
                let (path, name) = path.split_once(" as ").unwrap_or((&path, ""));
                let import = absolute(&place, path.trim());
                let name = Some(name.to_owned()).filter(|name| !name.is_empty());
                match name.or(import.path.last().cloned()).filter(|_| is_export) {
                    Some(name) => drop(self.exports.insert([&place[..], &[name]].concat(), import)),
                    None => imports.push(import),
                }
            }
        }
        self.imports.entry(module.to_vec()).or_default().extend(imports);
    }

    /// The module that defines an import, found through all re-exports; `None` if another crate defines it.
    fn module_of(&self, import: &Import) -> Option<Name> {
        let (mut import, mut at) = (import.clone(), 0);
        // There are no more steps than exports: a chain that continues after that is a cycle.
        for _ in 0..=self.exports.len() {
            let Import { path, head } = &import;
            let head = &path[..*head];
            if !head.is_empty()
                && !self.imports.contains_key(head)
                && !self.exports.contains_key(head)
            {
                return None;
            }
            let module =
                (0..=path.len()).rev().find(|end| self.imports.contains_key(&path[..*end]));
            at = module.unwrap_or(0);
            match path.get(..at + 1).and_then(|item| self.exports.get(item)) {
                Some(exported) if exported.path != *path => {
                    let path = [&exported.path[..], &path[at + 1..]].concat();
                    import = Import { path, ..*exported };
                }
                _ => break,
            }
        }
        import.path.truncate(at);
        Some(import.path)
    }

    /// Each module, and one that it imports from.
    fn arrows(&self) -> impl Iterator<Item = (&Name, Name)> {
        self.imports.iter().flat_map(move |(from, imports)| {
            imports.iter().filter_map(move |import| Some((from, self.module_of(import)?)))
        })
    }

    /// For each folder whose modules import from the folder's own file, these modules.
    pub(crate) fn arrows_up(&self) -> BTreeMap<Name, BTreeSet<String>> {
        let mut folders: BTreeMap<Name, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in self.arrows().filter(|(from, to)| from.len() > to.len()) {
            if from.starts_with(&to) {
                folders.entry(to).or_default().insert(from.join("::"));
            }
        }
        folders
    }

    /// The modules of a folder.
    pub(crate) fn parts(&self, folder: &[String]) -> BTreeSet<&str> {
        let inside = self.imports.keys().filter(|module| module.starts_with(folder));
        inside.filter_map(|module| module.get(folder.len())).map(String::as_str).collect()
    }

    /// For each folder, the modules in it that each of its modules imports, directly or through its parts.
    pub(crate) fn folders(&self) -> BTreeMap<Name, BTreeMap<&str, BTreeSet<String>>> {
        let mut folders: BTreeMap<Name, BTreeMap<&str, BTreeSet<String>>> = BTreeMap::new();
        for (from, to) in self.arrows() {
            let same = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if let (Some(from_part), Some(to_part)) = (from.get(same), to.get(same)) {
                let folder = folders.entry(from[..same].to_vec()).or_default();
                folder.entry(from_part).or_default().insert(to_part.clone());
            }
        }
        folders
    }
}

/// The module that a line at the left margin declares.
fn declared(line: &str) -> Option<&str> {
    let (before, name) = line.strip_suffix(';').or(line.strip_suffix(" {"))?.split_once("mod ")?;
    let is_name = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    (is_name && (before.is_empty() || before.starts_with("pub"))).then_some(name)
}

/// The paths of a `use`, without its braces, each with its `as NAME`.
fn paths(tree: &str) -> Vec<String> {
    let Some((before, rest)) = tree.split_once('{') else {
        return vec![tree.trim().to_owned()];
    };
    let inner = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
    let (mut depth, mut items) = (0, vec![String::new()]);
    for letter in inner.chars() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        if letter == ',' && depth == 0 {
            items.push(String::new());
        } else {
            items.last_mut().expect("one at least").push(letter);
        }
    }
    let items = items.iter().map(|item| item.trim()).filter(|item| !item.is_empty());
    items.flat_map(|item| paths(&format!("{}{item}", before.trim()))).collect()
}

/// A path from the crate's root.
fn absolute(module: &[String], path: &str) -> Import {
    let mut words: Vec<&str> = path.split("::").collect();
    let (mut at, head) = match words[0] {
        "crate" => (Vec::new(), 0),
        "self" | "super" => (module.to_vec(), 0),
        _ => (module.to_vec(), module.len() + 1),
    };
    if ["crate", "self"].contains(&words[0]) {
        words.remove(0);
    }
    for word in words {
        match word {
            "super" => drop(at.pop()),
            "self" | "*" => {}
            word => at.push(word.to_owned()),
        }
    }
    Import { path: at, head }
}

/// A cycle from a module back to itself.
pub(crate) fn circle(folder: &BTreeMap<&str, BTreeSet<String>>) -> Option<Vec<String>> {
    fn follow(
        folder: &BTreeMap<&str, BTreeSet<String>>,
        way: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> bool {
        let last = way.last().expect("a beginning").clone();
        for next in folder.get(last.as_str()).into_iter().flatten() {
            if let Some(first) = way.iter().position(|module| module == next) {
                way.drain(..first);
                way.push(next.clone());
                return true;
            }
            if !done.contains(next) {
                way.push(next.clone());
                if follow(folder, way, done) {
                    return true;
                }
                way.pop();
            }
        }
        done.insert(last);
        false
    }
    let mut done = BTreeSet::new();
    folder.keys().find_map(|module| {
        let mut way = vec![(*module).to_owned()];
        follow(folder, &mut way, &mut done).then_some(way)
    })
}

#[test]
fn a_cycle_is_found_through_folders_and_exports() {
    let mut crate_ = Crate::default();
    for (module, text) in [
        ("a", "pub use self::inner::Thing;\nuse super::c::C;"),
        ("a::inner", "use std::fmt;"),
        ("b", "use crate::{\n    a::Thing,\n    d::{self, D},\n};"),
        ("c", "use super::b::{B as Other, Else};"),
        ("d", "#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}"),
    ] {
        crate_.read_file(text, &module.split("::").map(str::to_owned).collect::<Vec<_>>());
    }
    let folders = crate_.folders();
    assert_eq!(folders.len(), 1, "{folders:?}");
    assert_eq!(circle(&folders[&Vec::new()]).unwrap(), ["a", "c", "b", "a"]);
    assert_eq!(circle(&BTreeMap::from([("b", BTreeSet::from(["d".to_owned()]))])), None);
}

#[test]
fn renamed_exports_are_followed_and_cycles_end() {
    let mut crate_ = Crate::default();
    for (module, text) in [
        (
            "a",
            "pub use self::Kind::Kind;\npub use self::inner as outer;\npub use super::b::Circle;",
        ),
        ("a::inner", "use std::fmt;"),
        ("b", "pub use super::a::Circle;"),
    ] {
        crate_.read_file(text, &module.split("::").map(str::to_owned).collect::<Vec<_>>());
    }
    let module_of = |path: &str| {
        crate_.module_of(&absolute(&[], &format!("crate::{path}"))).unwrap().join("::")
    };
    assert_eq!(module_of("a::outer::Thing"), "a::inner");
    assert_eq!(module_of("a::Kind::Other"), "a");
    // Either of the two is correct.
    assert!(["a", "b"].contains(&&*module_of("a::Circle")));
}
