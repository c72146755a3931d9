//! The names that Cartograph exports and needs, compared with include/exports.txt, with the declarations in the host's
//! mpi.h, the exports of its libraries, and docs/design/host-functions.md.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use regex::Regex;

use super::Outcome;
use crate::session::{Session, word};
use crate::testlist::top;

pub(super) type Names = BTreeSet<String>;

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    let library = session.host.library();
    let read = |path: &str| {
        std::fs::read_to_string(top().join(path)).map_err(|error| format!("{path}: {error}"))
    };
    let exports = read("include/exports.txt")?;
    let listed: Names =
        exports.lines().filter(|name| name.starts_with("MPI")).map(str::to_owned).collect();

    // The chapter's functions in the host's header must be listed. All listed functions are exported, whether declared
    // or not: programs find functions by name.
    let declared = declared(
        &mut session,
        r"MPI_(?:Cart|Graph|Dist_graph|Dims|Topo|I?neighbor|Neighbor)(?:_|dim)[A-Za-z_]*",
    );
    let missing = declared.difference(&listed).cloned().collect();
    same(
        &mut session,
        "exports.txt has what mpi.h declares of the chapter",
        &Names::new(),
        &missing,
    );

    // Each function under all of its names: weak if a tool may define them again, strong if we call them. Fortran has
    // large counts only in mpi_f08, whose procedures call the C names.
    let (mut weak, mut strong) = (Names::new(), Names::new());
    for name in &listed {
        let lower = name.to_lowercase();
        weak.insert(name.clone());
        strong.insert(format!("P{name}"));
        if !name.ends_with("_c") {
            weak.extend([format!("{lower}_"), format!("{lower}__")]);
            strong.extend([format!("p{lower}_"), format!("p{lower}__")]);
        }
    }
    // Besides the chapter, if the host has sessions: the library records them.
    weak.extend(self::declared(&mut session, "MPI_Group_from_session_pset|MPI_Session_finalize"));
    // The mapping without MPI, which include/cartograph.h declares.
    strong.insert("cartograph_plan".into());
    let all = weak.union(&strong).cloned().collect();
    let exported: Names = symbols(&mut session, &["-D", "--defined-only"], word(&library))
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    same(&mut session, "the shared library exports these names and no others", &all, &exported);

    let hosts = names_of_host(&mut session)?;
    let not_ours = hosts.difference(&exported).cloned().collect();
    same(
        &mut session,
        "the library exports what the host's libraries export of the chapter",
        &Names::new(),
        &not_ours,
    );

    let archive = library.with_extension("a");
    let archived = symbols(&mut session, &["-g", "--defined-only"], word(&archive));
    let kind = |weak: bool| {
        archived
            .iter()
            .filter(|(_, kind)| (kind == "W") == weak)
            .map(|(name, _)| name.clone())
            .collect()
    };
    same(&mut session, "the archive's weak names are the MPI_ names", &weak, &kind(true));
    same(
        &mut session,
        "the archive's strong names are the PMPI_ names and the mapping",
        &strong,
        &kind(false),
    );

    let page = read("docs/design/host-functions.md")?;
    let on_page = |heading: &str| names_under(&page, heading, &session.host.name);
    let [required, optional, constants] =
        ["Required", "Used if there", "Constants of the host"].map(on_page);
    // MPI's own names; internal symbols of a host do not count.
    let undefined = symbols(&mut session, &["-D", "--undefined-only"], word(&library));
    let own = Regex::new("^P?MPIX?_").expect("a pattern");
    let needed = |kind: &str| -> Names {
        let names = undefined.iter().filter(|(name, found)| found == kind && own.is_match(name));
        names.map(|(name, _)| name.clone()).collect()
    };
    let (strong, weak) = (needed("U"), needed("w"));
    let without = |names: &Names| names.difference(&constants).cloned().collect();
    same(
        &mut session,
        "what the library cannot load without is under Required",
        &required,
        &without(&strong),
    );
    same(&mut session, "what it does without is under Used if there", &optional, &without(&weak));
    let data = strong.union(&weak).filter(|name| constants.contains(*name)).cloned().collect();
    same(&mut session, "constants are under Constants of the host", &constants, &data);
    session.verdict()
}

