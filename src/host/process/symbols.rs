//! The functions of the program, by the table of symbols in its file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use goblin::container::Ctx;
use goblin::elf::section_header::SHT_SYMTAB;
use goblin::elf::{Elf, SectionHeader};

/// The size of the longest header of an ELF file.
const LONGEST_HEADER: u64 = 64;

/// True if the program's file has symbols of all these names; a stripped file has none. The names are read piece by
/// piece, since those of a large program take hundreds of megabytes.
///
/// # Errors
///
/// If the file cannot be read.
pub(in crate::host) fn program_has(names: &[&str]) -> io::Result<bool> {
    let mut file = File::open("/proc/self/exe")?;
    let mut header = Vec::new();
    (&file).take(LONGEST_HEADER).read_to_end(&mut header)?;
    let header = Elf::parse_header(&header).map_err(io::Error::other)?;
    let container = header.container().map_err(io::Error::other)?;
    let context = Ctx::new(container, header.endianness().map_err(io::Error::other)?);
    let count = usize::from(header.e_shnum);
    let mut table = Vec::new();
    file.seek(SeekFrom::Start(header.e_shoff))?;
    let length = u64::from(header.e_shentsize) * u64::from(header.e_shnum);
    (&file).take(length).read_to_end(&mut table)?;
    let sections =
        SectionHeader::parse_from(&table, 0, count, context).map_err(io::Error::other)?;
    let Some(symbols) = sections.iter().find(|section| section.sh_type == SHT_SYMTAB) else {
        return Ok(false);
    };
    let Some(texts) = sections.get(symbols.sh_link as usize) else { return Ok(false) };
    file.seek(SeekFrom::Start(texts.sh_offset))?;
    let mut texts = BufReader::with_capacity(1 << 16, file).take(texts.sh_size);
    let mut missing = names.to_vec();
    let mut text = Vec::new();
    while !missing.is_empty() && texts.read_until(0, &mut text)? > 0 {
        missing.retain(|name| text.strip_suffix(&[0]) != Some(name.as_bytes()));
        text.clear();
    }
    Ok(missing.is_empty())
}
