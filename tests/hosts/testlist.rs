//! `c_tests/testlist`: the programs and cases, and how they are run.

use std::path::{Path, PathBuf};

use crate::host::Library;

/// How a program uses Cartograph, and the expected result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Without the library and with it preloaded: both outputs must be equal.
    Same,
    /// With the library preloaded only: the program checks itself.
    Preloaded,
    /// With the library for every MPI preloaded, which uses the host's: the program checks itself.
    Forwarded,
    /// Linked with the shared library: the program checks itself.
    Linked,
    /// Linked with the archive: the program checks itself.
    Static,
    /// Linked with the shared library, over a mini that fails, waits and runs out of resources.
    Hostile,
    /// A test in Rust, in `cases`.
    Case,
}

impl Way {
    /// True if the test starts processes.
    pub(crate) fn is_by_itself(self) -> bool {
        self == Self::Case
    }
}

/// A run of the list.
#[derive(Debug, Clone)]
pub(crate) struct Test {
    pub(crate) source: PathBuf,
    pub(crate) way: Way,
    pub(crate) processes: Vec<u32>,
    pub(crate) arguments: Vec<String>,
    /// `CARTOGRAPH_NAME=VALUE` or a setting of UCX, set where the library is used.
    pub(crate) settings: Vec<String>,
    /// The hosts to which the run applies; if empty, all except the minimal ones.
    hosts: Vec<String>,
    /// True if one host of each family suffices when several run at once.
    pub(crate) once: bool,
    /// True if it runs only on request.
    pub(crate) long: bool,
    /// True if it needs separate processes.
    alone: bool,
}

impl Test {
    /// The case, or source and way, with arguments and settings, if any: unique in the list.
    pub(crate) fn name(&self) -> String {
        let way = match self.way {
            Way::Same => "same",
            Way::Preloaded => "preloaded",
            Way::Forwarded => "forwarded",
            Way::Linked => "linked",
            Way::Static => "static",
            Way::Hostile => "hostile",
            Way::Case => return self.source.display().to_string(),
        };
        let source = self.source.display().to_string();
        [&[source, way.into()][..], &self.arguments, &self.settings].concat().join(" ")
    }

    /// Keeps only the smallest and the largest number of processes.
    pub(crate) fn keep_least_and_largest(&mut self) {
        let (least, largest) = (self.processes.iter().min(), self.processes.iter().max());
        let mut kept: Vec<u32> = least.into_iter().chain(largest).copied().collect();
        kept.dedup();
        self.processes = kept;
    }

    /// Keeps the smallest and the largest number of processes, and every second one between them: those that another
    /// host with another parity does not keep.
    pub(crate) fn keep_every_second(&mut self, parity: usize) {
        let last = self.processes.len().saturating_sub(1);
        let kept = |place: usize| place == 0 || place == last || place % 2 == parity % 2;
        let numbered = self.processes.iter().enumerate();
        self.processes = numbered.filter(|(place, _)| kept(*place)).map(|(_, n)| *n).collect();
    }

    /// True if the program runs thousands of rounds.
    pub(crate) fn has_many_rounds(&self) -> bool {
        let rounds = self.arguments.first().and_then(|argument| argument.parse::<u32>().ok());
        rounds.is_some_and(|rounds| rounds >= 1000)
    }

    /// True if the driver of its folder runs it, with others in one start.
    pub(crate) fn is_driven(&self) -> bool {
        let has_driver = DRIVEN.iter().any(|folder| self.source.starts_with(folder));
        let is_program = !matches!(self.way, Way::Case | Way::Hostile);
        let is_in_c = self.source.extension().is_some_and(|extension| extension == "c");
        has_driver && is_program && is_in_c && !self.alone
    }

    /// How it uses Cartograph in its starts.
    pub(crate) fn libraries(&self) -> &'static [Library] {
        match self.way {
            Way::Same => &[Library::Preloaded, Library::None],
            Way::Preloaded => &[Library::Preloaded],
            Way::Forwarded => &[Library::Forwarded],
            Way::Linked | Way::Hostile => &[Library::Linked],
            Way::Static => &[Library::Static],
            Way::Case => &[],
        }
    }

    /// The folder of its source.
    pub(crate) fn folder(&self) -> PathBuf {
        self.source.parent().expect("a folder").to_owned()
    }

    /// True if the run applies to this host.
    pub(crate) fn is_for(&self, host: &str) -> bool {
        match self.hosts[..] {
            [] => !MINIMAL.contains(&host),
            _ => self.hosts.iter().any(|name| name == host || name == "all" && host != RUNTIME),
        }
    }

    /// True if it is irrelevant for this host, so that it does not even count as ignored: it is only for the minimal
    /// hosts, or this is one of them.
    pub(crate) fn is_elsewhere(&self, host: &str) -> bool {
        let minimal = |name: &String| MINIMAL.contains(&name.as_str());
        let only_minimal = !self.hosts.is_empty() && self.hosts.iter().all(minimal);
        !self.is_for(host) && (only_minimal || MINIMAL.contains(&host))
    }

    /// The program's name in the differences file.
    pub(crate) fn program(&self) -> String {
        self.source.file_stem().expect("a file name").to_string_lossy().into_owned()
    }
}

