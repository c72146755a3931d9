/* The host's functions for the location of processes and for info objects. All of them are
 * optional: weak references, as in shim.c. */
#include "cartograph_host.h"

#include <string.h>

#pragma weak PMPI_Comm_split_type
#pragma weak PMPI_Get_processor_name
#pragma weak PMPI_Comm_group
#pragma weak PMPI_Group_translate_ranks
#pragma weak PMPI_Group_free

/* FNV-1a: processes of one node have the same name, and so the same number. */
static long long number_of(const char *name, int length)
{
    unsigned long long number = 0xcbf29ce484222325u;
    for (int i = 0; i < length; i++)
        number = (number ^ (unsigned char)name[i]) * 0x100000001b3u;
    return (long long)number;
}

int cg_node_id(MPI_Comm comm, int rank, long long *id)
{
    if (PMPI_Comm_split_type) {
        MPI_Comm node = MPI_COMM_NULL;
        int code = PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
        *id = rank;
        if (code != MPI_SUCCESS)
            return code;
        code = PMPI_Bcast(id, 1, MPI_LONG_LONG_INT, 0, node);
        PMPI_Comm_free(&node);
        return code;
    }
    if (PMPI_Get_processor_name) {
        char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
        int length = 0;
        int code = PMPI_Get_processor_name(name, &length);
        *id = number_of(name, length);
        return code;
    }
    return CG_ABSENT;
}

int cg_rank_in_shared_world(MPI_Comm comm)
{
    MPI_Comm world = cg_comm_world();
    MPI_Group group, everybody;
    int first = 0, first_in_world = MPI_UNDEFINED, rank = MPI_UNDEFINED;
    if (comm != world) {
        if (!PMPI_Comm_group || !PMPI_Group_translate_ranks || !PMPI_Group_free
            || PMPI_Comm_group(comm, &group) != MPI_SUCCESS)
            return MPI_UNDEFINED;
        if (PMPI_Comm_group(world, &everybody) == MPI_SUCCESS) {
            if (PMPI_Group_translate_ranks(group, 1, &first, everybody, &first_in_world) != MPI_SUCCESS)
                first_in_world = MPI_UNDEFINED;
            PMPI_Group_free(&everybody);
        }
        PMPI_Group_free(&group);
        if (first_in_world == MPI_UNDEFINED)
            return MPI_UNDEFINED;
    }
    return PMPI_Comm_rank(world, &rank) == MPI_SUCCESS ? rank : MPI_UNDEFINED;
}

int cg_ranks_in_world(MPI_Comm comm, int size, int ranks[])
{
    MPI_Group group, world;
    int code;
    if (!PMPI_Comm_group || !PMPI_Group_translate_ranks || !PMPI_Group_free)
        return CG_ABSENT;
    if ((code = PMPI_Comm_group(comm, &group)) != MPI_SUCCESS)
        return code;
    if ((code = PMPI_Comm_group(cg_comm_world(), &world)) == MPI_SUCCESS) {
        /* The ranks to translate lie in the second half, so that nothing is allocated here. */
        for (int i = 0; i < size; i++)
            ranks[size + i] = i;
        code = PMPI_Group_translate_ranks(group, size, ranks + size, world, ranks);
        PMPI_Group_free(&world);
    }
    PMPI_Group_free(&group);
    return code;
}

int cg_info_get(MPI_Info info, const char *key, char value[CG_INFO_ROOM])
{
    extern int PMPI_Info_get_string(MPI_Info, const char *, int *, char *, int *)
        __attribute__((weak));
    extern int PMPI_Info_get(MPI_Info, const char *, int, char *, int *) __attribute__((weak));
    int found = 0, room = CG_INFO_ROOM;
    if (info == MPI_INFO_NULL)
        return 0;
    memset(value, 0, CG_INFO_ROOM);
    if (PMPI_Info_get_string)
        return PMPI_Info_get_string(info, key, &room, value, &found) == MPI_SUCCESS && found;
    if (PMPI_Info_get)
        return PMPI_Info_get(info, key, CG_INFO_ROOM - 1, value, &found) == MPI_SUCCESS && found;
    return 0;
}
