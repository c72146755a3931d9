/* Helpers for functions of libc that a preloaded library intercepts. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* The function of libc with this name. */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Defines open or open64, which first run a statement with `path` and `flags`. */
#define OPEN(name, first) \
    int name(const char *path, int flags, ...) \
    { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
        first; \
        return NEXT(name)(path, flags, mode); \
    }

enum { LONGEST_PATH = 4096 };

/* The path of an open file, or an empty string. */
static void path_of(int file, char path[LONGEST_PATH])
{
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ssize_t length = readlink(name, path, LONGEST_PATH - 1);
    path[length < 0 ? 0 : length] = 0;
}
