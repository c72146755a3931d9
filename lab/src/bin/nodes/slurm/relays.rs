//! Relays under `srun --mpi=pmi2`: programs that speak PMI-1 and PMI-2 get the ranks of an order, share memory with the
//! ranks of their node, and end as without relays.

use std::fs;
use std::process::Output;
use std::time::Instant;

use cartograph_jobs::learn::measure::median;
use cartograph_lab::host::{Host, command, does};

use super::{Outcome, Said, WORK};

/// An order in which the second processes of the nodes exchange ranks, and an order for other nodes.
const CROSSED: &str = r#"{"new_ranks":[0,2,1,3],"node_of_rank":[0,1,0,1]}"#;
const UNEVEN: &str = r#"{"new_ranks":[0,1,3,2],"node_of_rank":[0,0,1,0]}"#;

/// The order of 16 ranks for the measurement.
const ROUND_ROBIN: &str = r#"{"new_ranks":[0,4,8,12,1,5,9,13,2,6,10,14,3,7,11,15],"node_of_rank":[0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3]}"#;

/// The output of programs without and with the order.
const STAYED: &str = "0 1\n2 3\n";
const PLACED: &str = "0 2\n1 3\n";

const STEP: &str = "timeout -k 5 60 srun --mpi=pmi2 -N 2 -n 4";
const LARGE: &str = "timeout -k 5 60 srun --mpi=pmi2 -N 4 -n 16";

/// Intel MPI's PMI-2.
const LIBRARY: &str = "I_MPI_PMI_LIBRARY=/usr/lib/x86_64-linux-gnu/libpmi2.so.0";

/// The number of pairs of runs.
const PAIRS: usize = 8;

/// Compiles the programs, outside the namespaces.
pub(super) fn compile() -> Outcome {
    for host in ["mpich", "intel"] {
        Host::new(host)?.compile("cc", "who", &["c_tests/relay/who.c"])?;
    }
    does("cc -Wall -Wextra -Werror -O2 -o build/pmi2 c_tests/relay/pmi2.c -lpmi2")?;
    Ok(())
}

struct Relays {
    /// `cartograph exec` with the order.
    relay: String,
    /// Programs of MPICH and of Slurm's library.
    who: String,
    pmi2: String,
}

/// Runs all checks.
pub(super) fn checks(tool: &str) -> Outcome {
    let relay = |order: &str, text: &str| -> Outcome<String> {
        let file = format!("{WORK}/{order}.json");
        fs::write(&file, text)?;
        Ok(format!("{tool} exec --relay {file} --pmi 2"))
    };
    let who = |host: &str| -> Outcome<String> {
        Ok(Host::new(host)?.built("programs/who").display().to_string())
    };
    let relays = Relays {
        relay: relay("crossed", CROSSED)?,
        who: who("mpich")?,
        pmi2: fs::canonicalize("build/pmi2")?.display().to_string(),
    };
    let path = fs::canonicalize("build/hosts/impi-rt")?;
    let path = path.display();
    let intel = format!(
        "env I_MPI_ROOT={path} LD_LIBRARY_PATH={path}/lib FI_PROVIDER_PATH={path}/lib FI_PROVIDER=tcp I_MPI_PIN=0 \
         I_MPI_FABRICS=shm:ofi I_MPI_THREAD_YIELD=3 I_MPI_TUNING_BIN="
    );
    let of_intel = who("intel")?;
    for (before, program) in [
        (String::new(), &relays.who),
        (String::new(), &relays.pmi2),
        (intel.clone(), &of_intel),
        (format!("{intel} {LIBRARY}"), &of_intel),
    ] {
        runs(&format!("{STEP} {before} {program}"))?.prints(STAYED)?;
        runs(&format!("{STEP} {before} {} {program}", relays.relay))?.prints(PLACED)?;
        let other = relay("other", UNEVEN)?;
        runs(&format!("{STEP} {before} {other} {program}"))?.prints(STAYED)?;
    }
    relays.refusal(tool)?;
    relays.ends()?;
    relays.is_canceled()?;
    let large = relay("large", ROUND_ROBIN)?;
    for program in [&format!("{} init", relays.who), &relays.pmi2] {
        time(&large, program)?;
    }
    Ok(())
}

