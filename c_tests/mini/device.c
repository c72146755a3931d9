/* Pages that are mapped twice, once without access rights. */
#define _GNU_SOURCE
#include "device.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 16 };

static struct {
    uintptr_t closed;
    char *open;
    size_t bytes;
} regions[MOST];
static int count;

void *mini_device_memory(size_t bytes, void **open)
{
    int file = memfd_create("mini", 0);
    if (count == MOST || file < 0 || ftruncate(file, (off_t)bytes) != 0) {
        perror("mini: no memory of a device");
        exit(1);
    }
    void *closed = mmap(NULL, bytes, PROT_NONE, MAP_SHARED, file, 0);
    *open = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (closed == MAP_FAILED || *open == MAP_FAILED) {
        perror("mini: no memory of a device");
        exit(1);
    }
    regions[count].closed = (uintptr_t)closed;
    regions[count].open = *open;
    regions[count++].bytes = bytes;
    return closed;
}

void *mini_opened(const void *address)
{
    for (int i = 0; i < count; i++)
        if ((uintptr_t)address - regions[i].closed < regions[i].bytes)
            return regions[i].open + ((uintptr_t)address - regions[i].closed);
    return (void *)(uintptr_t)address;
}
