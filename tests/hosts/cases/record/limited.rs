//! The recordings of `cartograph run` cost little: the recorder measures itself, and stops.

use std::fs;

use super::{Parts, Recorder, command, parts, word};

impl Recorder<'_, '_> {
    /// Records a program of one process that sends to itself, and returns the number of messages that it reports.
    fn busy(&mut self, keeps: &str, program: &[&str]) -> Option<u64> {
        self.clear();
        let command = command();
        let exec = [word(&command), "exec", "--record", word(&self.traffic), "--limited", keeps];
        let ran = self.session.run(1, &[], &[&exec, program].concat());
        let sent = self.session.out.trim().parse().ok();
        sent.filter(|_| ran && self.session.is_quiet())
    }

    pub(super) fn limited(&mut self) {
        let program = self.session.compile("busy", "c_tests/record/record_busy.c", &["-O2"]);
        let program = word(&program).to_owned();
        // Far more than ten million sums a second would take no time.
        let sent = self.busy("calls", &[&program, "2", "0"]);
        let counted = |parts: &Parts| {
            parts.captured(0, r#"^\{"sent":\{"to":0,"messages":(\d+),"#).parse::<u64>().ok()
        };
        let parts = Parts::read(&self.traffic);
        let stopped = parts.has(0, r#"^\{"process":.*"complete":true.*"cost":\d+,"stopped":true,"#);
        let cut = parts.has(0, r#"^\{"window":.*"cut":true,"#);
        let fewer = counted(&parts).zip(sent).is_some_and(|(counted, sent)| counted < sent);
        self.session.check("a recorder that costs too much stops itself", stopped && cut && fewer);
        // Before that, it counts only work.
        let right = parts.work(0).starts_with(&parts.sum(0));
        self.session.check("sums are scaled to the work counted after them", right);
        // 52 ns of 300 us.
        for (keeps, keeps_calls) in [("calls", true), ("work", false)] {
            let sent = self.busy(keeps, &[&program, "1", "300"]);
            let parts = Parts::read(&self.traffic);
            let work = parts.captured(0, r#""work":\{"messages":(\d+),"#).parse::<u64>().ok();
            let all = sent.is_some() && work == sent;
            let text = parts::text(&self.traffic);
            let goes_on = !text.contains("stopped") && text.contains("\"cost\":");
            let has = |kind: &str| text.contains(kind) == keeps_calls;
            let right = all && goes_on && has("{\"window\":") && has("{\"sent\":");
            self.session.check(&format!("one that costs little does not, with {keeps}"), right);
        }
        // Their loops are searched for in MPI_Finalize.
        let irregular = "c_tests/record/record_irregular.c";
        let irregular = self.session.compile("irregular", irregular, &["-O2"]);
        self.busy("calls", &[word(&irregular)]);
        let cost = Parts::read(&self.traffic).captured(0, r#""complete":true,.*"cost":(\d+),"#);
        let right = cost.parse().is_ok_and(|cost: u64| cost < 20_000_000);
        self.session.check("the search for loops without a pattern takes little time", right);
        self.busy("work", &[&program, "1", "300"]);
        let small = fs::read_dir(&self.traffic).is_ok_and(|files| {
            files.flatten().all(|file| file.metadata().is_ok_and(|file| file.len() < 500))
        });
        self.session.check("recordings of work are small", small);
    }
}
