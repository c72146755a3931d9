//! The communicator that the engine works on.

use super::error::Error;

/// The operations that the engine needs from a communicator. All except `rank` and `size` are collective.
pub trait Comm: Sized {
    /// A failure of the host, or a fault that the engine found.
    type Error: From<Error>;

    /// The rank of the calling process.
    fn rank(&self) -> Result<i32, Self::Error>;
    /// The number of processes.
    fn size(&self) -> Result<i32, Self::Error>;
    /// `MPI_Comm_split`; no color is `MPI_UNDEFINED`, and gives no communicator.
    fn split(&self, color: Option<i32>, key: i32) -> Result<Option<Self>, Self::Error>;
    /// Frees a communicator that [`Comm::split`] created.
    fn free(self) -> Result<(), Self::Error>;
    /// Replaces each word by its minimum over all processes.
    fn min(&self, words: &mut [i64]) -> Result<(), Self::Error>;
    /// Replaces each word by its sum over all processes, which must fit.
    fn sum(&self, words: &mut [i64]) -> Result<(), Self::Error>;
    /// Broadcasts the bytes of `root`; every process knows the length.
    fn broadcast(&self, root: i32, bytes: &mut [u8]) -> Result<(), Self::Error>;
    /// Scatters rank 0's array: gives every process its part.
    fn scatter(&self, rows: &[[i32; 7]]) -> Result<[i32; 7], Self::Error>;
    /// Gathers the words of all processes on rank 0, in rank order; empty elsewhere. At most `i32::MAX` words in all.
    fn gather(&self, words: &[i32]) -> Result<Vec<i32>, Self::Error>;
    /// Sends `words` to one process and receives the words that another sends. Used only on communicators that the
    /// engine created, so that no message of ours meets one of the program's.
    fn send_receive(&self, to: i32, words: &[i32], from: i32) -> Result<Vec<i32>, Self::Error>;
}

/// A communicator together with a result on it. If that is an error, the communicator is freed.
pub fn keep<C: Comm, T>(comm: C, result: Result<T, C::Error>) -> Result<(C, T), C::Error> {
    match result {
        Ok(value) => Ok((comm, value)),
        Err(error) => comm.free().and(Err(error)),
    }
}
