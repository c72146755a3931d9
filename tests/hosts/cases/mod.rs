//! Tests of several runs each, in Rust: the lines `NAME case` of the list.

mod bound;
mod coupled;
mod exec;
mod family;
mod fatal;
mod files;
pub(crate) mod hostile;
mod install;
mod intel;
mod interleaved;
mod jobs;
mod killed;
mod launchers;
mod levels;
mod mini;
mod mpi4py;
mod notebook;
mod policy;
mod preload;
mod record;
mod relay;
mod reorder;
mod report;
mod setup;
mod several;
mod site;
mod small;
mod soak;
mod stacked;
mod symbols;
mod threads;
mod tool;
mod tried;
mod wheel;

use std::path::Path;

use crate::host::Host;
use crate::output::Verdict;
use crate::session::Session;

/// The verdict of a test, or why it fails.
type Outcome = Result<Verdict, String>;

/// Runs the test of a name.
pub(crate) fn run(host: &Host, name: &Path) -> Outcome {
    let session = Session::new(host);
    match name.to_str() {
        Some("bound") => bound::run(session),
        Some("coupled") => coupled::run(session),
        Some("domains") => levels::domains(session),
        Some("exec") => exec::run(session),
        Some("examples") => small::examples(session),
        Some("family") => family::run(session),
        Some("fatal") => fatal::run(session),
        Some("full") => files::full(session),
        Some("install") => install::run(session),
        Some("intel") => intel::run(session),
        Some("interleaved") => interleaved::run(session),
        Some("interrupted") => files::interrupted(session),
        Some("jobs") => jobs::run(session),
        Some("relay") => relay::run(session),
        Some("killed") => killed::run(session),
        Some("launchers") => launchers::run(session),
        Some("levels") => levels::run(session),
        Some("mini") => mini::run(session),
        Some("mpi4py") => mpi4py::run(session),
        Some("notebook") => notebook::run(session),
        Some("policy") => policy::run(session),
        Some("preload") => preload::run(session),
        Some("record") => record::run(session),
        Some("reorder") => reorder::run(session),
        Some("report") => report::run(session),
        Some("setup") => setup::run(session),
        Some("several") => several::run(session),
        Some("site") => site::run(session),
        Some("soak") => soak::run(session),
        Some("spawn") => small::spawn(session),
        Some("stacked") => stacked::run(session),
        Some("symbols") => symbols::run(session),
        Some("threads") => threads::run(session),
        Some("tool") => tool::run(session),
        Some("try") => tried::run(session),
        Some("ulfm") => killed::without_the_dead(session),
        Some("unfreed") => small::unfreed(session),
        Some("valgrind") => small::valgrind(session),
        Some("wheel") => wheel::run(session),
        _ => Err(format!("{}: there is no such test", name.display())),
    }
}
