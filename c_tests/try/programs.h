/* Shared by the programs of this folder: each works or fails like a real program if its ranks are reordered, and
 * the case `try` checks that cartograph try detects it. Each prints a sum and the data of each rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* A time that differs in each run, and a result that does not. */
static int finish(double own)
{
    double sum;
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("took %.9f s\nsum %.3f\n", MPI_Wtime(), sum);
    MPI_Finalize();
    return 0;
}
