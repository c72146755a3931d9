/* Preloaded by the tests for MPIs whose processes spin or yield while they wait: an idle process sleeps, at first for
 * the shortest possible time, after a while for a part of the time that it has waited. With sched_yield alone, waiting
 * processes took turns, and on Linux 6.18 with two processors and some tens of processes, nothing else ran for 114
 * seconds. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds. A check for messages that takes longer than LOOK has probably found one. */
enum { LOOK = 4000, SOON = 1000000, LONGEST = 5000000, SECOND = 1000000000 };

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (long long)time.tv_sec * SECOND + time.tv_nsec;
}

/* Open MPI calls this function. */
int sched_yield(void)
{
    /* Since when this thread has waited, and when it last woke. */
    static __thread long long since, woke;
    const long long time = now();
    if (since == 0)
        since = time;
    else if (time - woke > LOOK)
        since += (time - since) / 4 * 3;
    const long long waited = time - since;
    const long long pause = waited < SOON ? 1 : (waited - SOON) / 8 + 1;
    const struct timespec moment = { 0, pause < LONGEST ? pause : LONGEST };
    syscall(SYS_nanosleep, &moment, 0);
    woke = now();
    return 0;
}

/* MPICH 5 sleeps for a nanosecond. */
int nanosleep(const struct timespec *moment, struct timespec *left)
{
    return moment->tv_sec == 0 && moment->tv_nsec == 1 ? sched_yield() : (int)syscall(SYS_nanosleep, moment, left);
}
