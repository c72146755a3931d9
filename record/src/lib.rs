//! `libcartograph_record.so`: counts the messages of each process of an MPI program, and writes the counts to the file
//! of its node. `cartograph exec --record` preloads it; `docs/recording.md` lists the counted calls.
//!
//! It wraps functions of the host under their `MPI_` and `PMPI_` names and calls the next functions of the same names:
//! another tool's, Cartograph's, or the host's. So it sees the calls of a program, of a tool before it and of a host's
//! Fortran library, which calls C's names, and counts each once. It never sends a message.
//!
//! - [`cartograph_shim::next`]: the functions below. [`outermost`]: counts a call only once.
//! - [`sent`] and [`neighborhoods`]: the messages of a call. [`tally`]: the counts. [`peers`]: gets destinations from
//!   the host. [`part`]: the file.
//! - [`window`]: the first calls in order. [`ticks`]: their times. [`limits`]: the maximal cost of recording. [`work`]:
//!   the total that the process sends. [`devices`]: the GPU that it used. [`file_size`]: limits of files.
//! - [`messages`], [`waits`], [`onesided`], [`collectives`], [`process`]: the functions that are wrapped.

#![deny(clippy::print_stderr, reason = "ranks write at once, so a line is one write: say!")]
#![allow(clippy::too_many_arguments, reason = "those of MPI's functions")]

/// `if_declared!`: which functions mpi.h declares.
#[macro_use]
mod declared {
    include!(concat!(env!("OUT_DIR"), "/declared.rs"));
}
#[macro_use]
mod wrap;

mod collectives;
mod devices;
mod file_size;
mod limits;
mod messages;
mod neighborhoods;
mod onesided;
mod outermost;
mod part;
mod peers;
mod process;
mod sent;
mod tally;
mod ticks;
mod waits;
mod window;
mod work;

/// For the comparison of types in `names!`. Never called.
use mpi_sys as prototypes;

/// The host: types and prototypes of mpi-sys, and the declarations of `shim.h`.
mod sys {
    #[allow(
        dead_code,
        unreachable_pub,
        missing_docs,
        non_camel_case_types,
        non_upper_case_globals,
        unused_imports,
        reason = "generated from shim.h"
    )]
    mod shim {
        include!(concat!(env!("OUT_DIR"), "/shim.rs"));
    }
    pub(crate) use mpi_sys::{
        MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info, MPI_Message, MPI_Op, MPI_Request,
        MPI_Status, MPI_Win,
    };
    pub(crate) use shim::*;

    // mpi-sys does not notice a changed MPICC.
    const _: () = assert!(
        CR_SIZEOF_COMM as usize == size_of::<MPI_Comm>()
            && CR_PROC_NULL as i64 == mpi_sys::MPI_PROC_NULL as i64,
        "mpi-sys was built for another MPI than MPICC names: use one CARGO_TARGET_DIR for each"
    );
}

cartograph_shim::finds_next!();

#[cfg(not(any(panic = "abort", test)))]
compile_error!("build with panic = \"abort\": a panic must not unwind into C");
