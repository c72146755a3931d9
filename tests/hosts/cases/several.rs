//! Several programs in one job on simulated nodes: `cartograph run` records and places it, with the output of the bare
//! launcher, and `tune` and `try` run it.

use std::process::Command;

use serde_json::Value;

use super::Outcome;
use super::exec::command;
use crate::output::Verdict;
use crate::session::{Session, word};

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    if !session.makes_nodes() {
        return Ok(Verdict::Ignored("no node can be made up here".into()));
    }
    let [one, other] = [("atmosphere", "-UOCEAN"), ("ocean", "-DOCEAN")].map(|(name, which)| {
        // With messages of 1 MiB, a gain is predicted on a loaded machine as well.
        let options = ["-DPAUSE=4000", "-DCOLUMNS=4096", which];
        word(&session.compile(name, "c_tests/record/coupled.c", &options)).to_owned()
    });
    // PRRTE misreads a rank file below a directory of this name.
    let store = session.work("opened");
    let here = session.work("here");
    std::fs::create_dir(&here).map_err(|error| error.to_string())?;
    let job = |session: &mut Session<'_>, front: &[&str], nodes: &str, code: &str| {
        let mut words = session.on_nodes(nodes, 2);
        if session.host.name == "openmpi5" {
            // With this variable, each program would start on the first node.
            words.retain(|word| word != "--oversubscribe");
        }
        let number = words[words.len() - 2].clone();
        words.extend([&one, code, "two words", ":", &number, "2", &other, code].map(str::to_owned));
        let mut job = Command::new("timeout");
        job.args(["-k", "5", "120"]).args(front).args(words).current_dir(&here);
        job.envs(session.environment()).env("CARTOGRAPH_STORE", &store);
        session.finish(&mut job)
    };
    let ran = job(&mut session, &[], "a:2,b:2", "0");
    let bare = session.out.clone();
    session.check("the bare job", ran && bare.ends_with("4 apart\n"));
    let command = command();
    let under = [word(&command), "run"];
    let ran = job(&mut session, &under, "a:2,b:2", "0");
    let told = session.said("^cartograph: recorded .*/atmosphere : .*/ocean on 4 ranks; ") == 1;
    session.check("the first job is recorded", ran && told && session.out == bare);
    let mut placed = Vec::new();
    for number in 2..=4 {
        let ran = job(&mut session, &under, "c:2,d:2", "0");
        let is_own = session.said(
            "in the default order(, to compare|: no other (is faster so far|was tried yet)) ",
        ) == 1;
        let expected = if is_own { bare.clone() } else { bare.replace("4 apart", "0 apart") };
        let told = session.said("^cartograph: .*/atmosphere : .*/ocean in ") == 1;
        session.check(
            &format!("job {number} is placed or compared"),
            ran && told && session.out == expected,
        );
        placed.push(!is_own);
    }
    session.check("both orders run", placed.contains(&true) && placed.contains(&false));
    // The nodes have another shape than the nodes for which relays place ranks.
    let quiet = [word(&command), "run", "--quiet", "--no-trial"];
    let ran = job(&mut session, &quiet, "a:3,b:3", "0");
    let same = session.out.lines().take(4).eq(bare.lines().take(4));
    session.check(
        "on other nodes, the job runs without a message",
        ran && same && session.said("^cartograph: ") == 0,
    );
    job(&mut session, &under, "c:2,d:2", "3");
    let same = session.out.lines().take(4).count() == 4 && session.code == 3;
    session.check("an exit code is passed on", same);
    let mut known = Command::new(&command);
    let listed = session.finish(known.arg("known").env("CARTOGRAPH_STORE", &store));
    let row = session.out.lines().any(|line| line.starts_with("atmosphere:2+ocean:2"));
    session.check("known lists the job by its programs", listed && row);
    let json = session.work("tuned.json");
    let ranks = session.work("tuned.ranks");
    let files = ["--json", word(&json), "--rankfile", word(&ranks), "--"];
    let tune = [&[word(&command), "tune", "--runs", "2"], &files[..]].concat();
    let ran = job(&mut session, &tune, "a:2,b:2", "0");
    let tuned = std::fs::read_to_string(&json).unwrap_or_default();
    let tuned: Value = serde_json::from_str(&tuned).unwrap_or_default();
    let variants = tuned["measured"]["variants"].as_array().cloned().unwrap_or_default();
    let all_ran =
        variants.iter().all(|one| one["seconds"].as_array().is_some_and(|it| it.len() == 2));
    session.check("the job is tuned", ran && variants.len() > 1 && all_ran);
    let again = [word(&command), "try", "--runs", "1", "--ignore", "apart", "--"];
    let ran = job(&mut session, &again, "a:2,b:2", "0");
    let is_tried =
        session.out.contains("\nno rank was reordered") && !session.out.contains("not tried");
    session.check("the job is tried on other nodes", ran && is_tried);
    session.verdict()
}
