//! MPI_COMM_WORLD in the order of a profile: programs see it everywhere, and give the same output as on the bare host;
//! ranks are kept unless all processes agree.

mod kept;
pub(super) mod programs;

use std::path::{Path, PathBuf};

use super::Outcome;
use crate::session::{Session, count, word};
use crate::testlist::top;

/// Orders of `processes` processes: rank 0 keeps its place.
fn orders(processes: u32) -> [Vec<u32>; 2] {
    let reversed = std::iter::once(0).chain((1..processes).rev()).collect();
    let mut state = 7 * u64::from(processes);
    let mut random: Vec<u32> = (0..processes).collect();
    for last in (2..processes as usize).rev() {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let other = 1 + (state >> 33) as usize % last;
        random.swap(last, other);
    }
    [reversed, random]
}

fn list(order: &[u32]) -> String {
    order.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

/// A profile of an order, for processes on the nodes of the new ranks.
pub(super) fn profile(
    session: &Session<'_>,
    program: &str,
    order: &[u32],
    node_of_rank: &[u32],
) -> PathBuf {
    let size = order.len();
    let nodes = node_of_rank.iter().max().map_or(0, |last| last + 1);
    let sizes: Vec<usize> =
        (0..nodes).map(|node| node_of_rank.iter().filter(|of| **of == node).count()).collect();
    let text = format!(
        "{{\"schema\":1,\"program\":\"{program}\",\"processes\":{size},\"node_sizes\":{sizes:?},\"order\":\"a test\",\
         \"moves_grids\":false,\"orders_world\":true,\"predicted\":1.0}}\n\
         {{\"new_ranks\":{order:?},\"node_of_rank\":{node_of_rank:?}}}\n"
    );
    session.write("profile.json", &text)
}

/// The setting for processes on one node.
fn ordered(session: &Session<'_>, order: &[u32]) -> String {
    let file = profile(session, "world", order, &vec![0; order.len()]);
    format!("CARTOGRAPH_WORLD={}", file.display())
}

fn library(session: &Session<'_>, name: &str) -> PathBuf {
    session.host.library().with_file_name(name)
}

/// The libraries to preload, one after the other: the host's own and those for every MPI.
fn stacks(session: &Session<'_>) -> Vec<(&'static str, Vec<PathBuf>)> {
    let (ours, world) = (session.host.library(), library(session, "libcartograph_world.so"));
    let every = |name: &str| top().join("build/lib").join(name);
    // Programs do not look up functions here that their MPI lacks.
    let for_every = every("cartograph/world-4c.so");
    vec![
        ("alone", vec![world.clone()]),
        ("Cartograph behind", vec![world.clone(), ours.clone()]),
        ("Cartograph in front", vec![ours, world]),
        ("for every MPI", vec![every("libcartograph.so"), for_every.clone()]),
        ("for every MPI, Cartograph behind", vec![for_every, every("libcartograph.so")]),
    ]
}

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    let stacks = stacks(&session);
    session.preloaded.clone_from(&stacks[0].1);
    // Facts that do not depend on the MPI are tested on one host of each family.
    let whole = !session.host.shortened;
    let waiting = whole.then(|| kept::Waiting::begin(&mut session));
    let program = session.compile("world", "c_tests/world/world.c", &[]);
    let file = session.work("file");
    for (what, libraries) in &stacks {
        session.preloaded.clone_from(libraries);
        let numbers = if whole { &[2, 4, 7][..] } else { &[2, 7] };
        for &processes in numbers {
            // The last orders are for a single stack.
            let most = if processes == 4 || libraries.len() == 1 { 2 } else { 1 };
            for order in orders(processes).into_iter().take(most) {
                let setting = ordered(&session, &order);
                let arguments = [word(&program), &list(&order), word(&file)];
                session.runs(
                    &format!("world.c, {what}, {order:?}"),
                    processes,
                    &[&setting],
                    &arguments,
                );
            }
        }
    }
    session.preloaded.clone_from(&stacks[0].1);
    names(&mut session);
    fortran(&mut session);
    if whole {
        kept::differing(&mut session, &program);
        layout(&mut session, &stacks);
        command(&mut session, &program);
    }
    kept::lacking_in_one_program(&mut session, &program);
    variables(&mut session, &program);
    kept::spawned(&mut session);
    kept::sessions_alone(&mut session);
    threads(&mut session);
    recorded(&mut session);
    fake_nodes(&mut session, &program);
    if let Some(waiting) = waiting {
        waiting.end(&mut session);
    }
    session.verdict()
}

