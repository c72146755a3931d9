/* Preloaded: signals interrupt a process and its system calls on files all the time.
 *
 * A timer sends SIGALRM every 0.3 ms, and its handler does not restart system calls. Signals do not interrupt a
 * local disk, but other file systems: so every second call that opens, reads or writes a file fails with EINTR if
 * its path has a prefix listed in INTERRUPTED, or is the maps file of the process. At the end the library prints
 * whether both happened. */
#define _GNU_SOURCE
#include "interposed.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile long signals, calls, refused;

static void count(int number)
{
    (void)number;
    signals++;
}

/* exec deletes this timer, unlike that of setitimer: the next program has no handler yet. */
__attribute__((constructor)) static void begin(void)
{
    struct sigaction action = { .sa_handler = count };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
    struct itimerspec often = { { 0, 300000 }, { 0, 300000 } };
    timer_t timer;
    if (sigaction(SIGALRM, &action, NULL) || timer_create(CLOCK_MONOTONIC, &event, &timer) ||
        timer_settime(timer, 0, &often, NULL))
        abort();
}

__attribute__((destructor)) static void end(void)
{
    fprintf(stderr, "interrupted: %s, %s\n", signals ? "signals" : "no signals", refused ? "files" : "no files");
}

static int is_ours(const char *path)
{
    const char *start = getenv("INTERRUPTED"), *end = strrchr(path, '/');
    if (!start)
        return 0;
    for (size_t length; *start; start += length + (start[length] == ':')) {
        length = strcspn(start, ":");
        if (!strncmp(path, start, length))
            return 1;
    }
    return !strncmp(path, "/proc/", 6) && !strcmp(end, "/maps");
}

static int refuses(int is_file)
{
    if (!is_file || ++calls % 2 == 0)
        return 0;
    refused++;
    errno = EINTR;
    return 1;
}

static int is_file(int file)
{
    char path[LONGEST_PATH];
    path_of(file, path);
    return is_ours(path);
}

#define REFUSE if (refuses(is_ours(path))) return -1
OPEN(open, REFUSE)
OPEN(open64, REFUSE)

#define MOVE(name, data) \
    ssize_t name(int file, data buffer, size_t count) \
    { \
        return refuses(is_file(file)) ? -1 : NEXT(name)(file, buffer, count); \
    }
MOVE(read, void *)
MOVE(write, const void *)
