//! The libraries that were built for MPIs: the facts in their files (elf(5)), and which files are trusted. No I/O, no
//! unsafe.

use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::CStr;

use goblin::container::Ctx;
use goblin::elf::dynamic::{DT_NEEDED, DT_SONAME};
use goblin::elf::note::{NT_GNU_BUILD_ID, Note, NoteDataIterator};
use goblin::elf::program_header::{PT_DYNAMIC, PT_INTERP, PT_NOTE};
use goblin::elf::{Dynamic, Elf, ProgramHeader};

/// The name of an MPI's library, and of the one to preload for every MPI.
pub const LIBRARY: &str = "libcartograph.so.0";

/// The name of an MPI's recorder.
pub const RECORDER: &str = "libcartograph_record.so";

/// The kinds of recorders to preload, `record-KIND.so` in [`FOLDER`], and for each a function that its MPIs have and
/// those of earlier kinds lack.
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

/// The loader that a program names, from the first bytes of its file; empty if it names none, like a statically linked
/// program. `None` if the file is not ELF.
pub fn loader(bytes: &[u8]) -> Option<&str> {
    let (_, headers) = headers(bytes)?;
    let Some(header) = headers.iter().find(|header| header.p_type == PT_INTERP) else {
        return Some("");
    };
    let text = core::str::from_utf8(bytes.get(header.file_range())?).ok()?;
    Some(text.trim_end_matches('\0'))
}

/// Only the dynamic tables of a file: an MPI's library can have tens of MB, and each process of a job would read it.
pub struct DynamicTables {
    dynamic: Dynamic,
    strings: Vec<u8>,
}

impl DynamicTables {
    /// Reads the tables of a file; `read` returns a number of bytes from an offset on; `None` if the file has no
    /// tables.
    pub fn read(read: impl Fn(u64, u64) -> Option<Vec<u8>>) -> Option<Self> {
        /// The size of ELF's own header.
        const HEADER: u64 = 64;
        let header = Elf::parse_header(&read(0, HEADER)?).ok()?;
        let ctx = Ctx::new(header.container().ok()?, header.endianness().ok()?);
        let size = u64::from(header.e_phentsize) * u64::from(header.e_phnum);
        let table = read(header.e_phoff, size)?;
        let mut headers = ProgramHeader::parse(&table, 0, header.e_phnum.into(), ctx).ok()?;
        let dynamic = headers.iter_mut().find(|header| header.p_type == PT_DYNAMIC)?;
        let entries = read(dynamic.p_offset, dynamic.p_filesz)?;
        // The entries are read from these bytes alone.
        dynamic.p_offset = 0;
        let dynamic = Dynamic::parse(&entries, &headers, ctx).ok()??;
        let (start, size) = (dynamic.info.strtab, dynamic.info.strsz);
        let strings = read(start.try_into().ok()?, size.try_into().ok()?)?;
        Some(Self { dynamic, strings })
    }

    /// The names of the libraries that it needs.
    pub fn needed(&self) -> Vec<String> {
        names(&self.dynamic, &self.strings, DT_NEEDED).map(Into::into).collect()
    }

    /// The name by which others need it.
    pub fn soname(&self) -> Option<&str> {
        names(&self.dynamic, &self.strings, DT_SONAME).next()
    }

    /// True if one of its names ends with this text: the name of an MPI function, or of its PMPI twin. The linker may
    /// store a name only as the end of a longer one.
    pub fn has_function(&self, name: &str) -> bool {
        self.strings.split(|byte| *byte == 0).any(|own| own.ends_with(name.as_bytes()))
    }
}

/// The names in entries with this tag, read one by one from a table of strings: the table has many others, and each
/// start of an MPI program reads several files.
fn names<'a>(dynamic: &'a Dynamic, strings: &'a [u8], tag: u64) -> impl Iterator<Item = &'a str> {
    let entries = dynamic.dyns.iter().filter(move |entry| entry.d_tag == tag);
    entries.filter_map(|entry| {
        let text = strings.get(usize::try_from(entry.d_val).ok()?..)?;
        CStr::from_bytes_until_nul(text).ok()?.to_str().ok()
    })
}

