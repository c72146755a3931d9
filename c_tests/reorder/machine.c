/* A library to preload that simulates another machine: files below /sys/devices/system are opened in the directory that
 * TEST_MACHINE names instead. The C library's own calls are not intercepted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int open_there(const char *name, const char *path, int flags, mode_t mode)
{
    static const char here[] = "/sys/devices/system";
    const char *there = getenv("TEST_MACHINE");
    int (*host)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);
    char other[4096];
    size_t length = strlen(here);
    if (there && strncmp(path, here, length) == 0) {
        snprintf(other, sizeof other, "%s%s", there, path + length);
        path = other;
    }
    return host(path, flags, mode);
}

#define OPEN(name)                                                             \
    int name(const char *path, int flags, ...)                                \
    {                                                                         \
        va_list list;                                                         \
        va_start(list, flags);                                                \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0; \
        va_end(list);                                                         \
        return open_there(#name, path, flags, mode);                          \
    }

OPEN(open)
OPEN(open64)
