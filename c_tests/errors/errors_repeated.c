/* Many errors with one text, then with different texts: neither memory nor error codes run out. */
#include "../check.h"

#include <unistd.h>

enum { TIMES = 10000 };

static int seen, handler_class;

static void note(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    seen++;
    handler_class = class_of(*code);
}

static long resident_pages(void)
{
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        CHECK(fscanf(file, "%ld %ld", &size, &resident) == 2);
        fclose(file);
    }
    return resident;
}

static int last_used_code(void)
{
    int *value, found;
    MPI_Comm_get_attr(true_world(), MPI_LASTUSEDCODE, &value, &found);
    return found ? *value : 0;
}

/* Raises one error of each of the four classes of local calls. Each text contains `number`. */
static void fail(MPI_Comm cart, MPI_Comm plain, int number)
{
    int coords[2] = { 0, 5 + number }, rank, dims[2] = { -1 - number, 0 }, length;
    char message[MPI_MAX_ERROR_STRING + 1], wanted[40];
    int code = MPI_Cart_rank(cart, coords, &rank);
    CHECK(class_of(code) == MPI_ERR_ARG && handler_class == MPI_ERR_ARG);
    MPI_Error_string(code, message, &length);
    snprintf(wanted, sizeof wanted, "coordinate %d of dimension 1", coords[1]);
    CHECK(strstr(message, "MPI_Cart_rank") && strstr(message, wanted));

    code = MPI_Cart_coords(cart, 100 + number, 2, coords);
    CHECK(class_of(code) == MPI_ERR_RANK && handler_class == MPI_ERR_RANK);
    MPI_Error_string(code, message, &length);
    snprintf(wanted, sizeof wanted, "rank is %d,", 100 + number);
    CHECK(strstr(message, "MPI_Cart_coords") && strstr(message, wanted));

    code = MPI_Dims_create(6, 2, dims);
    CHECK(class_of(code) == MPI_ERR_DIMS && handler_class == MPI_ERR_DIMS);
    MPI_Error_string(code, message, &length);
    snprintf(wanted, sizeof wanted, "dims[0] is %d", dims[0]);
    CHECK(strstr(message, "MPI_Dims_create") && strstr(message, wanted));

    code = MPI_Cartdim_get(plain, &rank);
    CHECK(class_of(code) == MPI_ERR_TOPOLOGY && handler_class == MPI_ERR_TOPOLOGY);
}

int main(int argc, char **argv)
{
    int ones[2] = { 1, 1 }, no[2] = { 0, 0 };
    MPI_Comm cart, plain;
    MPI_Errhandler handler;
    begin(&argc, &argv);
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_dup(MPI_COMM_SELF, &plain);
    CHECK(MPI_Cart_create(plain, 2, ones, no, 0, &cart) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(true_world(), handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Comm_set_errhandler(plain, handler);
    MPI_Comm_set_errhandler(cart, handler);

    /* Everything that is created once exists before the measurement. */
    for (int i = 0; i < 100; i++)
        fail(cart, plain, i);
    int first_code = last_used_code();
    long first_pages = resident_pages();
    seen = 0;
    for (int i = 0; i < TIMES; i++)
        fail(cart, plain, 7);
    for (int i = 0; i < TIMES; i++)
        fail(cart, plain, i);
    CHECK(seen == 8 * TIMES);
    CHECK(last_used_code() == first_code);
    /* One page for a thousand errors would be a leak. */
    long pages = resident_pages() - first_pages;
    if (!CHECK(pages < 8 * TIMES / 1000))
        fprintf(stderr, "%ld pages more\n", pages);

    /* A program can still add its own classes and codes, and keeps their texts. */
    int own_class, own_code, length;
    char message[MPI_MAX_ERROR_STRING + 1] = "";
    CHECK(MPI_Add_error_class(&own_class) == MPI_SUCCESS);
    CHECK(MPI_Add_error_code(own_class, &own_code) == MPI_SUCCESS);
    CHECK(last_used_code() > first_code);
    CHECK(MPI_Add_error_string(own_code, "the program's own") == MPI_SUCCESS);
    for (int i = 0; i < 20; i++)
        fail(cart, plain, i);
    CHECK(class_of(own_code) == own_class);
    MPI_Error_string(own_code, message, &length);
    CHECK(strcmp(message, "the program's own") == 0);

    MPI_Comm_free(&cart);
    MPI_Comm_free(&plain);
    MPI_Comm_set_errhandler(true_world(), MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
    return finish();
}
