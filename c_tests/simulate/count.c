/* Preloaded before a library over SMPI: counts its messages between nodes of PPN processes, while MPI_Pcontrol(1)
 * is on. All ranks are one process, which prints at its end the number of messages, of nodes that sent and
 * received any, and the largest number between two nodes. */
#define _GNU_SOURCE
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { MOST_RANKS = 4096, MOST_NODES = 256 };

static char counting[MOST_RANKS];
static long messages[MOST_NODES][MOST_NODES];

int MPI_Pcontrol(const int level, ...)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank < MOST_RANKS)
        counting[rank] = level == 1;
    return MPI_SUCCESS;
}

static inline void count(MPI_Comm comm, int to)
{
    static int ppn;
    int rank;
    if (!ppn)
        ppn = atoi(getenv("PPN"));
    PMPI_Comm_rank(comm, &rank);
    if (rank < MOST_RANKS && counting[rank] && rank / ppn < MOST_NODES && to / ppn < MOST_NODES && to >= 0)
        messages[rank / ppn][to / ppn]++;
}

#include "../count_sends.h"

__attribute__((destructor)) static void print(void)
{
    long all = 0, pairs = 0, most = 0;
    for (int from = 0; from < MOST_NODES; from++)
        for (int to = 0; to < MOST_NODES; to++) {
            long sent = from == to ? 0 : messages[from][to];
            all += sent, pairs += sent > 0, most = sent > most ? sent : most;
        }
    if (all)
        fprintf(stderr, "between nodes %ld %ld %ld\n", all, pairs, most);
}
