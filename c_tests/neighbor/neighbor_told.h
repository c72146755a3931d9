/* Queries the host about a communicator, although Cartograph defines the same names. */
#ifndef CARTOGRAPH_NEIGHBOR_TOLD_H
#define CARTOGRAPH_NEIGHBOR_TOLD_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "../check.h"

#include <dlfcn.h>

/* Returns whether the host knows the neighbors; -1 if it cannot be queried. */
static int host_knows(MPI_Comm comm)
{
    static int (*topo_test)(MPI_Comm, int *);
    int kind = MPI_UNDEFINED;
    if (!topo_test) {
        Dl_info host;
        if (!dladdr(dlsym(RTLD_DEFAULT, "PMPI_Waitall"), &host))
            return -1;
        void *library = dlopen(host.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        topo_test = library ? (int (*)(MPI_Comm, int *))dlsym(library, "PMPI_Topo_test") : NULL;
        if (!topo_test)
            return -1;
    }
    CHECK(topo_test(comm, &kind) == MPI_SUCCESS);
    return kind == MPI_DIST_GRAPH;
}

#endif
