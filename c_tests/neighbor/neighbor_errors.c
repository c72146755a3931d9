/* Errors that the program handles: each calls the handler of its communicator once and no other handler, and
 * leaves no message that a later collective would receive. */
#include "neighbor_calls.h"

enum { DEGREE = 4, ROOM = 8 };

static int told[3], class_told;
static MPI_Errhandler handlers[3];

#define HANDLER(number)                                     \
    static void handler##number(MPI_Comm *comm, int *code, ...) \
    {                                                       \
        (void)comm;                                         \
        told[number]++;                                     \
        MPI_Error_class(*code, &class_told);                \
    }
HANDLER(0)
HANDLER(1)
HANDLER(2)

static int left, right;
static int sent[DEGREE * ROOM], got[DEGREE * ROOM];

/* Blocks of one int. */
static void fill(struct side *send, struct side *receive, int round)
{
    *send = (struct side){ .buffer = sent, .count = 1, .type = MPI_INT };
    *receive = (struct side){ .buffer = got, .count = 1, .type = MPI_INT };
    for (int i = 0; i < DEGREE; i++) {
        sent[i] = 1000 * round + 10 * world_rank + i, got[i] = -1;
        send->counts[i] = receive->counts[i] = 1;
        send->displs[i] = receive->displs[i] = i;
        send->distances[i] = receive->distances[i] = i * sizeof(int);
        send->types[i] = receive->types[i] = MPI_INT;
    }
}

/* Runs a collective on a ring, or on a ring with a second dimension of one process. */
static int delivers(MPI_Comm comm, int degree, enum operation operation, enum mode mode, int round)
{
    struct side send, receive;
    MPI_Request request;
    fill(&send, &receive, round);
    int each = operation != ALLGATHER && operation != ALLGATHERV;
    int good = call(operation, mode, &send, &receive, comm, &request) == MPI_SUCCESS;
    if (mode == PERSISTENT)
        good &= MPI_Start(&request) == MPI_SUCCESS;
    if (mode != BLOCKING)
        good &= MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    if (mode == PERSISTENT)
        MPI_Request_free(&request);
    const int from[DEGREE] = { left, right, world_rank, world_rank };
    for (int i = 0; i < degree; i++)
        good &= got[i] == 1000 * round + 10 * from[i] + (each ? i ^ 1 : 0);
    return good;
}

enum wrong { NEGATIVE, NEGATIVE_ROOM, NO_TYPE, NO_TYPE_THERE, UNFINISHED, NO_BUFFER, WRONGS };

static const int classes[WRONGS] = { MPI_ERR_COUNT, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_TYPE, MPI_ERR_TYPE,
                                     MPI_ERR_BUFFER };

/* The last block is wrong, or all blocks. */
static void spoil(enum wrong wrong, int last, MPI_Datatype unfinished, struct side *send, struct side *receive)
{
    switch (wrong) {
    case NEGATIVE: send->count = send->counts[last] = -1; break;
    case NEGATIVE_ROOM: receive->count = receive->counts[last] = -1; break;
    case NO_TYPE: send->type = send->types[last] = MPI_DATATYPE_NULL; break;
    case NO_TYPE_THERE: receive->type = receive->types[last] = MPI_DATATYPE_NULL; break;
    case UNFINISHED: send->type = send->types[last] = unfinished; break;
    default: send->buffer = NULL, send->distances[last] = 0; break;
    }
}

