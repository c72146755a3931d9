//! A report exists however the job ends, lists the topologies that existed, and is written only where allowed.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Outcome;
use crate::session::{Session, count, word};
use crate::testlist::top;

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    let program = session.compile("reported", "c_tests/reorder/reported.c", &["-Wall"]);
    std::fs::create_dir(session.work("here")).map_err(|error| error.to_string())?;
    let program = word(&program);
    however_it_ends(&mut session, program);
    for library in [session.host.library(), top().join("build/lib/libcartograph.so")] {
        session.preloaded = vec![library];
        nothing_is_made(&mut session, program);
        if session.host.checks_all {
            not_asked(&mut session, program);
        }
    }
    session.preloaded = vec![session.host.library()];
    as_text(&mut session, program);
    for_sites(&mut session, program);
    if session.host.checks_all {
        where_it_may_be_written(&mut session, program);
        promises(&mut session, program);
    }
    setuid(&mut session);
    session.verdict()
}

/// Runs four processes from the directory `here`; returns whether they succeed.
fn report(session: &mut Session<'_>, program: &str, report: &str, way: &[&str]) -> bool {
    report_of(session, program, &[&format!("CARTOGRAPH_REPORT={report}")], way)
}

/// Like [`report`], with other settings too.
fn report_of(session: &mut Session<'_>, program: &str, settings: &[&str], way: &[&str]) -> bool {
    let mut command = session.launcher(4);
    command.arg("env").args(settings).args([&session.preload(), program]).args(way);
    // Core dumps of programs that abort on purpose are not needed.
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "ulimit -c 0; exec \"$@\"", "sh"])
        .arg(command.get_program())
        .args(command.get_args());
    session.finish(shell.current_dir(session.work("here")).envs(session.host.settings()))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn is_json(path: &Path) -> bool {
    serde_json::from_str::<serde_json::Value>(&read(path)).is_ok()
}

/// The names of the files in the test's directory that begin with `start`.
fn names(session: &Session<'_>, start: &str) -> Vec<String> {
    let files = std::fs::read_dir(session.work("")).expect("the directory is there").flatten();
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    let mut names: Vec<_> = names.filter(|name| name.starts_with(start)).collect();
    names.sort();
    names
}

