/* Calls on a stack of the program's own, like a coroutine's, between two inaccessible pages. Its first function has no
 * caller, so the memory above its stack is unknown. */
#include "../check.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGES = 256 };
static ucontext_t program, coroutine;

static void grid(int ndims, const int *dims)
{
    const int periods[2] = { 1, 1 }, counts[4] = { 1, 1, 1, 1 }, displs[4] = { 0, 1, 2, 3 };
    int sent[4], got[4], sources[2], destinations[2];
    MPI_Comm comm;
    MPI_Request request;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm) == MPI_SUCCESS);
    for (int i = 0; i < 2 * ndims; i++)
        sent[i] = 10 * world_rank + i;
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 4; i++)
            got[i] = -1;
        if (round == 0)
            CHECK(MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm) == MPI_SUCCESS);
        else if (round == 1)
            CHECK(MPI_Neighbor_alltoallv(sent, counts, displs, MPI_INT, got, counts, displs, MPI_INT, comm)
                == MPI_SUCCESS);
        else {
            CHECK(MPI_Ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm, &request) == MPI_SUCCESS);
            CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        }
        /* By the standard, the block from one side is the block that was sent to the other side. */
        for (int i = 0; i < ndims; i++) {
            CHECK(MPI_Cart_shift(comm, i, 1, &sources[i], &destinations[i]) == MPI_SUCCESS);
            CHECK(got[2 * i] == 10 * sources[i] + 2 * i + 1);
            CHECK(got[2 * i + 1] == 10 * destinations[i] + 2 * i);
        }
    }
    MPI_Comm_free(&comm);
}

static void grids(void)
{
    const int flat[2] = { world_size, 1 }, one[2] = { 1, world_size };
    grid(1, &world_size);
    grid(2, flat);
    grid(2, one);
}

static void end(void)
{
    swapcontext(&coroutine, &program);
}

/* Calls `grids` at the end of the stack. Its return address is that of `end`, which has no known caller: the caller's
 * frame would be in the inaccessible page. */
__attribute__((noinline)) static void start(void)
{
#if defined(__x86_64__)
    char *top = (char *)coroutine.uc_stack.ss_sp + coroutine.uc_stack.ss_size;
    __asm__ volatile("mov %0, %%rsp\n\tpush %1\n\tjmp *%2" : : "r"(top), "r"(end), "r"(grids) : "memory");
#elif defined(__aarch64__)
    char *top = (char *)coroutine.uc_stack.ss_sp + coroutine.uc_stack.ss_size;
    __asm__ volatile("mov sp, %0\n\tmov x29, %0\n\tmov x30, %1\n\tbr %2" : : "r"(top), "r"(end), "r"(grids) : "memory");
#else
    grids();
    end();
#endif
}

int main(int argc, char **argv)
{
    size_t page = sysconf(_SC_PAGESIZE), length = (PAGES + 2) * page;
    begin(&argc, &argv);
    char *stack = mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (CHECK(stack != MAP_FAILED && mprotect(stack + page, PAGES * page, PROT_READ | PROT_WRITE) == 0
            && getcontext(&coroutine) == 0)) {
        coroutine.uc_stack.ss_sp = stack + page;
        coroutine.uc_stack.ss_size = PAGES * page;
        makecontext(&coroutine, start, 0);
        CHECK(swapcontext(&program, &coroutine) == 0);
        munmap(stack, length);
    }
    return finish();
}
