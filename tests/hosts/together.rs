//! Programs that run one after the other in one start, by the folder's driver (`c_tests/driver.c`).
//!
//! A start serves all programs of a folder that use Cartograph in the same way and with the same settings, each on as many
//! of its processes as it needs. If a program fails, crashes or hangs, a new start runs the programs after it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::host::{Host, Library, quiet};
use crate::testlist::Test;
use crate::times;

/// The number of attempts without Cartograph. A bare host may hang by itself: Open MPI does, at random, in
/// MPI_Dist_graph_create (open-mpi/ompi issue 13918).
const BARE_ATTEMPTS: usize = 3;

/// Seconds for a start, and for each of its programs. No start takes a tenth of it on a quiet machine.
const SECONDS: (usize, usize) = (110, 10);

/// The largest number of processes of a start whose programs run on different numbers. More would wait too long for each
/// other.
const SHARED: u32 = 8;

/// The number of processes of a program, its name and its arguments.
type Words = Vec<String>;

/// The output of a program, or why there is none.
type Ended = Result<String, String>;

/// Properties that the programs of one start share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Kind {
    folder: PathBuf,
    library: Library,
    settings: Vec<String>,
    /// The number of processes if it is the same for all programs, otherwise 0.
    processes: u32,
}

/// A start, which runs when the first of its programs is asked for.
#[derive(Default)]
struct Start {
    programs: Vec<Words>,
    ended: OnceLock<HashMap<Words, Ended>>,
}

/// The starts of a host.
pub(crate) struct Starts {
    starts: HashMap<Kind, Start>,
    /// The sources of each folder that are linked alike.
    sources: HashMap<(PathBuf, &'static str), Vec<PathBuf>>,
}

impl Starts {
    /// The starts for these tests of a host, those that the command line selects.
    pub(crate) fn new<'a>(tests: impl Iterator<Item = &'a Test>) -> Self {
        let mut starts: HashMap<Kind, Start> = HashMap::new();
        let mut sources: HashMap<(PathBuf, &str), Vec<PathBuf>> = HashMap::new();
        for test in tests.filter(|test| test.is_driven()) {
            for &library in test.libraries() {
                let listed = sources.entry((test.folder(), library.suffix())).or_default();
                if !listed.contains(&test.source) {
                    listed.push(test.source.clone());
                }
                for &processes in &test.processes {
                    let start = starts.entry(kind(test, library, processes)).or_default();
                    let words = words(test, processes);
                    if !start.programs.contains(&words) {
                        start.programs.push(words);
                    }
                }
            }
        }
        Self { starts, sources }
    }

    /// The place of a test among those whose first start is the same. The first test runs the start; the others should
    /// come later, since they would wait for it.
    pub(crate) fn turn(&self, test: &Test) -> usize {
        let how = test.libraries().first().zip(test.processes.first());
        let place = how.and_then(|(&library, &processes)| {
            let start = self.starts.get(&kind(test, library, processes))?;
            let words = words(test, processes);
            start.programs.iter().position(|program| *program == words)
        });
        place.unwrap_or(0)
    }

    /// The output of a test's program under Cartograph or on the bare host. Its start runs now if it has not run yet.
    pub(crate) fn output(
        &self,
        host: &Host,
        test: &Test,
        library: Library,
        processes: u32,
    ) -> Ended {
        if !test.is_driven() {
            return alone(host, test, library, processes);
        }
        let (kind, words) = (kind(test, library, processes), words(test, processes));
        let start = self.starts.get(&kind).ok_or_else(|| format!("{words:?} is in no start"))?;
        let ended = start.ended.get_or_init(|| self.run(host, &kind, &start.programs));
        ended[&words].clone()
    }

