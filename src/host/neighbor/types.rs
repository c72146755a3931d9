//! Datatypes that are created for one call: for blocks that are merged, are too far away, or have more elements than an
//! int can count.

use std::ffi::{c_int, c_void};
use std::ptr;

use super::blocks::{Block, Side, extent};
use crate::host::constants;
use crate::host::sys::{self, MPI_Datatype};
use crate::host::{Error, Result, errors::check};

/// A block for the host's functions, whose counts are ints.
pub(super) struct Described {
    /// Bytes from the start of the buffer.
    pub(super) offset: isize,
    /// The number of elements.
    pub(super) count: c_int,
    /// The type of an element.
    pub(super) datatype: MPI_Datatype,
}

/// The lowest address of any buffer: memory is in use from the second page on at the earliest.
pub(super) const LOWEST: usize = 4096;

impl Described {
    /// True if a block has no address: it is near null, and its type contains no address either. Hosts reject only null
    /// itself.
    #[inline]
    pub(super) fn is_nowhere(&self, address: *mut c_void) -> bool {
        // SAFETY: asks the host about a datatype of the program, or of ours.
        address.addr() < LOWEST && unsafe { sys::cg_type_is_derived(self.datatype) } == 0
    }

    /// True if another block continues this one, so that both are one block with the sum of the counts. The extent of a
    /// type is determined once for consecutive blocks of the same type.
    pub(super) fn continued_by(
        &self,
        next: &Self,
        measured: &mut Option<(MPI_Datatype, isize)>,
    ) -> Result<bool> {
        // The host rejects a negative count.
        let countable = self.count >= 0 && next.count >= 0;
        if next.datatype != self.datatype
            || !countable
            || self.count.checked_add(next.count).is_none()
        {
            return Ok(false);
        }
        let extent = match *measured {
            Some((datatype, extent)) if datatype == self.datatype => extent,
            _ => extent(self.datatype)?,
        };
        *measured = Some((self.datatype, extent));
        Ok(self.offset + self.count as isize * extent == next.offset)
    }
}

impl<F: Fn(usize) -> Block> Side<F> {
    /// The address of a block, for a function that takes no displacements.
    #[inline]
    pub(super) fn address(&self, block: &Described) -> *mut c_void {
        let (base, distance) = self.base(1);
        let address = base.wrapping_byte_offset(distance + block.offset);
        if block.is_nowhere(address) { ptr::null_mut() } else { address }
    }
}

/// Datatypes to free after the call. The host keeps them as long as a communication needs them.
#[derive(Default)]
pub(super) struct Temporary {
    made: Vec<MPI_Datatype>,
    joined: bool,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        for datatype in &mut self.made {
            // SAFETY: a datatype that was created here and that no other code has seen.
            unsafe { sys::cg_type_free(datatype) };
        }
    }
}

/// The number of elements in one part of a type for more elements than an int can count.
const PART: i64 = 1 << 30;

impl Temporary {
    /// True if the block is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.made.is_empty()
    }

    /// True if blocks were merged because, by the extent of their type, they are contiguous.
    pub(super) fn joined(&self) -> bool {
        self.joined
    }

    /// A copy of the datatype, which remains valid if the program frees its own; the datatype itself on a host that
    /// cannot copy it.
    pub(super) fn copy(&mut self, mut datatype: MPI_Datatype) -> Result<MPI_Datatype> {
        // SAFETY: a datatype of the program, and its place.
        let code = unsafe { sys::cg_type_copy(&raw mut datatype) };
        if code == sys::CG_ABSENT {
            return Ok(datatype);
        }
        check(code)?;
        self.made.push(datatype);
        Ok(datatype)
    }

    /// A block with a count that fits an int.
    #[inline(always)]
    pub(super) fn describe(&mut self, block: Block) -> Result<Described> {
        match c_int::try_from(block.count) {
            // An empty block may have MPI_DATATYPE_NULL.
            Ok(0) => Ok(Described { offset: 0, count: 0, datatype: constants::byte() }),
            Ok(count) => Ok(Described { offset: block.offset, count, datatype: block.datatype }),
            Err(_) => self.describe_many(block),
        }
    }

    #[cold]
    fn describe_many(&mut self, Block { offset, count, datatype }: Block) -> Result<Described> {
        if count < 0 {
            // The host reports an error for it.
            return Ok(Described { offset, count: -1, datatype });
        }
        let datatype = self.many(count, datatype)?;
        Ok(Described { offset, count: 1, datatype })
    }

    /// Merges several blocks of a buffer, in this order.
    pub(super) fn merge(&mut self, blocks: impl Iterator<Item = Block>) -> Result<Described> {
        let mut parts: Vec<Described> = Vec::new();
        let mut measured = None;
        for block in blocks {
            let block = self.describe(block)?;
            // SMPI divides by the size of the data that it copies.
            if block.count == 0 {
                continue;
            }
            if let Some(last) = parts.last_mut()
                && last.continued_by(&block, &mut measured)?
            {
                last.count += block.count;
                self.joined = true;
                continue;
            }
            parts.push(block);
        }
        match parts.len() {
            0 => Ok(Described { offset: 0, count: 0, datatype: constants::byte() }),
            1 => Ok(parts.remove(0)),
            _ => self.whole(&parts),
        }
    }

    /// A block as a single element at the start of the buffer.
    pub(super) fn displaced(&mut self, block: Described) -> Result<Described> {
        self.whole(&[block])
    }

    fn whole(&mut self, parts: &[Described]) -> Result<Described> {
        Ok(Described { offset: 0, count: 1, datatype: self.structure(parts)? })
    }

    /// An element that contains more elements than an int can count.
    fn many(&mut self, count: i64, datatype: MPI_Datatype) -> Result<MPI_Datatype> {
        let (parts, rest) = (count / PART, count % PART);
        let part_bytes = extent(datatype)? * PART as isize;
        let part = [Described { offset: 0, count: PART as c_int, datatype }];
        let part = self.structure(&part)?;
        let parts = (0..parts as isize).map(|i| Described {
            offset: i * part_bytes,
            count: 1,
            datatype: part,
        });
        let rest =
            Described { offset: parts.len() as isize * part_bytes, count: rest as c_int, datatype };
        let all: Vec<Described> = parts.chain([rest]).collect();
        self.structure(&all)
    }

    fn structure(&mut self, parts: &[Described]) -> Result<MPI_Datatype> {
        let counts: Vec<c_int> = parts.iter().map(|part| part.count).collect();
        let offsets: Vec<sys::MPI_Aint> =
            parts.iter().map(|part| part.offset as sys::MPI_Aint).collect();
        let datatypes: Vec<MPI_Datatype> = parts.iter().map(|part| part.datatype).collect();
        let mut made = constants::byte();
        // SAFETY: arrays of the same length, and a place for the handle.
        let code = unsafe {
            sys::cg_type_create_struct(
                parts.len() as c_int,
                counts.as_ptr(),
                offsets.as_ptr(),
                datatypes.as_ptr(),
                &raw mut made,
            )
        };
        if code == sys::CG_ABSENT {
            return Err(Error::Absent("MPI_Type_create_struct and MPI_Type_commit"));
        }
        check(code)?;
        self.made.push(made);
        Ok(made)
    }
}
