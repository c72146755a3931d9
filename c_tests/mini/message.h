/* Messages and their requests: message.c moves them, request.c implements requests of programs. */
#ifndef MINI_MESSAGE_H
#define MINI_MESSAGE_H

#include "comm.h"
#include "type.h"

#include <stddef.h>
#include <stdint.h>

/* The header before the bytes of a message. */
struct mini_envelope {
    int64_t context;
    uint64_t bytes;
    int source, tag;
    /* The sender's request, if the receiver replies. */
    uint64_t ticket;
};

enum kind { SEND, RECEIVE };

struct MPI_ABI_Request {
    enum kind kind;
    int done, forgotten, error;
    struct mini_comm *comm;
    struct mini_envelope envelope;
    struct MPI_ABI_Request *next;
    /* Of a send: the destination, the bytes, and how many are sent; `packed` if the bytes are a copy. */
    int to;
    const unsigned char *bytes;
    unsigned char *packed;
    size_t gone;
    /* Of a receive. */
    void *buffer;
    int count;
    struct mini_type *type;
};

/* An inactive request, for MPI_PROC_NULL. */
MPI_Request mini_request(enum kind kind, struct mini_comm *comm);
/* Starts a message of contiguous bytes; a copy, if any, is freed with the request. */
MPI_Request mini_start_send(struct mini_comm *comm, int64_t context, const void *bytes, size_t count,
                            unsigned char *packed, int to, int tag);
MPI_Request mini_start_receive(struct mini_comm *comm, int64_t context, void *buffer, int count,
                               struct mini_type *type, int from, int tag);
/* Waits until a request is done. */
void mini_complete(MPI_Request request);
/* Makes progress. */
void mini_progress(void);
/* Cancels a receive without a matching message. */
void mini_take_back(MPI_Request request);
void mini_request_end(MPI_Request request);

/* Sends bytes to a process of a communicator, or receives as many as fit, in the context of collectives. An error
 * of a receive is returned, not raised. */
void mini_send(struct mini_comm *comm, const void *bytes, size_t count, int to);
int mini_receive(struct mini_comm *comm, void *bytes, size_t count, int from);
/* Waits until all messages have left. */
void mini_flush(void);
/* Drops unexpected messages. */
void mini_forget_messages(void);

#endif