    fn run(&self, host: &Host, kind: &Kind, programs: &[Words]) -> HashMap<Words, Ended> {
        let mut ended = HashMap::new();
        let sources = &self.sources[&(kind.folder.clone(), kind.library.suffix())];
        let driver = match host.build_driver(&kind.folder, sources, kind.library) {
            Ok(driver) => driver,
            Err(why) => {
                return programs.iter().map(|words| (words.clone(), Err(why.clone()))).collect();
            }
        };
        let mut left = programs;
        let mut attempts = 0;
        while !left.is_empty() {
            times::count(&host.name, 0, 1);
            let (results, started) = attempt(host, kind, &driver, left);
            let complete = results.iter().take_while(|result| result.is_ok()).count();
            let is_bare = kind.library == Library::None;
            attempts = if complete > 0 { 1 } else { attempts + 1 };
            let again = is_bare && complete < results.len() && attempts < BARE_ATTEMPTS;
            // If not even the first program began, the next start would end in the same way.
            let taken = if again {
                complete
            } else if started {
                results.len()
            } else {
                left.len()
            };
            let last = results.last().cloned().unwrap_or_else(|| Err("nothing was started".into()));
            for (index, words) in left[..taken].iter().enumerate() {
                ended.insert(words.clone(), results.get(index).unwrap_or(&last).clone());
            }
            left = &left[taken..];
        }
        ended
    }
}

/// Runs a program in separate processes.
fn alone(host: &Host, test: &Test, library: Library, processes: u32) -> Ended {
    let program = host.build(&test.source, library)?;
    let run = || {
        times::count(&host.name, 0, 1);
        host.run(&program, library, processes, (&test.arguments, &test.settings))
    };
    let attempts = if library == Library::None { BARE_ATTEMPTS } else { 1 };
    (1..attempts).fold(run(), |ended, _| ended.or_else(|_| run()))
}

/// Runs programs until one fails; returns the results of those that began, and whether the start reached the first.
fn attempt(host: &Host, kind: &Kind, driver: &Path, programs: &[Words]) -> (Vec<Ended>, bool) {
    let line = programs.join(&",".to_owned());
    let seconds = SECONDS.0 + SECONDS.1 * programs.len();
    let sizes = programs.iter().filter_map(|words| words[0].parse().ok());
    let size = sizes.max().unwrap_or(1);
    let mut command = host.command(driver, kind.library, &kind.settings, size, seconds);
    let output = match command.args(&line).output() {
        Ok(output) => output,
        Err(error) => return (vec![Err(format!("{}: {error}", driver.display()))], false),
    };
    let [stdout, stderr] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    let (out, err) = (sections(&stdout), sections(&stderr));
    let mut results: Vec<Ended> = Vec::new();
    for (index, words) in programs.iter().enumerate().take(out.len()) {
        let warnings = err.get(index).map(|lines| lines.join("\n")).unwrap_or_default();
        let who = format!(
            "{} on {} processes ({:?}, {})",
            words[1..].join(" "),
            words[0],
            kind.library,
            kind.folder.display()
        );
        let end = out[index].iter().rposition(|line| *line == "ends: 0");
        let result = match end {
            Some(end) => {
                let text = out[index][..end].iter().map(|line| format!("{line}\n")).collect();
                quiet(&who, kind.library, &kind.settings, &warnings).map(|()| text)
            }
            None => Err(format!("{who}: {}\n{}\n{warnings}", output.status, out[index].join("\n"))),
        };
        let failed = result.is_err();
        results.push(result);
        if failed {
            return (results, true);
        }
    }
    let complete = results.len() == programs.len();
    if !output.status.success() || !complete {
        results.pop();
        results.push(Err(format!("{line:?}: {}\n{stdout}\n{stderr}", output.status)));
    }
    (results, !out.is_empty())
}

/// The lines after each "begins: PROGRAM".
fn sections(text: &str) -> Vec<Vec<&str>> {
    let mut sections: Vec<Vec<&str>> = Vec::new();
    for line in text.lines() {
        if line.starts_with("begins: ") {
            sections.push(Vec::new());
        } else if let Some(section) = sections.last_mut() {
            section.push(line);
        }
    }
    sections
}

fn words(test: &Test, processes: u32) -> Words {
    [&[processes.to_string(), test.program()][..], &test.arguments].concat()
}

fn kind(test: &Test, library: Library, processes: u32) -> Kind {
    let settings = if library == Library::None { Vec::new() } else { test.settings.clone() };
    let has_layout = settings.iter().any(|setting| setting.starts_with("CARTOGRAPH_LAYOUT"));
    let processes = if has_layout || processes > SHARED { processes } else { 0 };
    Kind { folder: test.folder(), library, settings, processes }
}
