//! A profiling tool in front of Cartograph counts each call once, and the functions that it calls, the `PMPI_` names,
//! are Cartograph's. The tool is c_tests/tool/tool.c, in C.

use std::process::Command;

use regex::Regex;

use super::Outcome;
use crate::session::{Session, count, word};
use crate::testlist::top;

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    // The tool knows the functions that create and query topologies.
    let exports = std::fs::read_to_string(top().join("include/exports.txt"))
        .map_err(|error| error.to_string())?;
    let known = Regex::new("^MPI_(Cart|Graph|Dist_graph|Dims|Topo)").expect("a pattern");
    let functions: Vec<&str> = exports.lines().filter(|name| known.is_match(name)).collect();
    let library = session.host.library();
    let archive = library.with_extension("a");
    let tool = session.compile(
        "tool.so",
        "c_tests/tool/tool.c",
        &["-Wall", "-Wextra", "-fPIC", "-shared"],
    );
    let object = session.compile("tool.o", "c_tests/tool/tool.c", &["-Wall", "-Wextra", "-c"]);
    let calls = session.compile("calls", "c_tests/tool/tool_calls.c", &[]);
    let with_archive = [word(&object), word(&archive), "-lm"];
    let linked = session.compile("calls.static", "c_tests/tool/tool_calls.c", &with_archive);

    // A new function in exports.txt belongs in the tool.
    session.finish(Command::new("nm").arg("--defined-only").arg(&tool));
    let symbol = Regex::new(" T (MPI_.*)$").expect("a pattern");
    let names =
        session.out.lines().filter_map(|line| Some(symbol.captures(line)?.get(1)?.as_str()));
    let mut names: Vec<&str> = names.filter(|name| *name != "MPI_Finalize").collect();
    names.sort_unstable();
    let mut sorted = functions.clone();
    sorted.sort_unstable();
    session.check("the tool defines its functions of exports.txt", names == sorted);

    // Preloaded: the loader reports which library calls which.
    session.preloaded.insert(0, tool.clone());
    let mut command = Command::new("env");
    command.args(["LD_TRACE_LOADED_OBJECTS=1", "LD_WARN=1", "LD_BIND_NOW=1", "LD_DEBUG=bindings"]);
    session.finish(command.arg(session.preload()).arg(&calls));
    for (from, to, prefix) in
        [(word(&calls), word(&tool), ""), (word(&tool), "libcartograph.so", "P")]
    {
        let calls = session.err.lines().filter(|line| {
            let (caller, callee) = line.split_once(" to ").unwrap_or_default();
            caller.contains("binding file ") && caller.contains(from) && callee.contains(to)
        });
        let names: Vec<&str> =
            calls.filter_map(|line| line.split(['`', '\'']).nth_back(1)).collect();
        let bound = functions.iter().all(|name| names.contains(&&*format!("{prefix}{name}")));
        session.check(&format!("preloaded: {from} calls {to}"), bound);
    }
    session.run(2, &[], &[word(&calls)]);
    counted(&mut session, "preloaded", &functions);

    // Linked statically: the linker took the tool's MPI_ names and the archive's PMPI_ names.
    session.finish(Command::new("nm").arg("--defined-only").arg(&linked));
    let names: Vec<&str> =
        session.out.lines().filter_map(|line| Some(line.split_once(" T ")?.1)).collect();
    let is_defined = |name: &str| names.contains(&name) && names.contains(&&*format!("P{name}"));
    let defined = functions.iter().all(|name| is_defined(name));
    session.check("static: MPI_ and PMPI_ names are in the program", defined);
    let mut command = session.launcher(2);
    session.finish(command.arg(&linked));
    counted(&mut session, "static", &functions);

    // From Fortran. Cartograph's Fortran names do not call its C names, so a tool that wraps only C names sees no call,
    // and certainly not two; such tools have separate Fortran wrappers. (MPICH without Cartograph shows them calls from
    // mpif.h and use mpi, but none from mpi_f08; Open MPI shows them none.)
    let source = "c_tests/tool/tool_fortran.F90";
    if session.host.compiler(source.as_ref()).is_some() {
        let number = Regex::new("^tool: MPI_[A-Za-z_]* (.*)$").expect("a pattern");
        for module in ["0", "1", "2"] {
            let program = session.compile("fortran", source, &[&format!("-DMODULE={module}")]);
            let ran = session.run(2, &[], &[word(&program)]);
            let all = session.out.clone() + &session.err;
            let right =
                ran && !all.contains("wrong answer") && count(&all, "^tool: reports at") == 2;
            let mut counts = all
                .lines()
                .filter_map(|line| Some(number.captures(line)?.get(1)?.as_str()))
                .peekable();
            let unseen = counts.peek().is_some() && counts.all(|count| count == "0");
            session.check(
                &format!("module {module}: a tool in C sees no call from Fortran twice, nor once"),
                right && unseen,
            );
        }
    }
    session.verdict()
}

/// Checks that both processes completed, and that the tool counted in each the calls that the program reports, for all
/// functions of the chapter.
fn counted(session: &mut Session<'_>, way: &str, functions: &[&str]) {
    let all = session.out.clone() + &session.err;
    let lines = |start: &str| {
        let lines = all.lines().filter_map(|line| line.strip_prefix(start));
        let mut lines: Vec<String> = lines.map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    let said = lines("rank 0 called: ");
    let called: Vec<&str> = said.iter().filter_map(|line| line.split(' ').next()).collect();
    let mut sorted = functions.to_vec();
    sorted.sort_unstable();
    session.check(
        &format!("{way}: the program calls all"),
        called == sorted && all.contains(" 0 failed"),
    );
    let told: Vec<String> =
        lines("tool: ").into_iter().filter(|line| line.starts_with("MPI_")).collect();
    let twice: Vec<String> = said.iter().flat_map(|line| [line.clone(), line.clone()]).collect();
    let ends = count(&all, "^tool: reports at MPI_Finalize$") == 2;
    session.check(
        &format!("{way}: each call is counted once and answered by Cartograph"),
        told == twice && ends,
    );
}
