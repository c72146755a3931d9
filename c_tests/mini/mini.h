/* The inside of mini. Processes talk through one piece of shared memory that their launcher made; a
 * process makes progress only within its calls, of which one runs at a time. */
#ifndef MINI_H
#define MINI_H

#include "mpi.h"

#include <stdatomic.h>
#include <stddef.h>

/* The MPI_ name of a function, which a tool or a library in front may define again. */
#define ALIAS(name)                                                                                \
    extern __typeof__(PMPI_##name) MPI_##name __attribute__((weak, alias("PMPI_" #name)))

/* ---- shm.c: bytes between processes ---- */

enum { MINI_MOST = 16, MINI_RING = 1 << 15 };

/* Bytes from one process to another: the sender moves `written`, the receiver `read`. */
struct mini_ring {
    _Alignas(64) _Atomic uint32_t written;
    _Alignas(64) _Atomic uint32_t read;
    /* The sender found no room and is to be told when there is some. */
    _Atomic uint32_t wanted;
    unsigned char bytes[MINI_RING];
};

/* Where a process waits: others count up `news` when they have done something that concerns it. */
struct mini_place {
    _Alignas(64) _Atomic uint32_t news;
    _Atomic uint32_t sleeps;
    /* Between MPI_Init and MPI_Finalize, for the launcher. */
    _Atomic uint32_t active;
};

struct mini_shared {
    int size;
    _Atomic int64_t next_context;
    struct mini_place places[MINI_MOST];
    struct mini_ring rings[];
};

size_t mini_shared_bytes(int size);
/* How a launcher tells a process: the shared memory's descriptor, and its number. */
#define MINI_FD "MINI_FD"
#define MINI_RANK "MINI_RANK"

extern struct mini_shared *mini_shared;
/* This process among all. */
extern int mini_rank, mini_size;

void mini_attach(void);
void mini_detach(void);
/* Moves up to this many bytes to or from another process; how many were moved. */
size_t mini_write(int to, const void *bytes, size_t count);
size_t mini_read(int from, void *bytes, size_t count);
/* Ends when there are more news than these. */
void mini_sleep(uint32_t news);
_Noreturn void mini_exit(int code);

/* ---- type.c: where the bytes of an element are ---- */

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

/* Null if it is none. */
struct mini_type *mini_type(MPI_Datatype datatype);
void mini_type_release(struct mini_type *type);
/* Whether this many elements lie together from the start of a buffer. */
int mini_type_is_dense(const struct mini_type *type, int count);
void mini_pack(const void *buffer, int count, const struct mini_type *type, void *packed);
/* Fills elements with what there is, which may be less. */
void mini_unpack(void *buffer, const struct mini_type *type, const void *packed, size_t bytes);

/* ---- error.c ---- */

/* Calls a communicator's error handler unless the code is MPI_SUCCESS; gives the code back. Without a
 * communicator it is MPI_COMM_SELF's. */
struct mini_comm;
int mini_raise(struct mini_comm *comm, int code);
void mini_errhandler_release(MPI_Errhandler handler);
int mini_last_code(void);
void mini_forget_codes(void);

/* ---- comm.c: communicators; attr.c: what is cached on them ---- */

struct mini_attr {
    struct mini_attr *next;
    int keyval;
    void *value;
};

struct mini_comm {
    MPI_Comm handle;
    int references;
    int rank, size;
    /* Messages of the program have this context, those of collectives the next one. */
    int64_t context;
    MPI_Errhandler handler;
    /* The newest first. */
    struct mini_attr *attrs;
    /* Of each of its processes, which it is among all. */
    int processes[];
};

/* Null if it is none. */
struct mini_comm *mini_comm(MPI_Comm comm);
void mini_comm_start(void);
void mini_comm_end(void);
void mini_comm_release(struct mini_comm *comm);
int mini_attrs_copy(struct mini_comm *from, struct mini_comm *to);
int mini_attrs_delete(struct mini_comm *comm);

/* ---- message.c ---- */

/* What goes before the bytes of a message. */
struct mini_envelope {
    int64_t context;
    uint64_t bytes;
    int source, tag;
};

/* Sends bytes to a process of a communicator, or receives as many as fit, with the context of
 * collectives. An error of a receive is returned, not raised. */
void mini_send(struct mini_comm *comm, const void *bytes, size_t count, int to);
int mini_receive(struct mini_comm *comm, void *bytes, size_t count, int from);
/* Waits until all that was sent is on its way. */
void mini_flush(void);
/* Forgets what came and was not asked for. */
void mini_forget_messages(void);

#endif
