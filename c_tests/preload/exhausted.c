/* One process runs out of something between MPI_Init and its first topology call; all then exchange with their
 * neighbors. Prints what each received, which must be the same without Cartograph. exhausted WHAT [DIRECTORY]:
 *
 *   nothing       descriptors   all file descriptors are open      limit    no more may be opened
 *   closed        all but stdin, stdout and stderr are closed      memory   256 KiB of address space are left
 *   chroot DIR    files are those of an empty directory            wait DIR until the file DIR/go is there
 *   communicators KIB   so much address space is left, and all create some more communicators, as Cartograph does */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void need(int holds, const char *what)
{
    if (holds)
        return;
    printf("%s fails: %s\n", what, strerror(errno));
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void fill_memory(int kibibytes)
{
    struct rlimit limit;
    unsigned long pages;
    FILE *file = fopen("/proc/self/statm", "r");
    need(file && fscanf(file, "%lu", &pages) == 1, "statm");
    fclose(file);
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = pages * sysconf(_SC_PAGESIZE) + ((rlim_t)kibibytes << 10);
    need(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
}

static void exhaust(const char *what, const char *directory)
{
    struct rlimit limit;
    if (!strcmp(what, "descriptors")) {
        getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = 256;
        need(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
        while (open("/dev/null", O_RDONLY) >= 0)
            continue;
    } else if (!strcmp(what, "limit")) {
        getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = 3;
        need(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
    } else if (!strcmp(what, "memory")) {
        fill_memory(256);
    } else if (!strcmp(what, "communicators")) {
        fill_memory(atoi(directory));
    } else if (!strcmp(what, "chroot")) {
        need(chroot(directory) == 0 && chdir("/") == 0, "chroot");
    }
}

/* Waits until a file is there. */
static void await(const char *directory)
{
    char path[4096];
    struct stat status;
    snprintf(path, sizeof path, "%s/ready", directory);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    snprintf(path, sizeof path, "%s/go", directory);
    while (stat(path, &status))
        usleep(1000);
}

/* Exchanges messages and splits a communicator while the MPI can still connect processes and load files for that. */
static void connect_all(int rank, int size)
{
    MPI_Comm copy, all;
    for (int i = 0; i < size; i++) {
        int sent = rank, got;
        MPI_Sendrecv(&sent, 1, MPI_INT, (rank + i) % size, 0, &got, 1, MPI_INT, (rank + size - i) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &copy);
    MPI_Comm_dup(copy, &all);
    MPI_Barrier(all);
    MPI_Comm_free(&all);
    MPI_Comm_free(&copy);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "nothing", *directory = argc > 2 ? argv[2] : "/";
    int rank, size, periods[2] = { 1, 1 }, dims[2] = { 0, 0 }, coords[2], low, high, next, previous;
    int sent[4], got[4] = { -1, -1, -1, -1 }, before = -1;
    MPI_Comm grid, row, ring;
    setvbuf(stdout, NULL, _IOLBF, 0);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    connect_all(rank, size);
    if (rank == 1 && strcmp(what, "wait"))
        exhaust(what, directory);
    if (rank == 1 && !strcmp(what, "wait"))
        await(directory);

    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, coords);
    MPI_Cart_shift(grid, 0, 1, &low, &high);
    for (int i = 0; i < 4; i++)
        sent[i] = 10 * rank + i;
    MPI_Neighbor_allgather(sent, 1, MPI_INT, got, 1, MPI_INT, grid);
    MPI_Cart_sub(grid, (int[]){ 0, 1 }, &row);
    for (int i = 0; i < 3 && !strcmp(what, "communicators"); i++) {
        MPI_Comm part, copy;
        MPI_Comm_split(row, 0, 0, &part);
        MPI_Comm_dup(part, &copy);
        MPI_Cart_sub(grid, (int[]){ 1, 0 }, &part);
    }
    MPI_Comm_free(&row);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &ring);
    MPI_Neighbor_alltoall(sent, 1, MPI_INT, &before, 1, MPI_INT, ring);
    printf("%d: grid %d x %d at %d %d between %d and %d got %d %d %d %d, ring got %d\n", rank, dims[0], dims[1],
           coords[0], coords[1], low, high, got[0], got[1], got[2], got[3], before);
    MPI_Comm_free(&ring);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
