/* More cases than record.c, chosen by the argument: "threads" send at once on communicators that they create and
 * free; "parts", a run of more than a minute; "killed" and "exit", processes that end without MPI_Finalize;
 * "planted DIRECTORY FILE", where rank 0 puts a link to the file in the place of the node's file. Prints the
 * expected parts like record.c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 200, MOST = 16 };

static int rank, size;

static void expect(int to, long long messages, long long bytes)
{
    if (messages)
        printf("%d {\"sent\":{\"to\":%d,\"messages\":%lld,\"bytes\":%lld}}\n", rank, to, messages, bytes);
}

/* Sends to the next rank of the world: by a communicator of the thread, created in each round and reversed in odd
 * rounds, and by one that all threads share. */
struct work {
    int thread;
    MPI_Comm own, shared;
};

static void *send_in_thread(void *argument)
{
    struct work *work = argument;
    char out[64] = "", in[64];
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm comm;
        int to = next, from = last;
        MPI_Comm_split(work->own, 0, i % 2 ? -rank : rank, &comm);
        if (i % 2)
            to = size - 1 - next, from = size - 1 - last;
        MPI_Sendrecv(out, work->thread + 1, MPI_CHAR, to, 0, in, sizeof in, MPI_CHAR, from, 0, comm,
                     MPI_STATUS_IGNORE);
        MPI_Comm_free(&comm);
        MPI_Sendrecv(out, 10, MPI_CHAR, next, work->thread, in, sizeof in, MPI_CHAR, last, work->thread,
                     work->shared, MPI_STATUS_IGNORE);
    }
    return NULL;
}

static int threads(int *argc, char ***argv)
{
    int provided;
    pthread_t ids[THREADS];
    struct work work[THREADS];
    MPI_Comm shared;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided != MPI_THREAD_MULTIPLE) {
        printf("no threads\n");
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &shared);
    for (int i = 0; i < THREADS; i++) {
        work[i].thread = i;
        work[i].shared = shared;
        MPI_Comm_dup(MPI_COMM_WORLD, &work[i].own);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&ids[i], NULL, send_in_thread, &work[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&work[i].own);
    MPI_Comm_free(&shared);
    expect((rank + 1) % size, 2 * THREADS * ROUNDS, ROUNDS * (THREADS * (THREADS + 1) / 2 + 10 * THREADS));
    MPI_Finalize();
    return 0;
}

static void round_of_messages(int count)
{
    char out = 0, in;
    for (int i = 0; i < count; i++)
        MPI_Sendrecv(&out, 1, MPI_CHAR, (rank + 1) % size, 0, &in, 1, MPI_CHAR, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    void (*set_forward)(int);
    if (!strcmp(what, "threads"))
        return threads(&argc, &argv);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(what, "planted")) {
        char node[MPI_MAX_PROCESSOR_NAME + 1] = "", link[1000];
        int length;
        MPI_Get_processor_name(node, &length);
        snprintf(link, sizeof link, "%s/%s.jsonl", argv[2], node);
        if (rank == 0 && symlink(argv[3], link))
            perror(link);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
        return 0;
    }
    round_of_messages(100);
    /* A part is due now, and is written at the next message if record_clock.c provides the clock. */
    set_forward = (void (*)(int))dlsym(RTLD_DEFAULT, "record_clock_set_forward");
    if (set_forward)
        set_forward(61);
    round_of_messages(1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(what, "killed")) {
        expect((rank + 1) % size, 101, 101);
        fflush(stdout);
        /* Messages from here on are lost. */
        round_of_messages(5);
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(300000);
        raise(SIGKILL);
    }
    if (!strcmp(what, "exit")) {
        round_of_messages(5);
        expect((rank + 1) % size, 106, 106);
        fflush(stdout);
        MPI_Barrier(MPI_COMM_WORLD);
        exit(0);
    }
    if (!strcmp(what, "parts")) {
        round_of_messages(5);
        expect((rank + 1) % size, 106, 106);
    }
    MPI_Finalize();
    return 0;
}
