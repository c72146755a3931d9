//! The examples that plan in Python, and the notebook: its output equals the stored one.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::Outcome;
use super::mpi4py::prepare;
use crate::session::Session;
use crate::testlist::top;

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    // The package as a wheel lays it out, from the current build.
    let package = session.work("cartograph");
    let linked = fs::create_dir(&package).and_then(|()| {
        symlink(top().join("build"), package.join("_tree"))?;
        for module in fs::read_dir(top().join("packaging/python/src/cartograph"))? {
            let module = module?;
            if module.path().is_file() {
                symlink(module.path(), package.join(module.file_name()))?;
            }
        }
        Ok(())
    });
    linked.map_err(|error| error.to_string())?;

    // An environment with numpy.
    prepare(&mut session, ["scripts/setup.sh", "mpi4py"])?;
    let mut python = Command::new(top().join("build/hosts/mpi4py/bin/python"));
    python.args(["-B", "packaging/python/tests/test_examples.py"]).current_dir(top());
    let passes = session.finish(python.env("PYTHONPATH", session.work("")));
    session.check("examples/mesh.py and placement.ipynb", passes);
    session.verdict()
}
