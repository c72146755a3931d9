/* Preloaded by the tests for MPIs whose processes spin or yield while they wait: an idle process sleeps for the
 * shortest possible time. With sched_yield alone, waiting processes took turns with each other, and on Linux 6.18
 * with two processors and some tens of processes, nothing else ran for 114 seconds. */
#define _GNU_SOURCE
#include <time.h>

/* Open MPI calls sched_yield, and MPICH 5 while the processes of a node meet. */
int sched_yield(void)
{
    const struct timespec moment = { 0, 1 };
    nanosleep(&moment, 0);
    return 0;
}
