/* Like yield.c for MPICH 4.0, which calls this function in a loop while it waits. */
#include "yield.c"
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

/* While a job starts or ends, a process of MPICH 4.0 spins without any call until all processes of its node arrive.
 * With more processes than processors, this spinning takes most of the start. So from a barrier of the launcher to the
 * next call of UCX, a signal interrupts the process every 100 microseconds, and the process sleeps. */
enum { PERIOD = 100000 };
static timer_t timer;
static volatile int ticking;

static void tick(long nanoseconds)
{
    const struct itimerspec once = { { 0, 0 }, { 0, nanoseconds } };
    timer_settime(timer, 0, &once, 0);
}

/* The timer restarts after the sleep; otherwise ticks would follow each other without a pause. */
static void sleep_a_little(int signal)
{
    const int error = errno;
    (void)signal;
    if (ticking) {
        sched_yield();
        tick(PERIOD);
    }
    errno = error;
}

/* MPICH writes "cmd=barrier_in" to the launcher. */
ssize_t write(int file, const void *bytes, size_t size)
{
    static int made;
    if (size == 15 && !memcmp(bytes, "cmd=barrier_in\n", 15)) {
        if (!made) {
            struct sigaction action = { .sa_handler = sleep_a_little, .sa_flags = SA_RESTART };
            struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMAX - 3 };
            event._sigev_un._tid = (int)syscall(SYS_gettid);
            made = !sigaction(event.sigev_signo, &action, 0) && !timer_create(CLOCK_MONOTONIC, &event, &timer);
        }
        ticking = made;
        if (made)
            tick(PERIOD);
    }
    return syscall(SYS_write, file, bytes, size);
}

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);
    unsigned events;
    if (ticking) {
        ticking = 0;
        tick(0);
    }
    if (!progress)
        progress = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    /* If MPI is loaded late with RTLD_LOCAL, RTLD_NEXT does not find the function. */
    if (!progress)
        progress = (unsigned (*)(void *))dlsym(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD), "ucp_worker_progress");
    events = progress(worker);
    if (!events)
        sched_yield();
    return events;
}
