/* The cost of preloading a library: cost LIBRARY PROGRAM [ARGUMENT] starts a program many times, alternately with
 * and without the library, and prints the minimum in microseconds of each. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

enum { TIMES = 300 };

static double start(char **argv, char **environment)
{
    struct timespec from, to;
    int status;
    pid_t child;
    clock_gettime(CLOCK_MONOTONIC, &from);
    if (posix_spawn(&child, argv[0], NULL, NULL, argv, environment) || waitpid(child, &status, 0) < 0 || status) {
        printf("%s fails\n", argv[0]);
        exit(1);
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    return (to.tv_sec - from.tv_sec) * 1e6 + (to.tv_nsec - from.tv_nsec) / 1e3;
}

int main(int argc, char **argv)
{
    char preload[4096];
    char *with[] = { preload, NULL }, *without[] = { NULL };
    double least[2] = { 1e9, 1e9 };
    if (argc < 3)
        return 2;
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", argv[1]);
    for (int i = 0; i < 2 * TIMES; i++) {
        double took = start(argv + 2, i % 2 ? with : without);
        if (took < least[i % 2])
            least[i % 2] = took;
    }
    printf("%.0f us without, %.0f us with, %.0f us more\n", least[0], least[1], least[1] - least[0]);
    return 0;
}