/// The end of a step.
struct Step {
    line: String,
    code: Option<i32>,
    said: Said,
}

impl Step {
    fn prints(&self, text: &str) -> Outcome {
        self.said.check(&self.line, self.code == Some(0) && self.said.out == text)
    }
}

/// Runs a command line in a shell.
fn runs(line: &str) -> Outcome<Step> {
    let Output { status, stdout, stderr } = command("sh -c").arg(line).output()?;
    let [out, err] = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    Ok(Step { line: line.to_owned(), code: status.code(), said: Said { out, err } })
}

impl Relays {
    /// No process is placed if one cannot read the order.
    fn refusal(&self, tool: &str) -> Outcome {
        let line = format!(
            "{STEP} sh -c '[ $SLURM_PROCID = 3 ] && set -- {tool} exec --relay /nowhere --pmi 2 || set -- {}; \
             exec \"$@\" {}'",
            self.relay, self.pmi2
        );
        runs(&line)?.prints(STAYED)
    }

    /// Exit codes, aborts, a rank that dies, input, and a process that cannot start.
    fn ends(&self) -> Outcome {
        for how in ["code", "abort", "early"] {
            self.ends_alike(STEP, &format!("{} {how}", self.who))?;
        }
        for how in ["code", "abort"] {
            self.ends_alike(STEP, &format!("{} {how}", self.pmi2))?;
        }
        self.ends_alike(&format!("{STEP} -K"), &format!("{} die", self.who))?;
        self.ends_alike(&format!("echo hello | {STEP}"), &format!("{} input", self.who))?;
        let line = format!(
            "{STEP} sh -c '[ $SLURM_PROCID = 3 ] && set -- /nowhere || set -- {}; exec {} \"$@\"'",
            self.pmi2, self.relay
        );
        let start = Instant::now();
        let step = runs(&line)?;
        let is_ended = step.code != Some(0) && start.elapsed().as_secs() < 30;
        step.said.check("a process that cannot start ends the step", is_ended)
    }

    fn ends_alike(&self, start: &str, program: &str) -> Outcome {
        let bare = runs(&format!("{start} {program}"))?;
        let step = runs(&format!("{start} {} {program}", self.relay))?;
        // Slurm drops some output of processes that it kills.
        let is_killed = bare.code.is_some_and(|code| code > 128);
        let prints_alike = step.said.out == bare.said.out.replace(STAYED, PLACED);
        let is_alike = step.code == bare.code && (is_killed || prints_alike);
        step.said.check(&format!("{program}: code {:?}, {:?}", bare.code, step.code), is_alike)
    }

    /// scancel sends SIGTERM, and nothing is left behind.
    fn is_canceled(&self) -> Outcome {
        let line = |relay: &str| {
            format!(
                "rm -f {WORK}/waits; {STEP} {relay} {} wait >{WORK}/waits & until [ -s {WORK}/waits ]; do sleep 0.1; done; \
                 scancel -s TERM $(squeue -h -s -o %i | grep -v '[a-z]' | tail -1); wait $!",
                self.who
            )
        };
        let bare = runs(&line(""))?;
        let step = runs(&line(&self.relay))?;
        let is_alike = bare.code == step.code && bare.code != Some(0);
        step.said.check(&format!("scancel -s TERM: code {:?}", step.code), is_alike)?;
        let left = runs("ps -eo args | grep -c '[e]xec --relay'")?;
        left.said.check("no relay is left", left.said.out == "0\n")
    }
}

/// The time of steps of 16 ranks, without and with relays.
fn time(relay: &str, program: &str) -> Outcome {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..PAIRS {
        for (relay, times) in ["", relay].into_iter().zip(&mut times) {
            let start = Instant::now();
            let step = runs(&format!("{LARGE} {relay} {program}"))?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
            step.said.check(&step.line, step.code == Some(0))?;
        }
    }
    let differences: Vec<f64> =
        times[0].iter().zip(&times[1]).map(|(bare, by)| by - bare).collect();
    println!(
        "{program} on 16 ranks: {:.0} ms, and {:.0} ms more by relays (median of {PAIRS} pairs)",
        median(&times[0]),
        median(&differences)
    );
    Ok(())
}
