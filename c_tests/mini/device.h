/* Memory as that of an accelerator: programs and Cartograph may not touch it at the address that they pass, mini alone can. */
#ifndef MINI_DEVICE_H
#define MINI_DEVICE_H

#include <stddef.h>

/* New memory that nobody can read or write at the address that is returned; at `*open` it can be. It stays to the end. */
void *mini_device_memory(size_t bytes, void **open);
/* Where mini finds what a program passes. */
void *mini_opened(const void *address);

#endif
