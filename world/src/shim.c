/* The names of the host that the world library uses. */
#include "../../include/built_for.h"
#include "../../include/standard_abi.h"
#include "shim.h"

#include <string.h>

const MPI_Comm cw_world = MPI_COMM_WORLD, cw_self = MPI_COMM_SELF, cw_null = MPI_COMM_NULL;
const int cw_appnum = MPI_APPNUM;
const MPI_Group cw_group_null = MPI_GROUP_NULL;
const MPI_Info cw_info_null = MPI_INFO_NULL;
const MPI_Datatype cw_int = MPI_INT;
MPI_Comm_copy_attr_function *const cw_null_copy = MPI_COMM_NULL_COPY_FN;

int cw_is_built_for(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0;
    PMPI_Get_library_version(version, &length);
    return is_built_for(strstr(version, "Open MPI") != NULL);
}

int cw_is_predefined(int keyval)
{
    switch (keyval) {
    case MPI_TAG_UB:
    case MPI_IO:
    case MPI_HOST:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE:
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
    case MPI_FT:
#endif
        return 1;
    default:
        return 0;
    }
}
