//! `c_tests/testlist`: which programs and scripts there are and how they are run.

use std::path::{Path, PathBuf};

/// How a program uses Cartograph and what is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Alone and with the library preloaded: what it prints must be the same.
    Same,
    /// With the library preloaded only: the program checks itself.
    Preloaded,
    /// With the library for every MPI preloaded, which goes on to the host's: the program checks itself.
    Forwarded,
    /// Linked with the shared library: the program checks itself.
    Linked,
    /// Linked with the archive: the program checks itself.
    Static,
    /// A script, which takes the host's name and does all by itself.
    Script,
}

/// A line of the list.
#[derive(Debug, Clone)]
pub(crate) struct Test {
    pub(crate) source: PathBuf,
    pub(crate) way: Way,
    pub(crate) processes: Vec<u32>,
    pub(crate) arguments: Vec<String>,
    /// `CARTOGRAPH_NAME=VALUE` or a setting of UCX, set where the library is used.
    pub(crate) settings: Vec<String>,
    /// The only hosts that it is for; empty: all but the minimal ones.
    hosts: Vec<String>,
    /// Whether one host of each family will do where several run at once.
    pub(crate) once: bool,
}

impl Test {
    /// The script, or source and way, arguments and settings if there are any: unique in the list.
    pub(crate) fn name(&self) -> String {
        let way = match self.way {
            Way::Same => "same",
            Way::Preloaded => "preloaded",
            Way::Forwarded => "forwarded",
            Way::Linked => "linked",
            Way::Static => "static",
            Way::Script => return self.source.display().to_string(),
        };
        let source = self.source.display().to_string();
        [&[source, way.into()][..], &self.arguments, &self.settings].concat().join(" ")
    }

    /// Leaves the numbers of processes between the least and the largest out.
    pub(crate) fn keep_least_and_largest(&mut self) {
        let (least, largest) = (self.processes.iter().min(), self.processes.iter().max());
        let mut kept: Vec<u32> = least.into_iter().chain(largest).copied().collect();
        kept.dedup();
        self.processes = kept;
    }

    /// Whether it is for this host.
    pub(crate) fn is_for(&self, host: &str) -> bool {
        match self.hosts[..] {
            [] => !MINIMAL.contains(&host),
            _ => self.hosts.iter().any(|name| name == host || name == "all" && host != RUNTIME),
        }
    }

    /// Whether it is no concern of this host's, so that it does not even count as ignored: it is about
    /// the minimal hosts only, or this is one of them.
    pub(crate) fn is_elsewhere(&self, host: &str) -> bool {
        let minimal = |name: &String| MINIMAL.contains(&name.as_str());
        let only_minimal = !self.hosts.is_empty() && self.hosts.iter().all(minimal);
        !self.is_for(host) && (only_minimal || MINIMAL.contains(&host))
    }

    /// The program's name, as the differences file has it.
    pub(crate) fn program(&self) -> String {
        self.source.file_stem().expect("a file name").to_string_lossy().into_owned()
    }
}

/// Hosts that have too little for most programs, or no compilers: they run the lines only that name them.
const MINIMAL: [&str; 3] = ["smpi", "mini", RUNTIME];

/// The host that runs what is built for others, with their libraries: those that `@all` looks at are tested there.
const RUNTIME: &str = "intel";

/// The repository's top directory.
pub(crate) fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Reads the list.
pub(crate) fn read() -> Vec<Test> {
    let path = top().join("c_tests/testlist");
    let text = std::fs::read_to_string(&path).expect("c_tests/testlist can be read");
    text.lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty())
        .map(|line| parse(line).unwrap_or_else(|| panic!("c_tests/testlist: bad line: {line}")))
        .collect()
}

/// `source way processes [arguments] [settings] [@hosts]`, with processes as in `1,2,4-6`; of a script
/// `source script [@hosts]`.
fn parse(line: &str) -> Option<Test> {
    let mut words = line.split_whitespace();
    let source = PathBuf::from(words.next()?);
    let way = match words.next()? {
        "same" => Way::Same,
        "preloaded" => Way::Preloaded,
        "forwarded" => Way::Forwarded,
        "linked" => Way::Linked,
        "static" => Way::Static,
        "script" => Way::Script,
        _ => return None,
    };
    let mut processes = Vec::new();
    let ranges = if way == Way::Script { None } else { Some(words.next()?) };
    for range in ranges.into_iter().flat_map(|ranges| ranges.split(',')) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        processes.extend(first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?);
    }
    let (hosts, arguments): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with('@'));
    let (once, hosts): (Vec<&str>, Vec<&str>) =
        hosts.iter().flat_map(|hosts| hosts[1..].split(',')).partition(|host| *host == "once");
    let (once, hosts) = (!once.is_empty(), hosts.into_iter().map(str::to_owned).collect());
    let (settings, arguments) = arguments
        .into_iter()
        .map(str::to_owned)
        .partition(|word| word.starts_with("CARTOGRAPH_") || word.starts_with("UCX_"));
    Some(Test { source, way, processes, arguments, settings, hosts, once })
}