/// The library to preload for every MPI has every name of the host's library.
fn names(session: &mut Session<'_>) {
    let listed = std::fs::read_to_string(top().join("include/world.txt")).unwrap_or_default();
    let listed: Vec<&str> =
        listed.lines().filter_map(|line| Some(line.split_once(' ')?.1)).collect();
    let mut command = std::process::Command::new("nm");
    command.args(["-D", "--defined-only", "--format=posix"]);
    let ran = session.finish(command.arg(library(session, "libcartograph_world.so")));
    let exported = session.out.lines().filter_map(|line| line.split(' ').next());
    let unlisted: Vec<&str> = exported
        .filter(|name| *name != "cartograph_finds_next_by")
        .filter(|name| {
            let plain = if name.starts_with("PMPI") { &name[1..] } else { name };
            !listed.contains(&plain)
        })
        .collect();
    session.check(&format!("all names are listed: {unlisted:?}"), ran && unlisted.is_empty());
}

fn fortran(session: &mut Session<'_>) {
    let source = "c_tests/world/world_fortran.F90";
    if session.host.compiler(source.as_ref()).is_none() {
        return;
    }
    let modules = session.work("");
    for module in ["0", "1", "2"] {
        let options = [&format!("-DMODULE={module}"), "-J", word(&modules)];
        let program = session.compile(&format!("fortran{module}"), source, &options);
        for order in orders(4) {
            let setting = ordered(session, &order);
            session.runs(
                &format!("module {module}, {order:?}"),
                4,
                &[&setting],
                &[word(&program), &list(&order)],
            );
        }
    }
}

/// The ranks of all launchers are new, and their variables about the node do not change.
fn variables(session: &mut Session<'_>, program: &Path) {
    let order = [0, 3, 1, 2];
    let setting = ordered(session, &order);
    let file = session.work("file");
    let tell = "rank=${PMI_RANK-$OMPI_COMM_WORLD_RANK}; \
        export SLURM_PROCID=$rank MV2_COMM_WORLD_RANK=$rank PALS_RANKID=$rank ALPS_APP_PE=$rank FLUX_TASK_RANK=$rank \
        SLURM_LOCALID=$rank MV2_COMM_WORLD_LOCAL_RANK=$rank PALS_LOCAL_RANKID=$rank; exec \"$@\"";
    let list = list(&order);
    let told = ["sh", "-c", tell, "sh", word(program), &list, word(&file)];
    session.runs("variables of launchers", 4, &[&setting], &told);
}

fn threads(session: &mut Session<'_>) {
    let program = session.compile("world_threads", "c_tests/world/world_threads.c", &["-pthread"]);
    for order in orders(4) {
        let setting = ordered(session, &order);
        session.runs("threads", 4, &[&setting], &[word(&program), &list(&order)]);
    }
}

/// Recordings use the program's ranks, with the recorder on either side.
fn recorded(session: &mut Session<'_>) {
    let program = session.compile("grid", "c_tests/record/record_grid.c", &[]);
    let recorder = library(session, "libcartograph_record.so");
    let world = library(session, "libcartograph_world.so");
    let order = [0, 5, 3, 1, 7, 2, 6, 4];
    let setting = ordered(session, &order);
    let mut shown = Vec::new();
    let stacks = [
        ("alone", vec![recorder.clone()]),
        ("in front", vec![recorder.clone(), world.clone()]),
        ("behind", vec![world, recorder]),
    ];
    for (what, libraries) in stacks {
        session.preloaded = libraries;
        let directory = session.work(&format!("traffic-{what}").replace(' ', "-"));
        let to = format!("CARTOGRAPH_RECORD={}", directory.display());
        session.runs(&format!("recorded, {what}"), 8, &[&to, &setting], &[word(&program)]);
        shown.push((what, sent(&directory)));
    }
    let alone = shown[0].1.clone();
    for (what, sent) in &shown[1..] {
        session.check(
            &format!("the same is sent, recorder {what}"),
            !sent.is_empty() && *sent == alone,
        );
    }
    session.preloaded = vec![library(session, "libcartograph_world.so")];
}

