/* Communicators; split.c derives others from them. */
#include "comm.h"

#include "live.h"
#include "shm.h"

#include <stdlib.h>

static struct mini_comm *world, *self, *all;

struct mini_comm *mini_comms(void)
{
    return all;
}

static int is_predefined(MPI_Errhandler handler)
{
    return (uintptr_t)handler < 0x1000;
}

void mini_errhandler_keep(MPI_Errhandler handler)
{
    if (!is_predefined(handler))
        handler->references++;
}

void mini_errhandler_release(MPI_Errhandler handler)
{
    if (!is_predefined(handler) && --handler->references == 0) {
        mini_count(MEMORY, -(long)sizeof *handler);
        free(handler);
    }
}

struct mini_comm *mini_comm_new(int64_t context, int rank, int size, MPI_Errhandler handler)
{
    struct mini_comm *comm = calloc(1, sizeof *comm + (size_t)size * sizeof comm->processes[0]);
    comm->handle = (MPI_Comm)comm;
    comm->references = 1;
    comm->context = context;
    comm->rank = rank;
    comm->size = size;
    comm->handler = handler;
    mini_errhandler_keep(handler);
    comm->next = all;
    all = comm;
    mini_count(CONTEXTS, 1);
    return comm;
}

/* Each has two contexts: for messages, and for collectives. */
void mini_comm_start(void)
{
    world = mini_comm_new(0, mini_rank, mini_size, MPI_ERRORS_ARE_FATAL);
    world->handle = MPI_COMM_WORLD;
    for (int i = 0; i < mini_size; i++)
        world->processes[i] = i;
    self = mini_comm_new(2, 0, 1, MPI_ERRORS_ARE_FATAL);
    self->handle = MPI_COMM_SELF;
    self->processes[0] = mini_rank;
    if (mini_rank == 0)
        atomic_store(&mini_shared->next_context, 4);
}

void mini_comm_end(void)
{
    mini_comm_release(self);
    mini_comm_release(world);
    self = world = NULL;
}

struct mini_comm *mini_comm(MPI_Comm comm)
{
    if (comm == MPI_COMM_WORLD)
        return world;
    if (comm == MPI_COMM_SELF)
        return self;
    return (uintptr_t)comm < 0x1000 ? NULL : (struct mini_comm *)comm;
}

void mini_comm_release(struct mini_comm *comm)
{
    if (--comm->references == 0) {
        struct mini_comm **place = &all;
        while (*place != comm)
            place = &(*place)->next;
        *place = comm->next;
        mini_errhandler_release(comm->handler);
        mini_errhandler_release(comm->replaced);
        mini_count(CONTEXTS, -1);
        free(comm);
    }
}
