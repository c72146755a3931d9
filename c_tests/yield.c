/* Preloaded by the tests under programs of MPIs whose processes spin or yield while they wait: one that finds
 * nothing to do sleeps, for as short as the kernel can. If it only yielded, those that wait would take turns with
 * each other, and on Linux 6.18 with two processors and some tens of them nothing else ran for 114 seconds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

/* Open MPI calls it. */
int sched_yield(void)
{
    const struct timespec moment = { 0, 1 };
    nanosleep(&moment, 0);
    return 0;
}

/* MPICH 4.0 calls it again and again. */
unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);
    unsigned events;
    if (!progress)
        progress = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    /* Where MPI comes late and privately the next one is not in sight. */
    if (!progress)
        progress = (unsigned (*)(void *))dlsym(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD), "ucp_worker_progress");
    events = progress(worker);
    if (!events)
        sched_yield();
    return events;
}
