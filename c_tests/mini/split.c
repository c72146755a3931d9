/* Derived communicators: split, duplicated, freed; and queries. */
#include "alias.h"
#include "attr.h"
#include "error.h"
#include "live.h"
#include "shm.h"

#include <stdlib.h>

/* Returns the first of enough contexts for a collective call, the same on all processes; negative if rank 0 has no
 * room for more. */
static int64_t new_contexts(struct mini_comm *comm, int number)
{
    int64_t first = 0;
    if (comm->rank == 0 && !mini_has_room(CONTEXTS, 1))
        first = -1;
    else if (comm->rank == 0)
        first = atomic_fetch_add(&mini_shared->next_context, 2 * number);
    PMPI_Bcast(&first, 1, MPI_INT64_T, 0, comm->handle);
    if (first < 0)
        mini_note_refusal();
    return first;
}

struct chosen {
    int color, key, rank;
};

static int by_color_and_key(const void *a, const void *b)
{
    const struct chosen *x = a, *y = b;
    if (x->color != y->color)
        return x->color < y->color ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->rank - y->rank;
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    struct mini_comm *c = mini_comm(comm);
    if (!c)
        return mini_raise(NULL, MPI_ERR_COMM);
    if (color < 0 && color != MPI_UNDEFINED)
        return mini_raise(c, MPI_ERR_ARG);
    struct chosen mine = { color, key, c->rank };
    int64_t contexts = new_contexts(c, c->size);
    if (contexts < 0)
        return mini_raise(c, MPI_ERR_NO_MEM);
    struct chosen *all = malloc((size_t)c->size * sizeof *all);
    PMPI_Allgather(&mine, 3, MPI_INT, all, 3, MPI_INT, comm);
    qsort(all, (size_t)c->size, sizeof *all, by_color_and_key);

    int colors = 0, first = 0, end = 0;
    for (int i = 0; i < c->size; i++) {
        if (i == 0 || all[i].color != all[i - 1].color) {
            colors++;
            if (all[i].color <= color)
                first = i;
        }
        if (all[i].color <= color)
            end = i + 1;
        if (all[i].color == color && all[i].rank == c->rank)
            mine.rank = i - first, mine.key = colors - 1;
    }
    *newcomm = MPI_COMM_NULL;
    if (color != MPI_UNDEFINED) {
        struct mini_comm *made = mini_comm_new(contexts + 2 * mine.key, mine.rank, end - first, c->handler);
        for (int i = first; i < end; i++)
            made->processes[i - first] = c->processes[all[i].rank];
        *newcomm = made->handle;
    }
    free(all);
    return MPI_SUCCESS;
}

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    struct mini_comm *c = mini_comm(comm);
    if (!c)
        return mini_raise(NULL, MPI_ERR_COMM);
    int64_t context = new_contexts(c, 1);
    if (context < 0)
        return mini_raise(c, MPI_ERR_NO_MEM);
    struct mini_comm *made = mini_comm_new(context, c->rank, c->size, c->handler);
    for (int i = 0; i < c->size; i++)
        made->processes[i] = c->processes[i];
    int error = mini_attrs_copy(c, made);
    if (error) {
        mini_attrs_delete(made);
        mini_comm_release(made);
        *newcomm = MPI_COMM_NULL;
        return mini_raise(c, error);
    }
    *newcomm = made->handle;
    return MPI_SUCCESS;
}

/* Collective by the standard, but local here. */
int PMPI_Comm_free(MPI_Comm *comm)
{
    struct mini_comm *c = mini_comm(*comm);
    if (!c || *comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF)
        return mini_raise(NULL, MPI_ERR_COMM);
    int error = mini_attrs_delete(c);
    if (error)
        return mini_raise(c, error);
    mini_comm_release(c);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    const struct mini_comm *c = mini_comm(comm);
    if (!c)
        return mini_raise(NULL, MPI_ERR_COMM);
    *rank = c->rank;
    return MPI_SUCCESS;
}

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    const struct mini_comm *c = mini_comm(comm);
    if (!c)
        return mini_raise(NULL, MPI_ERR_COMM);
    *size = c->size;
    return MPI_SUCCESS;
}

ALIAS(Comm_split);
ALIAS(Comm_dup);
ALIAS(Comm_free);
ALIAS(Comm_rank);
ALIAS(Comm_size);
