/* Each process of a grid of two columns sends to the next one of its row and of its column, in one communicator for
 * each row and each column: record_mesh ROW COLUMN, the bytes of a message along each. Turning a square grid changes
 * the partners, but no sum. */
#include <mpi.h>
#include <stdlib.h>

enum { STEPS = 20, COLUMNS = 2 };

static void exchange(MPI_Comm comm, char *out, char *in, int bytes)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Sendrecv(out, bytes, MPI_CHAR, (rank + 1) % size, 0, in, bytes, MPI_CHAR, (rank + size - 1) % size, 0, comm,
                 MPI_STATUS_IGNORE);
    MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, comm);
}

int main(int argc, char **argv)
{
    int rank, row_bytes = atoi(argv[1]), column_bytes = atoi(argv[2]);
    MPI_Comm row, column;
    char *out, *in;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    out = calloc(1 << 20, 1);
    in = malloc(1 << 20);
    for (int step = 0; step < STEPS; step++) {
        /* Handles are reused. */
        MPI_Comm_split(MPI_COMM_WORLD, rank / COLUMNS, rank, &row);
        exchange(row, out, in, row_bytes);
        MPI_Comm_free(&row);
        MPI_Comm_split(MPI_COMM_WORLD, rank % COLUMNS, rank, &column);
        exchange(column, out, in, column_bytes);
        MPI_Comm_free(&column);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
