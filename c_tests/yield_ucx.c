/* As yield.c, for MPICH 4.0, which calls this again and again while it waits. */
#include "yield.c"
#include <dlfcn.h>

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
