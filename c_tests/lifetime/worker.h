/* Threads with their own counts of checks, since check.h counts for one thread only. */
#ifndef CARTOGRAPH_WORKER_H
#define CARTOGRAPH_WORKER_H

#include "../check.h"
#include <pthread.h>

struct worker {
    pthread_t thread;
    int index, passed, failed;
    MPI_Comm comm; /* Its own communicator, or MPI_COMM_NULL. */
};

/* Like CHECK, in a function of the worker `me`. */
#define HOLDS(condition) holds_at(me, (condition), #condition, __FILE__, __LINE__)

static inline void holds_at(struct worker *me, int holds, const char *condition, const char *file,
                            int line)
{
    if (holds)
        me->passed++;
    else if (me->failed++ < 3)
        fprintf(stderr, "rank %d, thread %d: %s:%d: failed: %s\n", world_rank, me->index, file, line,
                condition);
}

/* Starts a thread for each worker. */
static inline void run(void *(*body)(void *), struct worker *workers, int count)
{
    for (int i = 0; i < count; i++) {
        workers[i].index = i;
        if (pthread_create(&workers[i].thread, NULL, body, &workers[i]))
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Waits for the workers, and adds their counts to those of check.h. */
static inline void collect(struct worker *workers, int count)
{
    for (int i = 0; i < count; i++) {
        pthread_join(workers[i].thread, NULL);
        checks_passed += workers[i].passed;
        checks_failed += workers[i].failed;
        if (workers[i].comm != MPI_COMM_NULL)
            MPI_Comm_free(&workers[i].comm);
    }
}

#endif