/// The notes in a file, the rest of which may be missing.
fn notes<'a, 'h>(
    bytes: &'a [u8],
    ctx: Ctx,
    headers: &'h [ProgramHeader],
) -> impl Iterator<Item = Note<'a>> + use<'a, 'h> {
    let notes = headers.iter().filter(|header| header.p_type == PT_NOTE).flat_map(move |header| {
        let (offset, size) = (header.file_range().start, header.file_range().end);
        NoteDataIterator { data: bytes, size, offset, ctx: (header.p_align as usize, ctx) }
    });
    notes.flatten()
}

/// The build ID that the linker has written into a file, the rest of which may be missing.
pub fn build_id(bytes: &[u8]) -> Option<&[u8]> {
    let (ctx, headers) = headers(bytes)?;
    let mut own = notes(bytes, ctx, &headers);
    own.find(|note| note.n_type == NT_GNU_BUILD_ID && note.name == "GNU").map(|note| note.desc)
}

impl Library {
    /// Reads a file's bytes; `None` if it is not a library of this project.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let (ctx, headers) = headers(bytes)?;
        let note = notes(bytes, ctx, &headers).find(|note| note.name == "Cartograph")?;
        let built_for = core::str::from_utf8(note.desc).ok()?.trim_end_matches('\0');
        let dynamic = Dynamic::parse(bytes, &headers, ctx).ok()??;
        let strings = bytes.get(dynamic.info.strtab..)?.get(..dynamic.info.strsz)?;
        Some(Self {
            needed: names(&dynamic, strings, DT_NEEDED).map(Into::into).collect(),
            built_for: built_for.into(),
        })
    }

    /// True if the library names no MPI library as a dependency, and takes its functions from the loaded one.
    pub fn names_no_mpi(&self) -> bool {
        !self.needed.iter().any(|name| name.contains("mpi") || name.contains("simgrid"))
    }

    /// True if the library may be for an MPI that is needed by this name, as far as the name shows. A library that
    /// names no MPI is made for many machines: MPICH and its derivatives have agreed on 12 for their common binary
    /// interface, whatever the rest of the name.
    pub fn is_for(&self, soname: &str) -> bool {
        let family = self.built_for.split(|c: char| c.is_ascii_digit()).next().unwrap_or_default();
        let takes = || match family.trim_end() {
            "MPICH" => soname.ends_with(".so.12"),
            "Open MPI" => soname == "libmpi.so.40",
            "MPI ABI" => soname.starts_with("libmpi_abi.so."),
            _ => false,
        };
        self.needed.iter().any(|needed| needed == soname) || self.names_no_mpi() && takes()
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
    fn programs_name_the_libraries_that_they_need() {
        let bytes = std::fs::read("/proc/self/exe").unwrap();
        let read = |start: u64, size: u64| {
            Some(bytes.get(start as usize..)?.get(..size as usize)?.to_vec())
        };
        let tables = DynamicTables::read(read).unwrap();
        assert!(tables.needed().iter().any(|name| name.starts_with("libc.so")));
        assert!(tables.soname().is_none());
        assert!(tables.has_function("memcpy") && !tables.has_function("MPI_Send"));
        // As if the linker had stored it only as the end of the longer name.
        assert!(tables.has_function("emcpy"));
        assert!(
            DynamicTables::read(|start, size| read(start, size).filter(|_| start == 0)).is_none()
        );
        assert!(DynamicTables::read(|_, size| Some(alloc::vec![0; size as usize])).is_none());
    }

    #[test]
    fn programs_name_their_loaders() {
        let bytes = std::fs::read("/proc/self/exe").unwrap();
        assert!(loader(&bytes[..4096]).unwrap().contains("ld"));
        assert_eq!(loader(b"#!/bin/sh"), None);
        assert_eq!(build_id(b"#!/bin/sh"), None);
        assert_eq!(Library::parse(&bytes), None);
    }
}
