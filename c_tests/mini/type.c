/* Datatypes; a derived type is the list of the memory pieces of an element. */
#include "type.h"

#include "alias.h"
#include "device.h"
#include "error.h"
#include "live.h"

#include <stdlib.h>
#include <string.h>

/* The bytes of a predefined type; 0 if mini does not know it. */
static size_t predefined_bytes(uintptr_t handle)
{
    if (handle >= (uintptr_t)MPI_INT8_T && handle < 0x260)
        /* The handles of these types encode their sizes in the ABI. */
        return (size_t)1 << (handle >> 3 & 7);
    switch (handle) {
    case (uintptr_t)MPI_SHORT:
    case (uintptr_t)MPI_UNSIGNED_SHORT:
        return sizeof(short);
    case (uintptr_t)MPI_INT:
    case (uintptr_t)MPI_UNSIGNED:
        return sizeof(int);
    case (uintptr_t)MPI_LONG:
    case (uintptr_t)MPI_UNSIGNED_LONG:
        return sizeof(long);
    case (uintptr_t)MPI_LONG_LONG:
    case (uintptr_t)MPI_UNSIGNED_LONG_LONG:
        return sizeof(long long);
    case (uintptr_t)MPI_AINT:
    case (uintptr_t)MPI_COUNT:
    case (uintptr_t)MPI_OFFSET:
        return sizeof(int64_t);
    case (uintptr_t)MPI_C_BOOL:
        return sizeof(_Bool);
    case (uintptr_t)MPI_FLOAT:
        return sizeof(float);
    case (uintptr_t)MPI_DOUBLE:
        return sizeof(double);
    }
    return 0;
}

struct mini_type *mini_type(MPI_Datatype datatype)
{
    enum { FIRST = 0x200, LAST = 0x2ff };
    static struct mini_type known[LAST - FIRST + 1];
    static struct mini_piece pieces[LAST - FIRST + 1];
    uintptr_t handle = (uintptr_t)datatype;

    if (handle > LAST)
        return (struct mini_type *)datatype;
    size_t bytes = handle > FIRST ? predefined_bytes(handle) : 0;
    if (bytes == 0)
        return NULL;
    struct mini_type *type = &known[handle - FIRST];
    /* Predefined types keep their own reference. */
    if (type->count == 0) {
        pieces[handle - FIRST].bytes = bytes;
        *type = (struct mini_type){ .references = 1, .bytes = bytes, .extent = (MPI_Aint)bytes,
                                    .count = 1, .pieces = &pieces[handle - FIRST] };
    }
    return type;
}

void mini_type_release(struct mini_type *type)
{
    if (--type->references == 0) {
        mini_count(MEMORY, -(long)sizeof *type);
        free(type->pieces);
        free(type);
    }
}

int mini_type_is_dense(const struct mini_type *type, int count)
{
    return type->count == 1 && type->pieces[0].offset == 0
        && (count == 1 || (MPI_Aint)type->bytes == type->extent);
}

/* MPI_BOTTOM is a null pointer, and C forbids arithmetic on it. */
static void *at(uintptr_t start, MPI_Aint distance)
{
    return mini_opened((void *)(start + (uintptr_t)distance));
}

void mini_pack(const void *buffer, int count, const struct mini_type *type, void *packed)
{
    uintptr_t element = (uintptr_t)buffer;
    char *to = packed;
    for (int i = 0; i < count; i++, element += (uintptr_t)type->extent)
        for (int j = 0; j < type->count; j++) {
            memcpy(to, at(element, type->pieces[j].offset), type->pieces[j].bytes);
            to += type->pieces[j].bytes;
        }
}

void mini_unpack(void *buffer, const struct mini_type *type, const void *packed, size_t bytes)
{
    uintptr_t element = (uintptr_t)buffer;
    const char *from = packed;
    for (; bytes; element += (uintptr_t)type->extent)
        for (int j = 0; j < type->count && bytes; j++) {
            size_t part = type->pieces[j].bytes < bytes ? type->pieces[j].bytes : bytes;
            memcpy(at(element, type->pieces[j].offset), from, part);
            from += part;
            bytes -= part;
        }
}

