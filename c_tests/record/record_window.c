/* Two processes with a known list of calls for the test `record`: sends and receives with and without requests,
 * wildcards, persistent requests, a neighborhood collective, other collectives, and tests of incomplete requests.
 * Rank 1 is late once. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, other, flag = 0, dims = 2, periodic = 0, got[2], value = 1, sum;
    MPI_Comm grid;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periodic, 0, &grid);
    if (rank == 1) {
        usleep(300000);
        MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int step = 0; step < 20; step++) {
        MPI_Irecv(got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, grid, &requests[0]);
        MPI_Isend(&value, 1, MPI_INT, other, 7, grid, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Recv_init(got, 1, MPI_INT, other, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&value, 1, MPI_INT, other, 3, MPI_COMM_WORLD, &requests[1]);
    for (int step = 0; step < 10; step++) {
        MPI_Startall(2, requests);
        for (flag = 0; !flag;)
            MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Sendrecv(&value, 1, MPI_INT, rank ? MPI_PROC_NULL : 1, 9, got, 1, MPI_INT, rank ? 0 : MPI_PROC_NULL, 9,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Neighbor_alltoall(got, 1, MPI_INT, got, 1, MPI_INT, grid);
    MPI_Bcast(&value, 1, MPI_INT, 1, grid);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