/// The functions with such names that the host's mpi.h declares.
pub(super) fn declared(session: &mut Session<'_>, names: &str) -> Names {
    let header = session.write("header.c", "#include <mpi.h>\n");
    let compiler = session.host.compiler(&header).expect("every host has one for C");
    session.finish(Command::new(&compiler).args(["-E", "-P"]).arg(&header));
    let function = Regex::new(&format!(r"\b({names})\ *\(")).expect("a pattern");
    function.captures_iter(&session.out).map(|name| name[1].to_owned()).collect()
}

/// Checks that two sets of names are equal.
pub(super) fn same(session: &mut Session<'_>, what: &str, expected: &Names, found: &Names) {
    session.out =
        expected.difference(found).map(|name| format!("should be and is not: {name}\n")).collect();
    session.err =
        found.difference(expected).map(|name| format!("is and should not be: {name}\n")).collect();
    session.check(what, expected == found);
}

/// The symbols that `nm` lists, without their versions, and the kind of each.
pub(super) fn symbols(
    session: &mut Session<'_>,
    options: &[&str],
    file: &str,
) -> Vec<(String, String)> {
    let listed = session.finish(Command::new("nm").args(options).args(["--format=posix", file]));
    session.check(&format!("nm reads {file}"), listed);
    let split = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words.next()?.split('@').next()?.to_owned();
        Some((name, words.next()?.to_owned()))
    };
    session.out.lines().filter_map(split).collect()
}

/// The chapter's names in the host's libraries, which would be called past this library, except procedures that call
/// the C names: those of `mpi_f08`, Open MPI's internal ones, and Fortran's names without an underscore.
fn names_of_host(session: &mut Session<'_>) -> Result<Names, String> {
    let chapter =
        Regex::new("^p?mpix?_(cart|cartdim|graph|graphdims|dist_graph|dims|topo|i?neighbor)_")
            .expect("a pattern");
    let below = Regex::new("_f(08(ts)?(_large)?)?_?$").expect("a pattern");
    let plain = Regex::new("^P?MPIX?_[A-Z][a-z]|_$").expect("a pattern");
    let mut libraries = Names::new();
    for (name, text) in [("empty.c", "int main(void) { return 0; }\n"), ("empty.f90", "end\n")] {
        let source = session.write(name, text);
        let Some(compiler) = session.host.compiler(&source) else { continue };
        let program = session.work(&format!("{name}.out"));
        let mut command = Command::new(compiler);
        command
            .current_dir(top())
            .stderr(Stdio::null())
            .arg("-Wl,--no-as-needed")
            .arg("-o")
            .arg(&program)
            .arg(&source);
        if !session.finish(&mut command) || !session.finish(Command::new("ldd").arg(&program)) {
            return Err(format!("{name}: {}", session.err));
        }
        libraries.extend(
            session
                .out
                .lines()
                .filter_map(|line| Some(line.split_once(" => ")?.1.split(' ').next()?.to_owned())),
        );
    }
    let mut names = Names::new();
    for library in libraries.iter().filter(|library| library.starts_with('/')) {
        session.finish(Command::new("nm").args([
            "-D",
            "--defined-only",
            "--format=posix",
            library,
        ]));
        let all = session.out.lines().filter_map(|line| line.split([' ', '@']).next());
        names.extend(
            all.filter(|name| {
                chapter.is_match(&name.to_lowercase())
                    && !below.is_match(&name.to_lowercase())
                    && plain.is_match(name)
            })
            .map(str::to_owned),
        );
    }
    // mini is an MPI without the chapter.
    session.check(
        "a library of the host has names of the chapter",
        session.host.name == "mini" || !names.is_empty(),
    );
    Ok(names)
}

/// The names in backquotes below a heading of the page that apply to a host; a name followed by hosts in parentheses
/// applies only to these.
pub(super) fn names_under(page: &str, heading: &str, host: &str) -> Names {
    let line =
        Regex::new(r"^- `(P?MPIX?_[A-Za-z0-9_]+)`(?: \(([a-z0-9, ]*)\))?").expect("a pattern");
    let heading = format!("### {heading}");
    let below = page
        .lines()
        .skip_while(|line| *line != heading)
        .skip(1)
        .take_while(|line| !line.starts_with('#'));
    let named = below.filter_map(|text| line.captures(text));
    let holds = named.filter(|name| {
        name.get(2).is_none_or(|hosts| hosts.as_str().split([',', ' ']).any(|named| named == host))
    });
    holds.map(|name| name[1].to_owned()).collect()
}
