//! The only caller of the host MPI, and always through its `PMPI_` names: a tool in front of Cartograph does not see
//! Cartograph's internal calls.

pub(crate) mod advisor;
pub(crate) mod attributes;
pub(crate) mod call_settings;
pub(crate) mod comm;
pub(crate) mod constants;
pub(crate) mod create;
pub(crate) mod errors;
mod family;
mod info;
mod machine;
pub(crate) mod map;
pub(crate) mod neighbor;
mod process;
pub(crate) mod report;
pub(crate) mod sentinel;
#[cfg(mpi_sessions)]
pub(crate) mod sessions;
mod settings;

/// The host's types and functions: mpi-sys, and the additions of our shim.
pub(crate) mod sys {
    pub(crate) use mpi_sys::{
        MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info, MPI_Op, MPI_Request,
    };
    pub(super) use mpi_sys::{
        PMPI_Allreduce, PMPI_Bcast, PMPI_Comm_create_keyval, PMPI_Comm_free, PMPI_Comm_free_keyval,
        PMPI_Comm_get_attr, PMPI_Comm_rank, PMPI_Comm_set_attr, PMPI_Comm_set_errhandler,
        PMPI_Comm_size, PMPI_Gather, PMPI_Gatherv, PMPI_Irecv, PMPI_Isend, PMPI_Scatter,
        PMPI_Sendrecv, PMPI_Type_get_extent, PMPI_Waitall,
    };

    #[cfg(mpi_sessions)]
    pub(crate) use mpi_sys::{MPI_Group, MPI_Session};

    /// The host's prototypes of the functions that Cartograph replaces, for the comparison of types
    /// in `export!`. Never called.
    pub(crate) use mpi_sys as prototypes;

    #[allow(
        dead_code,
        missing_docs,
        non_camel_case_types,
        non_upper_case_globals,
        unreachable_pub,
        reason = "generated from include/cartograph_host.h"
    )]
    mod shim {
        include!(concat!(env!("OUT_DIR"), "/shim.rs"));
    }
    pub(crate) use shim::*;

    // mpi-sys does not notice a changed MPICC, and with half of the flags that the MPI-5 ABI needs, it binds another
    // ABI without a warning. The C shim is recompiled each time; they must agree.
    const _: () = assert!(
        CG_SIZEOF_COMM as usize == size_of::<MPI_Comm>(),
        "mpi-sys was built for another MPI than MPICC names: use one CARGO_TARGET_DIR for each"
    );
    const _: () = assert!(
        CG_PROC_NULL as i64 == mpi_sys::MPI_PROC_NULL as i64,
        "mpi-sys was built for another MPI than MPICC names: use one CARGO_TARGET_DIR for each"
    );
}

pub(crate) use comm::HostComm;
pub(crate) use errors::{Error, Result};
pub(crate) use family::check_family;
pub(crate) use settings::Settings;
