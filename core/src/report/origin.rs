//! The origin of a report: job, user, host, program and date; and file names that contain these.

use serde::{Deserialize, Serialize};

use crate::launcher::variables::{JOBS, STEP};

/// The origin of a report, so that a site can collect those of all jobs in one directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The job's ID in its batch system, with its step if there are steps.
    pub id: String,
    /// The user's name.
    pub user: String,
    /// The host of the process that writes.
    pub host: String,
    /// The name of the program's file.
    pub program: String,
    /// When the report was started, in UTC: `2026-11-25T01:53:00Z`.
    pub date: String,
}

/// The job of this process, if its batch system sets variables. `environment` gives the value of a variable.
pub fn job_id(environment: impl Fn(&str) -> Option<String>) -> Option<String> {
    let set = |name| environment(name).filter(|value| !value.is_empty());
    let id = JOBS.iter().find_map(|name| set(*name))?;
    // One job may start several programs, one after the other.
    let step = set(STEP).filter(|_| set(JOBS[0]).is_some());
    Some(step.map_or(id.clone(), |step| format!("{id}.{step}")))
}

impl Origin {
    /// A file name from a pattern: `%j` is the job, `%u` the user, `%h` the host, `%p` the program, `%d` the date, `%%`
    /// a percent sign. Characters of these values other than letters, digits and `._-` become underscores.
    ///
    /// # Errors
    ///
    /// Returns an unknown letter after a percent sign.
    pub fn expand(&self, pattern: &str) -> Result<String, String> {
        let mut expanded = String::new();
        let mut rest = pattern;
        while let Some((before, after)) = rest.split_once('%') {
            expanded += before;
            let letter = after.chars().next();
            let value = match letter {
                Some('j') => &self.id,
                Some('u') => &self.user,
                Some('h') => &self.host,
                Some('p') => &self.program,
                Some('d') => self.date.split('T').next().unwrap_or_default(),
                Some('%') => "%",
                other => return Err(format!("%{}", other.map_or(String::new(), String::from))),
            };
            let plain = |c: char| c.is_ascii_alphanumeric() || "._-%".contains(c);
            expanded.extend(value.chars().map(|c| if plain(c) { c } else { '_' }));
            rest = &after[1..];
        }
        Ok(expanded + rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_identify_the_origin() {
        let origin = Origin {
            id: "12[3]".into(),
            user: "../ann".into(),
            host: "n1".into(),
            program: "app".into(),
            date: "2026-11-25T01:53:00Z".into(),
        };
        let expanded = origin.expand("/reports/%d/%j-%u-%h-%p.json");
        assert_eq!(expanded.unwrap(), "/reports/2026-11-25/12_3_-.._ann-n1-app.json");
        assert_eq!(origin.expand("100%%").unwrap(), "100%");
        assert_eq!(origin.expand("a%x").unwrap_err(), "%x");
        assert_eq!(origin.expand("a%").unwrap_err(), "%");
        assert_eq!(origin.expand("a%\u{e9}").unwrap_err(), "%\u{e9}");
    }

    #[test]
    fn job_ids_include_slurm_steps() {
        let id = |set: &[(&str, &str)]| {
            job_id(|name| {
                set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into())
            })
        };
        assert_eq!(id(&[("SLURM_JOB_ID", "7"), ("SLURM_STEP_ID", "1")]).unwrap(), "7.1");
        assert_eq!(id(&[("PBS_JOBID", "7.server"), ("SLURM_STEP_ID", "1")]).unwrap(), "7.server");
        assert_eq!(id(&[("SLURM_JOB_ID", ""), ("LSB_JOBID", "8")]).unwrap(), "8");
        assert_eq!(id(&[]), None);
    }
}
