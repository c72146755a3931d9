/* A note in the file of a library (elf(5)): the MPI for which it was built. With it, the library to preload chooses
 * among several, and `cartograph info` lists them. Private, like cartograph_host.h. */
#ifndef CARTOGRAPH_BUILT_FOR_H
#define CARTOGRAPH_BUILT_FOR_H

#include <mpi.h>

#define CG_TEXT_OF(number) #number
#define CG_TEXT(number) CG_TEXT_OF(number)

#if defined(MPI_ABI)
#define CG_BUILT_FOR "MPI ABI 1.0"
#elif defined(OMPI_MAJOR_VERSION)
#define CG_BUILT_FOR \
    "Open MPI " CG_TEXT(OMPI_MAJOR_VERSION) "." CG_TEXT(OMPI_MINOR_VERSION) "." CG_TEXT(OMPI_RELEASE_VERSION)
#elif defined(MVAPICH2_VERSION)
#define CG_BUILT_FOR "MVAPICH " MVAPICH2_VERSION
#elif defined(I_MPI_VERSION)
#define CG_BUILT_FOR "Intel MPI " I_MPI_VERSION
#elif defined(SMPI_H)
#define CG_BUILT_FOR "SMPI"
#elif defined(MPICH_VERSION)
#define CG_BUILT_FOR "MPICH " MPICH_VERSION
#else
#define CG_BUILT_FOR "MPI " CG_TEXT(MPI_VERSION) "." CG_TEXT(MPI_SUBVERSION)
#endif

__asm__(".pushsection .note.cartograph, \"a\", %note\n"
        "    .balign 4\n"
        "    .long 2f - 1f, 4f - 3f, 1\n"
        "1:  .asciz \"Cartograph\"\n"
        "2:  .balign 4\n"
        "3:  .asciz \"" CG_BUILT_FOR "\"\n"
        "4:  .balign 4\n"
        "    .popsection");

#endif
