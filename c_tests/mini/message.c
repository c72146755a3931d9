/* Messages: sent if there is room, kept until they are received, matched by context, source and tag in the order
 * of arrival. */
#include "message.h"

#include "live.h"
#include "shm.h"

#include <stdlib.h>
#include <string.h>

/* A message that has arrived or is arriving. */
struct message {
    struct message *next;
    int from;
    struct mini_envelope envelope;
    unsigned char bytes[];
};

/* Messages that wait for room, requests that wait for messages, and unexpected messages: lists in the order of
 * time. */
static struct MPI_ABI_Request *sending[MINI_MOST], *receiving;
static struct message *arrived;
/* The message that is arriving from a process. */
static struct {
    struct mini_envelope envelope;
    size_t have;
    struct message *message;
} coming[MINI_MOST];

/* The context of replies. */
enum { ANSWER = -1 };

/* With MINI_EAGER=0 a send completes only when its receiver has taken the message. */
static int is_eager(void)
{
    static int eager = -1;
    if (eager < 0) {
        const char *set = getenv("MINI_EAGER");
        eager = !set || strcmp(set, "0") != 0;
    }
    return eager;
}

/* With MINI_ORDER messages of different processes arrive in an order that its number determines, some with a
 * delay; messages of one process keep their order. */
static uint64_t random_state;
static int held;

static int is_shuffled(void)
{
    static int shuffled = -1;
    if (shuffled < 0) {
        const char *seed = getenv("MINI_ORDER");
        shuffled = seed != NULL;
        random_state = seed ? (uint64_t)atol(seed) * 16 + (uint64_t)mini_rank + 1 : 0;
    }
    return shuffled;
}

static unsigned next_random(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33);
}

static int matches(const struct MPI_ABI_Request *request, const struct message *message)
{
    const struct mini_envelope *wanted = &request->envelope, *got = &message->envelope;
    return wanted->context == got->context
        && (wanted->source == MPI_ANY_SOURCE || wanted->source == got->source)
        && (wanted->tag == MPI_ANY_TAG || wanted->tag == got->tag);
}

void mini_request_end(MPI_Request request)
{
    mini_count(MEMORY, -(long)sizeof *request);
    mini_comm_release(request->comm);
    if (request->type)
        mini_type_release(request->type);
    free(request->packed);
    free(request);
}

static void complete(MPI_Request request)
{
    request->done = 1;
    if (request->forgotten)
        mini_request_end(request);
}

static void push(int to);

static void enqueue(MPI_Request request)
{
    MPI_Request *end = &sending[request->to];
    while (*end)
        end = &(*end)->next;
    *end = request;
    push(request->to);
}

/* Sends the sender of a message a reply that it was received. */
static void answer(struct mini_comm *comm, const struct message *message)
{
    MPI_Request request = mini_request(SEND, comm);
    request->envelope = (struct mini_envelope){ ANSWER, 0, comm->rank, 0, message->envelope.ticket };
    request->to = message->from;
    request->forgotten = 1;
    enqueue(request);
}

static void give(MPI_Request request, struct message *message)
{
    size_t room = request->type->bytes * (size_t)request->count;
    size_t bytes = message->envelope.bytes;
    if (bytes > room) {
        request->error = MPI_ERR_TRUNCATE;
        bytes = room;
    }
    mini_unpack(request->buffer, request->type, message->bytes, bytes);
    request->envelope = message->envelope;
    if (message->envelope.ticket)
        answer(request->comm, message);
    free(message);
    complete(request);
}

static void deliver(struct message *message)
{
    if (message->envelope.context == ANSWER) {
        complete((MPI_Request)(uintptr_t)message->envelope.ticket);
        free(message);
        return;
    }
    for (MPI_Request *place = &receiving; *place; place = &(*place)->next)
        if (matches(*place, message)) {
            MPI_Request request = *place;
            *place = request->next;
            give(request, message);
            return;
        }
    struct message **end = &arrived;
    while (*end)
        end = &(*end)->next;
    message->next = NULL;
    *end = message;
}

static void push(int to)
{
    while (sending[to]) {
        MPI_Request request = sending[to];
        const size_t head = sizeof request->envelope, all = head + request->envelope.bytes;
        while (request->gone < all) {
            int in_head = request->gone < head;
            const unsigned char *from = in_head
                ? (const unsigned char *)&request->envelope + request->gone
                : request->bytes + (request->gone - head);
            size_t moved = mini_write(to, from, (in_head ? head : all) - request->gone);
            if (moved == 0)
                return;
            request->gone += moved;
        }
        sending[to] = request->next;
        if (is_eager() || request->envelope.context == ANSWER)
            complete(request);
    }
}

