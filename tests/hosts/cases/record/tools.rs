//! The recorder together with other wrappers: tools on either side, each of which sees each of its calls once, and
//! Cartograph after them.

use super::Recorder;
use crate::testlist::top;

impl Recorder<'_, '_> {
    pub(super) fn tools(&mut self) {
        let source = "c_tests/record/record_tool.c";
        let tool = self.session.compile("tool.so", source, &["-pthread", "-fPIC", "-shared"]);
        let (every, program) = (self.library.clone(), self.program.clone());
        let cartograph = self.session.host.library();
        let own = cartograph.with_file_name("libcartograph_record.so");
        let forwarding = top().join("build/lib/libcartograph.so");
        for (what, libraries) in [
            ("a tool in front", &[&*tool, &*every][..]),
            ("a tool behind", &[&every, &tool]),
            ("Cartograph behind", &[&every, &cartograph]),
            ("the library for every MPI behind", &[&every, &forwarding]),
            ("the recorder itself", &[&own]),
        ] {
            let ran = self.preloading(libraries, 4, &[&program]);
            let right = ran && self.same(4);
            self.session.check(what, right);
            if libraries.contains(&&*tool) {
                let calls = self.session.out.lines().filter_map(|line| line.strip_prefix("tool: "));
                let calls: Vec<&str> = calls.collect();
                let right = !calls.is_empty() && calls.iter().all(|calls| *calls == "16");
                self.session.check(&format!("{what} has seen its calls"), right);
            }
        }
    }
}
