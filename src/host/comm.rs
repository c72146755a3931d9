//! The host's communicators by their handles, and the engine's operations on them.

use std::ffi::{c_int, c_void};

use super::sys::{self, MPI_Comm};
use super::{
    Error, Result,
    errors::{check, quiet},
};
use crate::engine::Comm;
use crate::host::constants;

/// The tag of our messages, on communicators that only we use.
const TAG: c_int = 0;

/// The most words in one message: counts are `int`s.
const MOST_WORDS: usize = 1 << 28;

/// A communicator of the host, by its handle; dropping this does not free it.
pub(crate) struct HostComm(pub(crate) MPI_Comm);

/// True if a communicator was created, false if the host has no room for it on any process.
///
/// # Errors
///
/// The host's error on this process alone.
pub(super) fn made_by_all(code: c_int) -> Result<bool> {
    // SAFETY: the code of an error.
    if code != sys::CG_SUCCESS && unsafe { sys::cg_all_lack_room(code) } == 0 {
        quiet(code)?;
    }
    Ok(code == sys::CG_SUCCESS)
}

impl HostComm {
    /// `MPI_COMM_WORLD`.
    pub(super) fn world() -> Self {
        Self(constants::comm_world())
    }

    /// `MPI_COMM_SELF`.
    pub(super) fn itself() -> Self {
        Self(constants::comm_self())
    }

    /// A new communicator of the same processes for our own messages; `None`, on all processes, if the host has no room
    /// for it, in which case it calls no error handler. Errors on it are returned as codes;
    /// [`conclude`](super::errors::conclude) calls the program's handler. Collective.
    ///
    /// # Errors
    ///
    /// The host's error on this process alone: others may have the communicator, and would wait for messages on it.
    pub(super) fn private(&self) -> Result<Option<Self>> {
        let mut made = constants::comm_null();
        // SAFETY: a place for the handle.
        let code = unsafe { sys::cg_comm_split_quietly(self.0, &raw mut made) };
        Ok(made_by_all(code)?.then_some(Self(made)))
    }

    /// Makes a communicator that no other code has seen [private](Self::private).
    pub(super) fn into_private(self) -> Result<Self> {
        // SAFETY: a communicator of ours, and a handler that every host has.
        check(unsafe { sys::PMPI_Comm_set_errhandler(self.0, sys::cg_errors_return) })?;
        Ok(self)
    }

    /// Gathers the words of all processes on rank 0, in rank order, the same number from each; empty elsewhere.
    /// Collective.
    pub(super) fn gather_alike(&self, words: &[c_int]) -> Result<Vec<c_int>> {
        let processes = if self.rank()? == 0 { self.size()? as usize } else { 0 };
        let mut all = vec![0; processes * words.len()];
        // SAFETY: `words.len()` words of each process, with room for all on rank 0.
        check(unsafe {
            sys::PMPI_Gather(
                words.as_ptr().cast(),
                words.len() as c_int,
                sys::cg_int,
                all.as_mut_ptr().cast(),
                words.len() as c_int,
                sys::cg_int,
                0,
                self.0,
            )
        })?;
        Ok(all)
    }

    /// Reduces words in place.
    fn all_reduce(&self, words: &mut [i64], op: sys::MPI_Op) -> Result {
        let mut reduced = vec![0i64; words.len()];
        // SAFETY: both buffers have `words.len()` 64-bit integers, as count and datatype say.
        check(unsafe {
            sys::PMPI_Allreduce(
                words.as_ptr().cast(),
                reduced.as_mut_ptr().cast(),
                words.len() as c_int,
                sys::cg_int64,
                op,
                self.0,
            )
        })?;
        words.copy_from_slice(&reduced);
        Ok(())
    }

    /// One message in each direction, with lengths that both sides know. `None` is `MPI_PROC_NULL`.
    fn swap<T>(
        &self,
        (to, send): (Option<c_int>, &[T]),
        (from, receive): (Option<c_int>, &mut [T]),
        datatype: sys::MPI_Datatype,
    ) -> Result {
        let or_proc_null = |rank: Option<c_int>| rank.unwrap_or(sys::CG_PROC_NULL);
        // SAFETY: the buffers have this many elements, of a type that `datatype` describes.
        check(unsafe {
            sys::PMPI_Sendrecv(
                send.as_ptr().cast::<c_void>(),
                send.len() as c_int,
                datatype,
                or_proc_null(to),
                TAG,
                receive.as_mut_ptr().cast::<c_void>(),
                receive.len() as c_int,
                datatype,
                or_proc_null(from),
                TAG,
                self.0,
                sys::cg_status_ignore().cast(),
            )
        })
    }
}

impl Comm for HostComm {
    type Error = Error;

