//! What the loader reads of a program or library: ld.so(8). Pure: no I/O, no unsafe.

use goblin::elf::Elf;

/// A program or library in the format ELF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Whether it is of 64 bits, and for which machine: files of another are passed over.
    pub machine: (bool, u16),
    /// The names of the libraries that it needs.
    pub needed: Vec<String>,
    /// Directories as written, searched before LD_LIBRARY_PATH, also for what needed libraries need.
    pub rpath: Vec<String>,
    /// Directories as written, searched after it.
    pub runpath: Vec<String>,
    /// Whether it is loaded at all: what is linked statically is not.
    pub has_interpreter: bool,
}

impl Object {
    /// Reads a file's bytes; `None` if they are no ELF file.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let elf = Elf::parse(bytes).ok()?;
        let directories = |lists: &[&str]| -> Vec<String> {
            let split = lists.iter().flat_map(|list| list.split(':'));
            split.filter(|directory| !directory.is_empty()).map(str::to_owned).collect()
        };
        Some(Self {
            machine: (elf.is_64, elf.header.e_machine),
            needed: elf.libraries.iter().map(|name| (*name).to_owned()).collect(),
            // The old one does not count beside the new one.
            rpath: if elf.runpaths.is_empty() { directories(&elf.rpaths) } else { Vec::new() },
            runpath: directories(&elf.runpaths),
            has_interpreter: elf.interpreter.is_some(),
        })
    }
}
