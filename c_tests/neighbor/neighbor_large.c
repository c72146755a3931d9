/* More bytes than an int can count, from the first process to the last, by functions with large counts. */
#define _GNU_SOURCE
#include "neighbor_calls.h"

#include <sys/mman.h>

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const int first = 0, last = world_size - 1, sends = world_rank == first, receives = world_rank == last;
    MPI_Comm edge;
    CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, receives, &first, MPI_UNWEIGHTED, sends, &last,
                                         MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &edge) == MPI_SUCCESS);
    const MPI_Count bytes = (1LL << 31) + 8;
    const MPI_Count at[] = { 0, 1, (1LL << 30) - 1, 1LL << 30, (1LL << 31) - 1, 1LL << 31, bytes - 1 };
    enum { PLACES = sizeof at / sizeof *at };
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *sent = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    char *got = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (!CHECK(sent != MAP_FAILED && got != MAP_FAILED))
        return finish();
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        for (int i = 0; i < PLACES; i++)
            sent[at[i]] = 10 * nonblocking + i + 1, got[at[i]] = -1;
        got[bytes] = -1;
        if (nonblocking) {
            MPI_Request request;
            CHECK(MPI_Ineighbor_alltoall_c(sent, bytes, MPI_BYTE, got, bytes, MPI_BYTE, edge,
                                           &request) == MPI_SUCCESS);
            CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        } else
            CHECK(MPI_Neighbor_allgather_c(sent, bytes, MPI_BYTE, got, bytes, MPI_BYTE, edge) ==
                  MPI_SUCCESS);
        for (int i = 0; i < PLACES; i++)
            CHECK(got[at[i]] == (receives ? 10 * nonblocking + i + 1 : -1));
        CHECK(got[bytes] == -1);
    }
    munmap(sent, bytes), munmap(got, bytes + 1);
    MPI_Comm_free(&edge);
    return finish();
}
