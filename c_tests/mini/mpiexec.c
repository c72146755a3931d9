/* mpiexec -n N PROGRAM ARGUMENTS...: starts N processes of a program, which share unnamed memory, and waits for
 * them. If one fails, the others are killed. The exit code is that of the first process that failed. */
#define _GNU_SOURCE
#include "shm.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t processes[MINI_MOST];
static int size;

/* Each process leads a group with the processes that it started. */
static void end_all(void)
{
    for (int i = 0; i < size; i++)
        if (processes[i] > 0)
            kill(-processes[i], SIGKILL);
}

static void on_signal(int number)
{
    end_all();
    _exit(128 + number);
}

static void start(int rank, int fd, char **command)
{
    pid_t launcher = getpid(), process = fork();
    if (process != 0) {
        processes[rank] = process;
        if (process < 0) {
            perror("mpiexec: fork");
            end_all();
            exit(1);
        }
        /* Both processes do this; the first one wins. */
        setpgid(process, process);
        return;
    }
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher)
        _exit(1);
    char number[16];
    snprintf(number, sizeof number, "%d", fd);
    setenv(MINI_FD, number, 1);
    snprintf(number, sizeof number, "%d", rank);
    setenv(MINI_RANK, number, 1);
    execvp(command[0], command);
    fprintf(stderr, "mpiexec: %s: %s\n", command[0], strerror(errno));
    _exit(127);
}

int main(int argc, char **argv)
{
    size = argc > 3 && strcmp(argv[1], "-n") == 0 ? atoi(argv[2]) : 0;
    if (size < 1 || size > MINI_MOST) {
        fprintf(stderr, "usage: mpiexec -n 1..%d PROGRAM ARGUMENTS...\n", MINI_MOST);
        return 2;
    }
    size_t bytes = mini_shared_bytes(size);
    int fd = memfd_create("mini", 0);
    struct mini_shared *shared = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
        shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED) {
        perror("mpiexec: no shared memory");
        return 1;
    }
    shared->size = size;
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    signal(SIGHUP, on_signal);
    for (int rank = 0; rank < size; rank++)
        start(rank, fd, argv + 3);

    int code = 0, status;
    pid_t ended;
    while ((ended = wait(&status)) > 0)
        for (int rank = 0; rank < size; rank++) {
            if (processes[rank] != ended)
                continue;
            int failed = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
            if (failed == 0 && atomic_load(&shared->places[rank].active)) {
                fprintf(stderr, "mpiexec: process %d ended without MPI_Finalize\n", rank);
                failed = 1;
            }
            /* Processes that were killed are not the cause. */
            if (failed && !code) {
                code = failed;
                if (WIFSIGNALED(status))
                    fprintf(stderr, "mpiexec: process %d: %s\n", rank, strsignal(WTERMSIG(status)));
                end_all();
            }
            processes[rank] = 0;
        }
    return code;
}
