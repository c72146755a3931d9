/* Preloaded by the tests under programs of MPIs whose processes spin or yield while they wait: one that finds
 * nothing to do sleeps, for as short as the kernel can. If it only yielded, those that wait would take turns with
 * each other, and on Linux 6.18 with two processors and some tens of them nothing else ran for 114 seconds. */
#define _GNU_SOURCE
#include <time.h>

/* Open MPI calls it, and MPICH 5 while the processes of a node come together. */
int sched_yield(void)
{
    const struct timespec moment = { 0, 1 };
    nanosleep(&moment, 0);
    return 0;
}
