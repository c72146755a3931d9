//! Runs that send equal amounts to other ranks have other patterns.

use super::{Parts, Recorder, command, word};

impl Recorder<'_, '_> {
    /// The work and the pattern of each rank in a run of a program under the recorder.
    fn work_of(&mut self, options: &[&str], program: &[&str]) -> Option<Vec<[String; 2]>> {
        self.clear();
        let command = command();
        let exec = [word(&command), "exec", "--record", word(&self.traffic)];
        let ran = self.session.run(4, &[], &[&exec, options, program].concat());
        let parts = Parts::read(&self.traffic);
        let of = |rank| [parts.work(rank), parts.pattern(rank)];
        (ran && self.session.is_quiet()).then(|| (0..4).map(of).collect())
    }

    pub(super) fn patterns(&mut self) {
        let program = self.session.compile("mesh", "c_tests/record/record_mesh.c", &[]);
        let program = word(&program).to_owned();
        let (mesh, turned) = ([&*program, "1000", "10"], [&*program, "10", "1000"]);
        let first = self.work_of(&[], &mesh);
        let right = first.as_ref().is_some_and(|all| all.iter().all(|of| !of[1].is_empty()));
        self.session.check("each rank has a pattern", right);
        for options in [&["--limited", "calls"][..], &["--limited", "work"]] {
            let again = self.work_of(options, &mesh);
            let what = format!("another run has the same pattern, with {}", options[1]);
            self.session.check(&what, right && again == first);
        }
        let turned = self.work_of(&["--limited", "work"], &turned);
        let differs = first.zip(turned).is_some_and(|(first, turned)| {
            first.iter().zip(&turned).all(|(one, other)| one[0] == other[0] && one[1] != other[1])
        });
        self.session.check("a turned mesh has equal work and another pattern", differs);
    }
}
