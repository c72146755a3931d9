//! Intel MPI's library for the standard ABI runs programs built for abi, with the library for every MPI preloaded; the
//! list has those built for MPICH.

use super::Outcome;
use super::exec::mpi_of;
use crate::host::Host;
use crate::output::Verdict;
use crate::session::{Session, word};
use crate::testlist::top;

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    let s = &mut session;
    let compiler = Host::new("abi").compiler("program.c".as_ref()).ok_or("a compiler for C")?;
    s.preloaded = vec![top().join("build/lib/libcartograph.so")];
    for (processes, source, arguments) in [
        (4, "topology/cart", &["ours"][..]),
        (4, "topology/graph", &["ours"]),
        (4, "topology/dist_graph", &["ours"]),
        // The examples in the documentation.
        (4, "topology/seeds", &["ours"]),
        (3, "neighbor/neighbor", &[]),
        // Errors of many kinds: error codes are classes here, and Intel MPI's own call of the handler would end the
        // job.
        (2, "errors/errors", &[]),
    ] {
        let options = ["-pthread", "-lm"];
        let program =
            s.compile_with(&compiler, "program", &format!("c_tests/{source}.c"), &options);
        let (_, path) = s.host.search_path().ok_or("a folder of libraries")?;
        let is_theirs = mpi_of(s, &program)?.starts_with(&format!("{path}/libmpi_abi.so"));
        s.check(&format!("{source}: its MPI is Intel's"), is_theirs);
        let ran = s.run(processes, &[], &[&[word(&program)], arguments].concat());
        s.check(source, ran && matches!(Verdict::of(&s.out), Ok(Verdict::Passed)));
    }
    // A program that corrects the pairing itself: Intel's is by the order of lists everywhere, and such a program gets
    // that back.
    let program = s.compile_with(&compiler, "pairs", "c_tests/neighbor/pairs_itself.c", &[]);
    let libraries = std::mem::take(&mut s.preloaded);
    s.runs("a program that mends it, alone", 2, &[], &[word(&program)]);
    let alone = s.out.clone();
    s.preloaded = libraries;
    s.runs("a program that mends it", 2, &[], &[word(&program)]);
    s.check("the results are those of the bare host", s.out == alone);
    s.runs("the standard's pairing", 2, &["CARTOGRAPH_PAIRING=standard"], &[word(&program)]);
    s.check("the standard's pairing gives other results", s.out != alone);
    session.verdict()
}