static void pull(int from)
{
    const size_t head = sizeof coming[from].envelope;
    for (;;) {
        size_t have = coming[from].have;
        if (have < head) {
            have += mini_read(from, (char *)&coming[from].envelope + have, head - have);
            coming[from].have = have;
            if (have < head)
                return;
        }
        size_t all = head + coming[from].envelope.bytes;
        if (!coming[from].message) {
            coming[from].message = malloc(sizeof(struct message) + coming[from].envelope.bytes);
            coming[from].message->envelope = coming[from].envelope;
            coming[from].message->from = from;
        }
        struct message *message = coming[from].message;
        have += mini_read(from, message->bytes + (have - head), all - have);
        coming[from].have = have;
        if (have < all)
            return;
        coming[from].have = 0;
        coming[from].message = NULL;
        deliver(message);
        if (is_shuffled()) {
            held = 1;
            return;
        }
    }
}

void mini_progress(void)
{
    int first = is_shuffled() ? (int)(next_random() % (unsigned)mini_size) : 0;
    held = 0;
    for (int i = 0; i < mini_size; i++) {
        int process = (first + i) % mini_size;
        push(process);
        if (is_shuffled() && next_random() % 2)
            held = 1;
        else
            pull(process);
    }
}

/* Makes progress until a condition holds. */
#define UNTIL(condition)                                                                           \
    for (;;) {                                                                                     \
        uint32_t news = atomic_load(&mini_shared->places[mini_rank].news);                         \
        mini_progress();                                                                           \
        if (condition)                                                                             \
            break;                                                                                 \
        if (!held)                                                                                 \
            mini_sleep(news);                                                                      \
    }

MPI_Request mini_request(enum kind kind, struct mini_comm *comm)
{
    MPI_Request request = calloc(1, sizeof *request);
    request->kind = kind;
    request->comm = comm;
    comm->references++;
    mini_count(MEMORY, sizeof *request);
    return request;
}

MPI_Request mini_start_send(struct mini_comm *comm, int64_t context, const void *bytes,
                            size_t count, unsigned char *packed, int to, int tag)
{
    MPI_Request request = mini_request(SEND, comm);
    uint64_t ticket = is_eager() ? 0 : (uint64_t)(uintptr_t)request;
    request->envelope = (struct mini_envelope){ context, count, comm->rank, tag, ticket };
    request->to = comm->processes[to];
    request->bytes = bytes;
    request->packed = packed;
    enqueue(request);
    return request;
}

MPI_Request mini_start_receive(struct mini_comm *comm, int64_t context, void *buffer, int count,
                               struct mini_type *type, int from, int tag)
{
    MPI_Request request = mini_request(RECEIVE, comm);
    request->envelope = (struct mini_envelope){ context, 0, from, tag, 0 };
    request->buffer = buffer;
    request->count = count;
    request->type = type;
    type->references++;
    mini_progress();
    for (struct message **place = &arrived; *place; place = &(*place)->next)
        if (matches(request, *place)) {
            struct message *message = *place;
            *place = message->next;
            give(request, message);
            return request;
        }
    MPI_Request *end = &receiving;
    while (*end)
        end = &(*end)->next;
    *end = request;
    return request;
}

void mini_send(struct mini_comm *comm, const void *bytes, size_t count, int to)
{
    MPI_Request request = mini_start_send(comm, comm->context + 1, bytes, count, NULL, to, 0);
    mini_complete(request);
    mini_request_end(request);
}

int mini_receive(struct mini_comm *comm, void *bytes, size_t count, int from)
{
    struct mini_type *byte = mini_type(MPI_BYTE);
    MPI_Request request
        = mini_start_receive(comm, comm->context + 1, bytes, (int)count, byte, from, 0);
    mini_complete(request);
    int error = request->error;
    mini_request_end(request);
    return error;
}

void mini_complete(MPI_Request request)
{
    UNTIL(request->done)
}

void mini_take_back(MPI_Request request)
{
    for (MPI_Request *place = &receiving; *place; place = &(*place)->next)
        if (*place == request) {
            *place = request->next;
            complete(request);
            return;
        }
}

void mini_flush(void)
{
    for (int process = 0; process < mini_size; process++)
        UNTIL(!sending[process])
}

void mini_forget_messages(void)
{
    while (arrived) {
        struct message *message = arrived;
        arrived = message->next;
        free(message);
    }
}
