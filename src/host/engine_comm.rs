//! The engine's operations on the host's communicators.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::map::{self, history, traffic};
use super::process::backtrace;
use super::sys;
use super::{Error, HostComm, Result, attributes, errors::check, machine, neighbor};
use crate::engine::history::{History, Identities};
use crate::engine::incompatible_program::IncompatibleProgram;
use crate::engine::{Comm, MachineKnowledge};
use crate::machine::Machine;
use crate::mapping::{Csr, Grid, LastPlan, Options, Plan, plan_cart, plan_graph};

/// The tag of our messages, on communicators that only we know.
const TAG: c_int = 0;

/// The most words in one message: counts are `int`s.
const MOST_WORDS: usize = 1 << 28;

/// The last plans of the process, whatever communicators they were for.
static LAST_CART: LastPlan<Grid> = LastPlan::new();
static LAST_GRAPH: LastPlan<Csr> = LastPlan::new();

impl HostComm {
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
        // SAFETY: the buffers have as many elements as said, of a type that `datatype` describes.
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
        // SAFETY: a constant of the host.
        let null = unsafe { sys::cg_comm_null };
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
        // SAFETY: a constant of the host.
        self.all_reduce(words, unsafe { sys::cg_min })
    }

    fn sum(&self, words: &mut [i64]) -> Result<()> {
        // SAFETY: a constant of the host.
        self.all_reduce(words, unsafe { sys::cg_sum })
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

    fn scatter(&self, rows: &[[i32; 6]]) -> Result<[i32; 6]> {
        let mut own = [0; 6];
        let length = own.len() as c_int;
        // SAFETY: on rank 0 a row for each process, which is not looked at elsewhere, and room for one.
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

    fn knowledge(&self) -> MachineKnowledge {
        machine::knowledge(self)
    }

    fn incompatible_program(&self) -> Option<&'static IncompatibleProgram> {
        backtrace::incompatible_program()
    }

    fn has_topology(&self) -> bool {
        // SAFETY: the communicator is the caller's for the time of the call.
        matches!(unsafe { attributes::attached(self.0) }, Ok(Some(_)))
    }

    fn identity(&self) -> u64 {
        history::identity(self)
    }

    fn identities(&self) -> Option<Identities> {
        history::identities(self)
    }

    fn process(&self) -> u64 {
        history::process()
    }

    fn history(&self) -> &History {
        history::history()
    }

    fn weights(&self, dims: &[i32]) -> Option<Vec<i64>> {
        map::weights(self, dims)
    }

    fn weighed(&self, graph: Csr) -> Csr {
        traffic::weighed(self, graph)
    }

    fn plan_cart(&self, grid: &Grid, machine: &Machine, options: &Options) -> Plan {
        LAST_CART.plan(grid, machine, options, plan_cart)
    }

    fn plan_graph(&self, graph: &Csr, machine: &Machine, options: &Options) -> Plan {
        LAST_GRAPH.plan(graph, machine, options, plan_graph)
    }

    fn host_graph(&self, processes: i32, repeated: &dyn Fn() -> bool) -> bool {
        neighbor::route::wanted(processes, repeated)
    }

    fn machine(&self, known: bool) -> Result<Option<Arc<Machine>>> {
        match known {
            // Others learn this from rank 0, so it must not fail alone.
            true if self.rank()? == 0 => {
                let known = machine::known(self).unwrap_or(None);
                Ok(known.map(|runs| Arc::new(runs.machine())))
            }
            true => Ok(None),
            false => Ok(machine::gather(self)?.map(Arc::new)),
        }
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
            // A process with nothing more to send or to receive passes MPI_PROC_NULL there.
            let (send, receive) = (sending.next(), receiving.next());
            if send.is_none() && receive.is_none() {
                return Ok(received);
            }
            let (to, from) = (send.map(|_| to), receive.as_ref().map(|_| from));
            self.swap((to, send.unwrap_or(&[])), (from, receive.unwrap_or(&mut [])), int)?;
        }
    }
}
