/* Preloaded by the tests under programs of MPICH 4.0, whose processes spin while they wait: one that
 * finds nothing to do leaves the processor to the others. It sleeps, for as short as the kernel can: if it only
 * yielded, those that wait would take turns, and tests of eight processes on two processors five times the time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);
    const struct timespec moment = { 0, 1 };
    unsigned events;
    if (!progress)
        progress = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    /* Where MPI comes late and privately the next one is not in sight. */
    if (!progress)
        progress = (unsigned (*)(void *))dlsym(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD), "ucp_worker_progress");
    events = progress(worker);
    if (!events)
        nanosleep(&moment, 0);
    return events;
}
