/* The processes of a communicator, on hosts that copy attributes to communicators of other groups: Open MPI in
 * MPI_Comm_create_group. Elsewhere only duplicates get attributes, and no group is needed. */
#include "cartograph_host.h"

#include <stddef.h>

#if defined(OPEN_MPI)

#pragma weak PMPI_Comm_group
#pragma weak PMPI_Group_compare
#pragma weak PMPI_Group_free
#pragma weak PMPI_Group_range_incl

/* The number of processes that are compared at a time. MPI_Group_compare searches for each process of one group in all
 * of the other, so its time for two whole groups is the square of their size. */
enum { BLOCK = 16 };

void *cg_group_of(MPI_Comm comm)
{
    MPI_Group group;
    return PMPI_Comm_group(comm, &group) == MPI_SUCCESS ? group : NULL;
}

/* True if processes first to last of two groups are the same in the same order. */
static int alike(MPI_Group one, MPI_Group other, int first, int last)
{
    MPI_Group some = MPI_GROUP_NULL, others = MPI_GROUP_NULL;
    int range[1][3] = { { first, last, 1 } }, result = MPI_UNEQUAL;
    int made = PMPI_Group_range_incl(one, 1, range, &some) == MPI_SUCCESS
        && PMPI_Group_range_incl(other, 1, range, &others) == MPI_SUCCESS;
    if (made)
        PMPI_Group_compare(some, others, &result);
    if (some != MPI_GROUP_NULL)
        PMPI_Group_free(&some);
    if (others != MPI_GROUP_NULL)
        PMPI_Group_free(&others);
    return result == MPI_IDENT;
}

int cg_is_group_of(void *group, MPI_Comm comm, int size)
{
    MPI_Group own;
    int same;
    if (!group || PMPI_Comm_group(comm, &own) != MPI_SUCCESS)
        return 0;
    /* A duplicate shares the group of its original. */
    same = own == (MPI_Group)group;
    if (!same) {
        same = 1;
        for (int first = 0; same && first < size; first += BLOCK)
            same = alike(group, own, first, size - first < BLOCK ? size - 1 : first + BLOCK - 1);
    }
    PMPI_Group_free(&own);
    return same;
}

void cg_group_free(void *group)
{
    MPI_Group old = group;
    PMPI_Group_free(&old);
}

#else

void *cg_group_of(MPI_Comm comm)
{
    (void)comm;
    return NULL;
}

int cg_is_group_of(void *group, MPI_Comm comm, int size)
{
    (void)group, (void)comm, (void)size;
    return 1;
}

void cg_group_free(void *group)
{
    (void)group;
}

#endif
