/* Memory like an accelerator's: programs and Cartograph cannot access it at the address that they pass, but mini
 * can. */
#ifndef MINI_DEVICE_H
#define MINI_DEVICE_H

#include <stddef.h>

/* Returns the address of new memory without access rights; it is accessible at `*open`. It is never freed. */
void *mini_device_memory(size_t bytes, void **open);
/* The address at which mini accesses a buffer of the program. */
void *mini_opened(const void *address);

#endif
