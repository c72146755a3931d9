/* Packs several blocks into a message and unpacks them: weak references, as in shim.c. */
#include "cartograph_host.h"

#pragma weak PMPI_Pack
#pragma weak PMPI_Unpack
#pragma weak PMPI_Type_size

/* A minimal host has neither; cg_can_pack is false there, and the type is never used. */
#ifdef MPI_PACKED
const MPI_Datatype cg_packed = MPI_PACKED;
#else
const MPI_Datatype cg_packed = MPI_BYTE;
#endif

int cg_can_pack(void)
{
    int value = 1, place = 0;
    char packed[4 * sizeof value];
    return PMPI_Pack && PMPI_Unpack && PMPI_Type_size
        && PMPI_Pack(&value, 1, MPI_INT, packed, sizeof packed, &place, cg_comm_self()) == MPI_SUCCESS
        && place == sizeof value;
}

int cg_type_size(MPI_Datatype datatype, long long *size)
{
    int bytes = 0, code = PMPI_Type_size(datatype, &bytes);
    /* A size beyond an int is returned as negative, so that the block does not count as small. */
    *size = bytes;
    return code;
}

int cg_pack(const void *block, int count, MPI_Datatype datatype, void *packed, int size, MPI_Comm comm)
{
    int place = 0;
    return PMPI_Pack(block, count, datatype, packed, size, &place, comm);
}

int cg_unpack(const void *packed, int size, void *block, int count, MPI_Datatype datatype, MPI_Comm comm)
{
    int place = 0;
    return PMPI_Unpack(packed, size, &place, block, count, datatype, comm);
}
