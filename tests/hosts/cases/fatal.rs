//! Wrong calls under the default error handler, and while MPI is not active. They must end the program, with
//! Cartograph's error text in the host's output.

use std::process::Command;

use super::Outcome;
use crate::session::{Session, word};

/// The variant, the processes (0 is without a launcher), and the text.
type Case = (&'static str, u32, &'static [&'static str]);

const CASES: [Case; 6] = [
    (
        "local",
        2,
        &[
            "MPI_Cart_rank",
            "coordinate 5 of dimension 1 is outside 0 to 0 and the dimension is not periodic",
        ],
    ),
    (
        "collective",
        2,
        &["MPI_Cart_create", "on rank 1: dims make a grid of 3 processes, but comm has only 2"],
    ),
    ("null", 2, &["MPI_Cart_rank", "comm is MPI_COMM_NULL"]),
    ("nowhere", 2, &["MPI_Dims_create", "dims[0] is -3"]),
    ("before", 0, &["cartograph: MPI_Dims_create: nnodes is 0", "MPI is not active"]),
    ("after", 1, &["cartograph: MPI_Dims_create: nnodes is 0", "MPI is not active"]),
];

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    session.seconds = 60;
    let library = session.host.library();
    let lib = word(library.parent().expect("a folder"));
    // mini lacks the chapter's functions, so programs are linked with the library as well.
    let link: &[&str] =
        if session.host.name == "mini" { &["-L", lib, "-lcartograph"] } else { &[] };
    let program = session.compile("errors_fatal", "c_tests/errors/errors_fatal.c", link);
    for (way, processes, words) in CASES {
        // SMPI's programs do not run without the launcher.
        if processes == 0 && session.host.name == "smpi" {
            continue;
        }
        // Open MPI's launcher loses its own message about an abort in about one of four runs, even of bare programs,
        // and reports that: then it runs again.
        for _ in 0..10 {
            // Core dumps of programs that abort on purpose are not needed.
            let mut command = Command::new("sh");
            command.args(["-c", "ulimit -c 0; exec \"$@\"", "sh"]);
            let launcher = session.launcher(processes);
            let all = [launcher.get_program()].into_iter().chain(launcher.get_args());
            command.args(all.take(if processes == 0 { 4 } else { usize::MAX }));
            command.current_dir(crate::testlist::top()).envs(session.host.settings());
            command.arg("env").arg(session.preload()).arg(&program).arg(way);
            session.finish(&mut command);
            if !(session.says("ORTE_ERROR_LOG: ") && session.says("/show_help.c")) {
                break;
            }
        }
        // Neither success nor 124, with which timeout reports that it ended the program.
        let ended = session.code != 0 && session.code != 124;
        session.check(&format!("{way}: ends with an error"), ended);
        session.check(&format!("{way}: does not go on"), !session.out.contains("survived"));
        for words in words {
            session.check(&format!("{way}: stderr has '{words}'"), session.says(words));
        }
        if ["before", "after"].contains(&way) {
            session
                .check(&format!("{way}: a right call is answered"), session.out.contains("3 x 2"));
        }
    }
    session.verdict()
}
