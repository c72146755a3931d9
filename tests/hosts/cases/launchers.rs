//! The launchers of `tests/launchers` reject the same arguments as the host's launcher.

use std::fs;
use std::process::Command;

use super::Outcome;
use crate::session::Session;
use crate::testlist::top;

/// Lines for Hydra. HERE is this machine.
const HYDRA: [&str; 11] = [
    "-n 2",
    "-launcher fork -hosts a:2,b:2 -n 4",
    "-launcher fork -hosts a,b -hosts a,b -n 2",
    "-launcher fork -f hosts -hosts a,b -n 2",
    "-launcher fork -f hosts -n 4",
    "-launcher fork -machinefile hosts -n 4",
    "-f nowhere -n 2",
    "--launcher=fork -hosts a -ppn 2 -n 2",
    "-nosuch 3 -n 2",
    "-genv A 1 -genv B=2 -n 2",
    "-map-by core -bind-to core -n 2",
];

/// Lines for Open MPI's launchers, perhaps after variables.
const OPENMPI: [&str; 31] = [
    "-n 2",
    "--map-by slot -n 2",
    "--rankfile ranks -n 2",
    "--rankfile ranks",
    "--map-by slot --rankfile ranks -n 2",
    "--map-by rankfile:file=ranks -n 2",
    "--map-by rankfile:file=ranks:oversubscribe -n 2",
    "--map-by slot --map-by rankfile:file=ranks -n 2",
    "-N 2 --rankfile ranks",
    "-N 2 --map-by rankfile:file=ranks -n 2",
    "--npernode 2 --rankfile ranks",
    "--rank-by slot --rankfile ranks -n 2",
    "--rank-by slot --map-by rankfile:file=ranks -n 2",
    "--bynode --rankfile ranks -n 2",
    "--bynode --map-by rankfile:file=ranks -n 2",
    "--mca rmaps_base_mapping_policy slot --rankfile ranks -n 2",
    "--host HERE:2 --map-by rankfile:file=ranks -n 2",
    "--hostfile hosts --rankfile ranks -n 2",
    "--bind-to core --rankfile ranks -n 2",
    "--map-by rankfile:file=shared -n 2",
    "--rankfile shared -n 2",
    "--map-by rankfile:file=shared:oversubscribe -n 2",
    "--bind-to none --map-by rankfile:file=shared -n 2",
    "--bind-to none --map-by rankfile:file=opened -n 2",
    "--bind-to core --map-by rankfile:file=opened -n 2",
    "--bind-to none --bind-to core -n 2",
    "--mca rmaps_base_n_pernode 2 --rankfile ranks -n 2",
    "--cpu-set 0,1 --map-by rankfile:file=ranks -n 2",
    "OMPI_MCA_rmaps_base_mapping_policy=slot --rankfile ranks -n 2",
    "PRTE_MCA_rmaps=seq --map-by rankfile:file=ranks -n 2",
    "--nosuch 2 -n 2",
];

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    let here = Command::new("uname").arg("-n").output().map_err(|error| error.to_string())?;
    let here = String::from_utf8_lossy(&here.stdout).trim().to_owned();
    let (stub, version, lines, hosts) = match &*session.host.name {
        "mpich" => ("hydra", "4.0.2", &HYDRA[..], "a:2\nb:2\n".to_owned()),
        "mpich5" => ("hydra", "5.0.2", &HYDRA[..], "a:2\nb:2\n".to_owned()),
        "openmpi" => ("orterun", "", &OPENMPI[..], format!("{here} slots=2\n")),
        "openmpi5" => ("prterun", "", &OPENMPI[..], format!("{here} slots=2\n")),
        other => return Err(format!("nothing stands for the launcher of {other}")),
    };
    let ranks = format!("rank 0={here} slot=0\nrank 1={here} slot=1\n");
    let shared = format!("rank 0={here} slot=0-1\nrank 1={here} slot=0-1\n");
    let opened = ranks.clone();
    for (name, text) in [("hosts", hosts), ("ranks", ranks), ("opened", opened), ("shared", shared)]
    {
        fs::write(session.work(name), text).map_err(|error| error.to_string())?;
    }
    let directory = session.work("");
    let real = session.host.launcher().first().ok_or("there is no launcher")?.to_owned();
    let stub = top().join("tests/launchers").join(stub);
    for line in lines {
        let line = line.replace("HERE", &here);
        let mut codes = [0; 2];
        for (code, launcher) in codes.iter_mut().zip([real.as_ref(), stub.as_os_str()]) {
            let is_variable = |word: &&str| word.contains("MCA_");
            let mut command = Command::new("env");
            command.args(line.split_whitespace().filter(is_variable)).arg(launcher);
            command.args(line.split_whitespace().filter(|word| !is_variable(word)));
            // Not `true`: Hydra may end by SIGPIPE if its processes are gone at once.
            command.args(["sleep", "0.1"]).current_dir(&directory);
            command.envs(session.host.settings()).env("HYDRA", version);
            for name in ["OMPI", "PRTE"] {
                command.env(format!("{name}_ALLOW_RUN_AS_ROOT"), "1");
                command.env(format!("{name}_ALLOW_RUN_AS_ROOT_CONFIRM"), "1");
            }
            session.finish(&mut command);
            *code = session.code;
        }
        let [real, stub] = codes;
        session.check(&format!("{line} ends with {real}, and its stub with {stub}"), real == stub);
    }
    session.verdict()
}
