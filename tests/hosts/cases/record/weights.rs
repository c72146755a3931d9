//! A recording sets the weights of grids and graphs in the next run.

use std::fs;
use std::path::PathBuf;

use super::super::exec::command;
use super::Recorder;
use super::parts::Parts;
use crate::session::word;

const WEIGHED: &str = "; between nodes 96 -> 40 .*; weighted 8,1$";

struct Next<'a, 'b, 'c> {
    recorder: &'a mut Recorder<'b, 'c>,
    grid: String,
    learned: PathBuf,
}

impl Next<'_, '_, '_> {
    /// Runs on nodes that each have a row of the grid, with even ranks before the next row's.
    fn runs(&mut self, processes: u32, options: &[&str], settings: &[&str]) -> bool {
        let command = command();
        let layout = format!("CARTOGRAPH_LAYOUT={}x2", processes / 2);
        let program = [&[word(&command), "exec"], options, &[&self.grid]].concat();
        let always = [&layout[..], "CARTOGRAPH_REORDER=on"];
        self.recorder.session.run(processes, &[&always, settings].concat(), &program)
    }

    fn weighed(&mut self, processes: u32, settings: &[&str]) -> bool {
        let learned = self.learned.clone();
        self.runs(processes, &["--report", "--traffic", word(&learned)], settings)
    }

    /// Checks a run with the recording, and its report.
    fn says(&mut self, what: &str, settings: &[&str], patterns: &[&str]) {
        let ran = self.weighed(8, settings);
        let session = &mut *self.recorder.session;
        let right = ran && patterns.iter().all(|pattern| session.said(pattern) > 0);
        session.check(what, right);
    }

    /// Checks that the program runs as without the recording, and that one line gives the reason.
    fn without(&mut self, what: &str, processes: u32, why: &str) {
        let ran = self.weighed(processes, &[]);
        let session = &mut *self.recorder.session;
        let line = format!("^cartograph: CARTOGRAPH_TRAFFIC: .*learned {why}; ignored$");
        let told = session.said("^cartograph:") == 1 && session.said(&line) == 1;
        let right = ran && told && session.said("; weights assumed equal$") > 0;
        session.check(what, right);
    }

    /// True if `MPI_Cart_map` has given each process its rank in the grid.
    fn maps_as_the_grid(&self) -> bool {
        let numbers = |name: &str| -> Option<Vec<usize>> {
            let line =
                self.recorder.session.out.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().map(|word| word.parse().ok()).collect()
        };
        let (Some(grid), Some(map)) = (numbers("grid "), numbers("map ")) else { return false };
        map.len() == 8 && map.iter().enumerate().all(|(old, new)| grid.get(*new) == Some(&old))
    }
}

impl Recorder<'_, '_> {
    pub(super) fn weights(&mut self) -> Result<(), String> {
        let explain = |error: std::io::Error| error.to_string();
        let source = "c_tests/record/record_grid.c";
        let grid = word(&self.session.compile("grid", source, &["-pthread"])).to_owned();
        let learned = self.session.work("learned");
        let ran = self.recorded(8, &[&grid]);
        self.session.check("a grid and a ring are recorded", ran);
        let parts = Parts::read(&self.traffic);
        fs::rename(&self.traffic, &learned).map_err(explain)?;
        let mut next = Next { recorder: self, grid, learned: learned.clone() };

        let graph = "; between nodes 12800 -> 1600 ";
        next.says("large faces come inside of nodes, of the graph too", &[], &[WEIGHED, graph]);
        let right = next.maps_as_the_grid();
        next.recorder.session.check("MPI_Cart_map agrees with the grid", right);
        let user = "CARTOGRAPH_WEIGHTS=1,3";
        next.says("what the user says comes first", &[user], &["; weighted 1,3$"]);
        next.without("of another job", 6, "is for 8 processes, but this job has 6");

        fs::remove_dir_all(&learned).and_then(|()| parts.write(&learned)).map_err(explain)?;
        next.says("a file for each process is as good", &[], &[WEIGHED]);
        let part = learned.join("3.jsonl");
        let text = fs::read_to_string(&part).map_err(explain)?;
        let lines: Vec<&str> = text.lines().take(2).collect();
        fs::remove_file(&part).map_err(explain)?;
        let lacks = "lacks the parts of 1 processes, such as that of rank 3";
        next.without("parts are missing", 8, lacks);
        fs::write(&part, lines.join("\n") + "\n").map_err(explain)?;
        next.without("one that is cut off is missing too", 8, lacks);
        fs::write(&part, "something else\n").map_err(explain)?;
        let foreign = "is not a recording: line .* is not an entry of a recording .*";
        next.without("foreign", 8, foreign);
        fs::remove_dir_all(&learned).and_then(|()| fs::create_dir(&learned)).map_err(explain)?;
        next.without("empty", 8, "is not a recording: no process has written .*");
        Ok(())
    }
}
