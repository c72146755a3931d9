/* mpi-sys initializes constants with these two, which are a variable and a function on SMPI. Nothing uses those
 * constants; src/host/shim.c uses the originals. Included before everything else when HOST=smpi is built. */
#ifndef CARTOGRAPH_COMPAT_SMPI_H
#define CARTOGRAPH_COMPAT_SMPI_H

#include <mpi.h>

#undef MPI_COMM_SELF
#define MPI_COMM_SELF MPI_COMM_NULL
#define MPI_COMM_WORLD MPI_COMM_NULL

#endif
