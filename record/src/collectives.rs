//! Collectives: MPI 4.1, chapters 6 and 8. Those whose blocks all have a destination are counted block by block, the
//! others as calls, since the host chooses the route of their data.

use std::ffi::{c_int, c_void};

use crate::neighborhoods::{neighbors, neighbors_v, neighbors_w};
use crate::sent::{Calls, Sent, all_to_all, all_to_all_blocks, calls};
#[allow(unused_imports, reason = "some are of functions that not every host declares")]
use crate::sys::{MPI_Aint, MPI_Comm, MPI_Datatype, MPI_Info, MPI_Op, MPI_Request};

wrap_collectives! {
    // MPI 4.1, 6.8.
    [MPI_Alltoall MPI_Alltoall_c] [MPI_Ialltoall MPI_Ialltoall_c]
    [MPI_Alltoall_init MPI_Alltoall_init_c]
    (
        sendbuf: *const c_void, sendcount: Count, sendtype: MPI_Datatype, recvbuf: *mut c_void,
        recvcount: Count, recvtype: MPI_Datatype, comm: MPI_Comm
    ) => all_to_all("MPI_Alltoall", comm, sendbuf, (sendcount, sendtype), (recvcount, recvtype));
    [MPI_Alltoallv MPI_Alltoallv_c] [MPI_Ialltoallv MPI_Ialltoallv_c]
    [MPI_Alltoallv_init MPI_Alltoallv_init_c]
    (
        sendbuf: *const c_void, sendcounts: *const Count, sdispls: *const Displ,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: *const Count,
        rdispls: *const Displ, recvtype: MPI_Datatype, comm: MPI_Comm
    ) => all_to_all_blocks(
        "MPI_Alltoallv", comm, sendbuf,
        (sendcounts, &raw const sendtype), (recvcounts, &raw const recvtype), 0
    );
    [MPI_Alltoallw MPI_Alltoallw_c] [MPI_Ialltoallw MPI_Ialltoallw_c]
    [MPI_Alltoallw_init MPI_Alltoallw_init_c]
    (
        sendbuf: *const c_void, sendcounts: *const Count, sdispls: *const Displ,
        sendtypes: *const MPI_Datatype, recvbuf: *mut c_void, recvcounts: *const Count,
        rdispls: *const Displ, recvtypes: *const MPI_Datatype, comm: MPI_Comm
    ) => all_to_all_blocks(
        "MPI_Alltoallw", comm, sendbuf, (sendcounts, sendtypes), (recvcounts, recvtypes), 1
    );

    // MPI 4.1, 8.6 to 8.9.
    [MPI_Neighbor_allgather MPI_Neighbor_allgather_c]
    [MPI_Ineighbor_allgather MPI_Ineighbor_allgather_c]
    [MPI_Neighbor_allgather_init MPI_Neighbor_allgather_init_c]
    (
        sendbuf: *const c_void, sendcount: Count, sendtype: MPI_Datatype, recvbuf: *mut c_void,
        recvcount: Count, recvtype: MPI_Datatype, comm: MPI_Comm
    ) => neighbors(comm, sendcount, sendtype);
    [MPI_Neighbor_allgatherv MPI_Neighbor_allgatherv_c]
    [MPI_Ineighbor_allgatherv MPI_Ineighbor_allgatherv_c]
    [MPI_Neighbor_allgatherv_init MPI_Neighbor_allgatherv_init_c]
    (
        sendbuf: *const c_void, sendcount: Count, sendtype: MPI_Datatype, recvbuf: *mut c_void,
        recvcounts: *const Count, displs: *const Displ, recvtype: MPI_Datatype, comm: MPI_Comm
    ) => neighbors(comm, sendcount, sendtype);
    [MPI_Neighbor_alltoall MPI_Neighbor_alltoall_c]
    [MPI_Ineighbor_alltoall MPI_Ineighbor_alltoall_c]
    [MPI_Neighbor_alltoall_init MPI_Neighbor_alltoall_init_c]
    (
        sendbuf: *const c_void, sendcount: Count, sendtype: MPI_Datatype, recvbuf: *mut c_void,
        recvcount: Count, recvtype: MPI_Datatype, comm: MPI_Comm
    ) => neighbors(comm, sendcount, sendtype);
    [MPI_Neighbor_alltoallv MPI_Neighbor_alltoallv_c]
    [MPI_Ineighbor_alltoallv MPI_Ineighbor_alltoallv_c]
    [MPI_Neighbor_alltoallv_init MPI_Neighbor_alltoallv_init_c]
    (
        sendbuf: *const c_void, sendcounts: *const Count, sdispls: *const Displ,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: *const Count,
        rdispls: *const Displ, recvtype: MPI_Datatype, comm: MPI_Comm
    ) => neighbors_v(comm, sendcounts, sendtype);
    [MPI_Neighbor_alltoallw MPI_Neighbor_alltoallw_c]
    [MPI_Ineighbor_alltoallw MPI_Ineighbor_alltoallw_c]
    [MPI_Neighbor_alltoallw_init MPI_Neighbor_alltoallw_init_c]
    (
        sendbuf: *const c_void, sendcounts: *const Count, sdispls: *const MPI_Aint,
        sendtypes: *const MPI_Datatype, recvbuf: *mut c_void, recvcounts: *const Count,
        rdispls: *const MPI_Aint, recvtypes: *const MPI_Datatype, comm: MPI_Comm
    ) => neighbors_w(comm, sendcounts, sendtypes);

    // MPI 4.1, 6.4 to 6.7.
    [MPI_Bcast MPI_Bcast_c] [MPI_Ibcast MPI_Ibcast_c] [MPI_Bcast_init MPI_Bcast_init_c]
    (buffer: *mut c_void, count: Count, datatype: MPI_Datatype, root: c_int, comm: MPI_Comm)
        => calls("MPI_Bcast", comm, Some(root), count, datatype);
    [MPI_Gather MPI_Gather_c] [MPI_Igather MPI_Igather_c] [MPI_Gather_init MPI_Gather_init_c]
    (
        sendbuf: *const c_void, sendcount: Count, sendtype: MPI_Datatype, recvbuf: *mut c_void,
        recvcount: Count, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm
    ) => calls("MPI_Gather", comm, Some(root), sendcount, sendtype);
    [MPI_Gatherv MPI_Gatherv_c] [MPI_Igatherv MPI_Igatherv_c] [MPI_Gatherv_init MPI_Gatherv_init_c]
    (
        sendbuf: *const c_void, sendcount: Count, sendtype: MPI_Datatype, recvbuf: *mut c_void,
        recvcounts: *const Count, displs: *const Displ, recvtype: MPI_Datatype, root: c_int,
        comm: MPI_Comm
    ) => calls("MPI_Gatherv", comm, Some(root), sendcount, sendtype);
    [MPI_Scatter MPI_Scatter_c] [MPI_Iscatter MPI_Iscatter_c]
    [MPI_Scatter_init MPI_Scatter_init_c]
    (
        sendbuf: *const c_void, sendcount: Count, sendtype: MPI_Datatype, recvbuf: *mut c_void,
        recvcount: Count, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm
    ) => calls("MPI_Scatter", comm, Some(root), recvcount, recvtype);
    [MPI_Scatterv MPI_Scatterv_c] [MPI_Iscatterv MPI_Iscatterv_c]
    [MPI_Scatterv_init MPI_Scatterv_init_c]
    (
        sendbuf: *const c_void, sendcounts: *const Count, displs: *const Displ,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: Count, recvtype: MPI_Datatype,
        root: c_int, comm: MPI_Comm
    ) => calls("MPI_Scatterv", comm, Some(root), recvcount, recvtype);
    [MPI_Allgather MPI_Allgather_c] [MPI_Iallgather MPI_Iallgather_c]
    [MPI_Allgather_init MPI_Allgather_init_c]
    (
        sendbuf: *const c_void, sendcount: Count, sendtype: MPI_Datatype, recvbuf: *mut c_void,
        recvcount: Count, recvtype: MPI_Datatype, comm: MPI_Comm
    ) => calls("MPI_Allgather", comm, None, sendcount, sendtype);
    [MPI_Allgatherv MPI_Allgatherv_c] [MPI_Iallgatherv MPI_Iallgatherv_c]
    [MPI_Allgatherv_init MPI_Allgatherv_init_c]
    (
        sendbuf: *const c_void, sendcount: Count, sendtype: MPI_Datatype, recvbuf: *mut c_void,
        recvcounts: *const Count, displs: *const Displ, recvtype: MPI_Datatype, comm: MPI_Comm
    ) => calls("MPI_Allgatherv", comm, None, sendcount, sendtype);

    // MPI 4.1, 6.9 to 6.11.
    [MPI_Reduce MPI_Reduce_c] [MPI_Ireduce MPI_Ireduce_c] [MPI_Reduce_init MPI_Reduce_init_c]
    (
        sendbuf: *const c_void, recvbuf: *mut c_void, count: Count, datatype: MPI_Datatype,
        op: MPI_Op, root: c_int, comm: MPI_Comm
    ) => calls("MPI_Reduce", comm, Some(root), count, datatype);
    [MPI_Allreduce MPI_Allreduce_c] [MPI_Iallreduce MPI_Iallreduce_c]
    [MPI_Allreduce_init MPI_Allreduce_init_c]
    (
        sendbuf: *const c_void, recvbuf: *mut c_void, count: Count, datatype: MPI_Datatype,
        op: MPI_Op, comm: MPI_Comm
    ) => calls("MPI_Allreduce", comm, None, count, datatype);
    [MPI_Reduce_scatter MPI_Reduce_scatter_c] [MPI_Ireduce_scatter MPI_Ireduce_scatter_c]
    [MPI_Reduce_scatter_init MPI_Reduce_scatter_init_c]
    (
        sendbuf: *const c_void, recvbuf: *mut c_void, recvcounts: *const Count,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm
    ) => calls("MPI_Reduce_scatter", comm, None, *recvcounts, datatype);
    [MPI_Reduce_scatter_block MPI_Reduce_scatter_block_c]
    [MPI_Ireduce_scatter_block MPI_Ireduce_scatter_block_c]
    [MPI_Reduce_scatter_block_init MPI_Reduce_scatter_block_init_c]
    (
        sendbuf: *const c_void, recvbuf: *mut c_void, recvcount: Count, datatype: MPI_Datatype,
        op: MPI_Op, comm: MPI_Comm
    ) => calls("MPI_Reduce_scatter_block", comm, None, recvcount, datatype);
    [MPI_Scan MPI_Scan_c] [MPI_Iscan MPI_Iscan_c] [MPI_Scan_init MPI_Scan_init_c]
    (
        sendbuf: *const c_void, recvbuf: *mut c_void, count: Count, datatype: MPI_Datatype,
        op: MPI_Op, comm: MPI_Comm
    ) => calls("MPI_Scan", comm, None, count, datatype);
    [MPI_Exscan MPI_Exscan_c] [MPI_Iexscan MPI_Iexscan_c] [MPI_Exscan_init MPI_Exscan_init_c]
    (
        sendbuf: *const c_void, recvbuf: *mut c_void, count: Count, datatype: MPI_Datatype,
        op: MPI_Op, comm: MPI_Comm
    ) => calls("MPI_Exscan", comm, None, count, datatype);
}

// MPI 4.1, 6.3.
wrap! { TimedCall
    [MPI_Barrier] [] (comm: MPI_Comm) => crate::tally::collective(barrier(comm));
}

wrap! { Call
    [MPI_Ibarrier] [] (comm: MPI_Comm, request: *mut MPI_Request)
        => crate::tally::count(barrier(comm));
    [MPI_Barrier_init] [] (comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request)
        => crate::tally::keep(*request, barrier(comm), None);
}

fn barrier(comm: MPI_Comm) -> Sent {
    Sent::Calls(Calls { function: "MPI_Barrier", comm, root: None, bytes: 0 })
}
