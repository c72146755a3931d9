/* Sends small messages to the right without a break: record_busy SECONDS PAUSE, where PAUSE is the microseconds of work
 * before each. Prints the number of messages. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double work(double seconds)
{
    double start = MPI_Wtime(), now = start;
    while (now < start + seconds)
        now = MPI_Wtime();
    return now;
}

int main(int argc, char **argv)
{
    int rank, size, sent = 0, received, last = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double seconds = argc > 1 ? atof(argv[1]) : 1, pause = argc > 2 ? atof(argv[2]) * 1e-6 : 0, end = MPI_Wtime() + seconds;
    /* All processes send as many messages as the first. */
    while (!last) {
        for (int i = 0; i < 100; i++, sent++) {
            if (pause > 0)
                work(pause);
            MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, 0, &received, 1, MPI_INT, (rank + size - 1) % size, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        last = MPI_Wtime() > end;
        MPI_Bcast(&last, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%d\n", sent);
    MPI_Finalize();
    return received != sent - 1;
}
