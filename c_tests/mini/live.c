#include "live.h"

#include <stdlib.h>

static long alive[MINI_KINDS];

int mini_has_room(enum mini_kind kind, long amount)
{
    static const char *const names[] = { "MINI_CONTEXTS", "MINI_KEYVALS", "MINI_MEMORY" };
    const char *most = getenv(names[kind]);
    return !most || alive[kind] + amount <= atol(most);
}

void mini_count(enum mini_kind kind, long amount)
{
    alive[kind] += amount;
}

long mini_alive(enum mini_kind kind)
{
    return alive[kind];
}
