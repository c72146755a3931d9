/* Attributes of communicators, and their keys. */
#include "attr.h"

#include "alias.h"
#include "error.h"
#include "live.h"

#include <stdlib.h>

enum { FIRST_KEY = 1000, MOST_KEYS = 256 };

/* A key lives until it is freed and no attribute uses it. */
static struct {
    int references;
    MPI_Comm_copy_attr_function *copy;
    MPI_Comm_delete_attr_function *delete;
    void *extra;
} keys[MOST_KEYS];

static void release(int keyval)
{
    if (--keys[keyval - FIRST_KEY].references == 0)
        mini_count(KEYVALS, -1);
}

static int is_key(int keyval)
{
    int i = keyval - FIRST_KEY;
    return i >= 0 && i < MOST_KEYS && keys[i].references > 0;
}

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete,
                            int *keyval, void *extra)
{
    for (int i = 0; i < MOST_KEYS && mini_has_room(KEYVALS, 1); i++)
        if (keys[i].references == 0) {
            mini_count(KEYVALS, 1);
            keys[i].references = 1;
            keys[i].copy = copy;
            keys[i].delete = delete;
            keys[i].extra = extra;
            *keyval = FIRST_KEY + i;
            return MPI_SUCCESS;
        }
    return mini_raise(NULL, MPI_ERR_NO_MEM);
}

int PMPI_Comm_free_keyval(int *keyval)
{
    if (!is_key(*keyval))
        return mini_raise(NULL, MPI_ERR_KEYVAL);
    release(*keyval);
    *keyval = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

/* The position of an attribute in the list of its communicator, or the end of the list. */
static struct mini_attr **find(struct mini_comm *comm, int keyval)
{
    struct mini_attr **place = &comm->attrs;
    while (*place && (*place)->keyval != keyval)
        place = &(*place)->next;
    return place;
}

static void add(struct mini_comm *comm, int keyval, void *value)
{
    struct mini_attr *attr = malloc(sizeof *attr);
    mini_count(MEMORY, sizeof *attr);
    *attr = (struct mini_attr){ comm->attrs, keyval, value };
    comm->attrs = attr;
    keys[keyval - FIRST_KEY].references++;
}

static int call_delete(struct mini_comm *comm, const struct mini_attr *attr)
{
    MPI_Comm_delete_attr_function *delete = keys[attr->keyval - FIRST_KEY].delete;
    void *extra = keys[attr->keyval - FIRST_KEY].extra;
    return delete ? delete(comm->handle, attr->keyval, attr->value, extra) : MPI_SUCCESS;
}

static int remove_at(struct mini_comm *comm, struct mini_attr **place)
{
    struct mini_attr *attr = *place;
    int error = call_delete(comm, attr);
    if (error)
        return error;
    /* The callback may have changed the list. */
    *find(comm, attr->keyval) = attr->next;
    release(attr->keyval);
    mini_count(MEMORY, -(long)sizeof *attr);
    free(attr);
    return MPI_SUCCESS;
}

int mini_attrs_delete(struct mini_comm *comm)
{
    int error = MPI_SUCCESS;
    while (!error && comm->attrs)
        error = remove_at(comm, &comm->attrs);
    return error;
}

/* The oldest first, so that copies keep the order of the originals. */
static int copy_from(const struct mini_attr *attr, struct mini_comm *from, struct mini_comm *to)
{
    if (!attr)
        return MPI_SUCCESS;
    int error = copy_from(attr->next, from, to), flag = 0;
    MPI_Comm_copy_attr_function *copy = keys[attr->keyval - FIRST_KEY].copy;
    void *copied = attr->value;
    if (error || copy == MPI_COMM_NULL_COPY_FN)
        return error;
    if (copy == MPI_COMM_DUP_FN)
        flag = 1;
    else
        error = copy(from->handle, attr->keyval, keys[attr->keyval - FIRST_KEY].extra, attr->value,
                     &copied, &flag);
    if (!error && flag)
        add(to, attr->keyval, copied);
    return error;
}

int mini_attrs_copy(struct mini_comm *from, struct mini_comm *to)
{
    return copy_from(from->attrs, from, to);
}

int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void *value)
{
    struct mini_comm *c = mini_comm(comm);
    if (!c)
        return mini_raise(NULL, MPI_ERR_COMM);
    if (!is_key(keyval))
        return mini_raise(c, MPI_ERR_KEYVAL);
    struct mini_attr *attr = *find(c, keyval);
    if (!attr) {
        if (!mini_has_room(MEMORY, sizeof *attr))
            return mini_raise(c, MPI_ERR_NO_MEM);
        add(c, keyval, value);
        return MPI_SUCCESS;
    }
    int error = call_delete(c, attr);
    if (!error)
        attr->value = value;
    return mini_raise(c, error);
}

int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag)
{
    static int tag_ub = INT32_MAX, last_code;
    struct mini_comm *c = mini_comm(comm);
    if (!c)
        return mini_raise(NULL, MPI_ERR_COMM);
    *flag = 1;
    if (keyval == MPI_TAG_UB) {
        *(void **)value = &tag_ub;
        return MPI_SUCCESS;
    }
    if (keyval == MPI_LASTUSEDCODE) {
        last_code = mini_last_code();
        *(void **)value = &last_code;
        return MPI_SUCCESS;
    }
    if (!is_key(keyval))
        return mini_raise(c, MPI_ERR_KEYVAL);
    const struct mini_attr *attr = *find(c, keyval);
    *flag = attr != NULL;
    if (attr)
        *(void **)value = attr->value;
    return MPI_SUCCESS;
}

int PMPI_Comm_delete_attr(MPI_Comm comm, int keyval)
{
    struct mini_comm *c = mini_comm(comm);
    if (!c)
        return mini_raise(NULL, MPI_ERR_COMM);
    struct mini_attr **place = is_key(keyval) ? find(c, keyval) : NULL;
    if (!place || !*place)
        return mini_raise(c, MPI_ERR_KEYVAL);
    return mini_raise(c, remove_at(c, place));
}

ALIAS(Comm_create_keyval);
ALIAS(Comm_free_keyval);
ALIAS(Comm_set_attr);
ALIAS(Comm_get_attr);
ALIAS(Comm_delete_attr);
