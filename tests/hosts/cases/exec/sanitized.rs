//! Programs that are built with a sanitizer, whose runtime must be the first library of all.

use std::path::PathBuf;
use std::process::Command;

use super::{Exec, MODULE, OURS, STEPS};
use crate::session::{Session, word};

/// Memory errors and races inside MPIs are not tested.
const SETTINGS: [&str; 2] = ["ASAN_OPTIONS=detect_leaks=0", "TSAN_OPTIONS=report_bugs=0"];

pub(super) fn run(session: &mut Session<'_>) {
    for kind in ["address", "thread"] {
        let option = format!("-fsanitize={kind}");
        let options = ["-DLINKED", MODULE, "-ldl", &option];
        let program = word(&session.compile(kind, STEPS, &options)).to_owned();
        session.preloaded.clear();
        // Some systems place a program where a sanitizer cannot use it, and two processes of MPICH 5 crash under it.
        if !session.run(2, &SETTINGS, &[&program, "self"]) && kind == "thread" {
            continue;
        }
        let recorded = session.work(&format!("recorded.{kind}"));
        let settings = SETTINGS.map(str::to_owned).to_vec();
        let mut exec = Exec { session, settings };
        let own = [&program[..], "self"];
        let ran = exec.runs(2, &own);
        let ours = exec.session.out == OURS.repeat(2);
        exec.session.check(&format!("{kind}: with the library"), ran && ours);
        let both = ["--record", word(&recorded), "--reorder", "off"];
        let ran = exec.runs(2, &[&both[..], &own].concat());
        let ours = exec.session.out == OURS.repeat(2);
        exec.session.check(&format!("{kind}: with the recorder and the library"), ran && ours);
        exec.session.check(&format!("{kind}: it is recorded"), recorded.exists());
        runtime_by_hand(&mut exec, kind, &program);
    }
}

/// A runtime that the user preloads, which is of the same name, stays the only one.
fn runtime_by_hand(exec: &mut Exec<'_, '_>, kind: &str, program: &str) {
    let name = if kind == "address" { "libasan.so" } else { "libtsan.so" };
    let mut gcc = Command::new("gcc");
    exec.session.finish(gcc.arg(format!("-print-file-name={name}")));
    let runtime = PathBuf::from(exec.session.out.trim());
    let Ok(runtime) = runtime.canonicalize() else { return };
    exec.session.preloaded = vec![runtime];
    let ran = exec.runs(1, &[program, "self"]);
    let ours = exec.session.out == OURS;
    exec.session.check(&format!("{kind}: with its runtime preloaded by hand"), ran && ours);
    exec.session.preloaded.clear();
}
