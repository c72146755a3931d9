//! Existing files do not change; the program runs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::Recorder;
use super::parts::Parts;
use crate::session::word;

/// Every file in directories, with its kind, size, time and target.
fn files(directories: [&Path; 2]) -> Vec<u8> {
    let mut find = Command::new("find");
    find.args(directories).args(["-printf", "%p %y %s %T@ %l\n"]);
    find.output().expect("find starts").stdout
}

impl Recorder<'_, '_> {
    fn untouched(&mut self, what: &str, mine: &Path) {
        let traffic = self.traffic.clone();
        let program = self.program.clone();
        let before = files([&traffic, mine]);
        let ran = self.again(2, &[&program]);
        let kept = before == files([&traffic, mine]);
        let line = format!(
            "^cartograph: CARTOGRAPH_RECORD: {} already exists; .*; nothing is recorded$",
            regex::escape(word(&traffic))
        );
        let told = self.session.said("cartograph") == 1 && self.session.said(&line) == 1;
        let right = ran && kept && told && self.sends();
        self.session.check(what, right);
    }

    /// True if rank 1 of the program prints the messages that it sent.
    fn sends(&self) -> bool {
        self.session.out.lines().any(|line| line.starts_with("1 {\"sent\""))
    }

    pub(super) fn existing_files_stay(&mut self) -> Result<(), String> {
        let explain = |error: std::io::Error| error.to_string();
        let traffic = self.traffic.clone();
        let mine = self.session.work("mine");
        fs::create_dir(&mine).map_err(explain)?;
        self.untouched("an earlier recording stays", &mine);
        self.clear();
        fs::create_dir(&traffic).map_err(explain)?;
        for name in ["traffic/0.jsonl", "traffic/17.jsonl"] {
            self.session.write(name, "mine\n");
        }
        self.untouched("files of others stay", &mine);
        self.clear();
        symlink(&mine, &traffic).map_err(explain)?;
        self.untouched("no link is followed to another directory", &mine);
        self.clear();
        fs::create_dir(&traffic).map_err(explain)?;
        let program = self.program.clone();
        let ran = self.again(2, &[&program]);
        let right = ran && self.session.is_quiet() && self.same(2);
        self.session.check("an empty directory is used", right);
        // A link that is created while the program runs.
        let thesis = self.session.write("mine/thesis", "mine\n");
        let more = self.more.clone();
        let ran = self.recorded(2, &[&more, "planted", word(&traffic), word(&thesis)]);
        let kept = fs::read_to_string(&thesis).is_ok_and(|text| text == "mine\n");
        let line =
            "^cartograph: CARTOGRAPH_RECORD: .* cannot be written; the recording is incomplete: ";
        let told = self.session.said("cartograph") == 1 && self.session.said(line) == 1;
        self.session.check("links are not followed, which is reported once", ran && kept && told);
        // If nothing can be written, the program runs as without the recorder, and one process prints the reason.
        let file = self.session.write("file", "\n");
        self.traffic = file.join("x");
        let library = self.library.clone();
        let ran = self.preloading(&[&library], 2, &[&program]);
        let line = "cartograph: CARTOGRAPH_RECORD: .* cannot be written";
        let right = ran && self.session.said(line) == 1 && self.sends();
        self.session.check("the program runs if nothing can be written", right);
        self.traffic = traffic;
        Ok(())
    }

    /// A program with others that are not recorded: no rank waits for these.
    pub(super) fn beside_others(&mut self) {
        let bare = self.session.preload();
        self.session.preloaded = vec![self.library.clone()];
        let preload = self.session.preload();
        self.session.preloaded.clear();
        let record = format!("CARTOGRAPH_RECORD={}", self.traffic.display());
        let program = self.program.clone();
        let recorded = ["env", &record, &preload, &program];
        let other = ["env", &bare, &program];
        for (what, first, second, ranks) in [
            ("the first of two programs is recorded", &recorded[..], &other[..], 0..2),
            ("the last of two programs is recorded", &other, &recorded, 2..4),
        ] {
            self.clear();
            let mut job = self.session.launcher(2);
            job.args(first).args([":", "-n", "2"]).args(second);
            self.session.finish(&mut job);
            let right = self.session.is_quiet() && Parts::read(&self.traffic).ranks().eq(ranks);
            let right = right && self.shows("^2 of 4 parts are missing");
            self.session.check(what, right);
        }
    }
}