/* Adds the pieces of an element at a displacement. Adjacent pieces become one. */
static void add(struct mini_type *type, MPI_Aint displacement, const struct mini_type *element)
{
    MPI_Aint lower = displacement + element->lower, upper = lower + element->extent;
    MPI_Aint end = type->lower + type->extent;

    if (type->extent == 0 && type->count == 0) {
        type->lower = lower;
        end = upper;
    }
    type->lower = lower < type->lower ? lower : type->lower;
    type->extent = (upper > end ? upper : end) - type->lower;
    type->bytes += element->bytes;
    for (int i = 0; i < element->count; i++) {
        struct mini_piece piece = element->pieces[i];
        piece.offset += displacement;
        struct mini_piece *last = type->count ? &type->pieces[type->count - 1] : NULL;
        if (last && last->offset + (MPI_Aint)last->bytes == piece.offset)
            last->bytes += piece.bytes;
        else {
            /* Room for a power of two. */
            if ((type->count & (type->count - 1)) == 0)
                type->pieces = realloc(type->pieces,
                                       (type->count ? 2 * type->count : 1) * sizeof piece);
            type->pieces[type->count++] = piece;
        }
    }
}

static struct mini_type *new_type(MPI_Datatype *handle)
{
    struct mini_type *type = calloc(1, sizeof *type);
    type->references = 1;
    mini_count(MEMORY, sizeof *type);
    *handle = (MPI_Datatype)type;
    return type;
}

int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return PMPI_Type_vector(count, 1, 1, oldtype, newtype);
}

int PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype,
                     MPI_Datatype *newtype)
{
    struct mini_type *old = mini_type(oldtype);
    if (!old)
        return mini_raise(NULL, MPI_ERR_TYPE);
    if (count < 0 || blocklength < 0)
        return mini_raise(NULL, MPI_ERR_COUNT);
    if (!mini_has_room(MEMORY, sizeof(struct mini_type)))
        return mini_raise(NULL, MPI_ERR_NO_MEM);
    struct mini_type *made = new_type(newtype);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < blocklength; j++)
            add(made, ((MPI_Aint)i * stride + j) * old->extent, old);
    return MPI_SUCCESS;
}

int PMPI_Type_create_struct(int count, const int lengths[], const MPI_Aint displacements[],
                            const MPI_Datatype types[], MPI_Datatype *newtype)
{
    for (int i = 0; i < count; i++)
        if (!mini_type(types[i]))
            return mini_raise(NULL, MPI_ERR_TYPE);
        else if (lengths[i] < 0)
            return mini_raise(NULL, MPI_ERR_COUNT);
    if (!mini_has_room(MEMORY, sizeof(struct mini_type)))
        return mini_raise(NULL, MPI_ERR_NO_MEM);
    struct mini_type *made = new_type(newtype);
    for (int i = 0; i < count; i++) {
        const struct mini_type *element = mini_type(types[i]);
        for (int j = 0; j < lengths[i]; j++)
            add(made, displacements[i] + j * element->extent, element);
    }
    return MPI_SUCCESS;
}

int PMPI_Type_commit(MPI_Datatype *datatype)
{
    return mini_type(*datatype) ? MPI_SUCCESS : mini_raise(NULL, MPI_ERR_TYPE);
}

int PMPI_Type_free(MPI_Datatype *datatype)
{
    struct mini_type *type = mini_type(*datatype);
    if (!type || (uintptr_t)*datatype < 0x1000)
        return mini_raise(NULL, MPI_ERR_TYPE);
    mini_type_release(type);
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lower, MPI_Aint *extent)
{
    const struct mini_type *type = mini_type(datatype);
    if (!type)
        return mini_raise(NULL, MPI_ERR_TYPE);
    *lower = type->lower;
    *extent = type->extent;
    return MPI_SUCCESS;
}

ALIAS(Type_contiguous);
ALIAS(Type_vector);
ALIAS(Type_create_struct);
ALIAS(Type_commit);
ALIAS(Type_free);
ALIAS(Type_get_extent);
