//! Datatypes that are made for one call: for blocks that belong together, lie too far away, or have
//! more elements than an int can count.

use std::ffi::c_int;

use super::{Block, extent};
use crate::host::sys::{self, MPI_Datatype};
use crate::host::{Error, Result, errors::check};

/// What the host's functions take for a block: their counts are ints.
pub(super) struct Described {
    /// Bytes from the start of the buffer.
    pub(super) offset: isize,
    /// Elements.
    pub(super) count: c_int,
    /// The type of an element.
    pub(super) datatype: MPI_Datatype,
}

/// Datatypes to be freed after the call. The host keeps them for as long as a communication needs them.
#[derive(Default)]
pub(super) struct Temporary(Vec<MPI_Datatype>);

impl Drop for Temporary {
    fn drop(&mut self) {
        for datatype in &mut self.0 {
            // SAFETY: a datatype that was made here and that nobody else has seen.
            unsafe { sys::cg_type_free(datatype) };
        }
    }
}

/// As many elements go into one part of a type for more than an int can count.
const PART: i64 = 1 << 30;

impl Temporary {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A block with a count that fits an int.
    #[inline]
    pub(super) fn describe(&mut self, block: Block) -> Result<Described> {
        let Block { offset, count, datatype } = block;
        match c_int::try_from(count) {
            Ok(count) => Ok(Described { offset, count, datatype }),
            // The host has an error for it.
            Err(_) if count < 0 => Ok(Described { offset, count: -1, datatype }),
            Err(_) => {
                let datatype = self.many(count, datatype)?;
                Ok(Described { offset, count: 1, datatype })
            }
        }
    }

    /// One element for several blocks of a buffer, in this order.
    pub(super) fn merge(&mut self, blocks: impl Iterator<Item = Block>) -> Result<Described> {
        let mut described: Vec<Described> =
            blocks.map(|block| self.describe(block)).collect::<Result<_>>()?;
        // SMPI divides by the size of what it copies.
        described.retain(|block| block.count != 0);
        if described.is_empty() {
            // SAFETY: a constant of the host.
            return Ok(Described { offset: 0, count: 0, datatype: unsafe { sys::cg_byte } });
        }
        let datatype = self.structure(&described)?;
        Ok(Described { offset: 0, count: 1, datatype })
    }

    /// A block as one element at no distance from the buffer, `distance` bytes further on.
    pub(super) fn shift(&mut self, block: Described, distance: isize) -> Result<Described> {
        let Described { offset, count, datatype } = block;
        self.merge([Block { offset: offset + distance, count: count.into(), datatype }].into_iter())
    }

    /// One element that holds more elements than an int can count.
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
        // SAFETY: a constant of the host.
        let mut made = unsafe { sys::cg_byte };
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
        self.0.push(made);
        Ok(made)
    }
}