static void arguments(MPI_Comm comm, int degree)
{
    int round = 1;
    MPI_Datatype unfinished;
    MPI_Type_contiguous(1, MPI_INT, &unfinished);
    for (enum mode mode = BLOCKING; mode <= (HAS_INIT ? PERSISTENT : NONBLOCKING); mode++)
        for (enum operation operation = ALLGATHER; operation < OPERATIONS; operation++)
            for (enum wrong wrong = NEGATIVE; wrong < WRONGS; wrong++, round++) {
                /* On one rank; the others follow later. */
                if (world_rank == round % world_size) {
                    struct side send, receive;
                    MPI_Request request;
                    fill(&send, &receive, round);
                    spoil(wrong, degree - 1, unfinished, &send, &receive);
                    memset(told, 0, sizeof told), class_told = -1;
                    call(operation, mode, &send, &receive, comm, &request);
                    if (!CHECK(told[0] == 1 && told[1] == 0 && told[2] == 0 && class_told == classes[wrong]))
                        fprintf(stderr, "%s %s, %d: %d %d %d, class %d\n", mode_names[mode], operation_names[operation],
                                wrong, told[0], told[1], told[2], class_told);
                }
                if (!CHECK(delivers(comm, degree, operation, mode, round)))
                    fprintf(stderr, "%s %s after %d\n", mode_names[mode], operation_names[operation], wrong);
                CHECK(delivers(comm, degree, ALLTOALL, BLOCKING, round + 500));
            }
    MPI_Type_free(&unfinished);
}

/* Rank 0 receives more than its buffer holds. */
static void too_long(MPI_Comm comm, int degree)
{
    for (int round = 1; round < 4; round++) {
        struct side send, receive;
        fill(&send, &receive, round);
        for (int i = 0; i < DEGREE; i++) {
            send.displs[i] = receive.displs[i] = ROOM * i;
            send.counts[i] = ROOM, receive.counts[i] = ROOM;
        }
        if (world_rank == 0)
            receive.counts[0] = receive.counts[1] = 1;
        memset(told, 0, sizeof told), class_told = -1;
        call(ALLTOALLV, BLOCKING, &send, &receive, comm, NULL);
        int wrong = world_rank == 0;
        if (!CHECK(told[0] == wrong && told[1] == 0 && told[2] == 0 && class_told == (wrong ? MPI_ERR_TRUNCATE : -1)))
            fprintf(stderr, "too long: %d %d %d, class %d\n", told[0], told[1], told[2], class_told);
        CHECK(delivers(comm, degree, ALLTOALLV, BLOCKING, round));
    }
}

/* A type without data needs no buffer. */
static void without_data(MPI_Comm comm)
{
    MPI_Datatype nothing;
    MPI_Request request;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    memset(told, 0, sizeof told);
    MPI_Neighbor_alltoall(NULL, 1, nothing, NULL, 1, nothing, comm);
    MPI_Ineighbor_alltoall(NULL, 1, nothing, NULL, 1, nothing, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(told[0] == 0 && told[1] == 0 && told[2] == 0);
    MPI_Type_free(&nothing);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    left = (world_rank + world_size - 1) % world_size, right = (world_rank + 1) % world_size;
    MPI_Comm_create_errhandler(handler0, &handlers[0]);
    MPI_Comm_create_errhandler(handler1, &handlers[1]);
    MPI_Comm_create_errhandler(handler2, &handlers[2]);
    MPI_Comm_set_errhandler(true_world(), handlers[1]);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handlers[2]);
    for (int ndims = 1; ndims <= 2; ndims++) {
        const int dims[2] = { world_size, 1 }, periods[2] = { 1, 1 };
        MPI_Comm comm, copy;
        CHECK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm) == MPI_SUCCESS);
        MPI_Comm_set_errhandler(comm, handlers[0]);
        arguments(comm, 2 * ndims);
        without_data(comm);
        too_long(comm, 2 * ndims);
        CHECK(MPI_Comm_dup(comm, &copy) == MPI_SUCCESS);
        arguments(copy, 2 * ndims);
        too_long(copy, 2 * ndims);
        MPI_Comm_free(&copy), MPI_Comm_free(&comm);
    }
    MPI_Errhandler found;
    MPI_Comm_get_errhandler(true_world(), &found);
    CHECK(found == handlers[1]);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &found);
    CHECK(found == handlers[2]);
    return finish();
}
