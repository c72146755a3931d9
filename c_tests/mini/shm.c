/* Rings of bytes in shared memory, one for each pair of processes, and how a process waits. */
#define _GNU_SOURCE
#include "shm.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct mini_shared *mini_shared;
int mini_rank, mini_size;

size_t mini_shared_bytes(int size)
{
    return sizeof(struct mini_shared) + (size_t)size * size * sizeof(struct mini_ring);
}

static struct mini_ring *ring(int from, int to)
{
    return &mini_shared->rings[from * mini_size + to];
}

void mini_attach(void)
{
    const char *fd = getenv(MINI_FD), *rank = getenv(MINI_RANK);
    int flags = MAP_SHARED, descriptor = fd ? atoi(fd) : -1;

    mini_rank = fd && rank ? atoi(rank) : 0;
    size_t bytes = mini_shared_bytes(1);
    if (fd) {
        off_t end = lseek(descriptor, 0, SEEK_END);
        bytes = end > 0 ? (size_t)end : 0;
    } else
        flags |= MAP_ANONYMOUS;
    mini_shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
    if (mini_shared == MAP_FAILED) {
        perror("mini: no shared memory");
        exit(1);
    }
    if (fd)
        close(descriptor);
    else
        mini_shared->size = 1;
    mini_size = mini_shared->size;
    atomic_store(&mini_shared->places[mini_rank].active, 1);
}

void mini_detach(void)
{
    atomic_store(&mini_shared->places[mini_rank].active, 0);
    munmap(mini_shared, mini_shared_bytes(mini_size));
    mini_shared = NULL;
}

static long futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

/* Notifies a process. */
static void tell(int process)
{
    struct mini_place *place = &mini_shared->places[process];
    atomic_fetch_add(&place->news, 1);
    if (process != mini_rank && atomic_load(&place->sleeps))
        futex(&place->news, FUTEX_WAKE, 1);
}

void mini_sleep(uint32_t news)
{
    struct mini_place *place = &mini_shared->places[mini_rank];
    /* Other processes may need this processor to make progress. */
    for (int i = 0; i < 4; i++) {
        if (atomic_load(&place->news) != news)
            return;
        sched_yield();
    }
    atomic_store(&place->sleeps, 1);
    while (atomic_load(&place->news) == news)
        futex(&place->news, FUTEX_WAIT, news);
    atomic_store(&place->sleeps, 0);
}

/* The number of bytes from a position to the ring's end. */
static size_t to_end(uint32_t place, size_t count)
{
    size_t room = MINI_RING - place % MINI_RING;
    return count < room ? count : room;
}

size_t mini_write(int to, const void *bytes, size_t count)
{
    struct mini_ring *r = ring(mini_rank, to);
    uint32_t written = atomic_load_explicit(&r->written, memory_order_relaxed);
    size_t room = MINI_RING - (written - atomic_load(&r->read));

    if (room == 0) {
        /* Either the receiver sees the flag after it made room, or this process sees the room. */
        atomic_store(&r->wanted, 1);
        room = MINI_RING - (written - atomic_load(&r->read));
    }
    if (count > room)
        count = room;
    if (count == 0)
        return 0;
    size_t first = to_end(written, count);
    memcpy(r->bytes + written % MINI_RING, bytes, first);
    memcpy(r->bytes, (const char *)bytes + first, count - first);
    atomic_store(&r->written, written + (uint32_t)count);
    tell(to);
    return count;
}

size_t mini_read(int from, void *bytes, size_t count)
{
    struct mini_ring *r = ring(from, mini_rank);
    uint32_t read = atomic_load_explicit(&r->read, memory_order_relaxed);
    size_t there = atomic_load(&r->written) - read;

    if (count > there)
        count = there;
    if (count == 0)
        return 0;
    size_t first = to_end(read, count);
    memcpy(bytes, r->bytes + read % MINI_RING, first);
    memcpy((char *)bytes + first, r->bytes, count - first);
    atomic_store(&r->read, read + (uint32_t)count);
    if (atomic_exchange(&r->wanted, 0))
        tell(from);
    return count;
}

void mini_exit(int code)
{
    fflush(NULL);
    /* The launcher ends the other processes. */
    _exit(code ? code : 1);
}
