//! Checks that the host accepts a collective's blocks before it sends the first one: a collective that fails then
//! leaves no message behind that the next one could receive.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use super::blocks::{Block, Side};
use super::cache::Neighborhood;
use super::types::LOWEST;
use crate::host::Result;
use crate::host::errors::{check, quiet};
use crate::host::sys::{self, MPI_Datatype};
use crate::topology::Direction;

const TYPES: usize = 64;

/// Handles of named datatypes that the host has accepted. Handles of derived datatypes are not cached: after a free, a
/// datatype that the host rejects may get the same handle.
static TAKEN: [AtomicU64; TYPES] = [const { AtomicU64::new(u64::MAX) }; TYPES];

fn place(datatype: MPI_Datatype) -> (&'static AtomicU64, u64) {
    // An integer with some hosts, a pointer with others.
    let bits = datatype.0 as u64;
    let place = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - TYPES.ilog2());
    (&TAKEN[place as usize], bits)
}

/// Checks a datatype with the host.
#[inline]
pub(super) fn datatype(of: &Neighborhood<'_>, datatype: MPI_Datatype) -> Result {
    let (place, bits) = place(datatype);
    if place.load(Ordering::Relaxed) != bits {
        // Not null, but never read.
        judge(of, ptr::without_provenance(LOWEST), 1, datatype)?;
        // SAFETY: asks the host about a datatype that it accepts.
        if unsafe { sys::cg_type_is_derived(datatype) } == 0 {
            place.store(bits, Ordering::Relaxed);
        }
    }
    Ok(())
}

#[cold]
fn judge(
    of: &Neighborhood<'_>,
    address: *const c_void,
    count: c_int,
    datatype: MPI_Datatype,
) -> Result {
    let private = of.attached.made_private();
    let (comm, returns_errors) =
        (private.map_or(of.comm, |private| private.comm().0), private.is_some().into());
    let mut is_told = 0;
    // SAFETY: nothing is sent, so the address is not read; a place for the result.
    let code =
        unsafe { sys::cg_judge(address, count, datatype, comm, returns_errors, &raw mut is_told) };
    // If another thread could call a handler of ours, the host has called the program's.
    if is_told != 0 { check(code) } else { quiet(code) }
}

/// Checks the blocks of one side with the host.
pub(super) fn blocks(
    of: &Neighborhood<'_>,
    direction: Direction,
    side: &Side<impl Fn(usize) -> Block>,
) -> Result {
    let ends = of.ends.of(direction, true);
    let (base, distance) = side.base(1);
    // Regular blocks: if the first is valid and none is near null, all are.
    let looked_at = match side.regular {
        Some(regular) if base.addr() >= LOWEST && regular.stride >= 0 => &ends[..ends.len().min(1)],
        _ => ends,
    };
    let mut last = None;
    for end in looked_at {
        let block = (side.block)(end.number);
        if block.count == 0 {
            continue;
        }
        if block.count < 0 {
            judge(of, ptr::without_provenance(LOWEST), -1, block.datatype)?;
        }
        if last != Some(block.datatype) {
            datatype(of, block.datatype)?;
            last = Some(block.datatype);
        }
        let address = base.wrapping_byte_offset(distance + block.offset);
        if address.addr() < LOWEST {
            near_null(of, &block)?;
        }
    }
    Ok(())
}

/// A block near null, whose type is valid only if it contains an address or has no data.
#[cold]
fn near_null(of: &Neighborhood<'_>, block: &Block) -> Result {
    let mut size = 0;
    // SAFETY: a datatype that the host accepts, and a place for the result.
    let is_somewhere = unsafe {
        sys::cg_type_is_derived(block.datatype) != 0
            || sys::cg_type_size(block.datatype, &raw mut size) == sys::CG_SUCCESS && size == 0
    };
    if is_somewhere { Ok(()) } else { judge(of, ptr::null(), 1, block.datatype) }
}
