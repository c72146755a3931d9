//! The value of `LD_PRELOAD`: which libraries `exec` adds, and in which order.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use cartograph_shim::elf::RECORDER;

use super::file;
use super::libraries::{Fault, LibraryDirectory};
use crate::error::Failure;

/// The libraries to preload.
#[derive(Clone, Copy)]
pub struct With {
    /// The recorder.
    pub recorder: bool,
    /// The library of topologies.
    pub library: bool,
}

/// The value of `LD_PRELOAD`: libraries before those already preloaded.
pub fn preload(program: &Path, mpi: Option<&str>, with: With) -> Result<OsString, Fault> {
    if file::loader(program).is_some_and(|loader| loader.is_empty()) {
        return Err(Fault::NotInstalled(Failure::usage(format!(
            "{} is linked statically, so nothing can be preloaded; link libcartograph.a with it",
            program.display()
        ))));
    }
    let place = LibraryDirectory::find()?;
    let folder = mpi.map(|name| place.of_mpi(name)).transpose()?;
    let mut all = Vec::new();
    if with.recorder {
        let of = match &folder {
            Some(folder) => Some(folder.join(RECORDER)),
            None => file::linked_mpi(program),
        };
        all.push(place.recorder(of.as_deref())?);
    }
    if with.library {
        all.push(place.library());
    }
    let breaks = |file: &&PathBuf| {
        file.as_os_str().as_encoded_bytes().iter().any(|byte| b" :".contains(byte))
    };
    if let Some(file) = all.iter().find(breaks) {
        return Err(Fault::NotInstalled(Failure::usage(format!(
            "the loader cannot preload {}, because of the space or colon in its path; move it",
            file.display()
        ))));
    }
    let others = env::var_os("LD_PRELOAD").unwrap_or_default();
    let all: Vec<OsString> = all.into_iter().map(PathBuf::into_os_string).collect();
    let (recorder, libraries) = all.split_at(usize::from(with.recorder));
    let sanitizer = file::sanitizer(program).map(PathBuf::into_os_string);
    Ok(among(sanitizer, recorder, libraries, &others))
}

/// The value of `LD_PRELOAD`. A sanitizer's runtime comes first, the program's own or one that is already preloaded;
/// then the recorder, since it counts the program's calls. Tools that are already preloaded stay before the libraries:
/// they must see which communicators a program creates. An MPI does not stay before them.
fn among(
    sanitizer: Option<OsString>,
    recorder: &[OsString],
    libraries: &[OsString],
    others: &OsStr,
) -> OsString {
    let others = others.as_encoded_bytes().split(|byte| b" :".contains(byte));
    let others = others.filter(|path| !path.is_empty()).map(OsStr::from_bytes);
    let (mut first, others): (Vec<_>, Vec<_>) =
        others.partition(|path| file::is_sanitizer(path.as_bytes()));
    if first.is_empty() {
        first.extend(sanitizer.as_deref());
    }
    let is_mpi = |path: &&OsStr| {
        let name = path.as_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        name.starts_with(b"libmpi") || name.starts_with(b"libsimgrid")
    };
    let tools = others.iter().position(is_mpi).unwrap_or(others.len());
    let (tools, mpis) = others.split_at(tools);
    let recorder = recorder.iter().map(OsString::as_os_str);
    let libraries = libraries.iter().map(OsString::as_os_str);
    let tools = tools.iter().copied();
    let all = first.into_iter().chain(recorder).chain(tools).chain(libraries);
    let all = all.chain(mpis.iter().copied());
    all.collect::<Vec<_>>().join(OsStr::new(":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_come_after_tools_and_before_mpis() {
        let words = |text: &str| text.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        let value = |recorder, libraries, others| {
            among(None, &words(recorder), &words(libraries), OsStr::new(others))
        };
        assert_eq!(value("", "own", ""), "own");
        assert_eq!(value("", "own", "/lib/libtool.so:other.so"), "/lib/libtool.so:other.so:own");
        assert_eq!(
            value("", "own", "tool.so /a/libmpich.so.12:libmpi.so"),
            "tool.so:own:/a/libmpich.so.12:libmpi.so"
        );
        assert_eq!(value("record", "", "tool.so:libmpi.so"), "record:tool.so:libmpi.so");
        assert_eq!(value("record", "own", "libjemalloc.so.2"), "record:libjemalloc.so.2:own");
    }

    #[test]
    fn a_sanitizers_runtime_is_first() {
        let value = |sanitizer: Option<&str>, others: &str| {
            let words = |word: &str| [OsString::from(word)];
            among(sanitizer.map(Into::into), &words("record"), &words("own"), OsStr::new(others))
        };
        assert_eq!(value(Some("/lib/libasan.so.8"), ""), "/lib/libasan.so.8:record:own");
        assert_eq!(value(Some("/a/libtsan.so.2"), "tool.so"), "/a/libtsan.so.2:record:tool.so:own");
        let twice = value(Some("/lib/libasan.so.8"), "tool.so /usr/lib/libasan.so.8");
        assert_eq!(twice, "/usr/lib/libasan.so.8:record:tool.so:own");
        assert_eq!(value(None, "libtcmalloc.so.4"), "record:libtcmalloc.so.4:own");
        for name in ["libhwasan.so.0", "/a/libclang_rt.asan-x86_64.so", "libclang_rt.tsan.so"] {
            assert!(file::is_sanitizer(name.as_bytes()), "{name}");
        }
        for name in ["libasanity.so", "libubsan.so.1", "/libasan.so.8/libtool.so", "lib"] {
            assert!(!file::is_sanitizer(name.as_bytes()), "{name}");
        }
    }
}
