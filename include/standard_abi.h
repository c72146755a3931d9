/* Which binary interface the MPI that answers has: the standard one (MPI 5.0, chapter 20), or its own. MPIs call themselves
 * alike in both. Private, as cartograph_host.h. */
#ifndef CARTOGRAPH_STANDARD_ABI_H
#define CARTOGRAPH_STANDARD_ABI_H

/* For dladdr. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <mpi.h>

extern int PMPI_Abi_get_version(int *major, int *minor) __attribute__((weak));
#pragma weak PMPI_Get_library_version

/* Returns whether it is the standard one. Allowed at any time. A process may have two MPIs: the one that answers, and
 * one that this library was linked with, which is asked only if it is the one that answers. */
static int has_standard_abi(void)
{
    Dl_info answers, asked;
    int major = -1, minor = -1;
    if (!PMPI_Abi_get_version)
        return 0;
    if (dladdr((void *)PMPI_Abi_get_version, &asked) && dladdr((void *)PMPI_Get_library_version, &answers)
        && asked.dli_fbase != answers.dli_fbase)
        return 0;
    return PMPI_Abi_get_version(&major, &minor) == MPI_SUCCESS && major > 0;
}

/* Returns whether the MPI that answers, with this name, has the binary interface that this was compiled for. */
static inline int is_built_for(int is_open_mpi)
{
#if defined(MPI_ABI)
    (void)is_open_mpi;
    return has_standard_abi();
#elif defined(OPEN_MPI)
    return is_open_mpi && !has_standard_abi();
#else
    return !is_open_mpi && !has_standard_abi();
#endif
}

#endif
