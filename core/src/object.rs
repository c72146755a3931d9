//! What the loader reads of a program or library: ld.so(8). Pure: no I/O, no unsafe.

use goblin::elf::Elf;

/// What is needed of a program or library in ELF format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Whether it is 64-bit, and ELF's number of the machine: files for another machine are skipped.
    pub machine: (bool, u16),
    /// The names of the libraries that it needs (`DT_NEEDED`).
    pub needed: Vec<String>,
    /// `DT_RPATH`: directories as written, searched before LD_LIBRARY_PATH, also for the libraries that needed
    /// ones need.
    pub rpath: Vec<String>,
    /// `DT_RUNPATH`: directories as written, searched after LD_LIBRARY_PATH.
    pub runpath: Vec<String>,
    /// Whether it names a dynamic loader: a statically linked program does not.
    pub has_interpreter: bool,
}

impl Object {
    /// Reads a file's bytes; `None` if it is not an ELF file.
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
