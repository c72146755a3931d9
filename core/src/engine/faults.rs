//! Faults of one rank, or differences between ranks, that become the same error on all.

use super::arguments::{Function, Shared};
use super::comm::Comm;
use super::error::Error;
use crate::topology::Class;

/// "No rank", in a minimum over ranks.
pub(super) const NO_RANK: i64 = i64::MAX;

/// The fault of a rank whose arguments differ from those of others, if the differing argument is unknown.
pub(super) fn differs(rank: i32, function: Function) -> Error {
    let text = format!("the arguments of {} differ from other ranks'", function.name());
    Error::OnRank { rank, class: Class::Arg, text }
}

/// Broadcasts the class and the text of the fault that `root` found. Collective.
pub(super) fn tell<C: Comm>(
    comm: &C,
    root: i32,
    own: Option<(Class, String)>,
) -> Result<Error, C::Error> {
    let is_root = comm.rank()? == root;
    let (class, text) = own.filter(|_| is_root).unwrap_or((Class::Arg, String::new()));
    let mut bytes = text.into_bytes();
    bytes.push(class.index() as u8);
    let mut bytes = broadcast_vec(comm, root, bytes)?;
    let class = bytes.pop().map_or(Class::Arg, |index| Class::ALL[usize::from(index)]);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Error::OnRank { rank: root, class, text })
}

/// The `fault` of the lowest rank that has one, on all processes; `None` if no rank has one. Collective.
pub(super) fn first_fault<C: Comm>(
    comm: &C,
    fault: Option<String>,
) -> Result<Option<Error>, C::Error> {
    let mut lowest = [if fault.is_some() { i64::from(comm.rank()?) } else { NO_RANK }];
    comm.min(&mut lowest)?;
    if lowest[0] == NO_RANK {
        return Ok(None);
    }
    tell(comm, lowest[0] as i32, fault.map(|text| (Class::Arg, text))).map(Some)
}

fn broadcast_vec<C: Comm>(comm: &C, root: i32, bytes: Vec<u8>) -> Result<Vec<u8>, C::Error> {
    let mut length = (bytes.len() as u64).to_le_bytes();
    comm.broadcast(root, &mut length)?;
    let mut bytes = bytes;
    bytes.resize(u64::from_le_bytes(length) as usize, 0);
    comm.broadcast(root, &mut bytes)?;
    Ok(bytes)
}

/// All ranks compare their arguments with rank 0's, and the lowest rank that differs describes the difference.
pub(super) fn name_difference<C: Comm>(
    comm: &C,
    shared: &Shared<'_>,
    strict: bool,
) -> Result<Error, C::Error> {
    let own = if comm.rank()? == 0 { shared.encode() } else { Vec::new() };
    let theirs = broadcast_vec(comm, 0, own)?;
    let difference = shared.difference(&theirs, strict);
    Ok(first_fault(comm, difference)?.unwrap_or_else(|| differs(0, shared.function)))
}
