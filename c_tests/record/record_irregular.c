/* Sends itself as many messages as the recorder keeps in order, of sizes without a pattern. */
#include <mpi.h>

enum { MESSAGES = 4000, LONGEST = 4000 };

int main(int argc, char **argv)
{
    static char out[LONGEST], in[LONGEST];
    unsigned state = 1;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Request request;
        state = state * 1664525 + 1013904223;
        MPI_Irecv(in, LONGEST, MPI_CHAR, rank, 0, MPI_COMM_WORLD, &request);
        MPI_Send(out, 1 + (int)((state >> 20) % (LONGEST - 1)), MPI_CHAR, rank, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
