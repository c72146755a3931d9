//! The settings in the environment.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Once, OnceLock};

use super::process::{eprint_line, linked, origin};
use super::{HostComm, family, sys};
use crate::engine::Comm;
use crate::engine::arguments::Function;
use crate::engine::check::Check;
use crate::engine::decision::CallSettings;
use crate::engine::policy::{Policy, Reorder};
use crate::machine::names_a_file;
use crate::machine::network::{NetworkMap, NetworkMapFile};
use crate::machine::{LayoutError, Machine};
use crate::mapping::{Distances, Options, Weights};
use crate::report::{Origin, switch};
use crate::settings::{self, Neighbor, Pairing, Setting};
use crate::topology::BoxShape;

/// The output of the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// To stderr.
    Stderr,
    /// To a file with this absolute path; as JSON if its name ends in `.json`.
    File(PathBuf),
    /// To a file named by a pattern, one for each job: a line of JSON by rank 0, for sites that collect the reports of
    /// all jobs. Failures are silent, since the user has not requested the report.
    Site(PathBuf, Origin),
}

impl Target {
    /// The origin of the report, if it includes one.
    pub(super) fn origin(&self) -> Option<&Origin> {
        match self {
            Self::Site(_, origin) => Some(origin),
            _ => None,
        }
    }
}

/// The value of `CARTOGRAPH_LAYOUT`, and the same as an absolute file path.
#[derive(Debug)]
struct WrittenLayout {
    text: String,
    file: PathBuf,
}

/// The addresses of nodes in the file of `CARTOGRAPH_LAYOUT`.
#[derive(Debug)]
pub(super) struct WrittenNetworkMap {
    /// `None` if no part of it can be used.
    pub(super) network_map: Option<NetworkMap>,
    /// Faults of the file: messages for one process to print.
    pub(super) complaints: Vec<String>,
}

/// The settings in this process's environment. If processes differ, those of rank 0 count.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// `CARTOGRAPH_REORDER`.
    policy: Policy,
    /// `CARTOGRAPH_CHECK`.
    check: Check,
    /// `CARTOGRAPH_NEIGHBOR`.
    pub(super) neighbor: Neighbor,
    /// `CARTOGRAPH_PAIRING`, if it is set.
    pub(super) pairing: Option<Pairing>,
    /// `CARTOGRAPH_WEIGHTS`.
    pub(super) weights: Option<Weights>,
    /// `CARTOGRAPH_DIMS`.
    shape: Option<BoxShape>,
    /// `CARTOGRAPH_LEVEL_WEIGHTS`.
    distances: Distances,
    layout: Option<WrittenLayout>,
    /// The file of `CARTOGRAPH_LAYOUT`, if it has network addresses; read when needed.
    network_map: OnceLock<Option<WrittenNetworkMap>>,
    /// `CARTOGRAPH_REPORT`.
    pub(super) report: Option<Target>,
    /// Invalid or unusable settings: messages for one process to print.
    complaints: Vec<String>,
}

