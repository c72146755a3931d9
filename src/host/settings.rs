//! What people set in the environment.

use std::env;
use std::fs;
use std::sync::{Once, OnceLock};

use super::family;
use crate::engine::check::Check;
use crate::engine::place::{Reorder, Terms};
use crate::mapping::{Layout, Options};

/// Where the report goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// To stderr.
    Stderr,
    /// To a file; as JSON if its name ends in `.json`.
    File(String),
}

/// What the environment says. It is the process', not a rank's: rank 0's counts where ranks differ.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    reorder: Reorder,
    /// `CARTOGRAPH_CHECK`.
    check: Check,
    /// `CARTOGRAPH_LAYOUT` as written.
    pub(super) layout: Option<String>,
    /// `CARTOGRAPH_REPORT`.
    pub(super) report: Option<Target>,
    /// What was written and is not understood or cannot be done: lines for one process to say.
    complaints: Vec<String>,
}

impl Settings {
    /// Read once: a program that changes its environment later is not followed.
    pub(crate) fn get() -> &'static Self {
        static SETTINGS: OnceLock<Settings> = OnceLock::new();
        SETTINGS.get_or_init(Self::read)
    }

    fn read() -> Self {
        let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let mut complaints = Vec::new();
        let reorder = match set("CARTOGRAPH_REORDER").as_deref() {
            None | Some("on" | "1") => Reorder::On,
            Some("off" | "0") => Reorder::Off,
            Some("always") => Reorder::Always,
            Some(other) => {
                complaints.push(format!(
                    "cartograph: CARTOGRAPH_REORDER is '{other}', but off, on and always are known; taken as off"
                ));
                Reorder::Off
            }
        };
        let check = set("CARTOGRAPH_CHECK").unwrap_or_default();
        let check = Check::parse(&check).unwrap_or_else(|word| {
            complaints.push(format!(
                "cartograph: CARTOGRAPH_CHECK has '{word}', but edges, weights, arguments and all are known; nothing is checked"
            ));
            Check::default()
        });
        let report = match set("CARTOGRAPH_REPORT") {
            None => None,
            Some(off) if off == "0" => None,
            // SMPI frees MPI_COMM_SELF's attributes, where all others write it, when MPI has ended.
            Some(_) if family::is_smpi() => {
                complaints
                    .push("cartograph: CARTOGRAPH_REPORT: there are no reports on SMPI".into());
                None
            }
            Some(on) if on == "1" => Some(Target::Stderr),
            Some(path) => Some(Target::File(path)),
        };
        Self { reorder, check, layout: set("CARTOGRAPH_LAYOUT"), report, complaints }
    }

    /// What every constructor is told.
    pub(crate) fn terms(&self) -> Terms {
        Terms {
            reorder: self.reorder,
            reporting: self.report.is_some(),
            check: self.check,
            options: Options::default(),
        }
    }

    /// Whether processes may be moved at all.
    pub(crate) fn may_move(&self) -> bool {
        self.reorder != Reorder::Off
    }

    /// Says on stderr what was not understood or cannot be done, once.
    pub(super) fn complain(&self) {
        static SAID: Once = Once::new();
        SAID.call_once(|| self.complaints.iter().for_each(|line| eprintln!("{line}")));
    }

    /// The layout that `CARTOGRAPH_LAYOUT` gives to `ranks` processes, or why there is none.
    pub(super) fn written_layout(&self, ranks: usize) -> Option<Result<Layout, String>> {
        let text = self.layout.as_deref()?;
        let layout = Layout::written(text, ranks, |path| fs::read_to_string(path));
        Some(layout.map_err(|error| {
            format!(
                "cartograph: CARTOGRAPH_LAYOUT: {error}; the layout is asked of the MPI instead"
            )
        }))
    }
}
