/* The host's own pairing of blocks if a process is a neighbor more than once: tested on a torus of one process, whose
 * four blocks all come back to it. */
#include "cartograph_host.h"

#include <string.h>

#if defined(SMPI_H)

void cg_find_pairing(enum cg_pairing found[CG_PAIRED])
{
    for (int i = 0; i < CG_PAIRED; i++)
        found[i] = CG_PAIRS_BY_DIRECTION;
}

#else

#pragma weak PMPI_Request_free

enum { BLOCKS = 4 };

typedef int cart_create_function(MPI_Comm, int, const int[], const int[], int, MPI_Comm *);
typedef int start_function(MPI_Request *);
/* The arguments that the three forms of both operations share. */
#define ALLTOALL const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm
#define ALLTOALLV \
    const void *, const int[], const int[], MPI_Datatype, void *, const int[], const int[], MPI_Datatype, MPI_Comm
typedef int alltoall_function(ALLTOALL);
typedef int ialltoall_function(ALLTOALL, MPI_Request *);
typedef int alltoall_init_function(ALLTOALL, MPI_Info, MPI_Request *);
typedef int alltoallv_function(ALLTOALLV);
typedef int ialltoallv_function(ALLTOALLV, MPI_Request *);
typedef int alltoallv_init_function(ALLTOALLV, MPI_Info, MPI_Request *);

static const int ones[BLOCKS] = { 1, 1, 1, 1 }, displs[BLOCKS] = { 0, 1, 2, 3 };
#define SENT sent, 1, MPI_INT, got, 1, MPI_INT, torus
#define SENT_V sent, ones, displs, MPI_INT, got, ones, displs, MPI_INT, torus

/* The result of a collective that delivered data. */
static enum cg_pairing judged(const int got[BLOCKS])
{
    static const int list[BLOCKS] = { 0, 1, 2, 3 }, reversed[BLOCKS] = { 3, 2, 1, 0 };
    if (memcmp(got, list, sizeof list) == 0)
        return CG_PAIRS_IN_ORDER;
    return memcmp(got, reversed, sizeof reversed) == 0 ? CG_PAIRS_REVERSED : CG_PAIRS_BY_DIRECTION;
}

static enum cg_pairing tried(int which, void *function, start_function *start, MPI_Comm torus)
{
    const int sent[BLOCKS] = { 0, 1, 2, 3 };
    int got[BLOCKS] = { -1, -1, -1, -1 }, code;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    switch (which) {
    case 0:
        code = ((alltoall_function *)function)(SENT);
        break;
    case 1:
        code = ((ialltoall_function *)function)(SENT, &request);
        break;
    case 2:
        code = ((alltoall_init_function *)function)(SENT, MPI_INFO_NULL, &request);
        break;
    case 3:
        code = ((alltoallv_function *)function)(SENT_V);
        break;
    case 4:
        code = ((ialltoallv_function *)function)(SENT_V, &request);
        break;
    default:
        code = ((alltoallv_init_function *)function)(SENT_V, MPI_INFO_NULL, &request);
    }
    if (code == MPI_SUCCESS && which % 3 == 2)
        code = start(&request);
    if (code == MPI_SUCCESS && which % 3 != 0)
        code = PMPI_Waitall(1, &request, &status);
    if (request != MPI_REQUEST_NULL)
        PMPI_Request_free(&request);
    return code == MPI_SUCCESS ? judged(got) : CG_PAIRS_BY_DIRECTION;
}

void cg_find_pairing(enum cg_pairing found[CG_PAIRED])
{
    static const char *const names[CG_PAIRED][2] = {
        { "PMPI_Neighbor_alltoall" },
        { "PMPI_Ineighbor_alltoall" },
        { "PMPI_Neighbor_alltoall_init", "PMPIX_Neighbor_alltoall_init" },
        { "PMPI_Neighbor_alltoallv" },
        { "PMPI_Ineighbor_alltoallv" },
        { "PMPI_Neighbor_alltoallv_init", "PMPIX_Neighbor_alltoallv_init" },
    };
    const int dims[2] = { 1, 1 }, periods[2] = { 1, 1 };
    cart_create_function *create = cg_host_function("PMPI_Cart_create");
    start_function *start = cg_host_function("PMPI_Start");
    MPI_Comm alone = MPI_COMM_NULL, torus = MPI_COMM_NULL;
    for (int i = 0; i < CG_PAIRED; i++)
        found[i] = CG_PAIRS_BY_DIRECTION;
    if (!create || !start || !PMPI_Request_free || cg_make_alone(27184, &alone) != MPI_SUCCESS)
        return;
    if (create(alone, 2, dims, periods, 0, &torus) == MPI_SUCCESS) {
        PMPI_Comm_set_errhandler(torus, MPI_ERRORS_RETURN);
        for (int i = 0; i < CG_PAIRED; i++) {
            void *function = cg_host_function(names[i][0]);
            if (!function && names[i][1])
                function = cg_host_function(names[i][1]);
            if (function)
                found[i] = tried(i, function, start, torus);
        }
        PMPI_Comm_free(&torus);
    }
    PMPI_Comm_free(&alone);
}

#endif
