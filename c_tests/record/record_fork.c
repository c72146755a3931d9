/* A thread sends messages to itself in a loop while another forks children that call exit. Prints that all of them
 * ended; a child that has not ended after ten seconds is killed, and the program fails. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 100, STEPS = 10000 };

static atomic_int ready, done;

static void *send_to_self(void *unused)
{
    char out = 0, in;
    MPI_Init(NULL, NULL);
    ready = 1;
    while (!done)
        for (int i = 0; i < 100; i++)
            MPI_Sendrecv(&out, 1, MPI_CHAR, 0, 0, &in, 1, MPI_CHAR, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return unused;
}

static int ends(pid_t child)
{
    for (int i = 0; i < STEPS; i++) {
        if (waitpid(child, NULL, WNOHANG) == child)
            return 1;
        usleep(1000);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}

int main(void)
{
    pthread_t thread;
    int ended = 0;
    pthread_create(&thread, NULL, send_to_self, NULL);
    while (!ready)
        usleep(1000);
    for (int i = 0; i < CHILDREN && ended == i; i++) {
        pid_t child = fork();
        if (child == 0)
            exit(0);
        ended += ends(child);
    }
    done = 1;
    pthread_join(thread, NULL);
    if (ended == CHILDREN)
        printf("all children ended\n");
    return ended != CHILDREN;
}
