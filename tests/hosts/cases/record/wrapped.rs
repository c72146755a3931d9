//! The functions that the recorder wraps.

use super::super::symbols::{Names, declared, same, symbols};
use crate::session::{Session, word};
use crate::testlist::top;

/// The functions that send, and the functions that the recorder needs.
const WRAPPED: &str = r"(?x)MPI_(?:
    (?:I[bsr]?send|[BSR]?send|Send|Psend)(?:_init)?(?:_c)?
    | (?:Is|S)endrecv(?:_replace)?(?:_c)?
    | (?:Irecv|Recv|Recv_init|Precv_init)(?:_c)?
    | R?(?:put|get|accumulate|get_accumulate|Put|Get|Accumulate|Get_accumulate)(?:_c)?
    | Fetch_and_op|Compare_and_swap|Start|Startall|Request_free|Comm_free|Comm_disconnect|Win_free|Cart_create|Cart_sub|Dims_create
    | Init|Init_thread|Finalize|Abort
    | M?[Pp]robe|(?:Wait|Test)(?:all|any|some)?
    | I?(?:neighbor_|Neighbor_)?(?:all|All)(?:toall|gather|to)[a-z]*(?:_init)?(?:_c)?
    | I?(?:[Bb]arrier|[Bb]cast|[Gg]atherv?|[Ss]catterv?|(?:[Aa]ll)?reduce|(?:All)?[Rr]educe|[Rr]educe_scatter(?:_block)?
        |[Ss]can|[Ee]xscan)(?:_init)?(?:_c)?
    )";

/// Checks that all of them that mpi.h declares are wrapped, under both names, and nothing else. Returns the kind of
/// recorder that fits the host, and the host's features beyond MPI-3 as definitions for `record.c`.
pub(super) fn check(session: &mut Session<'_>) -> (&'static str, Vec<&'static str>) {
    let declared = declared(session, WRAPPED);
    let has = |name: &str| declared.contains(name);
    let kind = match (has("MPI_Send_c"), has("MPI_Isendrecv")) {
        (true, _) => "4c",
        (false, true) => "4",
        (false, false) => "3",
    };
    let own = session.host.library().with_file_name("libcartograph_record.so");
    let every = top().join(format!("build/lib/cartograph/record-{kind}.so"));
    for (library, besides) in [(own, "cartograph_finds_next_by"), (every, "dlclose")] {
        let both = declared.iter().flat_map(|name| [name.clone(), format!("P{name}")]);
        let wrapped: Names = both.chain([besides.into()]).collect();
        let exported = symbols(session, &["-D", "--defined-only"], word(&library));
        let exported = exported.into_iter().map(|(name, _)| name).collect();
        let what = format!("{} wraps what sends, and nothing else", library.display());
        same(session, &what, &wrapped, &exported);
    }
    let defines = [
        ("-DPARTITIONED", has("MPI_Psend_init") && has("MPI_Isendrecv")),
        ("-DPERSISTENT", has("MPI_Neighbor_alltoall_init")),
        ("-DLARGE_COUNTS", has("MPI_Send_c")),
    ];
    (kind, defines.into_iter().filter(|(_, has)| *has).map(|(define, _)| define).collect())
}
