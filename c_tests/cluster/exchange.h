/* Shared by halo.c and sparse.c: times exchanges one by one, and checks their data.
 *
 * Programs of this folder contain nothing specific to Cartograph, and all runs are alike. */
#ifndef CARTOGRAPH_CLUSTER_EXCHANGE_H
#define CARTOGRAPH_CLUSTER_EXCHANGE_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A rank's side of an exchange: one block of `words` words to each of `blocks` neighbors, and one
 * from each. A neighbor may be MPI_PROC_NULL. */
struct Exchange {
    MPI_Comm comm;
    int blocks, words;
    uint64_t *send, *receive;
    /* The first word of each block. */
    const uint64_t *sent, *expected;
    void (*run)(const struct Exchange *);
    const void *pattern;
};

static inline void *room(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        fprintf(stderr, "no memory for %zu times %zu bytes\n", count, size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

/* A non-negative number from the command line. */
static inline int number(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end || value < 0 || value > 1 << 30) {
        fprintf(stderr, "'%s' is not a number from 0 to 2^30\n", text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return (int)value;
}

static inline int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Each word depends on the source, destination, exchange and position of its block, so that a block of another
 * neighbor or of an earlier exchange is detected. */
static inline uint64_t word(uint64_t start, int exchange, int at)
{
    return start * 1000003 + (uint64_t)exchange * 8191 + (uint64_t)at;
}

/* Runs the exchanges; rank 0 prints the median of their times and the number of wrong words. An exchange starts on
 * all ranks together, and its time is that of the last rank. */
static inline int measure(struct Exchange *exchange, int exchanges)
{
    int rank;
    long wrong = 0, all_wrong;
    double *own = room(exchanges, sizeof *own), *slowest = room(exchanges, sizeof *slowest);
    MPI_Comm_rank(exchange->comm, &rank);
    exchange->send = room((size_t)exchange->blocks * exchange->words, sizeof(uint64_t));
    exchange->receive = room((size_t)exchange->blocks * exchange->words, sizeof(uint64_t));

    for (int i = 0; i < exchanges; i++) {
        for (int block = 0; block < exchange->blocks; block++)
            for (int at = 0; at < exchange->words; at++)
                exchange->send[(size_t)block * exchange->words + at] = word(exchange->sent[block], i, at);
        memset(exchange->receive, 0, (size_t)exchange->blocks * exchange->words * sizeof(uint64_t));

        MPI_Barrier(exchange->comm);
        own[i] = MPI_Wtime();
        exchange->run(exchange);
        own[i] = MPI_Wtime() - own[i];

        for (int block = 0; block < exchange->blocks; block++)
            for (int at = 0; at < exchange->words; at++) {
                uint64_t right = exchange->expected[block] ? word(exchange->expected[block], i, at) : 0;
                wrong += exchange->receive[(size_t)block * exchange->words + at] != right;
            }
    }
    MPI_Reduce(own, slowest, exchanges, MPI_DOUBLE, MPI_MAX, 0, exchange->comm);
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, exchange->comm);
    if (rank == 0 && exchanges > 0) {
        qsort(slowest, exchanges, sizeof *slowest, by_value);
        printf("median %.3f ms, %d exchanges, %ld words wrong\n", 1e3 * slowest[exchanges / 2], exchanges,
               all_wrong);
    }
    free(exchange->send);
    free(exchange->receive);
    free(own);
    free(slowest);
    return all_wrong != 0;
}

#endif