/// Each job has a separate file, which one process writes; if that fails, the user gets no message.
fn for_sites(session: &mut Session<'_>, program: &str) {
    let site = session.work("site");
    std::fs::create_dir(&site).expect("the test's directory is its own");
    let pattern = format!("{}/%j-%u.json", site.display());
    for (way, name) in [
        ("end", "17.srv-an_n.json"),
        ("abort", "17.srv-an_n-2.json"),
        ("none", "17.srv-an_n-3.json"),
    ] {
        let setting = format!("CARTOGRAPH_REPORT={pattern}");
        let settings = [&setting[..], "PBS_JOBID=17.srv", "USER=an/n"];
        let succeeds = report_of(session, program, &settings, &[way]);
        session.check(&format!("{way}: ends so with a pattern"), succeeds == (way != "abort"));
        let text = read(&site.join(name));
        let is_one_line = is_json(&site.join(name)) && text.lines().count() == 1;
        session.check(&format!("{way}: writes a line into {name}"), is_one_line);
        let tells = text.contains(r#""origin":{"id":"17.srv","user":"an/n","host":""#);
        session.check(&format!("{way}: tells where it comes from"), tells);
        session.check(&format!("{way}: without pictures"), !text.contains("node_of"));
    }
    let files = std::fs::read_dir(&site).expect("it was made here").count();
    session.check("only rank 0 writes", files == 3);
    let many = format!("{}/%p-%d", site.display());
    let ends = report(session, program, &many, &["end", "1000"]);
    session.check("a thousand equal topologies", ends);
    let full = report(session, program, "/dev/full/%j.json", &["end"]);
    let quiet = session.err.is_empty();
    session.check("a full disk neither fails the job nor prints a message", full && quiet);
    let unknown = report(session, program, &format!("{}/%x", site.display()), &["end"]);
    let told = count(&session.err, r"CARTOGRAPH_REPORT: unknown %x \(expected %j, ") == 1;
    session.check("an unknown letter in a pattern is reported once", unknown && told);
}

/// Values that turn reports off are not file names.
fn not_asked(session: &mut Session<'_>, program: &str) {
    for off in ["0", "off", "no", "false"] {
        let ran = report(session, program, off, &["end"]);
        let nothing = session.is_quiet() && !session.work("here").join(off).exists();
        session.check(&format!("CARTOGRAPH_REPORT={off}"), ran && nothing);
    }
}

/// Checks that a report lists the grid of all processes, and `times` (a pattern) grids of the upper half.
fn tells(session: &mut Session<'_>, what: &str, file: &Path, times: &str) {
    let times = if times == "1" { String::new() } else { format!(", {times} times") };
    let of_all = [
        "^Cartograph .*: 4 processes on one node of 4, ",
        "^MPI_Cart_create: grid 4, periodic, 4 of 4 processes",
    ];
    let of_half = format!("^MPI_Cart_create{times}: grid 2, periodic, 2 of 2 processes");
    let of_half = ["^Cartograph .*: 4 processes", &of_half];
    for (end, told) in [("", of_all), (".2", of_half)] {
        let mut show = Command::new(top().join("build/bin/cartograph"));
        let shown = session.finish(show.arg("show").arg(format!("{}{end}", file.display())));
        let holds = told.iter().all(|pattern| count(&session.out, pattern) == 1);
        let one = count(&session.out, "^MPI_Cart_create") == 1;
        session.check(&format!("{what}{end}"), shown && holds && one);
    }
}

fn however_it_ends(session: &mut Session<'_>, program: &str) {
    for way in ["end", "abort", "crash"] {
        let [first, second] = ["", ".2"].map(|end| session.work(&format!("{way}.json{end}")));
        let succeeds = report(session, program, word(&first), &[way]);
        session.check(&format!("{way}: ends so"), succeeds == (way == "end"));
        let written = is_json(&first) && is_json(&second);
        session.check(&format!("{way}: two processes have written JSON"), written);
        tells(session, &format!("{way}: the topology is reported"), &first, "1");
        let left = names(session, &format!("{way}.json"));
        session.check(&format!("{way}: nothing else is left"), left.len() == 2);
    }
    let many = session.work("many.json");
    let succeeds = report(session, program, word(&many), &["end", "1000"]);
    session.check("a thousand equal topologies", succeeds);
    tells(session, "are counted", &many, "1000");
    let more = session.work("more.json");
    let succeeds = report(session, program, word(&more), &["abort", "1000"]);
    session.check("a thousand equal topologies and an abort", !succeeds);
    // Some processes end as if by MPI_Finalize.
    tells(session, "are counted up to a power of two at least", &more, "(512|1000)");
}

/// Rank 0 reports that a program creates no topology, both with its host's library and with the library for every MPI,
/// which loads the former when the process ends.
fn nothing_is_made(session: &mut Session<'_>, program: &str) {
    let head = "^(Cartograph .*: 4 processes|rank 0 created no)";
    let file = session.work("none.json");
    let _ = std::fs::remove_file(&file);
    let succeeds = report(session, program, word(&file), &["none"]);
    session.check("a program without topologies succeeds", succeeds && is_json(&file));
    let quiet = session.err.is_empty() && names(session, "none") == ["none.json"];
    session.check("a JSON report of no topologies prints nothing", quiet);
    session.finish(Command::new(top().join("build/bin/cartograph")).arg("show").arg(&file));
    let holds = count(&session.out, "^Cartograph .*: 4 processes, ") == 1
        && count(&session.out, "^rank 0 created no topology; .*cartograph exec --record") == 1;
    session.check("the report has the number of processes and advice", holds);
    let succeeds = report(session, program, word(&file), &["none"]);
    session.check("a second run prints nothing", succeeds && session.err.is_empty());
    std::fs::write(&file, "{}").expect("the file can be written");
    let succeeds = report(session, program, word(&file), &["none"]);
    session.check("an existing file is unchanged", succeeds && read(&file) == "{}");
    session.check("the report goes to stderr instead", session.said(head) == 2);
    let succeeds = report(session, program, "1", &["none"]);
    let once = session.said(head) == 2 && session.err.lines().count() == 2;
    session.check("the report is on stderr once", succeeds && once);
    // Forked children and programs without MPI do not report.
    let succeeds = report(session, program, "1", &["children"]);
    session.check("children print nothing", succeeds && session.said("created no") == 1);
}

/// As text: on stderr, and in a file.
fn as_text(session: &mut Session<'_>, program: &str) {
    let succeeds = report(session, program, "1", &["end", "3"]);
    session.check("a report on stderr", succeeds);
    let head = "^Cartograph [0-9.]+( on rank 2)?: 4 processes on one node of 4, ";
    session.check("each reporting process prints a heading", session.said(head) == 2);
    session.check("each topology is listed once", session.said("^MPI_Cart_create: grid") == 2);
    let number = "^MPI_Cart_create, 3 times in all: grid 2, periodic, 2 of 2 processes; ";
    session
        .check("the number of equal topologies is printed at the end", session.said(number) == 1);
    let succeeds = report(session, program, "1", &["abort"]);
    session.check(
        "each topology is listed after an abort",
        !succeeds && session.said("^MPI_Cart_create: grid") == 2,
    );
    let text = session.write("text", "what was there\n");
    let succeeds = report(session, program, word(&text), &["end", "3"]);
    session.check("a report in a file", succeeds);
    let (first, second) = (read(&text), read(&session.work("text.2")));
    let lines = "^(Cartograph .*: 4 processes|MPI_Cart_create: grid 4,|  ranks kept)";
    session.check("the report of rank 0", count(&first, lines) == 3 && first.lines().count() <= 4);
    let own = "^  native nonblocking and persistent neighborhood collectives";
    session.check("no line if neighbors are different processes", count(&first, own) == 0);
    session
        .check("a line if a process is a neighbor twice", count(&second, &format!("{own}$")) == 1);
    let lines =
        "^(Cartograph .* on rank 2: |MPI_Cart_create: grid 2,|MPI_Cart_create, 3 times in all: )";
    session.check("the report of rank 2", count(&second, lines) == 3);

    // A launcher of another MPI makes each process a separate job; its variables are set here.
    let foreign = if session.host.name.starts_with("openmpi") {
        "PMI_SIZE=4"
    } else {
        "OMPI_COMM_WORLD_SIZE=4"
    };
    session.runs("each process a job of its own", 1, &[foreign, "CARTOGRAPH_REPORT=1"], &[program]);
    let variable = foreign.trim_end_matches("=4");
    let said =
        format!("warning: MPI_COMM_WORLD has one process, but .* started 4 .{variable}.: start");
    session.check("the fault is reported once", session.said(&said) == 1);
}

fn where_it_may_be_written(session: &mut Session<'_>, program: &str) {
    let succeeds = report(session, program, "here.json", &["moves"]);
    session.check("a relative path", succeeds);
    tells(session, "is meant where the program started", &session.work("here/here.json"), "1");
    let target = session.write("target", "untouched");
    let refused = |session: &mut Session<'_>, path: &Path, words: &str| {
        let succeeds = report(session, program, word(path), &["end"]);
        let name = path.display();
        session.check(&format!("{name}: runs"), succeeds);
        session.check(&format!("{name}: is printed once"), session.said(words) == 1);
        session.check(
            &format!("{name}: comes on stderr"),
            session.said("^MPI_Cart_create: grid 4") == 1,
        );
    };
    for name in ["link.json", "link.text"] {
        let link = session.work(name);
        symlink(&target, &link).expect("a link can be made");
        refused(session, &link, &format!("{name} cannot be written: it is a symbolic link"));
        session.check(
            &format!("{name}: is not followed"),
            link.is_symlink() && read(&target) == "untouched",
        );
    }
    let pipes = ["pipe", "pipe.json"].map(|name| session.work(name));
    for pipe in &pipes {
        let made = Command::new("mkfifo").arg(pipe).status().is_ok_and(|status| status.success());
        session.check("a pipe", made);
    }
    for path in pipes.into_iter().chain(["/nowhere/x.json", "/nowhere/x"].map(PathBuf::from)) {
        refused(session, &path, &format!("{} cannot be written: ", path.display()));
    }
}

