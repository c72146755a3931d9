//! The wheel for a host is installed as by a user whose group may write all files; then the command, the Python package
//! and mpi4py after it work, and mpi4py's own tests of topologies.

use std::process::Command;

use regex::Regex;

use super::Outcome;
use super::mpi4py::{Mpi4py, prepare};
use crate::session::{Session, word};
use crate::testlist::top;

/// Without the first line, the command must bring the library.
const PROGRAM: &str = "import cartograph.mpi
from mpi4py import MPI

grid = MPI.COMM_WORLD.Create_cart(MPI.Compute_dims(4, 2), periods=[True, False], reorder=True)
# In a file: lines that several ranks print are torn.
answers = grid.gather(sum(grid.neighbor_allgather(grid.rank)[:2]))
if grid.rank == 0:
    with open(f'{__file__}.answers', 'w') as file:
        print(answers, file=file)
";

/// The line of a report that shows which library answers.
const REPORTED: &str = "(?m)^MPI_Cart_create: grid 2 x 2";

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    let s = &mut session;
    let mut mpi4py = Mpi4py::new(s)?;
    prepare(s, ["scripts/wheel.sh", "--tools"])?;
    let host = s.host.library();
    let host = host.ancestors().nth(2).and_then(|folder| folder.file_name()).ok_or("a folder")?;
    let host = host.to_str().ok_or("a name")?;
    let (build, tree) = (top().join("build"), s.work("tree"));
    for what in [host, "common"] {
        let mut install = Command::new(top().join("scripts/install.sh"));
        s.must(install.args([what, word(&build), word(&tree), "/opt"]))?;
    }
    s.must(Command::new(top().join("scripts/wheel.sh")).arg(tree.join("opt")).arg(s.work("")))?;
    let wheel = s.out.trim().to_owned();
    s.must(Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(s.work("venv")))?;
    let python = s.work("venv/bin/python");
    s.must(Command::new(&python).args(["-c", "import site; print(site.getsitepackages()[0])"]))?;
    let packages = s.out.trim().to_owned();
    // Its requirements, and the packages that come with it, are already installed.
    s.must(
        Command::new(mpi4py.python()).args(["-c", "import site; print(*site.getsitepackages())"]),
    )?;
    std::fs::write(format!("{packages}/needs.pth"), &s.out).map_err(|error| error.to_string())?;
    let mut pip = Command::new("sh");
    pip.args(["-c", r#"umask 002 && exec "$@""#, "sh"]).arg(mpi4py.folder.join("bin/pip"));
    pip.args(["--python", word(&python), "install", "--no-deps", "--no-index"]);
    let installed = s.finish(pip.args(["--disable-pip-version-check", &wheel]));
    s.check("pip installs the wheel", installed);

    s.preloaded.clear();
    let path = std::env::var("PATH").unwrap_or_default();
    mpi4py.settings.push(format!("PATH={}:{path}", word(&s.work("venv/bin"))));
    let settings = mpi4py.settings.clone();
    let prints = |s: &mut Session<'_>, what: &str, pattern: &str, words: &[&str]| {
        let ran = s.finish(Command::new("env").args(&settings).args(words));
        let right = Regex::new(pattern).expect("a pattern").is_match(&s.out);
        s.check(what, ran && right);
    };
    prints(s, "the command is there", &format!("(?m)^  {host} "), &["cartograph", "info"]);
    let halo = format!("halo exchange for .*/lib/cartograph/{host}/halo\n");
    prints(s, "the halo exchange too", &halo, &["cartograph", "info"]);
    prints(s, "as a module too", "^9x8\n", &["python", "-m", "cartograph", "dims", "72", "2"]);

    mpi4py.settings.push("CARTOGRAPH_REPORT=1".into());
    let reported = Regex::new(REPORTED).expect("a pattern");
    let mut program = s.write("program.py", PROGRAM);
    for words in [&["python"][..], &["cartograph", "exec"]] {
        let ran = mpi4py.run(s, 4, &[words, &[word(&program)]].concat());
        s.check(&format!("{words:?} reports"), ran && reported.is_match(&s.err));
        let answers = std::fs::read_to_string(format!("{}.answers", word(&program)));
        s.check(&format!("{words:?} answers"), answers.is_ok_and(|text| text == "[4, 6, 0, 2]\n"));
        program = s.write("without.py", PROGRAM.split_once('\n').ok_or("lines")?.1);
    }
    let late = s.write("late.py", "from mpi4py import MPI\nimport cartograph.mpi\n");
    let ran = mpi4py.run(s, 1, &["python", word(&late)]);
    let refused = !ran && s.says("import cartograph.mpi before mpi4py");
    s.check("a late import is an error", refused);

    let (traffic, report) = (s.work("run.traffic"), s.work("report.json"));
    mpi4py.settings.pop();
    let record = ["cartograph", "exec", "--mpi", host, "--record", word(&traffic), "python"];
    let ran = mpi4py.run(s, 4, &[&record[..], &[word(&program)]].concat());
    s.check("a recording", ran);
    let option = format!("--report={}", report.display());
    let ran = mpi4py.run(s, 4, &["cartograph", "exec", &option, "python", word(&program)]);
    s.check("a report", ran);
    let read = ["python", "packaging/python/tests/test_read.py", word(&traffic), word(&report)];
    prints(s, "recordings and reports are read", "report", &read);
    prints(s, "plans and meshes", "", &["python", "packaging/python/tests/test_plan.py"]);

    // The case `mpi4py` passes all datatypes.
    mpi4py.without = "--no-numpy";
    let chosen = ["-i", "test_comm_topo", "-i", "_ngh_"];
    // The collectives take most of the time.
    let number = if s.host.shortened { 2 } else { 4 };
    mpi4py.passes(s, &python, "import cartograph.mpi", (&chosen[..number], 20));
    session.verdict()
}
