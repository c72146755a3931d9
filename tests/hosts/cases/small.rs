//! Short tests: the examples, spawned children, leaks, and valgrind's memcheck.

use regex::Regex;

use super::Outcome;
use crate::output::Verdict;
use crate::session::{Session, word};
use crate::testlist::top;

/// The programs of `examples` in C and Fortran, with the library and with random reordering. `mpi4py` runs the Python
/// example.
pub(super) fn examples(mut session: Session<'_>) -> Outcome {
    for name in ["halo.c", "stencil.c", "stencil.f90"] {
        let source = format!("examples/{name}");
        if session.host.compiler(source.as_ref()).is_none() {
            continue;
        }
        let program = session.compile(name, &source, &["-Wall", "-Wextra", "-Werror"]);
        for setting in ["on", "scramble:1", "scramble0:2"] {
            let setting = format!("CARTOGRAPH_REORDER={setting}");
            // For the halo exchange, the number of exchanges.
            let ran = session.run(4, &[&setting], &[word(&program), "-n", "10"]);
            let right = session.out.lines().any(|line| line == "a grid of 2 x 2, 0 wrong");
            session.check(&format!("{name}, {setting}"), ran && right);
        }
    }
    session.verdict()
}

/// Children of `MPI_Comm_spawn` have the library if it is preloaded into the launcher, whose environment they get, as
/// described in docs/using.md. Skipped if the host itself cannot start children here.
pub(super) fn spawn(mut session: Session<'_>) -> Outcome {
    let program = session.compile("spawn", "c_tests/lifetime/spawn.c", &["-Wall", "-Wextra"]);
    session.seconds = 30;
    let libraries = [session.host.library(), top().join("build/lib/libcartograph.so")];
    let prints = |session: &mut Session<'_>, who: &str| {
        let preload = session.preload();
        let mut command = session.launcher(2);
        let (name, value) = preload.split_once('=').expect("a setting");
        let ran = session.finish(command.env(name, value).arg(&program));
        let mut lines: Vec<&str> = session.out.lines().collect();
        lines.sort_unstable();
        let [parent, child] = ["parent", "child"].map(|process| format!("{process}: {who}"));
        ran && lines == ["a grid of 4", &child, &child, &parent, &parent]
    };
    session.preloaded.clear();
    if !prints(&mut session, "the host") {
        return Ok(Verdict::Ignored("the host alone starts no children here".into()));
    }
    for library in libraries {
        session.preloaded = vec![library];
        let right = prints(&mut session, "Cartograph");
        session.check("parents and children make a grid", right);
    }
    session.verdict()
}

/// A program that does not free its topologies ends as on the bare host, which finds no remains of the library.
pub(super) fn unfreed(mut session: Session<'_>) -> Outcome {
    let program = session.compile("unfreed", "c_tests/neighbor/neighbor_unfreed.c", &[]);
    for processes in [1, 2, 4] {
        for settings in [&[][..], &["CARTOGRAPH_NEIGHBOR=alltoall"], &["CARTOGRAPH_NEIGHBOR=graph"]]
        {
            session.runs(
                &format!("{processes} processes, {settings:?}"),
                processes,
                settings,
                &[word(&program)],
            );
            let leaked =
                format!("{}{}", session.out, session.err).to_lowercase().contains("leaked");
            session
                .check(&format!("{processes} processes, {settings:?}: nothing is left"), !leaked);
        }
    }
    session.verdict()
}

/// Cartograph under valgrind's memcheck: no invalid access, no use of uninitialized memory, no leak. Hosts cause their
/// own findings, so only those with libcartograph.so in their stack count. The programs are linked with the library: a
/// preloaded one would be loaded into valgrind's launcher as well.
pub(super) fn valgrind(mut session: Session<'_>) -> Outcome {
    session.seconds = 300;
    let lib = session.host.library();
    let lib = word(lib.parent().expect("a folder"));
    let rpath = format!("-Wl,-rpath,{lib}");
    // Every function; then duplicates, frees, and constructors that fail, with edges that do not match.
    for (source, arguments) in [("tool/tool_calls.c", &[][..]), ("lifetime/lifetime.c", &["50"])] {
        let options = ["-Wl,--no-as-needed", "-L", lib, "-lcartograph", &rpath, "-lm"];
        let program = session.compile("program", &format!("c_tests/{source}"), &options);
        let folder = session.work(&source.replace('/', "."));
        std::fs::create_dir(&folder).map_err(|error| error.to_string())?;
        let file = format!("--xml-file={}/%p.xml", folder.display());
        let mut command = session.launcher(2);
        command.env("CARTOGRAPH_CHECK", "edges").args(["valgrind", "--quiet", "--leak-check=full"]);
        command
            .args(["--num-callers=40", "--error-limit=no", "--xml=yes", &file])
            .arg(program)
            .args(arguments);
        let ran = session.finish(&mut command);
        session.check(&format!("{source} under valgrind"), ran);
        let files = std::fs::read_dir(&folder).map_err(|error| error.to_string())?;
        let texts: Vec<String> =
            files.flatten().filter_map(|file| std::fs::read_to_string(file.path()).ok()).collect();
        session.check("a file for each process", texts.len() == 2);
        session.check(
            "the program ran to its end",
            texts.iter().all(|text| text.contains("<state>FINISHED</state>")),
        );
        session.err = texts.iter().flat_map(|text| findings(text)).collect();
        session.check(&format!("{source}: valgrind finds nothing"), session.err.is_empty());
    }
    session.verdict()
}

/// The errors of valgrind's file that count.
fn findings(text: &str) -> Vec<String> {
    let error = Regex::new("(?s)<error>.*?</error>").expect("a pattern");
    let frame = Regex::new("(?s)<frame>.*?</frame>").expect("a pattern");
    let counts = |error: &&str| {
        let ours = frame.find_iter(error).any(|frame| {
            let object = frame.as_str().split("<obj>").nth(1).unwrap_or_default();
            let object = object.split("</obj>").next().unwrap_or_default();
            object.rsplit('/').next().unwrap_or_default().contains("libcartograph")
        });
        let once = error.contains("<leakedblocks>1</leakedblocks>");
        let by = |name: &str| error.contains(&format!("<fn>{name}</fn>"));
        // Memory of Open MPI for our key, of which a process creates one and never frees it.
        let key = by("PMPI_Comm_create_keyval");
        // Open MPI 5 does not free the attributes of MPI_COMM_WORLD when MPI ends, such as the layout.
        let layout = error.contains("machine::keep");
        // Open MPI 4 leaks a block with each persistent neighborhood collective, even without Cartograph; a process
        // tests one.
        let tried = by("MPIX_Neighbor_alltoallw_init") && by("cg_graph_functions_are_right");
        ours && !(once && (key || layout || tried))
    };
    error.find_iter(text).map(|found| found.as_str()).filter(counts).map(str::to_owned).collect()
}