/// The messages of a recording, from its parts.
fn sent(directory: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let parts = std::fs::read_dir(directory).into_iter().flatten().flatten();
    for part in parts {
        let text = std::fs::read_to_string(part.path()).unwrap_or_default();
        let mut rank = String::new();
        for line in text.lines() {
            let Ok(value) = serde_json::from_str::<serde_json::Value>(line) else { continue };
            if let Some(process) = value.get("process") {
                rank = process["rank"].to_string();
            }
            if let Some(sent) = value.get("sent") {
                all.push(format!(
                    "{rank}: {sent} {}",
                    value.get("on").unwrap_or(&serde_json::Value::Null)
                ));
            }
        }
    }
    all.sort();
    all
}

/// `CARTOGRAPH_LAYOUT` describes the nodes of the program's ranks.
fn layout(session: &mut Session<'_>, stacks: &[(&'static str, Vec<PathBuf>)]) {
    let program = session.compile("reorder", "c_tests/reorder/reorder.c", &[]);
    let order = &orders(16)[1];
    let setting = ordered(session, order);
    for (what, libraries) in &stacks[1..3] {
        session.preloaded.clone_from(libraries);
        let [layout, weights] = ["CARTOGRAPH_LAYOUT=4x4", "CARTOGRAPH_WEIGHTS=4x4:1,1"];
        let settings = [&setting, layout, weights, "CARTOGRAPH_REORDER=on"];
        session.runs(
            &format!("CARTOGRAPH_LAYOUT, {what}"),
            16,
            &settings,
            &[word(&program), "gains"],
        );
    }
    session.preloaded.clone_from(&stacks[0].1);
}

/// `cartograph exec --profile` preloads the required libraries.
fn command(session: &mut Session<'_>, program: &Path) {
    let order = [0, 3, 1, 2];
    let profile = profile(session, "world", &order, &[0; 4]);
    let file = session.work("file");
    let tool = top().join("build/bin/cartograph");
    let kept = std::mem::take(&mut session.preloaded);
    let words = [
        word(&tool),
        "exec",
        "--profile",
        word(&profile),
        word(program),
        &list(&order),
        word(&file),
    ];
    session.runs("exec --profile", 4, &[], &words);
    session.check("exec --profile is quiet", session.said("cartograph: ") == 0);
    // A profile of another program: ranks are kept, and one line gives the reason.
    let other = session.work("other");
    let copied = std::fs::copy(program, &other).is_ok();
    let words =
        [word(&tool), "exec", "--profile", word(&profile), word(&other), "0,1,2,3", word(&file)];
    let ran = session.run(4, &[], &words);
    let said = session.said("is for the program world; ignored") == 1;
    session.check("a profile of another program", copied && ran && said);
    // A program that creates no topology has a report with the order and its gain.
    let reported = session.compile("reported", "c_tests/reorder/reported.c", &[]);
    let profile = self::profile(session, "reported", &order, &[0; 4]);
    let words =
        [word(&tool), "exec", "--report", "--profile", word(&profile), word(&reported), "none"];
    let ran = session.run(4, &[], &words);
    let order = "^MPI_COMM_WORLD has the rank order of a profile: a test, predicted 1.00x relative to the default \
                 order$";
    let said = session.said(order) == 1 && session.said("created no topology") == 0;
    session.check("exec --report of another order", ran && said);
    session.preloaded = kept;
}

/// Nodes that MPICH's launcher simulates on this machine.
fn fake_nodes(session: &mut Session<'_>, program: &Path) {
    if !["mpich", "mpich5"].contains(&session.host.name.as_str()) {
        return;
    }
    let order = [0, 2, 1, 3];
    let file = session.work("file");
    let launcher = session.host.launcher()[0].clone();
    for (nodes, fits) in [([0, 1, 0, 1], true), ([0, 0, 1, 1], false)] {
        let setting =
            format!("CARTOGRAPH_WORLD={}", profile(session, "world", &order, &nodes).display());
        let preload = session.preload();
        let mut command = std::process::Command::new("timeout");
        command.args([
            "60",
            &launcher,
            "-launcher",
            "fork",
            "-hosts",
            "n0:2,n1:2",
            "-n",
            "4",
            "env",
        ]);
        command.args([&preload, &setting, word(program)]).envs(session.host.settings());
        let seen = if fits { list(&order) } else { "0,1,2,3".to_owned() };
        let ran = session.finish(command.args([&seen, word(&file)]));
        let said = count(&session.err, "is for ranks on other nodes") == usize::from(!fits);
        session.check(&format!("nodes {nodes:?}"), ran && said);
    }
}
