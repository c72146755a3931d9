/* Addresses with a special meaning instead of an array, in C and in Fortran: they are compared, and never read. */
#include "cartograph_host.h"

#include <stddef.h>

/* ---- C ---- */

const void *cg_in_place(void)
{
    return MPI_IN_PLACE;
}

const void *cg_bottom(void)
{
    return MPI_BOTTOM;
}

const int *cg_unweighted(void)
{
    return MPI_UNWEIGHTED;
}

const int *cg_weights_empty(void)
{
    return MPI_WEIGHTS_EMPTY;
}

void cg_weights_sentinels(const void *found[CG_WEIGHTS_SENTINELS])
{
    found[0] = MPI_UNWEIGHTED;
    found[1] = MPI_WEIGHTS_EMPTY;
}

/* ---- Fortran ---- */

/* SENTINEL(name, ...) defines a function that writes the addresses of one of Fortran's sentinels, some of which have
 * several addresses on some hosts, and null for missing ones. */
enum { SPELLINGS = CG_FORTRAN_WEIGHTS_SENTINELS / 2 };

#if defined(OPEN_MPI)

/* They are common blocks, whose symbol depends on the compiler that built the host. */
#define WEAK_SYMBOL(name) extern int name __attribute__((weak))
#define SENTINEL(name, lower, upper)                                                                \
    WEAK_SYMBOL(lower);                                                                            \
    WEAK_SYMBOL(lower##_);                                                                         \
    WEAK_SYMBOL(lower##__);                                                                        \
    WEAK_SYMBOL(upper);                                                                            \
    static void name(const void *found[SPELLINGS])                                                 \
    {                                                                                              \
        found[0] = &lower##_;                                                                      \
        found[1] = &lower;                                                                         \
        found[2] = &lower##__;                                                                     \
        found[3] = &upper;                                                                         \
    }

SENTINEL(unweighted, mpi_fortran_unweighted, MPI_FORTRAN_UNWEIGHTED)
SENTINEL(weights_empty, mpi_fortran_weights_empty, MPI_FORTRAN_WEIGHTS_EMPTY)
SENTINEL(in_place, mpi_fortran_in_place, MPI_FORTRAN_IN_PLACE)
SENTINEL(bottom, mpi_fortran_bottom, MPI_FORTRAN_BOTTOM)

#elif defined(SMPI_H)

/* SMPI's are variables, and its mpif.h has none for weights. */
#define SENTINEL(name, variable)                                                                    \
    extern int variable __attribute__((weak));                                                     \
    static void name(const void *found[SPELLINGS])                                                 \
    {                                                                                              \
        found[0] = &variable;                                                                      \
    }

SENTINEL(in_place, mpi_in_place_)
SENTINEL(bottom, mpi_bottom_)

static void unweighted(const void *found[SPELLINGS])
{
    (void)found;
}

static void weights_empty(const void *found[SPELLINGS])
{
    (void)found;
}

#else

/* MPICH keeps the addresses in variables of its Fortran library, which its own wrappers set on first use; ours replace
 * these, so it is done here in the same way. */
extern int MPIR_F_NeedInit __attribute__((weak));
extern void mpirinitf_(void) __attribute__((weak));

#define SENTINEL(name, variable)                                                                    \
    extern void *variable __attribute__((weak));                                                   \
    static void name(const void *found[SPELLINGS])                                                 \
    {                                                                                              \
        if (&MPIR_F_NeedInit && mpirinitf_ && MPIR_F_NeedInit) {                                   \
            mpirinitf_();                                                                          \
            MPIR_F_NeedInit = 0;                                                                   \
        }                                                                                          \
        found[0] = &variable ? variable : NULL;                                                    \
    }

SENTINEL(unweighted, MPIR_F_MPI_UNWEIGHTED)
SENTINEL(weights_empty, MPIR_F_MPI_WEIGHTS_EMPTY)
SENTINEL(in_place, MPIR_F_MPI_IN_PLACE)
SENTINEL(bottom, MPIR_F_MPI_BOTTOM)

#endif

static int is_one(const void *address, void (*sentinel)(const void *found[SPELLINGS]))
{
    const void *found[SPELLINGS] = { NULL };
    int one = 0;
    sentinel(found);
    for (int i = 0; i < SPELLINGS; i++)
        one |= address && address == found[i];
    return one;
}

int cg_is_fortran_in_place(const void *address)
{
    return is_one(address, in_place);
}

int cg_is_fortran_bottom(const void *address)
{
    return is_one(address, bottom);
}

void cg_fortran_weights_sentinels(const void *found[CG_FORTRAN_WEIGHTS_SENTINELS])
{
    unweighted(found);
    weights_empty(found + SPELLINGS);
}

const int *cg_weights_from_fortran(const int *weights)
{
    if (is_one(weights, unweighted))
        return MPI_UNWEIGHTED;
    return is_one(weights, weights_empty) ? MPI_WEIGHTS_EMPTY : weights;
}
