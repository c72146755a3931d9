//! Several programs of one job, in a file for srun: they are recorded and placed together.

use std::fs;

use cartograph_lab::host::Host;

use super::{FOUR, Slurm, WORK};
use crate::Outcome;

/// Compiles a coupled pair of programs.
pub(super) fn compile() -> Outcome {
    for host in super::HOSTS {
        for (program, which) in [("atmosphere", "-UOCEAN"), ("ocean", "-DOCEAN")] {
            let source = "c_tests/record/coupled.c";
            Host::new(host)?.compile("cc", program, &[source, which])?;
        }
    }
    Ok(())
}

/// Checks job scripts without the command, then a first and a second job with it.
pub(super) fn checks(slurm: &Slurm) -> Outcome {
    let [one, other] = ["atmosphere", "ocean"].map(|name| slurm.host.built("programs").join(name));
    let file = format!("{WORK}/coupled");
    fs::write(&file, format!("0-3 {} 0\n* {} 0 input\n", one.display(), other.display()))?;
    let learns =
        format!("env CARTOGRAPH_STORE={WORK}/{}.several {} run", slurm.host.name, slurm.tool);
    let sbatch = format!("{} {FOUR}", slurm.with_settings("sbatch --wait"));
    let mut bare = String::new();
    let recorded = "recorded .*/atmosphere : .*/ocean on 8 ranks; the next run will use";
    for (before, pattern, apart) in
        [("", "8 apart", 8), (&learns, recorded, 8), (&learns, "ocean in .* .predicted", 0)]
    {
        let script = format!("{WORK}/script");
        fs::write(
            &script,
            format!("#!/bin/sh\nexec {before} {} -n 8 --multi-prog {file}\n", slurm.srun()),
        )?;
        let said = slurm.script(&sbatch, &script)?;
        said.has("two programs", pattern)?;
        if before.is_empty() {
            bare = said.out.clone();
        }
        let expected = bare.replace("8 apart", &format!("{apart} apart"));
        said.check("their output", said.out == expected)?;
    }
    Ok(())
}