impl Settings {
    /// The settings, read at the first call: later changes of the environment have no effect.
    pub(crate) fn get() -> &'static Self {
        static SETTINGS: OnceLock<Settings> = OnceLock::new();
        SETTINGS.get_or_init(Self::read)
    }

    fn read() -> Self {
        let mut complaints = Vec::new();
        let policy = read(&settings::REORDER, &mut complaints);
        let check = read(&settings::CHECK, &mut complaints);
        let neighbor = read(&settings::NEIGHBOR, &mut complaints);
        let pairing = read(&settings::PAIRING, &mut complaints);
        let weights = read(&settings::WEIGHTS, &mut complaints);
        let shape = read(&settings::DIMS, &mut complaints);
        let distances = read(&settings::LEVEL_WEIGHTS, &mut complaints);
        let report = match set(settings::REPORT.name) {
            None => None,
            Some(value) if switch::is_off(value.as_bytes()) => None,
            // SMPI frees MPI_COMM_SELF's attributes, which trigger the report elsewhere, only after MPI has ended.
            Some(_) if family::is_smpi() => {
                complaints
                    .push("CARTOGRAPH_REPORT: reports are not supported on SMPI; ignored".into());
                None
            }
            Some(value) if switch::is_on(value.as_bytes()) => Some(Target::Stderr),
            Some(path) => match path.to_str().filter(|text| text.contains('%')) {
                None => Some(Target::File(absolute(path))),
                Some(pattern) => {
                    let origin = origin();
                    let expanded = origin.expand(pattern).map_err(|unknown| {
                        complaints.push(format!(
                            "CARTOGRAPH_REPORT: unknown {unknown} (expected %j, %u, %h, %p, %d or %%); no \
                             report written"
                        ));
                    });
                    expanded.ok().map(|path| Target::Site(absolute(path.into()), origin))
                }
            },
        };
        let layout = set(settings::LAYOUT.name).and_then(|value| match value.into_string() {
            Ok(text) => Some(WrittenLayout { file: absolute(text.clone().into()), text }),
            Err(value) => {
                complaints.push(format!(
                    "CARTOGRAPH_LAYOUT is not text in UTF-8 ('{}'); using the MPI's layout",
                    value.display()
                ));
                None
            }
        });
        let network_map = OnceLock::new();
        Self {
            policy,
            check,
            neighbor,
            pairing,
            weights,
            shape,
            distances,
            layout,
            network_map,
            report,
            complaints,
        }
    }

    /// The box that grids of `ndims` dimensions divide, from `CARTOGRAPH_DIMS`.
    pub(crate) fn shape(&self, ndims: usize) -> Option<&BoxShape> {
        self.shape.as_ref().filter(|shape| shape.ndims() == ndims)
    }

    /// The settings for a constructor.
    pub(crate) fn call_settings(&self, function: Function) -> CallSettings {
        let may_move = self.policy.by.has(function);
        CallSettings {
            reorder: match may_move {
                true => self.policy.reorder.of_program(linked::is_linked),
                false => Reorder::Off,
            },
            info: None,
            reporting: self.report.is_some(),
            check: self.check,
            options: Options::default()
                .with_scramble(self.policy.scramble)
                .with_distances(self.distances),
        }
    }

    /// Prints on stderr, once, which settings are invalid or cannot be used.
    pub(super) fn complain(&self) {
        static SAID: Once = Once::new();
        SAID.call_once(|| self.complaints.iter().for_each(|line| eprint_line!("{line}")));
    }

    /// [`complain`](Self::complain), on rank 0 of `MPI_COMM_WORLD` only.
    pub(super) fn complain_in_world(&self) {
        // SAFETY: asks the host for its state, which is allowed at any time.
        let is_active = || unsafe { sys::cg_is_active() != 0 };
        if !self.complaints.is_empty() && is_active() && matches!(HostComm::world().rank(), Ok(0)) {
            self.complain();
        }
    }

    /// The addresses in the file of `CARTOGRAPH_LAYOUT`, if it has network addresses.
    pub(super) fn network_map(&self) -> Option<&WrittenNetworkMap> {
        let read = || {
            let WrittenLayout { text, file } = self.layout.as_ref()?;
            let text = names_a_file(text).then(|| fs::read_to_string(file).ok()).flatten()?;
            let complaint =
                |error: &LayoutError, what| format!("CARTOGRAPH_LAYOUT: {error}; {what}");
            Some(match NetworkMapFile::read(&text)? {
                Ok(NetworkMapFile { network_map, faults }) => WrittenNetworkMap {
                    network_map: Some(network_map),
                    complaints: faults.iter().map(|fault| complaint(fault, "ignored")).collect(),
                },
                Err(error) => WrittenNetworkMap {
                    network_map: None,
                    complaints: vec![complaint(&error, "file ignored")],
                },
            })
        };
        self.network_map.get_or_init(read).as_ref()
    }

    /// The layout of `ranks` processes from `CARTOGRAPH_LAYOUT`, or why there is none.
    pub(super) fn written_layout(&self, ranks: usize) -> Option<Result<Machine, String>> {
        let WrittenLayout { text, file } = self.layout.as_ref()?;
        // The nodes of processes come from the MPI, and are then looked up in the file.
        if self.network_map().is_some() {
            return None;
        }
        let layout = Machine::written(text, ranks, |_| fs::read_to_string(file));
        Some(layout.map_err(|error| format!("CARTOGRAPH_LAYOUT: {error}; using the MPI's layout")))
    }
}

/// The value of a setting; adds a message if it is invalid.
fn read<T>(setting: &Setting<T>, complaints: &mut Vec<String>) -> T {
    let text = set(setting.name).map(|value| value.to_string_lossy().into_owned());
    let (value, complaint) = setting.read(text.as_deref());
    complaints.extend(complaint);
    value
}

/// The value of a variable that is set and not empty. `None` in a program that runs with more rights than its user, as
/// with `secure_getenv`.
pub(super) fn set(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !settings::is_privileged() && !value.is_empty())
}

/// The directory of the program when this library was loaded.
static START: OnceLock<PathBuf> = OnceLock::new();

/// Stores the directory when this library is loaded, if a setting names a file.
pub(super) fn note_start() {
    let names_files = [settings::REPORT.name, settings::LAYOUT.name].map(env::var_os);
    if names_files.iter().any(Option::is_some)
        && let Ok(start) = env::current_dir()
    {
        START.get_or_init(|| start);
    }
}

/// An absolute path: users write paths relative to the directory in which they start the program; programs that set a
/// variable themselves, relative to their current directory.
fn absolute(path: OsString) -> PathBuf {
    match START.get().cloned().or_else(|| env::current_dir().ok()) {
        Some(start) => start.join(path),
        None => path.into(),
    }
}
