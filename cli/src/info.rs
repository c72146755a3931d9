//! `cartograph info`.

use std::env;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;

use cartograph_core::settings::{self, Known};
use cartograph_jobs::program::LibraryDirectory;

use crate::output::{self, Result};

/// The fault of a value that is set.
fn fault(setting: &dyn Known, value: &str) -> Option<String> {
    if setting.names_file(value) {
        let error = Path::new(value).metadata().err()?;
        return Some(format!("cannot be read: {error}"));
    }
    setting.fault(value)
}

pub(crate) fn run() -> Result<()> {
    let mut text = format!("cartograph {}\n\nlibraries:\n", env!("CARGO_PKG_VERSION"));
    match LibraryDirectory::find() {
        Ok(place) => {
            let found = place.libraries();
            let _ = writeln!(text, "  {}, for each of these MPIs:", place.library().display());
            for (name, library) in &found {
                let needed = library.needed.iter().find(|name| name.starts_with("libmpi"));
                let needed = match needed {
                    Some(name) => name,
                    None if library.names_no_mpi() => "whichever is loaded",
                    None => "no shared MPI",
                };
                let _ = writeln!(text, "  {name:<10} {:<16} {needed}", library.built_for);
                for (mpi, halo) in place.halos(name) {
                    let _ = writeln!(text, "      halo exchange for {mpi}: {}", halo.display());
                }
            }
            if found.is_empty() {
                let _ = writeln!(
                    text,
                    "  none; make lib HOST=... builds one, and make install installs it"
                );
            }
        }
        Err(fault) => {
            let failure = output::Failure::from(fault);
            let _ = writeln!(text, "  {}", failure.text);
        }
    }
    text.push_str("\nenvironment:\n");
    for setting in settings::ALL.iter().filter(|setting| setting.is_public()) {
        let name = setting.name();
        let value = env::var_os(name);
        let value = value.as_deref().map(OsStr::to_string_lossy);
        let shown = value.as_deref().map_or("not set".into(), |value| format!("= {value}"));
        let _ = writeln!(text, "  {name} {shown}\n      {}", setting.text());
        let fault =
            value.filter(|value| !value.is_empty()).and_then(|value| fault(*setting, &value));
        if let Some(fault) = fault {
            let _ = writeln!(text, "      {fault}");
        }
    }
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARTOGRAPH_")
            && settings::ALL.iter().all(|setting| setting.name() != name)
        {
            let _ = writeln!(text, "  {name}: unknown setting");
        }
    }
    output::print(&output::shown(&text))
}
