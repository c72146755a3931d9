/* Preloaded after the recorder: replaces its coarse clock, which the program may set forward. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int ahead;

void record_clock_set_forward(int seconds)
{
    ahead += seconds;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int code = (int)syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_MONOTONIC_COARSE && code == 0)
        time->tv_sec += ahead;
    return code;
}
