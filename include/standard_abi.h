/* Which binary interface the loaded MPI has: the standard one (MPI 5.0, chapter 20), or its own. MPIs report the same
 * name in both. Private, like cartograph_host.h. */
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

/* True if it is the standard one. Allowed at any time. A process may have two MPIs: the one whose functions are called,
 * and one that this library was linked with, which is used only if it is the former. */
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

/* True if the loaded MPI, with this name, has the binary interface for which this was compiled. */
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
