/* Bytes between processes, through shared memory that their launcher created. A process makes progress only in its own
 * calls, one at a time. */
#ifndef MINI_SHM_H
#define MINI_SHM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { MINI_MOST = 16, MINI_RING = 1 << 15, MINI_LEFT = 64 };

/* Bytes from one process to another: the sender moves `written`, the receiver `read`. */
struct mini_ring {
    _Alignas(64) _Atomic uint32_t written;
    _Alignas(64) _Atomic uint32_t read;
    /* The sender found no room, and waits for a notification. */
    _Atomic uint32_t wanted;
    unsigned char bytes[MINI_RING];
};

/* The doorbell of a process: others increment `news` to notify it. */
struct mini_place {
    _Alignas(64) _Atomic uint32_t news;
    _Atomic uint32_t sleeps;
    /* True between MPI_Init and MPI_Finalize, for the launcher. */
    _Atomic uint32_t active;
    /* For hostile.c: collective calls of the chapter, by numbers that all processes of a communicator share: the
     * current call, the last call that raised an error, with its position, and the last call that was left, for a
     * few communicators. */
    _Atomic int64_t inside, told, left[MINI_LEFT];
    _Atomic int told_at;
};

struct mini_shared {
    int size;
    _Atomic int64_t next_context;
    struct mini_place places[MINI_MOST];
    struct mini_ring rings[];
};

size_t mini_shared_bytes(int size);
/* Variables for a process from its launcher: the shared memory's descriptor, and its number. */
#define MINI_FD "MINI_FD"
#define MINI_RANK "MINI_RANK"

extern struct mini_shared *mini_shared;
/* The rank of this process. */
extern int mini_rank, mini_size;

void mini_attach(void);
void mini_detach(void);
/* Moves up to this many bytes to or from another process; returns the number moved. */
size_t mini_write(int to, const void *bytes, size_t count);
size_t mini_read(int from, void *bytes, size_t count);
/* Waits until `news` exceeds this number. */
void mini_sleep(uint32_t news);
_Noreturn void mini_exit(int code);

#endif
