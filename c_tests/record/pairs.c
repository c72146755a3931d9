/* Each process exchanges messages with the process half the job away, or with `near` the next one; if that is on another
 * node, the exchange takes longer, like on a network. pairs [CODE [input|wait|near]]: prints the number of pairs between
 * nodes, and the first line of its input; exits with CODE. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PAUSE
#define PAUSE 4000
#endif

enum { STEPS = 50, BYTES = 1 << 16 };

static char out[BYTES], in[BYTES];

int main(int argc, char **argv)
{
    int rank, size, length, apart, all = 0;
    char own[MPI_MAX_PROCESSOR_NAME] = "", other[MPI_MAX_PROCESSOR_NAME] = "";
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_processor_name(own, &length);
    int partner = argc > 2 && strcmp(argv[2], "near") == 0 ? rank ^ 1 : (rank + size / 2) % size;
    MPI_Sendrecv(own, sizeof own, MPI_CHAR, partner, 0, other, sizeof other, MPI_CHAR, partner, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    apart = strcmp(own, other) != 0;
    for (int step = 0; step < STEPS; step++) {
        MPI_Sendrecv(out, BYTES, MPI_CHAR, partner, 1, in, BYTES, MPI_CHAR, partner, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (apart)
            usleep(PAUSE);
    }
    MPI_Reduce(&apart, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        char line[100] = "";
        if (argc > 2 && strcmp(argv[2], "input") == 0 && fgets(line, sizeof line, stdin) == NULL)
            strcpy(line, "nothing\n");
        printf("%d apart\n%s", all, line);
        fflush(stdout);
    }
    if (argc > 2 && strcmp(argv[2], "wait") == 0)
        sleep(60);
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
