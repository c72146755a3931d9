/* Preloaded by the tests under programs of MPIs whose processes spin or yield while they wait: one that finds
 * nothing to do sleeps. If it only yielded, those that wait would take turns with each other, and on Linux 6.18 with two
 * processors and some tens of them nothing else ran for 114 seconds. If it slept for as short as the kernel can, a process
 * that waits would take 6 % of a processor, and a third of the time of MPICH 5's trials would be that. */
#define _GNU_SOURCE
#include <errno.h>
#include <time.h>

static const struct timespec moment = { 0, 200000 };

/* Open MPI calls it, and MPICH 5 while the processes of a node come together. */
int sched_yield(void)
{
    clock_nanosleep(CLOCK_REALTIME, 0, &moment, 0);
    return 0;
}

/* MPICH 5 with MPIR_CVAR_ENABLE_HEAVY_YIELD calls it for a nanosecond. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
    int is_yield = time->tv_sec == 0 && time->tv_nsec == 1;
    int error = clock_nanosleep(CLOCK_REALTIME, 0, is_yield ? &moment : time, left);
    if (error)
        errno = error;
    return error ? -1 : 0;
}
