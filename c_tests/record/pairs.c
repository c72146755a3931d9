/* Each process exchanges messages with the process half the job away, or with `near` the next one; if the partner is on
 * another node, the exchange takes longer, like on a network. With `columns`, each process exchanges with its neighbors
 * in the columns of a grid. pairs [CODE [input|wait|near|columns|cpus]]: prints the number of processes with partners
 * on other nodes, and the first line of its input, or with `cpus` the node and the CPUs of each process; exits with
 * CODE. Compiled with DEVICES, the name of a library (cuda.c), it uses one of two devices by its rank. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PAUSE
#define PAUSE 4000
#endif

enum { STEPS = 50, BYTES = 1 << 20 };

static char out[BYTES], in[BYTES];

/* Exchanges messages in the columns of a grid; those between nodes are late. Returns whether this process has such a
 * message. */
static int columns(const char *own)
{
    MPI_Comm grid;
    int size, ranks[2], apart[2] = {0, 0}, dims[2] = {0, 0}, periods[2] = {0, 0};
    char other[2][MPI_MAX_PROCESSOR_NAME] = {"", ""};
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &ranks[0], &ranks[1]);
    for (int side = 0; side < 2; side++) {
        MPI_Sendrecv(own, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, ranks[side], 0, other[side], MPI_MAX_PROCESSOR_NAME, MPI_CHAR,
                     ranks[1 - side], 0, grid, MPI_STATUS_IGNORE);
        apart[1 - side] = ranks[1 - side] != MPI_PROC_NULL && strcmp(own, other[side]) != 0;
    }
    for (int step = 0; step < 2 * STEPS; step++) {
        int side = step % 2;
        MPI_Request request;
        MPI_Irecv(in, BYTES, MPI_CHAR, ranks[1 - side], 1, grid, &request);
        if (apart[side])
            usleep(PAUSE);
        MPI_Send(out, BYTES, MPI_CHAR, ranks[side], 1, grid);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&grid);
    return apart[0] || apart[1];
}

/* The same with one partner. */
static int pair(const char *own, int partner)
{
    char other[MPI_MAX_PROCESSOR_NAME] = "";
    MPI_Sendrecv(own, sizeof other, MPI_CHAR, partner, 0, other, sizeof other, MPI_CHAR, partner, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    int apart = strcmp(own, other) != 0;
    for (int step = 0; step < STEPS; step++) {
        MPI_Sendrecv(out, BYTES, MPI_CHAR, partner, 1, in, BYTES, MPI_CHAR, partner, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (apart)
            usleep(PAUSE);
    }
    return apart;
}

/* Prints the rank, the node and the CPUs of each process. */
static void cpus(const char *own, int rank, int size)
{
    char text[256], list[200] = "";
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(text, sizeof text, status) && sscanf(text, "Cpus_allowed_list: %199s", list) != 1)
        ;
    if (status)
        fclose(status);
    snprintf(text, sizeof text, "%d %.40s %.190s", rank, own, list);
    char *all = malloc(size * sizeof text);
    MPI_Gather(text, sizeof text, MPI_CHAR, all, sizeof text, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int other = 0; rank == 0 && other < size; other++)
        puts(all + other * sizeof text);
    free(all);
}

#ifdef DEVICES
/* Like CUDA's runtime, which is part of programs: the library is not global. A device of odd ranks is used by another
 * thread. */
static void use_device(int rank)
{
    void *library = dlopen(DEVICES, RTLD_NOW | RTLD_LOCAL);
    void (*use)(int, int) = library == NULL ? NULL : (void (*)(int, int))dlsym(library, "test_use_device");
    if (use == NULL)
        MPI_Abort(MPI_COMM_WORLD, 9);
    use(rank % 2, rank % 2 == 0);
}
#endif

int main(int argc, char **argv)
{
    int rank, size, length, apart, all = 0;
    char own[MPI_MAX_PROCESSOR_NAME] = "";
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_processor_name(own, &length);
#ifdef DEVICES
    use_device(rank);
#endif
    if (argc > 2 && strcmp(argv[2], "columns") == 0)
        apart = columns(own);
    else
        apart = pair(own, argc > 2 && strcmp(argv[2], "near") == 0 ? rank ^ 1 : (rank + size / 2) % size);
    MPI_Reduce(&apart, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        char line[100] = "";
        if (argc > 2 && strcmp(argv[2], "input") == 0 && fgets(line, sizeof line, stdin) == NULL)
            strcpy(line, "nothing\n");
        printf("%d apart\n%s", all, line);
        fflush(stdout);
    }
    if (argc > 2 && strcmp(argv[2], "cpus") == 0)
        cpus(own, rank, size);
    if (argc > 2 && strcmp(argv[2], "wait") == 0)
        sleep(60);
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
