//! The libraries that were built for MPIs: the facts in their files (elf(5)), and which files are trusted. No I/O, no
//! unsafe.

use alloc::string::String;
use alloc::vec::Vec;

use goblin::container::Ctx;
use goblin::elf::note::NoteDataIterator;
use goblin::elf::program_header::{PT_INTERP, PT_NOTE};
use goblin::elf::{Dynamic, Elf, ProgramHeader};
use goblin::strtab::Strtab;

/// The name of an MPI's library, and of the one to preload for every MPI.
pub const LIBRARY: &str = "libcartograph.so.0";

/// The name of an MPI's recorder.
pub const RECORDER: &str = "libcartograph_record.so";

/// The name of an MPI's library that reorders MPI_COMM_WORLD.
pub const WORLD: &str = "libcartograph_world.so";

/// The kinds of recorders and of the world's libraries to preload, `record-KIND.so` and `world-KIND.so` in [`FOLDER`], and
/// of each a function that its MPIs have: those before have it not.
pub const KINDS: [(&str, &str); 3] =
    [("3", "MPI_Send"), ("4", "MPI_Isendrecv"), ("4c", "MPI_Send_c")];

/// The folder next to the library to preload that has a folder for each MPI.
pub const FOLDER: &str = "cartograph";

/// True if only root and the user `trusted` can have written a file with this owner and these permissions.
pub fn is_trusted(owner: u32, mode: u32, trusted: u32) -> bool {
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    [0, trusted].contains(&owner) && mode & WRITABLE_BY_OTHERS == 0
}

/// A library that was built for an MPI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    /// The names of the libraries that it needs.
    pub needed: Vec<String>,
    /// The MPI's name and version, in the form of `include/built_for.h`.
    pub built_for: String,
}

/// Reads the headers of an ELF file, the rest of which may be missing.
fn headers(bytes: &[u8]) -> Option<(Ctx, Vec<ProgramHeader>)> {
    let header = Elf::parse_header(bytes).ok()?;
    let ctx = Ctx::new(header.container().ok()?, header.endianness().ok()?);
    let start = header.e_phoff.try_into().ok()?;
    let headers = ProgramHeader::parse(bytes, start, header.e_phnum.into(), ctx).ok()?;
    Some((ctx, headers))
}

/// The loader that a program names, out of the first bytes of its file; empty if it names none, as one that is linked
/// statically. `None` if it is no ELF file.
pub fn loader(bytes: &[u8]) -> Option<&str> {
    let (_, headers) = headers(bytes)?;
    let Some(header) = headers.iter().find(|header| header.p_type == PT_INTERP) else {
        return Some("");
    };
    let text = core::str::from_utf8(bytes.get(header.file_range())?).ok()?;
    Some(text.trim_end_matches('\0'))
}

impl Library {
    /// Reads a file's bytes; `None` if it is not a library of this project.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let (ctx, headers) = headers(bytes)?;
        let notes = headers.iter().filter(|header| header.p_type == PT_NOTE).flat_map(|header| {
            let (offset, size) = (header.file_range().start, header.file_range().end);
            NoteDataIterator { data: bytes, size, offset, ctx: (header.p_align as usize, ctx) }
        });
        let note = notes.flatten().find(|note| note.name == "Cartograph")?;
        let built_for = core::str::from_utf8(note.desc).ok()?.trim_end_matches('\0');
        let dynamic = Dynamic::parse(bytes, &headers, ctx).ok()??;
        let strings = Strtab::parse(bytes, dynamic.info.strtab, dynamic.info.strsz, 0).ok()?;
        Some(Self {
            needed: dynamic.get_libraries(&strings).into_iter().map(Into::into).collect(),
            built_for: built_for.into(),
        })
    }

    /// True if the library names no MPI library as a dependency, and takes its functions from the loaded one.
    pub fn names_no_mpi(&self) -> bool {
        !self.needed.iter().any(|name| name.contains("mpi") || name.contains("simgrid"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_writable_by_others_are_not_trusted() {
        assert!(is_trusted(0, 0o100_755, 1000) && is_trusted(1000, 0o100_644, 1000));
        assert!(!is_trusted(1001, 0o755, 1000));
        assert!(!is_trusted(1000, 0o775, 1000) && !is_trusted(0, 0o757, 0));
    }

    #[test]
    fn programs_name_their_loaders() {
        let bytes = std::fs::read("/proc/self/exe").unwrap();
        assert!(loader(&bytes[..4096]).unwrap().contains("ld"));
        assert_eq!(loader(b"#!/bin/sh"), None);
        assert_eq!(Library::parse(&bytes), None);
    }
}
