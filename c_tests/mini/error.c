/* Error codes and their texts; error handlers. */
#include "error.h"

#include "alias.h"
#include "live.h"
#include "shm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Error classes and codes added by the program, numbered from MPI_ERR_LASTCODE + 1 on. A class is its own class. */
static struct added {
    int class;
    char *text;
} *added;
static int number_added;

int mini_last_code(void)
{
    return MPI_ERR_LASTCODE + number_added;
}

void mini_forget_codes(void)
{
    for (int i = 0; i < number_added; i++)
        free(added[i].text);
    free(added);
    added = NULL;
    number_added = 0;
}

static struct added *find(int code)
{
    int i = code - MPI_ERR_LASTCODE - 1;
    return i >= 0 && i < number_added ? &added[i] : NULL;
}

static int add(int class)
{
    added = realloc(added, (size_t)(number_added + 1) * sizeof *added);
    int code = MPI_ERR_LASTCODE + 1 + number_added++;
    *find(code) = (struct added){ class ? class : code, strdup("") };
    return code;
}

static const char *predefined_text(int code)
{
    static const char *const texts[] = {
        [MPI_SUCCESS] = "no error",
        [MPI_ERR_BUFFER] = "wrong buffer",
        [MPI_ERR_COUNT] = "wrong count",
        [MPI_ERR_TYPE] = "wrong datatype",
        [MPI_ERR_TAG] = "wrong tag",
        [MPI_ERR_COMM] = "wrong communicator",
        [MPI_ERR_RANK] = "wrong rank",
        [MPI_ERR_REQUEST] = "wrong request",
        [MPI_ERR_ROOT] = "wrong root",
        [MPI_ERR_OP] = "wrong operation",
        [MPI_ERR_TOPOLOGY] = "wrong topology",
        [MPI_ERR_DIMS] = "wrong dimensions",
        [MPI_ERR_ARG] = "wrong argument",
        [MPI_ERR_TRUNCATE] = "the message is longer than the buffer",
        [MPI_ERR_IN_STATUS] = "the error is in a status",
        [MPI_ERR_KEYVAL] = "wrong key",
        [MPI_ERR_NO_MEM] = "no memory",
        [MPI_ERR_UNSUPPORTED_OPERATION] = "not supported",
    };
    const int known = code >= 0 && code < (int)(sizeof texts / sizeof texts[0]) && texts[code];
    return known ? texts[code] : "some error";
}

int PMPI_Add_error_class(int *class)
{
    *class = add(0);
    return MPI_SUCCESS;
}

int PMPI_Add_error_code(int class, int *code)
{
    int known = find(class) ? find(class)->class == class : class > 0 && class <= MPI_ERR_LASTCODE;
    if (!known)
        return mini_raise(NULL, MPI_ERR_ARG);
    *code = add(class);
    return MPI_SUCCESS;
}

int PMPI_Add_error_string(int code, const char *string)
{
    struct added *found = find(code);
    if (!found || strlen(string) >= MPI_MAX_ERROR_STRING)
        return mini_raise(NULL, MPI_ERR_ARG);
    free(found->text);
    found->text = strdup(string);
    return MPI_SUCCESS;
}

int PMPI_Error_class(int code, int *class)
{
    *class = find(code) ? find(code)->class : code;
    return MPI_SUCCESS;
}

int PMPI_Error_string(int code, char *string, int *length)
{
    const struct added *found = find(code);
    *length = snprintf(string, MPI_MAX_ERROR_STRING, "%s",
                       found ? found->text : predefined_text(code));
    return MPI_SUCCESS;
}

/* ---- Handlers ---- */

int mini_raise(struct mini_comm *comm, int code)
{
    if (code == MPI_SUCCESS)
        return code;
    if (!comm)
        comm = mini_comm(MPI_COMM_SELF);
    if (!comm || comm->handler == MPI_ERRORS_ARE_FATAL || comm->handler == MPI_ERRORS_ABORT) {
        char text[MPI_MAX_ERROR_STRING];
        int length, class;
        PMPI_Error_string(code, text, &length);
        PMPI_Error_class(code, &class);
        fprintf(stderr, "mini: process %d: fatal error of class %d: %s\n", mini_rank, class, text);
        mini_exit(class);
    }
    if (comm->handler != MPI_ERRORS_RETURN) {
        /* The handler may free the communicator or itself. */
        MPI_Errhandler handler = comm->handler;
        MPI_Comm handle = comm->handle;
        int given = code;
        mini_errhandler_keep(handler);
        handler->function(&handle, &given);
        mini_errhandler_release(handler);
    }
    return code;
}

int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *function, MPI_Errhandler *handler)
{
    if (!mini_has_room(MEMORY, sizeof **handler))
        return mini_raise(NULL, MPI_ERR_NO_MEM);
    mini_count(MEMORY, sizeof **handler);
    *handler = malloc(sizeof **handler);
    **handler = (struct MPI_ABI_Errhandler){ 1, function };
    return MPI_SUCCESS;
}

int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *handler)
{
    struct mini_comm *c = mini_comm(comm);
    if (!c)
        return mini_raise(NULL, MPI_ERR_COMM);
    *handler = c->handler;
    mini_errhandler_keep(*handler);
    return MPI_SUCCESS;
}

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    struct mini_comm *c = mini_comm(comm);
    if (!c)
        return mini_raise(NULL, MPI_ERR_COMM);
    mini_errhandler_keep(handler);
    mini_errhandler_release(c->handler);
    c->handler = handler;
    return MPI_SUCCESS;
}

int PMPI_Comm_call_errhandler(MPI_Comm comm, int code)
{
    struct mini_comm *c = mini_comm(comm);
    if (!c)
        return mini_raise(NULL, MPI_ERR_COMM);
    mini_raise(c, code);
    return MPI_SUCCESS;
}

int PMPI_Errhandler_free(MPI_Errhandler *handler)
{
    mini_errhandler_release(*handler);
    *handler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

ALIAS(Add_error_class);
ALIAS(Add_error_code);
ALIAS(Add_error_string);
ALIAS(Error_class);
ALIAS(Error_string);
ALIAS(Comm_create_errhandler);
ALIAS(Comm_get_errhandler);
ALIAS(Comm_set_errhandler);
ALIAS(Comm_call_errhandler);
ALIAS(Errhandler_free);
