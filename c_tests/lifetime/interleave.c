/* Preloaded before the library: threads wait at calls into the host, chosen by the seed in INTERLEAVE, so that
 * each run interleaves them differently. */
#define _GNU_SOURCE
#include "../mini/hostile.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_long passed;

static void wait_for_others(void)
{
    static atomic_uint threads;
    static _Thread_local uint64_t state;
    if (!state) {
        const char *seed = getenv("INTERLEAVE");
        state = 2 * ((seed ? strtoull(seed, NULL, 10) : 0) * 1000 + atomic_fetch_add(&threads, 1)) + 1;
    }
    atomic_fetch_add(&passed, 1);
    state = state * 6364136223846793005u + 1442695040888963407u;
    switch (state >> 60) {
    case 0:
        usleep(state >> 32 & 255);
        break;
    case 1:
    case 2:
    case 3:
        sched_yield();
    }
}

/* A run without calls tested nothing. */
__attribute__((destructor)) static void tell(void)
{
    if (getenv("INTERLEAVE_TELL") && passed)
        fprintf(stderr, "interleave: %ld calls\n", (long)passed);
}

#define CALL(name)                                                                                                      \
    long interleaved_##name(ANY_PARAMETERS) __asm__("PMPI_" #name);                                                     \
    long interleaved_##name(ANY_PARAMETERS)                                                                             \
    {                                                                                                                   \
        static any_function *host;                                                                                      \
        any_function *found = __atomic_load_n(&host, __ATOMIC_ACQUIRE);                                                 \
        if (!found) {                                                                                                   \
            *(void **)&found = dlsym(RTLD_NEXT, "PMPI_" #name);                                                         \
            __atomic_store_n(&host, found, __ATOMIC_RELEASE);                                                           \
        }                                                                                                               \
        wait_for_others();                                                                                              \
        return found(ANY_ARGUMENTS);                                                                                    \
    }

CALL(Add_error_code)
CALL(Add_error_string)
CALL(Allreduce)
CALL(Bcast)
CALL(Cancel)
CALL(Comm_call_errhandler)
CALL(Comm_create_errhandler)
CALL(Comm_create_keyval)
CALL(Comm_delete_attr)
CALL(Comm_free)
CALL(Comm_free_keyval)
CALL(Comm_get_attr)
CALL(Comm_get_errhandler)
CALL(Comm_rank)
CALL(Comm_set_attr)
CALL(Comm_set_errhandler)
CALL(Comm_size)
CALL(Comm_split)
CALL(Errhandler_free)
CALL(Gather)
CALL(Gatherv)
CALL(Ialltoallw)
CALL(Ineighbor_alltoallw)
CALL(Irecv)
CALL(Isend)
CALL(Recv)
CALL(Scatter)
CALL(Sendrecv)
CALL(Type_commit)
CALL(Type_create_struct)
CALL(Type_free)
CALL(Type_get_attr)
CALL(Type_set_attr)
CALL(Wait)
CALL(Waitall)