    fn rank(&self) -> Result<i32> {
        let mut rank = 0;
        // SAFETY: an int to write to.
        check(unsafe { sys::PMPI_Comm_rank(self.0, &raw mut rank) })?;
        Ok(rank)
    }

    fn size(&self) -> Result<i32> {
        let mut size = 0;
        // SAFETY: an int to write to.
        check(unsafe { sys::PMPI_Comm_size(self.0, &raw mut size) })?;
        Ok(size)
    }

    fn split(&self, color: Option<i32>, key: i32) -> Result<Option<Self>> {
        let color = color.unwrap_or(sys::CG_UNDEFINED);
        let null = constants::comm_null();
        let mut made = null;
        // SAFETY: a handle to write to.
        check(unsafe { sys::cg_comm_split(self.0, color, key, &raw mut made) })?;
        Ok((made != null).then_some(Self(made)))
    }

    fn free(self) -> Result<()> {
        let mut comm = self.0;
        // SAFETY: a communicator that `split` made and that no other code has seen.
        check(unsafe { sys::PMPI_Comm_free(&raw mut comm) })
    }

    fn min(&self, words: &mut [i64]) -> Result<()> {
        self.all_reduce(words, constants::min())
    }

    fn sum(&self, words: &mut [i64]) -> Result<()> {
        self.all_reduce(words, constants::sum())
    }

    fn broadcast(&self, root: i32, bytes: &mut [u8]) -> Result<()> {
        for chunk in bytes.chunks_mut(MOST_WORDS) {
            let length = chunk.len() as c_int;
            // SAFETY: a buffer of `length` bytes.
            check(unsafe {
                sys::PMPI_Bcast(chunk.as_mut_ptr().cast(), length, sys::cg_byte, root, self.0)
            })?;
        }
        Ok(())
    }

    fn scatter(&self, rows: &[[i32; 7]]) -> Result<[i32; 7]> {
        let mut own = [0; 7];
        let length = own.len() as c_int;
        // SAFETY: on rank 0 a row for each process, which is not read elsewhere, and room for one.
        check(unsafe {
            sys::PMPI_Scatter(
                rows.as_ptr().cast(),
                length,
                sys::cg_int,
                own.as_mut_ptr().cast(),
                length,
                sys::cg_int,
                0,
                self.0,
            )
        })?;
        Ok(own)
    }

    fn gather(&self, words: &[i32]) -> Result<Vec<i32>> {
        let own = words.len() as c_int;
        let counts = self.gather_alike(&[own])?;
        let mut total = 0;
        let mut starts = Vec::with_capacity(counts.len());
        for count in &counts {
            starts.push(total);
            total += count;
        }
        let mut all = vec![0i32; total as usize];
        // SAFETY: the number of words that was just exchanged, one process after the other.
        check(unsafe {
            sys::PMPI_Gatherv(
                words.as_ptr().cast(),
                own,
                sys::cg_int,
                all.as_mut_ptr().cast(),
                counts.as_ptr(),
                starts.as_ptr(),
                sys::cg_int,
                0,
                self.0,
            )
        })?;
        Ok(all)
    }

    fn send_receive(&self, to: i32, words: &[i32], from: i32) -> Result<Vec<i32>> {
        let mut length = [0i64];
        // SAFETY: constants of the host.
        let (int, int64) = unsafe { (sys::cg_int, sys::cg_int64) };
        self.swap((Some(to), &[words.len() as i64]), (Some(from), &mut length), int64)?;
        let mut received = vec![0i32; length[0] as usize];

        let mut sending = words.chunks(MOST_WORDS);
        let mut receiving = received.chunks_mut(MOST_WORDS);
        loop {
            // A process that has nothing left to send or to receive passes MPI_PROC_NULL there.
            let (send, receive) = (sending.next(), receiving.next());
            if send.is_none() && receive.is_none() {
                return Ok(received);
            }
            let (to, from) = (send.map(|_| to), receive.as_ref().map(|_| from));
            self.swap((to, send.unwrap_or(&[])), (from, receive.unwrap_or(&mut [])), int)?;
        }
    }
}

/// Checks a communicator that a program passed, before any other use.
///
/// # Errors
///
/// Of class [`Class::Comm`](crate::topology::Class): null, or an inter-communicator.
pub(crate) fn intra(comm: MPI_Comm) -> Result<HostComm, crate::topology::Error> {
    // Checked before any other query of a host whose handles may have another size.
    super::check_family();
    if comm == constants::comm_null() {
        return Err(crate::topology::Error::NullComm);
    }
    // SAFETY: asks the host about a communicator that the program vouches for.
    if unsafe { sys::cg_is_inter(comm) } != 0 {
        return Err(crate::topology::Error::InterComm);
    }
    Ok(HostComm(comm))
}
