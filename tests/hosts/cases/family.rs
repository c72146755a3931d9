//! Programs of this host with the library of each other host. Hosts of one family have one binary interface, so all
//! results must be right; with another family's library, a call returns a right result or ends the program with a
//! message that names both, but never crashes and never returns a wrong result.

use std::process::Command;

use regex::Regex;

use super::Outcome;
use crate::host::{Host, others};
use crate::output::Verdict;
use crate::session::{Session, word};
use crate::testlist::top;

const FUNCTIONS: [&str; 7] = [
    "Cart_create",
    "Dist_graph_create_adjacent",
    "Cart_map",
    "Cart_rank",
    "Graphdims_get",
    "Topo_test",
    "Dims_create",
];

/// Functions that work without a private communicator of the library.
const LOCAL: [&str; 3] = ["Cart_map", "Topo_test", "Dims_create"];

/// A family as src/host/family.rs calls it.
fn family(host: &str) -> &'static str {
    match host {
        "abi" => "the MPI-5 standard ABI",
        name if name.starts_with("mpich") => "the MPICH ABI",
        _ => "Open MPI",
    }
}

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    let source = "c_tests/tool/tool_first.c";
    let program = session.compile("first", source, &[]);
    let refusal =
        Regex::new("error while loading shared libraries|symbol lookup error").expect("a pattern");
    let library_of = Regex::new(r"libmpi[a-z_]*\.so\S* => (\S*)/[^/]* ").expect("a pattern");
    let ours = family(&session.host.name);
    let others = others(&session.host.name);
    session.seconds = 60;
    for other in &others {
        let library = top().join("build").join(other).join("lib/libcartograph.so");
        let theirs = family(other);
        // A library whose own MPI is not where the loader looks gets its path. The loader may still refuse if two MPIs
        // bring the same library in two versions.
        let mut loads = vec![format!("LD_PRELOAD={}", library.display())];
        if !session.finish(Command::new("env").args(&loads).arg("true")) {
            session.check(&format!("{other}: the loader says why"), refusal.is_match(&session.err));
            let compiler = Host::new(other).compiler(source.as_ref()).expect("a compiler");
            let theirs = session.compile_with(&compiler, "other", source, &[]);
            session.finish(Command::new("ldd").arg(theirs));
            let mpi = library_of.captures(&session.out).ok_or("ldd names no MPI")?;
            loads.insert(0, format!("LD_LIBRARY_PATH={}", &mpi[1]));
        }
        if !session.finish(Command::new("env").args(&loads).arg(&program).arg("loads"))
            && refusal.is_match(&session.err)
        {
            session.check(&format!("{other}: the loader refuses"), true);
            continue;
        }
        // All at once, since most of the time is spent waiting for launchers.
        let start = |function: &str| {
            let mut command = session.launcher(1);
            command.arg("env").args(&loads).args([word(&program), function]);
            command
        };
        let asked = FUNCTIONS.map(|function| {
            let mut command = start(function);
            std::thread::spawn(move || {
                // Open MPI 5's launcher may fail by itself on a busy machine: then it runs again.
                for left in (0..5).rev() {
                    let output = command.output().expect("the launcher starts");
                    let text = [output.stdout, output.stderr].concat();
                    let text = String::from_utf8_lossy(&text).into_owned();
                    if left == 0 || !text.contains("PMIx server's listener thread failed to start")
                    {
                        return (output.status.success(), text);
                    }
                }
                unreachable!("the last attempt returns")
            })
        });
        for (function, asked) in FUNCTIONS.into_iter().zip(asked) {
            let (succeeds, text) = asked.join().expect("it does not panic");
            session.out = text;
            session.err.clear();
            let message = session
                .out
                .lines()
                .find(|line| line.starts_with("cartograph: this library was built for"));
            let message = message.unwrap_or_default();
            let right = succeeds && session.out.lines().any(|line| line == "right");
            let crashed = session.out.to_lowercase().contains("segmentation");
            let refused = ours != theirs
                && !succeeds
                && message.contains(&format!("built for {theirs}"))
                && message.contains(&format!("runs on {ours}"))
                && !crashed;
            // Creating a communicator without checking the host could succeed only by luck.
            let holds = if right { ours == theirs || LOCAL.contains(&function) } else { refused };
            session.check(&format!("{function} with the library of {other}"), holds);
        }
    }
    if others.is_empty() {
        return Ok(Verdict::Ignored("no other host's library is built".into()));
    }
    session.verdict()
}
