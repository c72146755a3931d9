//! Finds the calling program by the names of the functions on the stack.

use std::ffi::{CStr, c_int, c_void};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use goblin::container::Ctx;
use goblin::elf::header::ET_DYN;
use goblin::elf::section_header::SHT_SYMTAB;
use goblin::elf::{Elf, SectionHeader, Symtab};

use crate::engine::incompatible_program::{IncompatibleProgram, Known};

/// The number of calls on the stack that are searched.
const MOST: usize = 64;

/// The entry of [`IncompatibleProgram`] for the calling program, found by the functions on the stack, if it has one.
/// Takes some microseconds, and longer the first time, when the program's symbols are read.
pub(in crate::host) fn incompatible_program() -> Option<&'static IncompatibleProgram> {
    find(|known| match known {
        Known::IncompatibleProgram(incompatible_program) => Some(incompatible_program),
        Known::PairsItself(_) => None,
    })
}

/// The first function on the stack that is known and wanted.
fn find<T>(wanted: impl Fn(Known) -> Option<T>) -> Option<T> {
    let mut addresses = [std::ptr::null_mut(); MOST];
    // SAFETY: the array has room for this number of addresses.
    let count = unsafe { libc::backtrace(addresses.as_mut_ptr(), MOST as c_int) };
    let called = addresses.iter().take(count.max(0) as usize);
    called.filter_map(|address| called_from(*address)).find_map(wanted)
}

/// The entry for the function that an address is in.
fn called_from(address: *const c_void) -> Option<Known> {
    let found = loaded_from(address)?;
    if !found.dli_sname.is_null() {
        // SAFETY: the loader's own string, which stays while the library is loaded.
        return Known::of_symbol(unsafe { CStr::from_ptr(found.dli_sname) }.to_str().ok()?);
    }
    // The loader knows few of the program's own functions: the program's file has all of them.
    // SAFETY: asks for a number.
    let program = unsafe { libc::getauxval(libc::AT_PHDR) } as *const c_void;
    let base = loaded_from(program)?.dli_fbase;
    if found.dli_fbase != base {
        return None;
    }
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| Program::read("/proc/self/exe").unwrap_or_default());
    let offset = if program.moves { base as u64 } else { 0 };
    // A return address is at least one byte past the start of its call instruction.
    let at = (address as u64).checked_sub(offset)?.checked_sub(1)?;
    program.functions.iter().find(|(range, _)| range.contains(&at)).map(|(_, known)| *known)
}

/// The loader's facts about an address.
fn loaded_from(address: *const c_void) -> Option<libc::Dl_info> {
    // SAFETY: all fields may be zero.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address will do; a place for the result.
    (unsafe { libc::dladdr(address, &raw mut found) } != 0).then_some(found)
}

/// The functions of a program's file that a table knows.
#[derive(Default)]
struct Program {
    /// True if addresses are relative to the load address.
    moves: bool,
    functions: Vec<(Range<u64>, Known)>,
}

impl Program {
    /// Reads only a file's table of symbols, which a stripped file does not have.
    fn read(path: &str) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let bytes = |offset: u64, size: u64| {
            // An invalid size must not allocate memory.
            let end = offset.checked_add(size).filter(|end| *end <= length);
            let mut bytes = vec![0; end.map_or(0, |_| size as usize)];
            file.read_exact_at(&mut bytes, offset).map(|()| bytes)
        };
        let header = Elf::parse_header(&bytes(0, length.min(64))?).map_err(io::Error::other)?;
        let context = Ctx::new(
            header.container().map_err(io::Error::other)?,
            header.endianness().map_err(io::Error::other)?,
        );
        let count = usize::from(header.e_shnum);
        let table =
            bytes(header.e_shoff, u64::from(header.e_shentsize) * u64::from(header.e_shnum))?;
        let sections =
            SectionHeader::parse_from(&table, 0, count, context).map_err(io::Error::other)?;
        let mut program = Self { moves: header.e_type == ET_DYN, functions: Vec::new() };
        for section in sections.iter().filter(|section| section.sh_type == SHT_SYMTAB) {
            let Some(names) = sections.get(section.sh_link as usize) else { continue };
            let names = bytes(names.sh_offset, names.sh_size)?;
            let symbols = bytes(section.sh_offset, section.sh_size)?;
            let count = symbols.len() / section.sh_entsize.max(1) as usize;
            let symbols = Symtab::parse(&symbols, 0, count, context).map_err(io::Error::other)?;
            for symbol in symbols.iter().filter(|symbol| symbol.is_function()) {
                let name = names.get(symbol.st_name..).map(CStr::from_bytes_until_nul);
                let name = name.and_then(|name| name.ok()?.to_str().ok());
                if let Some(known) = name.and_then(Known::of_symbol) {
                    let end = symbol.st_value.saturating_add(symbol.st_size);
                    program.functions.push((symbol.st_value..end, known));
                }
            }
        }
        Ok(program)
    }
}
