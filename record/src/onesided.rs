//! Accesses to windows: MPI 4.1, 12.3.

use std::ffi::{c_int, c_void};

use crate::sent::{exchange, get, put};
use crate::sys::{MPI_Aint, MPI_Datatype, MPI_Op, MPI_Request, MPI_Win};
use crate::tally::count as add;

wrap! { Call
    [MPI_Put] [MPI_Put_c]
    (
        origin_addr: *const c_void, origin_count: Count, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: Count,
        target_datatype: MPI_Datatype, win: MPI_Win
    ) => add(put(win, target_rank, origin_count, origin_datatype));
    [MPI_Rput] [MPI_Rput_c]
    (
        origin_addr: *const c_void, origin_count: Count, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: Count,
        target_datatype: MPI_Datatype, win: MPI_Win, request: *mut MPI_Request
    ) => add(put(win, target_rank, origin_count, origin_datatype));

    [MPI_Get] [MPI_Get_c]
    (
        origin_addr: *mut c_void, origin_count: Count, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: Count,
        target_datatype: MPI_Datatype, win: MPI_Win
    ) => add(get(win, target_rank, origin_count, origin_datatype));
    [MPI_Rget] [MPI_Rget_c]
    (
        origin_addr: *mut c_void, origin_count: Count, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: Count,
        target_datatype: MPI_Datatype, win: MPI_Win, request: *mut MPI_Request
    ) => add(get(win, target_rank, origin_count, origin_datatype));

    [MPI_Accumulate] [MPI_Accumulate_c]
    (
        origin_addr: *const c_void, origin_count: Count, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: Count,
        target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win
    ) => add(put(win, target_rank, origin_count, origin_datatype));
    [MPI_Raccumulate] [MPI_Raccumulate_c]
    (
        origin_addr: *const c_void, origin_count: Count, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: Count,
        target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win, request: *mut MPI_Request
    ) => add(put(win, target_rank, origin_count, origin_datatype));

    // These calls send as many bytes to the target as they fetch.
    [MPI_Get_accumulate] [MPI_Get_accumulate_c]
    (
        origin_addr: *const c_void, origin_count: Count, origin_datatype: MPI_Datatype,
        result_addr: *mut c_void, result_count: Count, result_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: Count,
        target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win
    ) => add(exchange(win, target_rank, result_count, result_datatype, Some(op)));
    [MPI_Rget_accumulate] [MPI_Rget_accumulate_c]
    (
        origin_addr: *const c_void, origin_count: Count, origin_datatype: MPI_Datatype,
        result_addr: *mut c_void, result_count: Count, result_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: Count,
        target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win, request: *mut MPI_Request
    ) => add(exchange(win, target_rank, result_count, result_datatype, Some(op)));
    [MPI_Fetch_and_op] []
    (
        origin_addr: *const c_void, result_addr: *mut c_void, datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, op: MPI_Op, win: MPI_Win
    ) => add(exchange(win, target_rank, 1, datatype, Some(op)));
    [MPI_Compare_and_swap] []
    (
        origin_addr: *const c_void, compare_addr: *const c_void, result_addr: *mut c_void,
        datatype: MPI_Datatype, target_rank: c_int, target_disp: MPI_Aint, win: MPI_Win
    ) => add(exchange(win, target_rank, 1, datatype, None));
}
