/* The names of the host that the world library uses, with one name and type on every host. */
#ifndef CARTOGRAPH_WORLD_SHIM_H
#define CARTOGRAPH_WORLD_SHIM_H

#include <mpi.h>
/* Extensions, such as Open MPI 4's persistent collectives. */
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

enum {
    CW_SUCCESS = MPI_SUCCESS,
    CW_TYPE_SHARED = MPI_COMM_TYPE_SHARED,
    CW_KEYVAL_INVALID = MPI_KEYVAL_INVALID
};

extern const int cw_appnum;
/* Handles, which are addresses on some hosts. */
extern const MPI_Comm cw_world, cw_self, cw_null;
extern const MPI_Group cw_group_null;
extern const MPI_Info cw_info_null;
extern const MPI_Datatype cw_int;
extern MPI_Comm_copy_attr_function *const cw_null_copy;

/* True if the loaded MPI is of the family built for: others have different handles. */
int cw_is_built_for(void);

/* Whether a key is one of the attributes that every host gives MPI_COMM_WORLD. */
int cw_is_predefined(int keyval);

#endif
