/* The MPI_ name of a function, weak so that a tool or library can define it. */
#ifndef MINI_ALIAS_H
#define MINI_ALIAS_H

#include "mpi.h"

#define ALIAS(name)                                                                                \
    extern __typeof__(PMPI_##name) MPI_##name __attribute__((weak, alias("PMPI_" #name)))

#endif
