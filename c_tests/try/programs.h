/* Shared by the programs of this folder: they work or fail when they are moved, each in the way of a real
 * program; the case try has cartograph try find out. Each prints a sum and what each rank has. */
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

/* A time that is another in each run, and a result that is not. */
static int finish(double own)
{
    double sum;
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("took %.9f s\nsum %.3f\n", MPI_Wtime(), sum);
    MPI_Finalize();
    return 0;
}
