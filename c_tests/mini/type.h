/* The positions of the bytes of an element. */
#ifndef MINI_TYPE_H
#define MINI_TYPE_H

#include "mpi.h"

#include <stddef.h>

struct mini_piece {
    MPI_Aint offset;
    size_t bytes;
};

struct mini_type {
    int references;
    size_t bytes;
    MPI_Aint lower, extent;
    int count;
    struct mini_piece *pieces;
};

/* Null if the handle is invalid. */
struct mini_type *mini_type(MPI_Datatype datatype);
void mini_type_release(struct mini_type *type);
/* Returns whether this many elements are contiguous from the start of a buffer. */
int mini_type_is_dense(const struct mini_type *type, int count);
void mini_pack(const void *buffer, int count, const struct mini_type *type, void *packed);
/* Fills elements with the bytes available. */
void mini_unpack(void *buffer, const struct mini_type *type, const void *packed, size_t bytes);

#endif
