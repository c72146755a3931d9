/* The order of a world, for programs that are given it as the list of new ranks in the order of the launcher's. */
#include "../check.h"

/* The rank that the launcher tells, or -1. After MPI_Init it is the one in the new order. */
static inline int told_rank(void)
{
    static const char *const names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"};
    for (int i = 0; i < 3; i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i]));
    return -1;
}

/* The new ranks of such a list. */
static inline int *read_order(const char *list)
{
    int count = 0, *new_ranks = calloc(strlen(list) + 1, sizeof *new_ranks);
    for (char *next = (char *)list; *next; next += *next == ',')
        new_ranks[count++] = (int)strtol(next, &next, 10);
    return new_ranks;
}