/// Folders whose programs have a driver.
const DRIVEN: [&str; 5] =
    ["c_tests/errors", "c_tests/kit", "c_tests/neighbor", "c_tests/reorder", "c_tests/topology"];

/// Hosts that lack too much for most programs, or have no compilers: they run only lines that name them.
pub(crate) const MINIMAL: [&str; 3] = ["smpi", "mini", RUNTIME];

/// The host that runs programs built for other hosts, with their libraries, which `@all` tests there.
const RUNTIME: &str = "intel";

/// The repository's top directory.
pub(crate) fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Reads the list.
pub(crate) fn read() -> Vec<Test> {
    let path = top().join("c_tests/testlist");
    let text = std::fs::read_to_string(&path).expect("c_tests/testlist can be read");
    let mut definitions = Vec::new();
    let mut sources: Vec<(String, bool)> = Vec::new();
    let mut tests = Vec::new();
    for line in text.lines().map(|line| line.split('#').next().unwrap_or_default()) {
        if let Some((name, words)) = line.split_once(" = ") {
            definitions.push((name, words));
            continue;
        }
        if !line.starts_with(' ') {
            sources.clear();
        }
        for run in expand(line) {
            let mut words: Vec<&str> = run.split_whitespace().collect();
            if !line.starts_with(' ') && !words.is_empty() {
                let source = words.remove(0).to_owned();
                sources.push((source, words == ["@alone"]));
                words.retain(|word| *word != "@alone");
            }
            if words.is_empty() {
                continue;
            }
            // A run on a source's own line has only that source.
            let of = if line.starts_with(' ') { 0 } else { sources.len() - 1 };
            for (source, alone) in &sources[of..] {
                let test = parse(source, &words, &definitions);
                let mut test = test.unwrap_or_else(|| panic!("c_tests/testlist: bad line: {line}"));
                test.alone |= alone;
                tests.push(test);
            }
        }
    }
    tests
}

/// A line with its `{this,that}` resolved: one line for each combination.
pub(crate) fn expand(line: &str) -> Vec<String> {
    let parts =
        line.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    let Some((before, (choices, after))) = parts else { return vec![line.to_owned()] };
    let after = expand(after);
    let lines = choices
        .split(',')
        .flat_map(|choice| after.iter().map(move |after| format!("{before}{choice}{after}")));
    lines.collect()
}

/// `way processes [arguments] [settings] [@hosts]`, with processes as in `1,2,4-6`; of a case `case [@hosts]`.
/// Definitions are groups of hosts, `@name`, and words that stand for others, `$name`.
fn parse(source: &str, words: &[&str], definitions: &[(&str, &str)]) -> Option<Test> {
    let mut words = words.iter().copied();
    let way = match words.next()? {
        "same" => Way::Same,
        "preloaded" => Way::Preloaded,
        "forwarded" => Way::Forwarded,
        "linked" => Way::Linked,
        "static" => Way::Static,
        "hostile" => Way::Hostile,
        "case" => Way::Case,
        _ => return None,
    };
    let mut processes = Vec::new();
    let ranges = if way.is_by_itself() { None } else { Some(words.next()?) };
    for range in ranges.into_iter().flat_map(|ranges| ranges.split(',')) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        processes.extend(first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?);
    }
    let defined =
        |name: &str| definitions.iter().find(|(other, _)| *other == name).map(|(_, words)| *words);
    let (hosts, words): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with('@'));
    let mut pending: Vec<&str> = hosts.iter().flat_map(|hosts| hosts[1..].split(',')).collect();
    let mut hosts = Vec::new();
    while let Some(host) = pending.pop() {
        match defined(&format!("@{host}")) {
            Some(group) => pending.extend(group.split(',')),
            None => hosts.push(host.to_owned()),
        }
    }
    let mut marked = |mark: &str| hosts.extract_if(.., |host| host == mark).count() > 0;
    let (once, long, alone) = (marked("once"), marked("long"), marked("alone"));
    let (mut settings, mut arguments) = (Vec::new(), Vec::new());
    for word in words {
        let word = if word.starts_with('$') { defined(word)? } else { word };
        match word.split_once('=') {
            Some((name, _)) if name.starts_with("UCX_") => settings.push(word.to_owned()),
            Some((name, _)) if name.bytes().all(|byte| byte.is_ascii_uppercase()) => {
                settings.push(format!("CARTOGRAPH_{word}"));
            }
            _ => arguments.push(word.to_owned()),
        }
    }
    let source = PathBuf::from(source);
    Some(Test { source, way, processes, arguments, settings, hosts, once, long, alone })
}