/// Checks the claims of SECURITY.md: no network except the program's MPI, and no files written except those that were
/// named.
fn promises(session: &mut Session<'_>, program: &str) {
    let library = session.host.library();
    for one in [
        library.with_file_name("libcartograph_record.so"),
        top().join("build/lib/libcartograph.so.0"),
        library,
    ] {
        let read = session.finish(Command::new("nm").args(["-D", "--undefined-only"]).arg(&one));
        let networks = r"\b(socket|connect|bind|listen|accept4?|getaddrinfo|sendto|sendmsg)\b";
        let none = count(&session.out, networks) == 0 && !session.out.is_empty();
        session.check(&format!("{} knows no network", one.display()), read && none);
    }
    let empty = session.work("empty");
    std::fs::create_dir(&empty).expect("a directory can be made");
    let mut command = session.launcher(4);
    command.current_dir(&empty).env("HOME", &empty).args([
        "env",
        &session.preload(),
        program,
        "end",
    ]);
    let succeeds = session.finish(&mut command);
    let left = std::fs::read_dir(&empty).expect("the directory is there").count();
    session.check("a run leaves nothing behind", succeeds && left == 0);
}

/// A program that runs with more rights than its user: it belongs to nobody, and daemon starts it. Not with Open MPI:
/// its processes must write to the job directory of its launcher, which belongs to root.
fn setuid(session: &mut Session<'_>) {
    let is_root = std::fs::metadata("/proc/self")
        .is_ok_and(|process| std::os::unix::fs::MetadataExt::uid(&process) == 0);
    if session.host.name.starts_with("openmpi") || !is_root {
        return;
    }
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("root may");
    };
    mode(&session.work(""), 0o711);
    let open = session.work("open");
    std::fs::create_dir(&open).expect("a directory can be made");
    mode(&open, 0o777);
    let library = open.join("libcartograph.so.0");
    std::fs::copy(session.host.library(), &library).expect("the library can be copied");
    mode(&library, 0o755);
    symlink("libcartograph.so.0", open.join("libcartograph.so")).expect("a link can be made");
    let (folder, rpath) = (word(&open), format!("-Wl,-rpath,{}", open.display()));
    let options = ["-Wl,--no-as-needed", "-L", folder, "-lcartograph", &rpath];
    let plain = session.compile("open/plain", "c_tests/reorder/reported.c", &options);
    let privileged = open.join("setuid");
    std::fs::copy(&plain, &privileged).expect("the program can be copied");
    let owned = session.finish(Command::new("chown").arg("nobody").arg(&privileged));
    session.check("the program is owned by the user nobody", owned);
    mode(&privileged, 0o4755);
    session.preloaded.clear();
    for (program, reports) in [(&plain, true), (&privileged, false)] {
        let file = program.with_extension("json");
        let report = format!("CARTOGRAPH_REPORT={}", file.display());
        let mut command = session.launcher(1);
        command.current_dir(&open).args(["env", &report, "CARTOGRAPH_REORDER=wrong"]);
        command.args([
            "setpriv",
            "--reuid",
            "daemon",
            "--regid",
            "daemon",
            "--clear-groups",
            word(program),
        ]);
        let succeeds = session.finish(&mut command);
        session.check("the program runs as daemon", succeeds);
        let written = file.exists();
        session.check(
            "only an unprivileged program reports",
            if reports { written } else { !written && session.err.is_empty() },
        );
    }
}
