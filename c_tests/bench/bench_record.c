/* The time that the recorder adds to a message of a process to itself, by MPI_Irecv, MPI_Send and MPI_Wait, on
 * MPI_COMM_WORLD, on another communicator, and on twenty alternately. Prints a line for each: nanoseconds per
 * message, the minimum of some runs. `make lab-bench` runs it without and under the recorder. */
#include <mpi.h>
#include <stdio.h>

enum { RUNS = 7, MESSAGES = 200000, COMMS = 20 };

static double run(const MPI_Comm *comms, int count)
{
    double least = 1e9;
    char sent = 1, received;
    for (int run = 0; run < RUNS; run++) {
        double start = MPI_Wtime(), took;
        for (int i = 0; i < MESSAGES; i++) {
            MPI_Comm comm = comms[i % count];
            MPI_Request request;
            MPI_Irecv(&received, 1, MPI_CHAR, 0, 0, comm, &request);
            MPI_Send(&sent, 1, MPI_CHAR, 0, 0, comm);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        took = (MPI_Wtime() - start) / MESSAGES * 1e9;
        least = took < least ? took : least;
    }
    return least;
}

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS], world = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    printf("MPI_COMM_WORLD\t%.0f\n", run(&world, 1));
    printf("one more communicator\t%.0f\n", run(comms, 1));
    printf("twenty in turn\t%.0f\n", run(comms, COMMS));
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return 0;
}
